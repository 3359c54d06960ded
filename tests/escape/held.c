/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each row of held.def, on order_fd: 0, or a negative errno. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tests/escape/prisoner.h"

#define PAGE 4096ul

static int64_t read_bytes(void)
{
	char byte;

	return DONE(SYS_pread64, order_fd, &byte, 1, 0);
}

/* The fault comes after the right to write was seen, and nothing is sent on a socket. */
static int64_t write_bytes(void)
{
	int64_t r = DONE(SYS_write, order_fd, 1, 1);

	return r == -EFAULT ? 0 : r;
}

static int64_t map_as(int protection, int flags)
{
	int64_t at = CALL(SYS_mmap, 0, PAGE, protection, flags, order_fd, 0);

	if (at < 0 && at > -4096)
		return at;
	munmap((void *)(uintptr_t)at, PAGE);
	return 0;
}

static int64_t map_read(void)
{
	return map_as(PROT_READ, MAP_SHARED);
}

static int64_t map_write(void)
{
	return map_as(PROT_READ | PROT_WRITE, MAP_SHARED);
}

static int64_t map_private(void)
{
	return map_as(PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

static int64_t map_exec(void)
{
	return map_as(PROT_READ | PROT_EXEC, MAP_PRIVATE);
}

static int64_t truncate_same(void)
{
	struct stat status;

	if (fstat(order_fd, &status))
		return -errno;
	return DONE(SYS_ftruncate, order_fd, status.st_size);
}

static int64_t stat_it(void)
{
	struct stat status;

	return DONE(SYS_fstat, order_fd, &status);
}

static int64_t reopen(int flags)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", order_fd);
	if (CALL(SYS_openat, AT_FDCWD, path, flags) >= 0)
		return 0;
	return DONE(SYS_openat, AT_FDCWD, path + sizeof("/proc/") - 1, flags);
}

static int64_t reopen_write(void)
{
	return reopen(O_RDWR);
}

static int64_t reopen_read(void)
{
	return reopen(O_RDONLY);
}

static int64_t change_mode(void)
{
	struct stat status = {0};

	fstat(order_fd, &status);
	return DONE(SYS_fchmod, order_fd, status.st_mode & 07777);
}

static int64_t change_owner(void)
{
	return DONE(SYS_fchown, order_fd, -1, -1);
}

static int64_t change_times(void)
{
	return DONE(SYS_utimensat, order_fd, 0, 0, 0);
}

static int64_t lock_it(void)
{
	int64_t r = DONE(SYS_flock, order_fd, LOCK_EX | LOCK_NB);

	syscall(SYS_flock, order_fd, LOCK_UN);
	return r;
}

static int64_t lease_it(void)
{
	int64_t r = DONE(SYS_fcntl, order_fd, F_SETLEASE, F_RDLCK);

	syscall(SYS_fcntl, order_fd, F_SETLEASE, F_UNLCK);
	return r;
}

static int64_t set_flags(void)
{
	return DONE(SYS_fcntl, order_fd, F_SETFL, fcntl(order_fd, F_GETFL));
}

static int64_t set_signal(void)
{
	return DONE(SYS_fcntl, order_fd, F_SETOWN, 0);
}

static int64_t duplicate(void)
{
	return DONE(SYS_dup, order_fd);
}

static int64_t add_seals(void)
{
	return DONE(SYS_fcntl, order_fd, F_ADD_SEALS, 0);
}

static int64_t drop_cache(void)
{
	return DONE(SYS_fadvise64, order_fd, 0, 0, POSIX_FADV_DONTNEED);
}

static int64_t allocate(void)
{
	return DONE(SYS_fallocate, order_fd, FALLOC_FL_KEEP_SIZE, 0, 1);
}

static int64_t sync_it(void)
{
	return DONE(SYS_fsync, order_fd);
}

static int64_t set_attribute(void)
{
	return DONE(SYS_fsetxattr, order_fd, "user.escape", "x", 1, 0);
}

/* 10 ms or 100 Hz, whichever it goes by: a rate like the one it has. */
static int64_t perf_period(void)
{
	const uint64_t period = 10000000, frequency = 100;
	int64_t r = DONE(SYS_ioctl, order_fd, PERF_EVENT_IOC_PERIOD, &period);

	return r == -EINVAL ? DONE(SYS_ioctl, order_fd, PERF_EVENT_IOC_PERIOD, &frequency) : r;
}

static int64_t perf_enable(void)
{
	return DONE(SYS_ioctl, order_fd, PERF_EVENT_IOC_ENABLE, 0);
}

static int64_t perf_program(void)
{
	int64_t r = DONE(SYS_ioctl, order_fd, PERF_EVENT_IOC_SET_BPF, -1);

	return r == -EBADF ? 0 : r;
}

/* No element has this key, so nothing changes. */
static int64_t element(int command)
{
	static char key[64], value[1 << 20];
	union bpf_attr attr;

	memset(key, 0xff, sizeof(key));
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)order_fd;
	attr.key = (uintptr_t)key;
	attr.value = (uintptr_t)value;
	attr.flags = command == BPF_MAP_UPDATE_ELEM ? BPF_EXIST : 0;
	return DONE(SYS_bpf, command, &attr, sizeof(attr));
}

static int64_t map_lookup(void)
{
	int64_t r = element(BPF_MAP_LOOKUP_ELEM);

	return r == -ENOENT ? 0 : r;
}

/* In a map of maps: EINVAL, as descriptor 0 is none of a map. */
static int64_t map_update(void)
{
	int64_t r = element(BPF_MAP_UPDATE_ELEM);

	if (r == -EINVAL && element(BPF_MAP_LOOKUP_ELEM) == -ENOENT)
		return 0;
	return r == -ENOENT || r == -E2BIG ? 0 : r;
}

static int64_t object_info(void)
{
	static char info[512];
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)order_fd;
	attr.info.info_len = 80;
	attr.info.info = (uintptr_t)info;
	return DONE(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
}

static int64_t listen_on(void)
{
	return DONE(SYS_listen, order_fd, 1);
}

static int64_t peer_name(void)
{
	char name[128];
	socklen_t size = sizeof(name);

	return DONE(SYS_getpeername, order_fd, name, &size);
}

static int64_t peer_credentials(void)
{
	struct ucred credentials;
	socklen_t size = sizeof(credentials);

	return DONE(SYS_getsockopt, order_fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
}

static int64_t execute_it(void)
{
	char *argv[] = {(char *)(uintptr_t) "escaped", (char *)(uintptr_t) "run", NULL};
	char *envp[] = {NULL};

	return CALL(SYS_execveat, order_fd, "", argv, envp, AT_EMPTY_PATH);
}

static int64_t watch_it(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	return DONE(SYS_epoll_ctl, order_fd, EPOLL_CTL_ADD, order_fd, &event);
}

static int64_t (*const tries[])(void) = {
#define H(name, help) name,
#include "tests/escape/held.def"
#undef H
};

int64_t held_try(unsigned int number)
{
	return number < sizeof(tries) / sizeof(*tries) ? tries[number]() : -EINVAL;
}
