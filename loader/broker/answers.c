/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "ipc/time.h"
#include "loader/broker/limits.h"
#include "loader/broker/mounts.h"

#define PATH_BYTES 80

/* ---- processes ----------------------------------------------------------------------------- */

/* Raw: the attributes are a union whose unused bytes the kernel wants to be zero. */
static int bpf_call(enum bpf_cmd command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

static int map_element(enum bpf_cmd command, int map, uint32_t index, void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&index;
	attr.value = (uintptr_t)value;
	return bpf_call(command, &attr);
}

/*
 * Only those that BPF follows and no rule of the policy denies. Asked once a file is open, which
 * waits for an exec that is under way: of whom it is now. It comes before any other error.
 */
static int check_process(int processes, uint32_t pid)
{
	struct generation process;
	int r = -EINVAL;

	if (pid >= 1 && pid <= PROCESS_PID_MAX)
		r = map_element(BPF_MAP_LOOKUP_ELEM, processes, pid, &process);
	r = r == 0 && process.denied ? -EACCES : r;
	explicit_bzero(&process, sizeof(process)); /* it has an address of the kernel */
	return r;
}

int answer_maps(int processes, const struct message_maps *request)
{
	char path[PATH_BYTES];
	guard_fd int fd = -1;
	int error, r;

	snprintf(path, sizeof(path), "%u/task/%u/maps", request->pid, request->thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	error = fd < 0 ? -errno : 0;
	r = check_process(processes, request->pid);
	r = r < 0 ? r : error;
	return r < 0 ? r : take_fd(&fd);
}

/* ---- objects ------------------------------------------------------------------------------- */

static bool object_valid(const struct message_object *request)
{
	long page = sysconf(_SC_PAGESIZE);

	return !(request->flags & ~(uint64_t)OBJECT_WANT_FD) && request->start < request->end &&
	       request->start % (uint64_t)page == 0 && request->end % (uint64_t)page == 0;
}

/*
 * The link has the access mode of the mapping's file as its permissions (proc(5)). The kernel and
 * dynamic linkers open code read-only; what is open for writing is data, or shared memory.
 */
static int check_mode(const char *path)
{
	struct statx link;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_MODE, &link))
		return -errno;
	return link.stx_mode & S_IWUSR ? -EACCES : 0;
}

/* The link leads to the mapped inode itself, whatever its name is by now; O_PATH does not open it,
 * so a file system that does not answer cannot hold the broker here. */
static int open_mapped(const struct message_object *request)
{
	char path[PATH_BYTES];
	struct statx thread;
	guard_fd int fd = -1;
	int r;

	snprintf(path, sizeof(path), "%u/map_files/%llx-%llx", request->thread,
		 (unsigned long long)request->start, (unsigned long long)request->end);
	r = check_mode(path);
	fd = r < 0 ? r : open(path, O_PATH | O_CLOEXEC);
	r = r == 0 && fd < 0 ? -errno : r;
	/* a folder that only its process has, not its threads: whose it is is asked last */
	snprintf(path, sizeof(path), "%u/task/%u", request->pid, request->thread);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, 0, &thread))
		return -errno;
	return r < 0 ? r : take_fd(&fd);
}

/* Cached attributes only, for the same reason. */
static int identify(int fd, struct message_object_reply *ret_reply)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status))
		return -errno;
	if (!S_ISREG(status.stx_mode))
		return -EACCES;
	ret_reply->device = makedev(status.stx_dev_major, status.stx_dev_minor);
	ret_reply->inode = status.stx_ino;
	ret_reply->size = status.stx_size;
	ret_reply->change_seconds = (uint64_t)status.stx_ctime.tv_sec;
	ret_reply->change_nanoseconds = status.stx_ctime.tv_nsec;
	return 0;
}

static int reopen(int fd)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int answer_object(int processes, struct limits *limits, const struct message_object *request,
		  struct message_object_reply *ret_reply, int *ret_fd)
{
	guard_fd int fd = object_valid(request) ? open_mapped(request) : -EINVAL;
	int r = fd == -EINVAL ? fd : check_process(processes, request->pid);

	if (r == 0)
		r = fd < 0 ? fd : identify(fd, ret_reply);
	if (r < 0 || !(request->flags & OBJECT_WANT_FD))
		return r;
	r = mounts_check(request->pid, fd);
	r = r < 0 ? r : limits_open(limits, ret_reply, time_now());
	if (r < 0)
		return r == -EALREADY ? 0 : r;
	*ret_fd = reopen(fd);
	return *ret_fd < 0 ? *ret_fd : 0;
}

/* ---- table memory -------------------------------------------------------------------------- */

static int segment_create(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = SEGMENT_BYTES;
	attr.max_entries = 1;
	attr.map_flags = BPF_F_MMAPABLE;
	memcpy(attr.map_name, "segment", sizeof("segment"));
	return bpf_call(BPF_MAP_CREATE, &attr);
}

int segments_init(struct segments *ret_segments, int map, uint32_t first)
{
	uint32_t next = first, id;
	int r = first <= SEGMENT_MAX ? 0 : -EINVAL;

	while (next < SEGMENT_MAX && (r = map_element(BPF_MAP_LOOKUP_ELEM, map, next, &id)) == 0 &&
	       !first)
		next++;
	if (r && r != -ENOENT)
		return r;
	*ret_segments = (struct segments){.map = map, .next = next, .anchored = first != 0};
	return 0;
}

int answer_segment(struct segments *segments, const struct message_segment *request)
{
	guard_fd int fd = -1;
	uint32_t inner;
	int r;

	if (request->index >= SEGMENT_MAX || request->index > segments->next ||
	    (segments->anchored && request->index != segments->next))
		return -EINVAL;
	fd = segment_create();
	if (fd < 0)
		return fd;
	inner = (uint32_t)fd;
	r = map_element(BPF_MAP_UPDATE_ELEM, segments->map, request->index, &inner);
	if (r < 0)
		return r;
	segments->anchored = true;
	segments->next = request->index + 1;
	return take_fd(&fd);
}
