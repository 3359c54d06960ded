/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of its own: those of policy/ are of roles that are started with privilege, with users and
 * namespaces. These programs are anybody's.
 */
#include "view/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

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

#define CHANNEL_FILES_MAX 64

struct call {
	int number;
	unsigned int conditions;
	struct scmp_arg_cmp condition;
};

/* clang-format off */
#define CALL(name)		  {SCMP_SYS(name), 0, {0}}
#define CALL_EQ(name, arg, value) {SCMP_SYS(name), 1, {arg, SCMP_CMP_EQ, value, 0}}
#define CALL_NOT_EXEC(name)	  {SCMP_SYS(name), 1, {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}}

static const struct call allowed[] = {
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

static const struct call of_debug_files[] = {
	CALL(pwrite64), CALL(ftruncate),
	CALL_EQ(fcntl, 1, F_GETFD), /* libelf: is it open? */
};

static const struct call of_channel[] = {
	CALL(sendmsg), CALL(recvmsg), CALL(poll), CALL(ppoll),
};

static const struct call of_terminal[] = {
	CALL(epoll_wait), CALL(epoll_pwait), CALL_EQ(epoll_ctl, 1, EPOLL_CTL_DEL),
	CALL_EQ(ioctl, 1, TIOCGWINSZ),
};

/* libdw looks for other files by name: .dwo, .gnu_debugaltlink, and where its own file lies. */
static const struct call refused[] = {
	CALL(openat), CALL(readlinkat), CALL(statx), CALL(faccessat),
	CALL(open), CALL(readlink), CALL(access), CALL(stat), /* where the machine has them */
};
/* clang-format on */

static int add(scmp_filter_ctx context, uint32_t action, const struct call *calls, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = seccomp_rule_add_array(context, action, calls[i].number, calls[i].conditions,
					   &calls[i].condition);
	return r;
}

static int filter(const struct confine_limits *limits)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = context ? 0 : -ENOMEM;

	r = r ? r : add(context, SCMP_ACT_ALLOW, allowed, sizeof(allowed) / sizeof(allowed[0]));
	if (limits->terminal && r == 0)
		r = add(context, SCMP_ACT_ALLOW, of_terminal,
			sizeof(of_terminal) / sizeof(of_terminal[0]));
	if (limits->channel && r == 0)
		r = add(context, SCMP_ACT_ALLOW, of_channel,
			sizeof(of_channel) / sizeof(of_channel[0]));
	if (limits->debug_files && r == 0)
		r = add(context, SCMP_ACT_ALLOW, of_debug_files,
			sizeof(of_debug_files) / sizeof(of_debug_files[0]));
	if (limits->debug_files && r == 0)
		r = add(context, SCMP_ACT_ERRNO(EACCES), refused,
			sizeof(refused) / sizeof(refused[0]));
	r = r ? r : seccomp_load(context);
	if (context)
		seccomp_release(context);
	return r;
}

/* The hard limit of time kills, the other one ends it with SIGXCPU, which says why. */
static int limit(int resource, rlim_t most)
{
	const rlim_t more = resource == RLIMIT_CPU ? 1 : 0;
	struct rlimit value = {most, most + more};
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)resource, &now))
		return -errno;
	if (now.rlim_cur <= most) /* a lower one from outside stands */
		value.rlim_cur = now.rlim_cur;
	if (now.rlim_max <= value.rlim_max)
		value.rlim_max = now.rlim_max;
	if (value.rlim_cur > value.rlim_max)
		value.rlim_cur = value.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &value) ? -errno : 0;
}

static int give_up_capabilities(void)
{
	cap_t none = cap_init();
	int r = !none ? -ENOMEM : cap_set_proc(none) ? -errno : 0;

	cap_free(none);
	return r;
}

static int compare_fds(const void *a, const void *b)
{
	const int *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

void confine_files(int *fds, size_t count)
{
	unsigned int from = STDERR_FILENO + 1;

	qsort(fds, count, sizeof(*fds), compare_fds);
	for (size_t i = 0; i < count; i++) {
		if (fds[i] < (int)from)
			continue;
		if (fds[i] > (int)from)
			close_range(from, (unsigned int)fds[i] - 1, 0);
		from = (unsigned int)fds[i] + 1;
	}
	close_range(from, ~0u, 0);
}

int confine(const struct confine_limits *limits)
{
	const struct {
		int resource;
		uint64_t most; /* 0: no limit */
	} limited[] = {
		{RLIMIT_AS, limits->address_space},
		{RLIMIT_DATA, limits->memory},
		{RLIMIT_FSIZE, limits->file},
		{RLIMIT_CPU, limits->seconds},
	};
	int r = give_up_capabilities();

	if (UNCONFINED)
		return r;
	for (size_t i = 0; i < sizeof(limited) / sizeof(limited[0]) && r == 0; i++)
		if (limited[i].most)
			r = limit(limited[i].resource, limited[i].most);
	r = r ? r : limit(RLIMIT_CORE, 0);
	/* unix(7): a process may send no more descriptors than its user has under way and this */
	r = r ? r : limit(RLIMIT_NOFILE, limits->channel ? CHANNEL_FILES_MAX : 0);
	r = r || !prctl(PR_SET_DUMPABLE, 0) ? r : -errno;
	r = r || !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? r : -errno;
	return r ? r : filter(limits);
}
