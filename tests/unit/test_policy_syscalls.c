/* SPDX-License-Identifier: Apache-2.0 */
/* The filters of policy/syscalls.h, evaluated here instead of by the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "policy/policy_impl.h"
#include "policy/syscalls.h"

#define INSTRUCTIONS_MAX 4096
#define ANY		 (~0ull)

#if defined(__x86_64__)
#define ARCH	   AUDIT_ARCH_X86_64
#define OTHER_ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCH	   AUDIT_ARCH_AARCH64
#define OTHER_ARCH AUDIT_ARCH_ARM
#endif

struct filter {
	struct sock_filter code[INSTRUCTIONS_MAX];
	size_t count;
};

static struct filter filters[ROLE_ALL], spawners[ROLE_SUPERVISED];

static bool has_filter(int role)
{
	return policy_layers_of((enum policy_role)role) & LAYER_BIT(seccomp);
}

static void export(enum policy_role role, bool spawner, struct filter *ret_filter)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t size;

	assert_true(fd >= 0);
	assert_int_equal(policy_filter(role, spawner, fd), 0);
	size = pread(fd, ret_filter->code, sizeof(ret_filter->code), 0);
	assert_true(size > 0 && (size_t)size < sizeof(ret_filter->code));
	ret_filter->count = (size_t)size / sizeof(struct sock_filter);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	for (int role = 0; role < ROLE_ALL; role++)
		if (has_filter(role))
			export((enum policy_role)role, false, &filters[role]);
	for (int role = 0; role < ROLE_SUPERVISED; role++)
		export((enum policy_role)role, true, &spawners[role]);
	return 0;
}

static size_t jump(const struct sock_filter *at, uint32_t a)
{
	uint32_t k = at->k;
	int taken = 0;

	switch (BPF_OP(at->code)) {
	case BPF_JA:
		return k;
	case BPF_JEQ:
		taken = a == k;
		break;
	case BPF_JGT:
		taken = a > k;
		break;
	case BPF_JGE:
		taken = a >= k;
		break;
	case BPF_JSET:
		taken = (a & k) != 0;
		break;
	}
	return taken ? at->jt : at->jf;
}

/* The part of classic BPF that libseccomp emits. */
static uint32_t evaluate(const struct filter *filter, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < filter->count; pc++) {
		const struct sock_filter *at = &filter->code[pc];

		switch (BPF_CLASS(at->code)) {
		case BPF_LD:
			assert_int_equal(at->code, BPF_LD | BPF_W | BPF_ABS);
			assert_true(at->k + sizeof(a) <= sizeof(*data));
			memcpy(&a, (const char *)data + at->k, sizeof(a));
			break;
		case BPF_ALU:
			assert_int_equal(at->code, BPF_ALU | BPF_AND | BPF_K);
			a &= at->k;
			break;
		case BPF_JMP:
			pc += jump(at, a);
			break;
		case BPF_RET:
			return at->k;
		default:
			fail_msg("instruction %zu: code %#x", pc, at->code);
		}
	}
	fail_msg("the filter has no end");
	return 0;
}

static uint32_t verdict(const struct filter *filter, long number, const uint64_t *arguments)
{
	struct seccomp_data data = {.nr = (int)number, .arch = ARCH};

	memcpy(data.args, arguments, sizeof(data.args));
	return evaluate(filter, &data);
}

/* The macros of the tables have been expanded here. */
#undef CALL
#define CALL(role, number, ...) verdict(&filters[role], number, (const uint64_t[6]){__VA_ARGS__})
#define SPAWNER_CALL(role, number, ...) \
	verdict(&spawners[role], number, (const uint64_t[6]){__VA_ARGS__})
#define assert_allowed(...) assert_int_equal(CALL(__VA_ARGS__), SECCOMP_RET_ALLOW)
#define assert_killed(...)  assert_int_equal(CALL(__VA_ARGS__), SECCOMP_RET_KILL_PROCESS)

/* How many calls pass whatever their arguments are. */
static unsigned int plain_calls(enum policy_role role)
{
	unsigned int count = 0;

	for (long number = 0; number < 1024; number++)
		count += CALL(role, number, ANY, ANY, ANY, ANY, ANY, ANY) == SECCOMP_RET_ALLOW;
	return count;
}

static void test_policy_syscalls__stay_few(void **state)
{
	(void)state;
	assert_in_range(plain_calls(ROLE_WORKER), 20, 32);
	assert_in_range(plain_calls(ROLE_EXPORTER), 15, 25);
	assert_in_range(plain_calls(ROLE_BROKER), 10, 17);
	assert_in_range(plain_calls(ROLE_LOADER), 30, 62);
	assert_in_range(plain_calls(ROLE_KERNEL_SYMBOLS), 20, 25);
	assert_in_range(plain_calls(ROLE_RULES), 12, 17);
	assert_in_range(plain_calls(ROLE_AUDIT), 10, 15);
	assert_in_range(plain_calls(ROLE_CONNECTOR), 20, 31);
	assert_in_range(plain_calls(ROLE_REPORT), 15, 19);
	assert_in_range(plain_calls(ROLE_PROFILE), 20, 24);
	assert_in_range(plain_calls(ROLE_DEBUG), 17, 21);
	assert_in_range(plain_calls(ROLE_TERMINAL), 17, 21);
}

static void mark_filtered(const struct group *group, bool filtered[1024])
{
	for (size_t i = 0; i < group->count; i++) {
		assert_in_range(group->calls[i].number, 0, 1023);
		if (group->calls[i].conditions)
			filtered[group->calls[i].number] = true;
	}
}

/* The count above misses a call that is wrong only with arguments of ones. */
static unsigned int filtered_calls(enum policy_role role)
{
	bool filtered[1024] = {false};
	unsigned int count = 0;

	for (size_t i = 0; i < ROLE_GROUPS; i++)
		mark_filtered(&role_groups[role][i], filtered);
	for (int number = 0; number < 1024; number++)
		count += filtered[number];
	return count;
}

static void test_policy_syscalls__those_filtered_by_argument_stay_few(void **state)
{
	(void)state;
	for (enum policy_role role = 0; role < ROLE_ALL; role++)
		if (has_filter(role))
			print_message(
				"figure: system calls of %s: %u, and %u filtered by argument\n",
				policy_role(role)->program, plain_calls(role),
				filtered_calls(role));
	assert_in_range(filtered_calls(ROLE_WORKER), 4, 7);
	assert_in_range(filtered_calls(ROLE_EXPORTER), 4, 8);
	assert_in_range(filtered_calls(ROLE_BROKER), 3, 5);
	assert_in_range(filtered_calls(ROLE_LOADER), 8, 11);
}

static bool row_has(int role, long number)
{
	for (size_t i = 0; i < ROLE_GROUPS; i++)
		for (size_t call = 0; call < role_groups[role][i].count; call++)
			if (role_groups[role][i].calls[call].number == number)
				return true;
	return false;
}

/* The worker's row is full: a reader of rows that goes on would give it the exporter's calls. */
static void test_policy_syscalls__a_full_row_ends(void **state)
{
	(void)state;
	assert_non_null(role_groups[ROLE_WORKER][ROLE_GROUPS - 1].calls);
	assert_int_equal(CALL(ROLE_WORKER, SYS_fsync, ANY, ANY, ANY, ANY, ANY, ANY),
			 SECCOMP_RET_KILL_PROCESS);
	for (int role = 0; role < ROLE_ALL; role++)
		for (long number = 0; has_filter(role) && number < 1024; number++)
			if (!row_has(role, number))
				assert_int_not_equal(
					CALL(role, number, ANY, ANY, ANY, ANY, ANY, ANY),
					SECCOMP_RET_ALLOW);
}

/* A group behind an empty one would be lost. */
static void test_policy_syscalls__rows_have_no_gaps(void **state)
{
	(void)state;
	for (int role = 0; role < ROLE_ALL; role++)
		for (size_t i = 1; i < ROLE_GROUPS; i++)
			if (role_groups[role][i].calls)
				assert_non_null(role_groups[role][i - 1].calls);
}

static bool connects(long number)
{
	return number == SYS_socket || number == SYS_connect || number == SYS_bind;
}

static void test_policy_syscalls__nobody_gets_the_dangerous_ones(void **state)
{
	static const long numbers[] = {
		SYS_execve,
		SYS_execveat,
		SYS_clone,
		SYS_clone3,
		SYS_ptrace,
		SYS_unshare,
		SYS_setns,
		SYS_mount,
		SYS_socket,
		SYS_connect,
		SYS_bind,
		SYS_listen,
		SYS_accept4,
		SYS_setuid,
		SYS_setgid,
		SYS_setresuid,
		SYS_setresgid,
		SYS_setgroups,
		SYS_capset,
		SYS_init_module,
		SYS_finit_module,
		SYS_kexec_load,
		SYS_perf_event_open,
		SYS_process_vm_readv,
		SYS_process_vm_writev,
		SYS_io_uring_setup,
		SYS_userfaultfd,
		SYS_keyctl,
		SYS_add_key,
		SYS_personality,
		SYS_pidfd_getfd,
		SYS_pidfd_open,
		SYS_open_by_handle_at,
		SYS_openat2,
		SYS_unlinkat,
		SYS_renameat2,
		SYS_linkat,
		SYS_symlinkat,
		SYS_mkdirat,
		SYS_chroot,
		SYS_pivot_root,
		SYS_seccomp,
		SYS_kcmp,
		SYS_shmat,
	};

	(void)state;
	for (int role = 0; role < ROLE_ALL; role++)
		for (size_t i = 0; has_filter(role) && i < sizeof(numbers) / sizeof(*numbers);
		     i++) {
			if (role == ROLE_CONNECTOR && connects(numbers[i]))
				continue;
			assert_killed((enum policy_role)role, numbers[i], 0, 0, 0, 0, 0, 0);
			assert_killed((enum policy_role)role, numbers[i], ANY, ANY, ANY, ANY, ANY,
				      ANY);
		}
}

static void test_policy_syscalls__worker_opens_nothing(void **state)
{
	const enum policy_role role = ROLE_WORKER;

	(void)state;
	assert_killed(role, SYS_openat, (uint64_t)AT_FDCWD, 0, O_RDONLY);
	assert_killed(role, SYS_socketpair, AF_UNIX);
	assert_killed(role, SYS_ioctl, 3, PERF_EVENT_IOC_ENABLE);
	assert_killed(role, SYS_kill, 1, 9);
	assert_killed(role, SYS_statx, 0);
	for (uint64_t command = 0; command < 64; command++)
		assert_killed(role, SYS_bpf, command);
}

static void test_policy_syscalls__worker_does_its_work(void **state)
{
	static const long numbers[] = {
		SYS_read,	SYS_write,	 SYS_pread64,	   SYS_close,	      SYS_recvmsg,
		SYS_sendmsg,	SYS_brk,	 SYS_munmap,	   SYS_mremap,	      SYS_epoll_ctl,
		SYS_membarrier, SYS_exit_group,	 SYS_getrandom,	   SYS_clock_gettime, SYS_fstat,
		SYS_lseek,	SYS_sched_yield, SYS_rt_sigreturn,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		assert_allowed(ROLE_WORKER, numbers[i], 0);
	assert_allowed(ROLE_WORKER, SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 5, 0);
	assert_allowed(ROLE_WORKER, SYS_mprotect, 0, 4096, PROT_READ | PROT_WRITE);
	assert_allowed(ROLE_WORKER, SYS_madvise, 0, 4096, MADV_DONTNEED);
	assert_allowed(ROLE_WORKER, SYS_futex, 0, 128 /* FUTEX_WAIT_PRIVATE */);
	assert_allowed(ROLE_WORKER, SYS_newfstatat, 3, 0, 0, AT_EMPTY_PATH);
}

/* keyhole-connector is the one program that opens sockets, and none of its own can be reached. */
static void test_policy_syscalls__the_connector_connects(void **state)
{
	const enum policy_role role = ROLE_CONNECTOR;

	(void)state;
	assert_allowed(role, SYS_socket, AF_INET, SOCK_STREAM, 0);
	assert_allowed(role, SYS_socket, AF_INET6, SOCK_DGRAM, 0);
	assert_allowed(role, SYS_socket, AF_UNIX, SOCK_STREAM, 0);
	assert_allowed(role, SYS_socket, AF_NETLINK, SOCK_RAW, 0);
	assert_killed(role, SYS_socket, AF_NETLINK, SOCK_RAW, 12 /* NETLINK_NETFILTER */);
	assert_killed(role, SYS_socket, AF_PACKET, SOCK_RAW, 0);
	assert_killed(role, SYS_socket, AF_VSOCK, SOCK_STREAM, 0);
	assert_allowed(role, SYS_openat, (uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC);
	assert_killed(role, SYS_openat, (uint64_t)AT_FDCWD, 0, O_WRONLY);
	assert_killed(role, SYS_openat, (uint64_t)AT_FDCWD, 0, O_RDWR | O_CREAT);
	/* modules are files, and nothing that was written to is executed */
	assert_allowed(role, SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, ANY, 0);
	assert_killed(role, SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC | PROT_WRITE, MAP_PRIVATE, ANY,
		      0);
	assert_killed(role, SYS_mmap, 0, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, ANY, 0);
	assert_killed(role, SYS_mprotect, 0, 4096, PROT_READ | PROT_EXEC);
	assert_killed(role, SYS_kill, 1, 9);
	assert_killed(role, SYS_memfd_create, 0, 0);
}

/* A client is for the event loop alone, and no program inherits its socket. */
static void test_policy_syscalls__the_exporter_takes_clients(void **state)
{
	(void)state;
	for (int role = 0; role < ROLE_ALL; role++)
		if (has_filter(role) && role != ROLE_EXPORTER)
			assert_killed((enum policy_role)role, SYS_accept4, 3, 0, 0,
				      SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_allowed(ROLE_EXPORTER, SYS_accept4, 3, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_killed(ROLE_EXPORTER, SYS_accept4, 3, 0, 0, SOCK_NONBLOCK);
	assert_killed(ROLE_EXPORTER, SYS_accept4, 3, 0, 0, SOCK_CLOEXEC);
	assert_killed(ROLE_EXPORTER, SYS_listen, 3, 8);
}

/* Memory that no limit of the worker counts, or that takes the host's own reserves. */
static void test_policy_syscalls__no_uncounted_memory(void **state)
{
	static const uint64_t flags[] = {
		MAP_SHARED | MAP_ANONYMOUS,
		MAP_SHARED_VALIDATE | MAP_ANONYMOUS,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED,
		MAP_SHARED | MAP_LOCKED,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		MAP_SHARED | MAP_HUGETLB,
		MAP_PRIVATE | MAP_GROWSDOWN,
	};
	const uint64_t prot = PROT_READ | PROT_WRITE;

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		assert_killed(ROLE_WORKER, SYS_mmap, 0, 4096, prot, flags[i], ANY, 0);
	assert_allowed(ROLE_WORKER, SYS_mmap, 0, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS, ANY, 0);
	assert_killed(ROLE_WORKER, SYS_memfd_create, 0, 0);
	assert_killed(ROLE_WORKER, SYS_fcntl, 3, F_ADD_SEALS, F_SEAL_WRITE);
	assert_killed(ROLE_WORKER, SYS_ftruncate, 3, 0);
	assert_killed(ROLE_KERNEL_SYMBOLS, SYS_memfd_create, 0, MFD_HUGETLB);
}

static void test_policy_syscalls__no_executable_memory(void **state)
{
	const uint64_t executable = PROT_READ | PROT_EXEC;

	(void)state;
	for (int i = 0; i < ROLE_ALL; i++) {
		enum policy_role role = (enum policy_role)i;

		if (!has_filter(role) || role == ROLE_CONNECTOR)
			continue;
		assert_killed(role, SYS_mmap, 0, 4096, executable, MAP_PRIVATE, ANY, 0);
		assert_killed(role, SYS_mmap, 0, 4096, PROT_EXEC, MAP_PRIVATE, ANY, 0);
		assert_killed(role, SYS_mprotect, 0, 4096, executable);
		assert_killed(role, SYS_mprotect, 0, 4096, 1ull << 32);
		assert_killed(role, SYS_pkey_mprotect, 0, 4096, PROT_READ);
	}
}

static void test_policy_syscalls__arguments_are_looked_at(void **state)
{
	(void)state;
	assert_killed(ROLE_WORKER, SYS_fcntl, 3, F_SETLEASE, F_WRLCK);
	assert_killed(ROLE_WORKER, SYS_fcntl, 3, F_SETFL, 0);
	assert_killed(ROLE_WORKER, SYS_fcntl, 3, F_SETFD, 0);
	assert_allowed(ROLE_WORKER, SYS_fcntl, 3, F_SETFD, FD_CLOEXEC);
	assert_killed(ROLE_WORKER, SYS_newfstatat, AT_FDCWD, 0, 0, 0);
	assert_killed(ROLE_WORKER, SYS_madvise, 0, 4096, MADV_HUGEPAGE);
	assert_killed(ROLE_WORKER, SYS_setsockopt, 3, SOL_SOCKET, SO_SNDBUFFORCE);
	assert_killed(ROLE_WORKER, SYS_futex, 0, 0);
	assert_killed(ROLE_EXPORTER, SYS_fcntl, 3, F_ADD_SEALS, 1);
	assert_allowed(ROLE_EXPORTER, SYS_fcntl, 3, F_GET_SEALS);
	assert_allowed(ROLE_LOADER, SYS_ioctl, 3, PERF_EVENT_IOC_ENABLE);
	assert_killed(ROLE_LOADER, SYS_ioctl, 3, PERF_EVENT_IOC_PERIOD);
	assert_killed(ROLE_LOADER, SYS_ioctl, 3, PERF_EVENT_IOC_SET_BPF);
	assert_killed(ROLE_LOADER, SYS_ioctl, 0, 0x5412 /* TIOCSTI */);
	assert_killed(ROLE_LOADER, SYS_ioctl, 2, 0x5401 /* TCGETS */);
	assert_killed(ROLE_LOADER, SYS_bpf, BPF_ITER_CREATE);
	assert_killed(ROLE_LOADER, SYS_bpf, BPF_MAP_CREATE);
	assert_killed(ROLE_LOADER, SYS_socketpair, 2 /* AF_INET */);
}

static void test_policy_syscalls__broker_only_opens_for_reading(void **state)
{
	(void)state;
	assert_allowed(ROLE_BROKER, SYS_openat, (uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC);
	assert_allowed(ROLE_BROKER, SYS_openat, (uint64_t)AT_FDCWD, 0, O_PATH | O_CLOEXEC);
	assert_killed(ROLE_BROKER, SYS_openat, (uint64_t)AT_FDCWD, 0, O_WRONLY);
	assert_killed(ROLE_BROKER, SYS_openat, (uint64_t)AT_FDCWD, 0, O_RDWR);
	assert_killed(ROLE_BROKER, SYS_openat, (uint64_t)AT_FDCWD, 0, O_RDONLY | O_CREAT);
	assert_killed(ROLE_BROKER, SYS_openat, (uint64_t)AT_FDCWD, 0, O_RDONLY | O_TRUNC);
	assert_killed(ROLE_BROKER, SYS_openat, (uint64_t)AT_FDCWD, 0, O_TMPFILE);
	assert_killed(ROLE_BROKER, SYS_pread64, 3);
	assert_killed(ROLE_BROKER, SYS_readv, 3);
	assert_allowed(ROLE_BROKER, SYS_ioctl, 3, PROCMAP_QUERY);
	assert_killed(ROLE_BROKER, SYS_ioctl, 3, PERF_EVENT_IOC_ENABLE);
	assert_killed(ROLE_BROKER, SYS_mmap, 0, 4096, PROT_READ);
	for (uint64_t command = 0; command < 64; command++) {
		int allowed = command == BPF_MAP_CREATE || command == BPF_MAP_UPDATE_ELEM ||
			      command == BPF_MAP_LOOKUP_ELEM || command == BPF_MAP_DELETE_ELEM ||
			      command == BPF_MAP_GET_NEXT_KEY;

		assert_int_equal(CALL(ROLE_BROKER, SYS_bpf, command) == SECCOMP_RET_ALLOW, allowed);
	}
}

/* ---- helpers and viewers --------------------------------------------------------------------- */

#define BIT(role)     (1u << ROLE_##role)
#define FILE_ROLES    (BIT(REPORT) | BIT(PROFILE) | BIT(DEBUG) | BIT(TERMINAL))
#define OWN_ROLES     (BIT(KERNEL_SYMBOLS) | BIT(RULES) | BIT(AUDIT) | FILE_ROLES)
#define DEBUGGERS     (BIT(PROFILE) | BIT(DEBUG))
#define CHANNEL_ROLES (BIT(KERNEL_SYMBOLS) | BIT(RULES) | BIT(AUDIT) | BIT(PROFILE))

/* One form of a call, and the roles that may make it; it ends the others. */
static const struct {
	long number;
	uint64_t arguments[6];
	unsigned int roles;
} own_calls[] = {
	{SYS_exit_group, {0}, OWN_ROLES},
	{SYS_rt_sigreturn, {0}, OWN_ROLES},
	{SYS_close, {3}, OWN_ROLES},
	{SYS_clock_gettime, {0}, OWN_ROLES},
	{SYS_getrandom, {0}, OWN_ROLES},
	{SYS_write, {1}, OWN_ROLES},
	{SYS_lseek, {1}, OWN_ROLES},
	{SYS_fstat, {1}, OWN_ROLES},
	{SYS_newfstatat, {1, 0, 0, AT_EMPTY_PATH}, OWN_ROLES},
	{SYS_newfstatat, {1, 0, 0, 0}, 0},
	{SYS_brk, {0}, OWN_ROLES},
	{SYS_munmap, {0}, OWN_ROLES},
	{SYS_mremap, {0}, OWN_ROLES},
	{SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS}, OWN_ROLES},
	{SYS_mmap, {0, 4096, PROT_READ, MAP_SHARED}, OWN_ROLES},
	{SYS_mmap, {0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS}, 0},
	{SYS_mmap, {0, 4096, 1ull << 4}, 0},
	{SYS_recvmsg, {3}, CHANNEL_ROLES},
	{SYS_sendmsg, {3}, CHANNEL_ROLES},
	{SYS_poll, {0}, CHANNEL_ROLES},
	{SYS_setsockopt, {3, SOL_SOCKET, 83}, BIT(KERNEL_SYMBOLS) | BIT(RULES) | BIT(AUDIT)},
	{SYS_setsockopt, {3, SOL_SOCKET, SO_SNDBUFFORCE}, 0},
	{SYS_fcntl, {3, F_SETFD, FD_CLOEXEC}, BIT(KERNEL_SYMBOLS) | BIT(RULES) | BIT(AUDIT)},
	{SYS_fcntl, {3, F_SETFD, 0}, 0},
	{SYS_fcntl, {3, F_SETFL, 0}, 0},
	{SYS_fcntl, {3, F_GETFL}, BIT(KERNEL_SYMBOLS) | FILE_ROLES},
	{SYS_fcntl, {3, F_GETFD}, DEBUGGERS},
	{SYS_fcntl, {3, F_ADD_SEALS}, BIT(KERNEL_SYMBOLS)},
	{SYS_read, {0}, BIT(KERNEL_SYMBOLS) | BIT(RULES) | FILE_ROLES},
	{SYS_pread64, {0}, BIT(KERNEL_SYMBOLS) | FILE_ROLES},
	{SYS_pwrite64, {0}, DEBUGGERS},
	{SYS_ftruncate, {0}, DEBUGGERS},
	{SYS_mprotect, {0, 4096, PROT_READ}, BIT(KERNEL_SYMBOLS) | FILE_ROLES},
	{SYS_madvise, {0, 4096, MADV_DONTNEED}, BIT(KERNEL_SYMBOLS) | FILE_ROLES},
	{SYS_madvise, {0, 4096, MADV_DONTDUMP}, 0},
	{SYS_sysinfo, {0}, BIT(KERNEL_SYMBOLS) | FILE_ROLES},
	{SYS_rt_sigprocmask, {0}, BIT(KERNEL_SYMBOLS) | FILE_ROLES},
	{SYS_sched_getaffinity, {0}, BIT(KERNEL_SYMBOLS) | FILE_ROLES},
	{SYS_gettimeofday, {0}, BIT(KERNEL_SYMBOLS) | FILE_ROLES},
	{SYS_fstatfs, {3}, BIT(RULES)},
	{SYS_memfd_create, {0, MFD_CLOEXEC}, BIT(KERNEL_SYMBOLS)},
	{SYS_memfd_create, {0, MFD_HUGETLB}, 0},
	{SYS_dup, {3}, BIT(KERNEL_SYMBOLS)},
	{SYS_ioctl, {3, 0x5401 /* TCGETS */}, BIT(KERNEL_SYMBOLS)},
	{SYS_ioctl, {1, TIOCGWINSZ}, BIT(TERMINAL)},
	{SYS_ioctl, {1, 0x5412 /* TIOCSTI */}, 0},
	{SYS_epoll_pwait, {3}, BIT(TERMINAL)},
	{SYS_epoll_ctl, {3, 2 /* EPOLL_CTL_DEL */}, BIT(TERMINAL)},
	{SYS_epoll_ctl, {3, 1 /* EPOLL_CTL_ADD */}, 0},
	{SYS_futex, {0, 128}, 0},
	{SYS_kill, {1, 9}, 0},
	{SYS_prctl, {0}, 0},
	{SYS_fsync, {0}, 0},
};

static void test_policy_syscalls__helpers_and_viewers_row_by_row(void **state)
{
	(void)state;
	for (int role = ROLE_SUPERVISED; role < ROLE_ALL; role++)
		for (size_t i = 0; i < sizeof(own_calls) / sizeof(*own_calls); i++) {
			const bool may = own_calls[i].roles >> role & 1;

			if (!has_filter(role) || role == ROLE_CONNECTOR)
				continue;
			assert_int_equal(verdict(&filters[role], own_calls[i].number,
						 own_calls[i].arguments),
					 may ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS);
		}
}

/* libdw looks for files by name: it is told that it may not, and goes on. */
static void test_policy_syscalls__readers_of_debug_information_open_nothing(void **state)
{
	static const long numbers[] = {SYS_openat, SYS_readlinkat, SYS_statx, SYS_faccessat};

	(void)state;
	for (int role = ROLE_SUPERVISED; role < ROLE_ALL; role++)
		for (size_t i = 0; has_filter(role) && i < sizeof(numbers) / sizeof(*numbers); i++)
			assert_int_equal(CALL(role, numbers[i], ANY, ANY, ANY, ANY, ANY, ANY),
					 DEBUGGERS >> role & 1 ? SECCOMP_RET_ERRNO | EACCES
							       : SECCOMP_RET_KILL_PROCESS);
}

/* A role has a filter where its row of roles.h says so, and nowhere else. */
static void test_policy_syscalls__a_role_without_the_layer_has_no_filter(void **state)
{
	(void)state;
	for (int role = 0; role < ROLE_ALL; role++) {
		assert_int_equal(has_filter(role), role_groups[role][0].calls != NULL);
		if (!has_filter(role))
			assert_int_equal(policy_filter((enum policy_role)role, false, -1), -EINVAL);
	}
	assert_int_equal(policy_filter(ROLE_AUDIT, true, -1), -EINVAL);
}

/* The ids of helpers are those of the loader later, and only the supervised have more layers. */
static void test_policy_syscalls__rows_of_helpers_and_viewers(void **state)
{
	const uint32_t outside =
		LAYER_BIT(namespaces) | LAYER_BIT(pid) | LAYER_BIT(root) | LAYER_BIT(landlock);

	(void)state;
	for (int i = ROLE_SUPERVISED; i < ROLE_ALL; i++) {
		const struct role *role = policy_role((enum policy_role)i);
		const bool drops = role->layers & LAYER_BIT(ids);

		assert_int_equal(role->layers & outside, 0);
		assert_true(role->layers & LAYER_BIT(capabilities));
		if (i == ROLE_CONNECTOR) /* bytes of the network must not reach the loader */
			assert_int_equal(role->id, 65435);
		else
			assert_int_equal(role->id,
					 drops ? policy_role(ROLE_LOADER)->id : ROLE_ID_OF_CALLER);
		if (drops || has_filter(i))
			assert_int_equal(role->capabilities, 0);
		if (!drops)
			assert_int_equal(policy_become((enum policy_role)i), -EINVAL);
	}
}

static void test_policy_syscalls__other_architectures_are_killed(void **state)
{
	struct seccomp_data data = {.nr = SYS_read, .arch = OTHER_ARCH};

	(void)state;
	for (int role = 0; role < ROLE_ALL; role++) {
		if (!has_filter(role))
			continue;
		assert_int_equal(evaluate(&filters[role], &data), SECCOMP_RET_KILL_PROCESS);
		assert_killed((enum policy_role)role, 0x40000000 + SYS_read, 0);
	}
}

static void test_policy_syscalls__marked_probes_get_an_errno(void **state)
{
	const uint64_t mark = 0x6b65796c6f;

	(void)state;
	for (int i = 0; i < ROLE_SUPERVISED; i++) {
		enum policy_role role = (enum policy_role)i;

		assert_int_equal(CALL(role, SYS_socket, 1, 2, 0, 0, 0, mark),
				 SECCOMP_RET_ERRNO | ENOTUNIQ);
		assert_killed(role, SYS_socket, 1, 2, 0, 0, 0, mark + 1);
		assert_killed(role, SYS_clone, 0, 0, 0, 0, 0, mark);
	}
	for (int role = ROLE_SUPERVISED; role < ROLE_ALL; role++)
		if (has_filter(role) && role != ROLE_CONNECTOR)
			assert_killed(role, SYS_socket, 1, 2, 0, 0, 0, mark);
	assert_int_equal(CALL(ROLE_WORKER, SYS_mprotect, 0, 0, PROT_EXEC, 0, 0, mark),
			 SECCOMP_RET_ERRNO | ENOTUNIQ);
	assert_allowed(ROLE_WORKER, SYS_mprotect, 0, 0, PROT_READ, 0, 0, mark);
}

/* These calls are refused before a child has its own filter. A mark does not allow them. */
static void test_policy_syscalls__spawners_refuse_what_no_child_needs(void **state)
{
	static const long numbers[] = {
		SYS_ptrace,
		SYS_perf_event_open,
		SYS_mount,
		SYS_unshare,
		SYS_setns,
		SYS_kexec_load,
		SYS_finit_module,
		SYS_keyctl,
		SYS_io_uring_setup,
		SYS_userfaultfd,
		SYS_pidfd_getfd,
		SYS_process_vm_readv,
		SYS_open_by_handle_at,
		SYS_chroot,
		SYS_pivot_root,
		SYS_fsmount,
		SYS_move_mount,
	};
	const uint64_t mark = 0x6b65796c6f;

	(void)state;
	for (int i = ROLE_WORKER; i < ROLE_SUPERVISED; i++) {
		enum policy_role role = (enum policy_role)i;

		for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++) {
			assert_int_equal(SPAWNER_CALL(role, numbers[n], 0),
					 SECCOMP_RET_KILL_PROCESS);
			assert_int_equal(SPAWNER_CALL(role, numbers[n], 0, 0, 0, 0, 0, mark),
					 SECCOMP_RET_ERRNO | EUNATCH);
		}
		assert_int_equal(SPAWNER_CALL(role, SYS_bpf, BPF_MAP_CREATE),
				 role == ROLE_BROKER ? SECCOMP_RET_ALLOW
						     : SECCOMP_RET_KILL_PROCESS);
		assert_int_equal(SPAWNER_CALL(role, SYS_socket, 2 /* AF_INET */, 0, 0, 0, 0, mark),
				 SECCOMP_RET_KILL_PROCESS);
		assert_int_equal(SPAWNER_CALL(role, SYS_clone, CLONE_NEWUSER | SIGCHLD),
				 SECCOMP_RET_KILL_PROCESS);
		assert_int_equal(SPAWNER_CALL(role, SYS_clone3, ANY, ANY),
				 SECCOMP_RET_ERRNO | ENOSYS);
		assert_int_equal(SPAWNER_CALL(role, 0x40000000 + SYS_read),
				 SECCOMP_RET_KILL_PROCESS);
	}
}

static void test_policy_syscalls__spawners_start_programs(void **state)
{
	static const long numbers[] = {
		SYS_execveat, SYS_clone,   SYS_wait4,	 SYS_kill,    SYS_poll,
		SYS_prctl,    SYS_seccomp, SYS_recvmsg,	 SYS_sendmsg, SYS_pidfd_open,
		SYS_mmap,     SYS_openat,  SYS_mprotect, SYS_futex,   444 /* landlock */,
	};

	(void)state;
	for (int i = ROLE_WORKER; i < ROLE_SUPERVISED; i++) {
		for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++)
			assert_int_equal(SPAWNER_CALL(i, numbers[n], 0), SECCOMP_RET_ALLOW);
		/* all calls that the child's own filter allows */
		for (long number = 0; number < 1024; number++)
			if (CALL(i, number, 0) == SECCOMP_RET_ALLOW)
				assert_int_equal(SPAWNER_CALL(i, number, 0), SECCOMP_RET_ALLOW);
	}
}

static void test_policy_syscalls__unknown_role(void **state)
{
	(void)state;
	assert_int_equal(policy_filter(ROLE_ALL, false, -1), -EINVAL);
	assert_int_equal(policy_filter(ROLE_ALL, true, -1), -EINVAL);
	assert_int_equal(policy_become(ROLE_ALL), -EINVAL);
	assert_int_equal(policy_layers_of(ROLE_ALL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy_syscalls__stay_few),
		cmocka_unit_test(test_policy_syscalls__those_filtered_by_argument_stay_few),
		cmocka_unit_test(test_policy_syscalls__a_full_row_ends),
		cmocka_unit_test(test_policy_syscalls__rows_have_no_gaps),
		cmocka_unit_test(test_policy_syscalls__nobody_gets_the_dangerous_ones),
		cmocka_unit_test(test_policy_syscalls__worker_opens_nothing),
		cmocka_unit_test(test_policy_syscalls__worker_does_its_work),
		cmocka_unit_test(test_policy_syscalls__the_connector_connects),
		cmocka_unit_test(test_policy_syscalls__the_exporter_takes_clients),
		cmocka_unit_test(test_policy_syscalls__no_uncounted_memory),
		cmocka_unit_test(test_policy_syscalls__no_executable_memory),
		cmocka_unit_test(test_policy_syscalls__arguments_are_looked_at),
		cmocka_unit_test(test_policy_syscalls__broker_only_opens_for_reading),
		cmocka_unit_test(test_policy_syscalls__helpers_and_viewers_row_by_row),
		cmocka_unit_test(test_policy_syscalls__readers_of_debug_information_open_nothing),
		cmocka_unit_test(test_policy_syscalls__a_role_without_the_layer_has_no_filter),
		cmocka_unit_test(test_policy_syscalls__rows_of_helpers_and_viewers),
		cmocka_unit_test(test_policy_syscalls__other_architectures_are_killed),
		cmocka_unit_test(test_policy_syscalls__marked_probes_get_an_errno),
		cmocka_unit_test(test_policy_syscalls__spawners_refuse_what_no_child_needs),
		cmocka_unit_test(test_policy_syscalls__spawners_start_programs),
		cmocka_unit_test(test_policy_syscalls__unknown_role),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
