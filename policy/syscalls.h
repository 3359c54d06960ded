/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls of each role once it is confined. All others kill the process. Read by
 * seccomp.c, the only builder; a unit test evaluates the filters made of this.
 */
#ifndef KEYHOLE_POLICY_SYSCALLS_H
#define KEYHOLE_POLICY_SYSCALLS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "policy/policy.h"
#include "policy/procmap.h"

struct call {
	int number;
	unsigned int conditions; /* all must hold; several rows of one call are alternatives */
	struct scmp_arg_cmp condition[2];
};

/* clang-format off */
#define CALL(name)		    {SCMP_SYS(name), 0, {{0}}}
#define CALL_EQ(name, arg, value)   {SCMP_SYS(name), 1, {{arg, SCMP_CMP_EQ, value, 0}}}
#define CALL_ZERO(name, arg, mask)  {SCMP_SYS(name), 1, {{arg, SCMP_CMP_MASKED_EQ, mask, 0}}}
#define CALL_EQ2(name, arg1, value1, arg2, value2) \
	{SCMP_SYS(name), 2, {{arg1, SCMP_CMP_EQ, value1, 0}, {arg2, SCMP_CMP_EQ, value2, 0}}}

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#define OTHER_MEMFDS   (~(uint64_t)(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL))
#define NOT_READ_WRITE (~(uint64_t)(PROT_READ | PROT_WRITE))
#define CALL_ZERO2(name, arg1, mask1, arg2, mask2) \
	{SCMP_SYS(name), 2, {{arg1, SCMP_CMP_MASKED_EQ, mask1, 0}, \
			     {arg2, SCMP_CMP_MASKED_EQ, mask2, 0}}}
#define PINNED (MAP_LOCKED | MAP_HUGETLB | MAP_GROWSDOWN) /* what no limit but a host's bounds */
#define OPEN_CHANGES   (O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

static const struct call calls_always[] = {
	CALL(exit_group), CALL(rt_sigreturn), CALL(restart_syscall), CALL(close),
	CALL(clock_gettime), CALL(getrandom),
};

#define CALLS_CHANNEL CALL(recvmsg), CALL(sendmsg), CALL(poll)

static const struct call calls_messages[] = {
	CALLS_CHANNEL,
	CALL_EQ2(setsockopt, 1, SOL_SOCKET, 2, SO_PASSRIGHTS),
	CALL_EQ2(fcntl, 1, F_SETFD, 2, FD_CLOEXEC),
};

/* For a channel that was made before the filter, with descriptors that the program itself made. */
static const struct call calls_channel[] = {
	CALLS_CHANNEL,
};

/*
 * Nothing executable, neither mapped nor made so. Memory of the process's own is private, because
 * RLIMIT_DATA does not count shared memory; what is shared is a file that the process has.
 */
static const struct call calls_memory[] = {
	CALL(brk), CALL(munmap), CALL(mremap),
	CALL_ZERO2(mmap, 2, NOT_READ_WRITE, 3, MAP_SHARED | PINNED),
	CALL_ZERO2(mmap, 2, NOT_READ_WRITE, 3, MAP_ANONYMOUS | PINNED),
};

static const struct call calls_heap[] = {
	CALL_ZERO(mprotect, 2, NOT_READ_WRITE),
	CALL_EQ(madvise, 2, MADV_DONTNEED), CALL_EQ(madvise, 2, MADV_FREE),
};

/* MADV_DONTDUMP only keeps pages out of core dumps, which no role writes. */
static const struct call calls_dumps[] = {
	CALL_EQ(madvise, 2, MADV_DONTDUMP),
};

static const struct call calls_write[] = {
	CALL(write), CALL(lseek), CALL(fstat),
	/* glibc 2.33 to 2.38 ask for a descriptor's status this way. The filter cannot look at the
	 * path. Worker and exporter have an empty root (policy/README.md, "Known and open"). */
	CALL_EQ(newfstatat, 3, AT_EMPTY_PATH),
};

/*
 * fdopen() asks for the access mode (F_GETFL); object/debug/service.c asks for it too. pread64
 * reads objects, and the worker's energy zones: files of sysfs give a new text at offset 0.
 */
static const struct call calls_read[] = {
	CALL(read), CALL(pread64), CALL_EQ(fcntl, 1, F_GETFL),
};

/* The C library asks for CPUs (arenas), memory (qsort) and, without a vDSO, the time. */
static const struct call calls_libc[] = {
	CALL(exit), CALL(gettimeofday), CALL(sysinfo), CALL(sched_getaffinity),
	CALL(rt_sigprocmask),
};

/* The first steps of a thread are set_robust_list and rseq: it was created just before. */
static const struct call calls_threads[] = {
	CALL(sched_yield), CALL(clock_nanosleep), CALL(membarrier), CALL(set_robust_list),
	CALL(rseq), CALL_EQ(futex, 1, FUTEX_WAIT_PRIVATE), CALL_EQ(futex, 1, FUTEX_WAKE_PRIVATE),
	CALL_EQ(futex, 1, FUTEX_REQUEUE_PRIVATE), CALL_EQ(futex, 1, FUTEX_CMP_REQUEUE_PRIVATE),
	CALL_EQ(futex, 1, FUTEX_WAIT_BITSET_PRIVATE),
	CALL_EQ(futex, 1, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME),
	CALL_EQ(futex, 1, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME), /* pthread_join() */
};

/* epoll_wait() of the C library is the older call where there is one. */
static const struct call calls_events[] = {
#ifdef SYS_epoll_wait
	CALL(epoll_wait),
#else
	CALL(epoll_pwait),
#endif
	CALL(epoll_ctl),
};

static const struct call calls_timer[] = {
	CALL(timerfd_settime),
};

/* libelf asks whether its descriptor is open. The files of profiles were made before the filter. */
static const struct call calls_files[] = {
	CALL_EQ(fcntl, 1, F_GETFD),
};

/* The exporter reads memfds alone, by offset; newfstatat is fstat(), as in calls_write. */
static const struct call calls_deliver[] = {
	CALL(write), CALL(pread64), CALL(fstat), CALL_EQ(newfstatat, 3, AT_EMPTY_PATH),
	CALL(fsync), CALL_EQ(fcntl, 1, F_GET_SEALS),
};

/*
 * The exporter speaks on sockets that it was given, and takes clients of the page at one that
 * listens. OpenSSL asks whether it is in a fork, and wakes
 * threads that would wait for what it does once.
 */
static const struct call calls_speak[] = {
	CALL(read), CALL(getpid), CALL_EQ(accept4, 3, SOCK_NONBLOCK | SOCK_CLOEXEC),
	CALL_EQ(futex, 1, FUTEX_WAKE_PRIVATE),
};

/*
 * Opens, never creates or writes files; what it opened goes to the worker as a descriptor. It reads
 * lists of mounts and of mappings, and names. Three more calls are for CONTEXT: pread64 reads the
 * context of a process, and write puts that into a pipe of pipe2. Only such pipes and the sockets
 * take a write, and they let nobody wait.
 */
static const struct call calls_broker[] = {
	CALL(read), CALL(pread64), CALL(write), CALL_EQ(pipe2, 1, O_CLOEXEC | O_NONBLOCK),
	CALL(readlinkat), CALL_EQ(ioctl, 1, PROCMAP_QUERY),
	CALL_ZERO(openat, 2, OPEN_CHANGES), CALL(statx), CALL_EQ(bpf, 0, BPF_MAP_CREATE),
	CALL_EQ(bpf, 0, BPF_MAP_UPDATE_ELEM), CALL_EQ(bpf, 0, BPF_MAP_LOOKUP_ELEM),
	CALL_EQ(bpf, 0, BPF_MAP_DELETE_ELEM), CALL_EQ(bpf, 0, BPF_MAP_GET_NEXT_KEY),
};

/* Supervision: children, sampling on and off, status in /proc; tgkill is abort()'s. */
static const struct call calls_loader[] = {
	CALL(wait4), CALL(waitid), CALL(tgkill), CALL(getpid), CALL(gettid),
	CALL(rt_sigaction), CALL(writev),
	CALL_EQ2(socketpair, 0, AF_UNIX, 1, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK),
	CALL_ZERO(openat, 2, OPEN_CHANGES),
	CALL_EQ(ioctl, 1, PERF_EVENT_IOC_ENABLE), CALL_EQ(ioctl, 1, PERF_EVENT_IOC_DISABLE),
	CALL_EQ(fcntl, 1, F_GETOWN_EX),
};

/* The loader opened the policy file, and what its paths lead to. */
static const struct call calls_rules[] = {
	CALL(read), CALL(fstatfs),
};

/* Symbols go into a memfd, which stdio writes by a descriptor of its own. */
static const struct call calls_kernel_symbols[] = {
	CALL_ZERO(memfd_create, 1, OTHER_MEMFDS), CALL(dup), CALL_EQ(fcntl, 1, F_ADD_SEALS),
	CALL_EQ(ioctl, 1, TCGETS),
};

/* libelf asks whether its descriptor is open; questions and answers are files of a fixed place. */
static const struct call calls_debug_files[] = {
	CALL(pwrite64), CALL(ftruncate), CALL_EQ(fcntl, 1, F_GETFD),
};

/* libdw looks for other files by name: .dwo, .gnu_debugaltlink, and where its own file lies. */
static const struct call calls_refused[] = {
	CALL(openat), CALL(readlinkat), CALL(statx), CALL(faccessat),
#ifdef SYS_open
	CALL(open), CALL(readlink), CALL(access), CALL(stat),
#endif
};

/* The confined process waits for the descriptors watched by then, and may drop some. */
static const struct call calls_terminal[] = {
#ifdef SYS_epoll_wait
	CALL(epoll_wait),
#endif
	CALL(epoll_pwait), CALL_EQ(epoll_ctl, 1, EPOLL_CTL_DEL), CALL_EQ(ioctl, 1, TIOCGWINSZ),
};

/*
 * Looks names up and connects. A module of the C library's is a file that is mapped to be executed
 * and never to be written to. NETLINK_ROUTE tells which addresses the machine has.
 */
static const struct call calls_connect[] = {
	CALL(read), CALL(fstat), CALL(newfstatat), CALL(lseek), CALL(uname), CALL(getpid),
	CALL_ZERO(openat, 2, OPEN_CHANGES),
	CALL_ZERO2(mmap, 2, PROT_WRITE, 3, MAP_ANONYMOUS | MAP_SHARED | PINNED),
	CALL_EQ(futex, 1, FUTEX_WAIT_PRIVATE), CALL_EQ(futex, 1, FUTEX_WAKE_PRIVATE),
	CALL_EQ(socket, 0, AF_INET), CALL_EQ(socket, 0, AF_INET6), CALL_EQ(socket, 0, AF_UNIX),
	CALL_EQ2(socket, 0, AF_NETLINK, 2, NETLINK_ROUTE),
	CALL(connect), CALL(bind), CALL(getsockname), CALL(getpeername),
	CALL(sendto), CALL(sendmmsg), CALL(recvfrom), CALL(ppoll),
	CALL_EQ2(setsockopt, 1, IPPROTO_TCP, 2, TCP_NODELAY),
	CALL_EQ2(setsockopt, 1, IPPROTO_TCP, 2, TCP_USER_TIMEOUT),
	CALL_EQ2(setsockopt, 1, IPPROTO_IP, 2, IP_RECVERR),
	CALL_EQ2(setsockopt, 1, IPPROTO_IPV6, 2, IPV6_RECVERR),
	CALL_EQ2(getsockopt, 1, SOL_SOCKET, 2, SO_ERROR),
	CALL_EQ(ioctl, 1, FIONREAD), CALL_EQ(fcntl, 1, F_GETFL), CALL_EQ(fcntl, 1, F_SETFL),
};

#define CALL_SET(name, arg, bits)   {SCMP_SYS(name), 1, {{arg, SCMP_CMP_MASKED_EQ, bits, bits}}}
#define CALL_NOT(name, arg, value)  {SCMP_SYS(name), 1, {{arg, SCMP_CMP_NE, value, 0}}}

/*
 * Ways into parts of the kernel that neither a spawner nor the start of its child needs, refused
 * until the child has its own filter. The C library's start needs the rest. clone3 hides its flags:
 * it is not there (ENOSYS).
 */
static const struct call calls_never[] = {
	CALL(ptrace), CALL(process_vm_readv), CALL(process_vm_writev), CALL(process_madvise),
	CALL(pidfd_getfd), CALL(kcmp), CALL(bpf), CALL(perf_event_open), CALL(userfaultfd),
	CALL(io_uring_setup), CALL(io_uring_enter), CALL(io_uring_register),
	CALL(add_key), CALL(request_key), CALL(keyctl), CALL(unshare), CALL(setns),
	CALL_SET(clone, 0, CLONE_NEWUSER), CALL(mount), CALL(umount2), CALL(pivot_root),
	CALL(chroot), CALL(open_tree), CALL(move_mount), CALL(mount_setattr), CALL(fsopen),
	CALL(fsconfig), CALL(fsmount), CALL(fspick), CALL(name_to_handle_at),
	CALL(open_by_handle_at), CALL(fanotify_init), CALL(init_module), CALL(finit_module),
	CALL(delete_module), CALL(kexec_load), CALL(kexec_file_load), CALL(reboot), CALL(swapon),
	CALL(swapoff), CALL(acct), CALL(quotactl), CALL(syslog), CALL(settimeofday),
	CALL(clock_settime), CALL(sethostname), CALL(setdomainname), CALL(personality),
	CALL_NOT(socket, 0, AF_UNIX),
};

struct group {
	const struct call *calls;
	size_t count;
	int refused_with; /* 0: they are allowed, else the errno that they return */
};
#define GROUP(calls)	    {calls, sizeof(calls) / sizeof(*(calls)), 0}
#define REFUSED(calls, error) {calls, sizeof(calls) / sizeof(*(calls)), error}

/*
 * The groups of each role, which end with the row or before the first empty group. A role has a row
 * here when its row of roles.h has LAYER_BIT(seccomp): policy_filter() asks for the layer, and
 * test_policy_syscalls compares the two tables.
 */
#define ROLE_GROUPS 12
static const struct group role_groups[ROLE_ALL][ROLE_GROUPS] = {
	[ROLE_LOADER] = {GROUP(calls_always), GROUP(calls_messages), GROUP(calls_memory),
			 GROUP(calls_heap), GROUP(calls_dumps), GROUP(calls_write),
			 GROUP(calls_read), GROUP(calls_libc), GROUP(calls_threads),
			 GROUP(calls_loader)},
	[ROLE_WORKER] = {GROUP(calls_always), GROUP(calls_messages), GROUP(calls_memory),
			 GROUP(calls_heap), GROUP(calls_dumps), GROUP(calls_write),
			 GROUP(calls_read), GROUP(calls_libc), GROUP(calls_threads),
			 GROUP(calls_events), GROUP(calls_timer), GROUP(calls_files)},
	[ROLE_EXPORTER] = {GROUP(calls_always), GROUP(calls_messages), GROUP(calls_memory),
			   GROUP(calls_heap), GROUP(calls_dumps), GROUP(calls_libc),
			   GROUP(calls_events), GROUP(calls_deliver), GROUP(calls_speak)},
	[ROLE_BROKER] = {GROUP(calls_always), GROUP(calls_messages), GROUP(calls_libc),
			 GROUP(calls_broker)},
	[ROLE_KERNEL_SYMBOLS] = {GROUP(calls_always), GROUP(calls_messages), GROUP(calls_memory),
				 GROUP(calls_heap), GROUP(calls_write), GROUP(calls_read),
				 GROUP(calls_libc), GROUP(calls_kernel_symbols)},
	[ROLE_RULES] = {GROUP(calls_always), GROUP(calls_messages), GROUP(calls_memory),
			GROUP(calls_write), GROUP(calls_rules)},
	[ROLE_AUDIT] = {GROUP(calls_always), GROUP(calls_messages), GROUP(calls_memory),
			GROUP(calls_write)},
	[ROLE_CONNECTOR] = {GROUP(calls_always), GROUP(calls_messages), GROUP(calls_memory),
			    GROUP(calls_heap), GROUP(calls_libc), GROUP(calls_connect)},
	[ROLE_REPORT] = {GROUP(calls_always), GROUP(calls_memory), GROUP(calls_heap),
			 GROUP(calls_write), GROUP(calls_read), GROUP(calls_libc)},
	[ROLE_PROFILE] = {GROUP(calls_always), GROUP(calls_channel), GROUP(calls_memory),
			  GROUP(calls_heap), GROUP(calls_write), GROUP(calls_read),
			  GROUP(calls_libc), GROUP(calls_debug_files),
			  REFUSED(calls_refused, EACCES)},
	[ROLE_DEBUG] = {GROUP(calls_always), GROUP(calls_memory), GROUP(calls_heap),
			GROUP(calls_write), GROUP(calls_read), GROUP(calls_libc),
			GROUP(calls_debug_files), REFUSED(calls_refused, EACCES)},
	[ROLE_TERMINAL] = {GROUP(calls_always), GROUP(calls_memory), GROUP(calls_heap),
			   GROUP(calls_write), GROUP(calls_read), GROUP(calls_libc),
			   GROUP(calls_terminal)},
};
/* clang-format on */

/*
 * The self-test makes these calls, which must be refused. None has a sixth argument: a mark there
 * asks the filter for PROBE_ERRNO, where the same filter kills without the mark. A role's filter
 * leaves out the rows of calls that the role may make.
 */
#define PROBE_MARK    0x6b65796c6full
#define PROBE_ERRNO   ENOTUNIQ
#define SPAWNER_ERRNO EUNATCH /* of a spawner's filter: the youngest filter's errno is returned */

struct probe {
	int number;
	unsigned long argument[5];
	unsigned int condition; /* argument that makes an allowed call a forbidden one, else 0 */
	unsigned long mask;
};

static const struct probe probes[] = {
	{SCMP_SYS(openat), {(unsigned long)AT_FDCWD, (unsigned long)"/", O_RDONLY}, 0, 0},
	{SCMP_SYS(socket), {AF_UNIX, SOCK_DGRAM}, 0, 0},
	{SCMP_SYS(ptrace), {PTRACE_TRACEME}, 0, 0},
	{SCMP_SYS(bpf), {BPF_MAP_GET_NEXT_ID}, 0, 0},
	{SCMP_SYS(unshare), {0}, 0, 0},
	{SCMP_SYS(kill), {0, 0}, 0, 0},
	{SCMP_SYS(execve), {0, 0, 0}, 0, 0},
	{SCMP_SYS(mprotect), {0, 0, PROT_READ | PROT_EXEC}, 2, PROT_EXEC}};
#define PROBES (sizeof(probes) / sizeof(*probes))

#endif
