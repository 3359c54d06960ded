/* SPDX-License-Identifier: Apache-2.0 */
/* Each role: its identity, each layer alone, and the notice of a missing layer. */
#include "tests/privsep/privsep.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/policy_impl.h"

#define FOR_EACH_ROLE(role) \
	for (enum policy_role role = ROLE_LOADER; role < ROLE_SUPERVISED; role++)

static void become(const void *role)
{
	if (policy_become(*(const enum policy_role *)role))
		_exit(99);
}

static void confine(const void *role)
{
	struct policy_layers layers;

	policy_confine(*(const enum policy_role *)role, &layers);
	if (!(layers.proven & LAYER_BIT(seccomp)))
		_exit(98);
}

static void become_and_confine(const void *role)
{
	become(role);
	confine(role);
}

/* ---- seen from outside --------------------------------------------------------------------- */

/* A fork of ours has no pid namespace, where its role has one. */
static uint32_t without_namespace(enum policy_role role)
{
	return POLICY_UNCONFINED ? 0 : policy_layers_of(role) & LAYER_BIT(pid);
}

static void test_confinement__roles_verify(void **state)
{
	(void)state;
	FOR_EACH_ROLE(role)
	{
		pid_t pid = privsep_start(become_and_confine, &role);
		const uint32_t expected = without_namespace(role);

		assert_int_equal(privsep_wait_verified(role, pid, 1, expected), expected);
		FOR_EACH_ROLE(other)
		{
			if (other != role)
				assert_true(policy_verify(other, pid, 1) & LAYER_BIT(ids));
		}
		if (!POLICY_UNCONFINED)
			assert_int_equal(policy_verify(role, pid, 0) & ~expected,
					 LAYER_BIT(seccomp));
		privsep_end(pid);
		assert_int_equal(policy_verify(role, pid, 1), policy_layers_of(role));
	}
}

static void test_confinement__roles_share_no_uid(void **state)
{
	(void)state;
	FOR_EACH_ROLE(role)
	{
		assert_in_range(policy_role(role)->id, 60000, 65533 + 1);
		FOR_EACH_ROLE(other)
		{
			if (other != role)
				assert_int_not_equal(policy_role(role)->id, policy_role(other)->id);
		}
	}
}

static void test_confinement__missing_filter_is_noticed(void **state)
{
	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	FOR_EACH_ROLE(role)
	{
		pid_t pid = privsep_start(become, &role);

		const uint32_t expected = without_namespace(role) | LAYER_BIT(seccomp);

		assert_int_equal(privsep_wait_verified(role, pid, 1, expected), expected);
		privsep_end(pid);
	}
}

static void test_confinement__missing_drop_is_noticed(void **state)
{
	(void)state;
	FOR_EACH_ROLE(role)
	{
		pid_t pid = privsep_start(confine, &role);

		/* libseccomp sets no_new_privs with the filter */
		const uint32_t expected = without_namespace(role) | LAYER_BIT(ids) |
					  LAYER_BIT(capabilities) |
					  (POLICY_UNCONFINED ? LAYER_BIT(no_new_privs) : 0);

		assert_int_equal(privsep_wait_verified(role, pid, 1, expected), expected);
		privsep_end(pid);
	}
}

static void become_user(const void *role)
{
	uid_t id = policy_role(*(const enum policy_role *)role)->id;

	if (setresgid(id, id, id) || setresuid(id, id, id))
		_exit(97);
}

static void test_confinement__half_a_drop_is_noticed(void **state)
{
	const enum policy_role role = ROLE_WORKER;
	pid_t pid = privsep_start(become_user, &role);
	const uint32_t expected = without_namespace(role) | LAYER_BIT(capabilities) |
				  LAYER_BIT(no_new_privs) | LAYER_BIT(seccomp);
	/* where the tests run, root may be in other groups or not */
	uint32_t got = privsep_wait_verified(role, pid, 1, expected) & ~LAYER_BIT(ids);

	(void)state;
	assert_int_equal(got, POLICY_UNCONFINED ? expected & ~LAYER_BIT(seccomp) : expected);
	privsep_end(pid);
}

/* ---- from inside: ids and capabilities, without the filter ---------------------------------- */

static void try_what_ids_refuse(const void *argument)
{
	const enum policy_role role = *(const enum policy_role *)argument;
	bool broker = role == ROLE_BROKER;

	become(argument);
	if (!setuid(0) || !setgid(0) || !setgroups(0, NULL))
		_exit(1);
	if (kill(1, 0) == 0 || (!broker && open("/etc/shadow", O_RDONLY) >= 0))
		_exit(2);
	if (open("/etc/passwd", O_WRONLY) >= 0 || !chroot("/") || !unshare(CLONE_NEWNS))
		_exit(3);
	if (!broker && ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0)
		_exit(4);
	if (cap_set_ambient(CAP_SYS_ADMIN, CAP_SET) == 0 || cap_drop_bound(CAP_CHOWN) == 0)
		_exit(5);
	if (prctl(PR_SET_SECUREBITS, 0) == 0 || prctl(PR_SET_KEEPCAPS, 1) == 0)
		_exit(6);
}

static void test_confinement__ids_hold_without_the_filter(void **state)
{
	(void)state;
	FOR_EACH_ROLE(role)
	assert_int_equal(privsep_run(try_what_ids_refuse, &role), 0);
}

/* All securebits but keep_caps, which an exec clears, and all of them locked (capabilities(7)). */
static const int locked_bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
			       SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
			       SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

/* The process has the capability, so that only the bit can refuse to raise it. */
static bool can_raise(cap_value_t cap)
{
	return !cap_reset_ambient() && !cap_set_ambient(cap, CAP_SET);
}

static void try_securebits(const void *role)
{
	become(role);
	if (prctl(PR_GET_SECUREBITS) != locked_bits)
		_exit(1);
	for (int bit = 0; bit < 8; bit++)
		if (prctl(PR_SET_SECUREBITS, locked_bits ^ 1 << bit) == 0)
			_exit(2);
	if (*(const enum policy_role *)role == ROLE_BROKER && can_raise(CAP_SYS_PTRACE))
		_exit(3);
}

static void test_confinement__securebits_are_set_and_locked(void **state)
{
	(void)state;
	FOR_EACH_ROLE(role)
	assert_int_equal(privsep_run(try_securebits, &role), 0);
}

static void exec_and_print_capabilities(const void *role)
{
	dup2(*(const int *)((const char *)role + sizeof(enum policy_role)), STDOUT_FILENO);
	become(role);
	execl("/bin/grep", "grep", "-E", "^Cap(Inh|Prm|Eff|Bnd|Amb)", "/proc/self/status", NULL);
}

static void test_confinement__capabilities_survive_exec_as_the_table_says(void **state)
{
	char expected[160], got[512];

	(void)state;
	FOR_EACH_ROLE(role)
	{
		unsigned long long caps = policy_role(role)->capabilities;
		struct {
			enum policy_role role;
			int fd;
		} argument = {.role = role};
		int ends[2];
		ssize_t size;

		assert_int_equal(pipe(ends), 0);
		argument.fd = ends[1];
		assert_int_equal(privsep_run(exec_and_print_capabilities, &argument), 0);
		size = read(ends[0], got, sizeof(got) - 1);
		got[size > 0 ? size : 0] = '\0';
		snprintf(expected, sizeof(expected),
			 "CapInh:\t%016llx\nCapPrm:\t%016llx\nCapEff:\t%016llx\n"
			 "CapBnd:\t%016llx\nCapAmb:\t%016llx\n",
			 caps, caps, caps, 0ull, caps);
		assert_string_equal(got, expected);
		close(ends[0]);
		close(ends[1]);
	}
}

/* ---- from inside: the filter, without the drop of privilege --------------------------------- */

struct attempt {
	const char *name;
	long number;
	unsigned long argument[4];
	unsigned int allowed_for; /* bit per role */
};

#define ROLE_BIT(role) (1u << (role))
static const struct attempt attempts[] = {
	{"execve", SYS_execve, {(unsigned long)"/bin/true"}, 0},
	{"socket", SYS_socket, {AF_INET, SOCK_DGRAM}, 0},
	{"ptrace", SYS_ptrace, {PTRACE_TRACEME}, 0},
	{"fork", SYS_clone, {SIGCHLD}, 0},
	{"unshare", SYS_unshare, {0}, 0},
	{"setuid", SYS_setuid, {0}, 0},
	{"mprotect exec", SYS_mprotect, {0, 4096, PROT_READ | PROT_EXEC}, 0},
	{"open to write",
	 SYS_openat,
	 {(unsigned long)AT_FDCWD, (unsigned long)"/dev/null", O_WRONLY},
	 0},
	{"open",
	 SYS_openat,
	 {(unsigned long)AT_FDCWD, (unsigned long)"/", O_PATH},
	 ROLE_BIT(ROLE_LOADER) | ROLE_BIT(ROLE_BROKER)},
	{"bpf prog load", SYS_bpf, {BPF_PROG_LOAD, 0, 0}, 0},
	{"bpf map create", SYS_bpf, {BPF_MAP_CREATE, 0, 0}, ROLE_BIT(ROLE_BROKER)},
	{"perf_event_open", SYS_perf_event_open, {0}, 0},
	{"ioctl", SYS_ioctl, {0, 0x5412}, 0},
	{"kill", SYS_kill, {0, 0}, 0},
	{"close", SYS_close, {77}, ~0u},
};

struct confined_attempt {
	enum policy_role role;
	const struct attempt *attempt;
};

static void confine_and_try(const void *argument)
{
	const struct confined_attempt *confined = argument;
	const unsigned long *a = confined->attempt->argument;

	confine(&confined->role);
	syscall(confined->attempt->number, a[0], a[1], a[2], a[3]);
}

static void test_confinement__filter_holds_for_root(void **state)
{
	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	FOR_EACH_ROLE(role)
	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		struct confined_attempt confined = {role, &attempts[i]};
		int status = privsep_run(confine_and_try, &confined);
		bool allowed = attempts[i].allowed_for & ROLE_BIT(role);

		if (allowed ? status != 0 : !privsep_killed_by_filter(status))
			fail_msg("%s: %s: status %#x", policy_role(role)->program, attempts[i].name,
				 status);
	}
}

/* No filter allows to ask for it; files of /proc are root's when a process is not dumpable. */
static uid_t owner_of(pid_t pid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	assert_int_equal(stat(path, &status), 0);
	return status.st_uid;
}

static uid_t await_owner(pid_t pid, uid_t expected)
{
	for (int i = 0; i < 100 && owner_of(pid) != expected; i++)
		poll(NULL, 0, 10);
	return owner_of(pid);
}

/* ---- helpers and viewers: they confine themselves -------------------------------------------- */

#define FOR_EACH_OTHER_ROLE(role) \
	for (enum policy_role role = ROLE_SUPERVISED; role < ROLE_ALL; role++)

static const enum policy_role drop = ROLE_LOADER;

static void confine_self(enum policy_role role)
{
	if (policy_layers_of(role) & LAYER_BIT(ids))
		become(&drop);
	if (policy_confine_self(role, NULL))
		_exit(98);
}

static void confine_self_and_try(const void *argument)
{
	const struct confined_attempt *confined = argument;
	const unsigned long *a = confined->attempt->argument;

	confine_self(confined->role);
	syscall(confined->attempt->number, a[0], a[1], a[2], a[3]);
}

/* Readers of debug information are told that they may not open. */
static bool is_told(enum policy_role role, long number)
{
	return number == SYS_openat && (role == ROLE_PROFILE || role == ROLE_DEBUG);
}

/* keyhole-connector opens sockets, and files to read. */
static bool is_connectors(enum policy_role role, const struct attempt *attempt)
{
	if (role != ROLE_CONNECTOR)
		return false;
	return attempt->number == SYS_socket || strcmp(attempt->name, "open") == 0;
}

static void test_confinement__helpers_and_viewers_have_a_filter(void **state)
{
	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	FOR_EACH_OTHER_ROLE(role)
	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		struct confined_attempt confined = {role, &attempts[i]};
		const bool ends = policy_layers_of(role) & LAYER_BIT(seccomp) &&
				  attempts[i].number != SYS_close &&
				  !is_told(role, attempts[i].number) &&
				  !is_connectors(role, &attempts[i]);

		if (!(policy_layers_of(role) & LAYER_BIT(seccomp)))
			continue;
		assert_int_equal(
			privsep_killed_by_filter(privsep_run(confine_self_and_try, &confined)),
			ends);
	}
}

/* keyhole-check has no filter, which would not let it ask. */
static void look_at_check(const void *argument)
{
	const uint64_t kept = policy_role(ROLE_CHECK)->capabilities;
	cap_flag_value_t set;
	cap_t held;

	(void)argument;
	confine_self(ROLE_CHECK);
	held = cap_get_proc();
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (cap_get_flag(held, cap, CAP_PERMITTED, &set) || set != (kept >> cap & 1))
			_exit(1);
	if (!POLICY_UNCONFINED &&
	    (prctl(PR_GET_DUMPABLE) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1))
		_exit(2);
}

static void test_confinement__a_viewer_keeps_what_its_row_says(void **state)
{
	(void)state;
	assert_int_equal(privsep_run(look_at_check, NULL), 0);
}

static void confine_without_drop(const void *role)
{
	if (policy_confine_self(*(const enum policy_role *)role, NULL) != -EPERM)
		_exit(1);
}

static void test_confinement__a_helper_with_capabilities_is_refused(void **state)
{
	(void)state;
	FOR_EACH_OTHER_ROLE(role)
	{
		if (policy_layers_of(role) & LAYER_BIT(ids))
			assert_int_equal(privsep_run(confine_without_drop, &role), 0);
	}
}

static int silence[2]; /* a pipe: viewers may read, keyhole-audit may poll() */

static void wait_confined(const void *role)
{
	char byte;

	confine_self(*(const enum policy_role *)role);
	if (*(const enum policy_role *)role != ROLE_AUDIT)
		(void)!read(silence[0], &byte, 1);
}

/* As /proc shows them: no capability, no_new_privs, a filter, not dumpable. */
static void test_confinement__helpers_and_viewers_hold_from_outside(void **state)
{
	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	assert_int_equal(pipe2(silence, O_CLOEXEC), 0);
	FOR_EACH_OTHER_ROLE(role)
	{
		pid_t pid;

		if (!(policy_layers_of(role) & LAYER_BIT(seccomp)))
			continue;
		pid = privsep_start(wait_confined, &role);
		for (int i = 0; i < 1000 && privsep_status(pid, "Seccomp", 10) != 2; i++)
			poll(NULL, 0, 1);
		assert_int_equal(privsep_status(pid, "Seccomp", 10), 2);
		assert_int_equal(privsep_status(pid, "NoNewPrivs", 10), 1);
		assert_int_equal(privsep_status(pid, "CapPrm", 16), 0);
		assert_int_equal(privsep_status(pid, "CapEff", 16), 0);
		assert_int_equal(await_owner(pid, 0), 0);
		privsep_end(pid);
	}
	close(silence[0]);
	close(silence[1]);
}

static void check_limits(const void *role)
{
	const struct limit *limit = policy_role(*(const enum policy_role *)role)->limits;
	struct rlimit both;

	if (policy_limit(policy_role(*(const enum policy_role *)role)))
		_exit(1);
	for (; limit->resource; limit++)
		if (getrlimit((int)limit->resource, &both) || both.rlim_max > limit->value ||
		    both.rlim_cur > limit->value)
			_exit(2);
}

static void test_confinement__limits_are_set(void **state)
{
	(void)state;
	FOR_EACH_ROLE(role)
	assert_int_equal(privsep_run(check_limits, &role), 0);
}

static void become_dumpable(const void *role)
{
	become(role);
	if (prctl(PR_SET_DUMPABLE, 1)) /* a change of ids has the effect of the layer */
		_exit(97);
}

static void become_dumpable_and_confine(const void *role)
{
	become_dumpable(role);
	confine(role);
}

static void test_confinement__loader_is_not_dumpable(void **state)
{
	const enum policy_role role = ROLE_LOADER;
	const uid_t id = policy_role(role)->id;
	pid_t pid = privsep_start(become_dumpable, &role);

	(void)state;
	assert_int_equal(await_owner(pid, id), id);
	privsep_end(pid);
	pid = privsep_start(become_dumpable_and_confine, &role);
	assert_int_equal(privsep_wait_verified(role, pid, 1, without_namespace(role)),
			 without_namespace(role));
	assert_int_equal(owner_of(pid), 0);
	privsep_end(pid);
}

static void selftest_unconfined(const void *role)
{
	signal(SIGTTOU, SIG_IGN);
	if (policy_selftest(*(const enum policy_role *)role) == 0)
		_exit(1);
}

static void test_confinement__selftest_notices_a_missing_filter(void **state)
{
	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	FOR_EACH_ROLE(role)
	assert_int_equal(privsep_run(selftest_unconfined, &role), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confinement__roles_verify),
		cmocka_unit_test(test_confinement__roles_share_no_uid),
		cmocka_unit_test(test_confinement__missing_filter_is_noticed),
		cmocka_unit_test(test_confinement__missing_drop_is_noticed),
		cmocka_unit_test(test_confinement__half_a_drop_is_noticed),
		cmocka_unit_test(test_confinement__ids_hold_without_the_filter),
		cmocka_unit_test(test_confinement__securebits_are_set_and_locked),
		cmocka_unit_test(test_confinement__capabilities_survive_exec_as_the_table_says),
		cmocka_unit_test(test_confinement__filter_holds_for_root),
		cmocka_unit_test(test_confinement__helpers_and_viewers_have_a_filter),
		cmocka_unit_test(test_confinement__a_viewer_keeps_what_its_row_says),
		cmocka_unit_test(test_confinement__a_helper_with_capabilities_is_refused),
		cmocka_unit_test(test_confinement__helpers_and_viewers_hold_from_outside),
		cmocka_unit_test(test_confinement__limits_are_set),
		cmocka_unit_test(test_confinement__loader_is_not_dumpable),
		cmocka_unit_test(test_confinement__selftest_notices_a_missing_filter),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
