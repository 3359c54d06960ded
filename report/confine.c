/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of its own: those of policy/ are of roles that are started with privilege, with users and
 * namespaces. This program is anybody's.
 */
#include "report/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Sanitizers map, open and signal as they like: such builds are not confined. */
#if defined(__SANITIZE_ADDRESS__)
#define UNCONFINED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define UNCONFINED 1
#endif
#endif
#ifndef UNCONFINED
#define UNCONFINED 0
#endif

struct call {
	int number;
	unsigned int conditions;
	struct scmp_arg_cmp condition;
};

/* clang-format off */
#define CALL(name)		  {SCMP_SYS(name), 0, {0}}
#define CALL_EQ(name, arg, value) {SCMP_SYS(name), 1, {arg, SCMP_CMP_EQ, value, 0}}
#define CALL_NOT_EXEC(name)	  {SCMP_SYS(name), 1, {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}}

static const struct call calls[] = {
	CALL(exit), CALL(exit_group), CALL(rt_sigreturn), CALL(restart_syscall), CALL(close),
	CALL(read), CALL(write), CALL(pread64), CALL(lseek), CALL(fstat),
	CALL_EQ(newfstatat, 3, AT_EMPTY_PATH), /* fstat() of glibc 2.33 to 2.38 */
	CALL_EQ(fcntl, 1, F_GETFL),
	CALL(brk), CALL(munmap), CALL(mremap), CALL_NOT_EXEC(mmap), CALL_NOT_EXEC(mprotect),
	CALL_EQ(madvise, 2, MADV_DONTNEED), CALL_EQ(madvise, 2, MADV_FREE),
	/* the C library: time, hash seeds, qsort(), arenas */
	CALL(clock_gettime), CALL(gettimeofday), CALL(getrandom), CALL(sysinfo),
	CALL(sched_getaffinity), CALL(rt_sigprocmask),
};
/* clang-format on */

static int filter(void)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = context ? 0 : -ENOMEM;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && r == 0; i++)
		r = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, calls[i].number,
					   calls[i].conditions, &calls[i].condition);
	r = r ? r : seccomp_load(context); /* sets no_new_privs first */
	if (context)
		seccomp_release(context);
	return r;
}

static int limit(int resource, rlim_t most)
{
	const struct rlimit value = {most, most};

	return setrlimit((__rlimit_resource_t)resource, &value) ? -errno : 0;
}

static int give_up_capabilities(void)
{
	cap_t none = cap_init();
	int r = !none ? -ENOMEM : cap_set_proc(none) ? -errno : 0;

	cap_free(none);
	return r;
}

int confine(void)
{
	int r = give_up_capabilities();

	if (UNCONFINED)
		return r;
	r = r ? r : limit(RLIMIT_AS, CONFINE_MEMORY_MAX);
	r = r ? r : limit(RLIMIT_CORE, 0);
	r = r ? r : limit(RLIMIT_NOFILE, 0);
	r = r || !prctl(PR_SET_DUMPABLE, 0) ? r : -errno;
	r = r || !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? r : -errno;
	return r ? r : filter();
}
