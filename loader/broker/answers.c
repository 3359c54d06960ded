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

/* Calls the kernel itself, which wants unused bytes of the union to be zero. */
static int bpf_call(enum bpf_cmd command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (r < 0)
		return -errno;
	return (int)r;
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
 * Returns 0 for a process that BPF follows and no deny rule denies, or a negative errno. Call it
 * once the file is open. open() waits for an exec that is under way: so the check judges the
 * program whose file was opened. An error of the check goes before an error of open().
 */
static int check_process(int processes, uint32_t pid)
{
	struct generation process;
	int r = -EINVAL;

	if (pid >= 1 && pid <= PROCESS_PID_MAX)
		r = map_element(BPF_MAP_LOOKUP_ELEM, processes, pid, &process);
	if (r == 0 && process.denied)
		r = -EACCES;
	explicit_bzero(&process, sizeof(process)); /* process has an address of the kernel */
	return r;
}

int answer_maps(int processes, const struct message_maps *request)
{
	char path[PATH_BYTES];
	guard_fd int fd = -1;
	int error, r;

	snprintf(path, sizeof(path), "%u/task/%u/maps", request->pid, request->thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	error = errno;
	r = check_process(processes, request->pid);
	if (r < 0)
		return r;
	if (fd < 0)
		return -error;
	return take_fd(&fd);
}

/* ---- objects ------------------------------------------------------------------------------- */

static bool object_valid(const struct message_object *request)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (request->flags & ~(uint64_t)OBJECT_WANT_FD)
		return false;
	if (request->start >= request->end)
		return false;
	return request->start % page == 0 && request->end % page == 0;
}

/*
 * Refuses a mapping whose file is open for writing: data, or shared memory. The kernel and dynamic
 * linkers open code read-only. The permissions of the link are the access mode (proc(5)).
 */
static int check_mode(const char *path)
{
	struct statx link;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_MODE, &link))
		return -errno;
	if (link.stx_mode & S_IWUSR)
		return -EACCES;
	return 0;
}

/*
 * Opens the link, which leads to the mapped inode itself, whatever the file's name is by now.
 * O_PATH asks nothing of the file system: so a file system that does not answer cannot hold the
 * broker.
 */
static int open_link(const char *path)
{
	int fd;
	int r = check_mode(path);

	if (r < 0)
		return r;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}

/* Opens the mapped file (O_PATH). Returns a descriptor or a negative errno. */
static int open_mapped(const struct message_object *request)
{
	char path[PATH_BYTES];
	struct statx thread;
	guard_fd int fd = -1;

	snprintf(path, sizeof(path), "%u/map_files/%llx-%llx", request->thread,
		 (unsigned long long)request->start, (unsigned long long)request->end);
	fd = open_link(path);
	/*
	 * The task folders of a process have no map_files, so the path above has no pid. The last
	 * question proves that the thread belongs to pid.
	 */
	snprintf(path, sizeof(path), "%u/task/%u", request->pid, request->thread);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, 0, &thread))
		return -errno;
	if (fd < 0)
		return fd;
	return take_fd(&fd);
}

/* Reads cached attributes only: a file system need not answer here either. */
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

/* A file with a lease answers -EAGAIN, which would mean another thing to the worker. */
static int reopen(int fd)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == EAGAIN)
		return -EACCES;
	if (fd < 0)
		return -errno;
	return fd;
}

int answer_object(const struct answerer *answerer, const struct message_object *request,
		  struct message_object_reply *ret_reply, int *ret_fd)
{
	const uint64_t now = time_now();
	guard_fd int fd = -1;
	int r;

	if (!object_valid(request))
		return -EINVAL;
	fd = open_mapped(request);
	r = check_process(answerer->processes, request->pid);
	if (r < 0)
		return r;
	if (fd < 0)
		return fd;
	r = identify(fd, ret_reply);
	if (r < 0)
		return r;
	if (!(request->flags & OBJECT_WANT_FD))
		return 0;
	if (limits_may_open(answerer->limits, ret_reply, now) < 0)
		return 0; /* with the identity alone */
	r = mounts_check(answerer->mounts, request->pid, fd);
	if (r < 0)
		return r;
	*ret_fd = reopen(fd);
	if (*ret_fd < 0)
		return *ret_fd;
	limits_opened(answerer->limits, ret_reply, now);
	return 0;
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
	uint32_t id;
	int r = map_element(BPF_MAP_LOOKUP_ELEM, map, 0, &id);

	if (r < 0 && r != -ENOENT)
		return r;
	*ret_segments = (struct segments){.map = map, .next = first};
	return 0;
}

int answer_segment(struct segments *segments, const struct message_segment *request)
{
	guard_fd int fd = -1;
	uint32_t inner;
	int r;

	if (request->index >= SEGMENT_MAX)
		return -EINVAL;
	if (request->index < segments->next)
		return -EEXIST;
	fd = segment_create();
	if (fd < 0)
		return fd;
	inner = (uint32_t)fd;
	r = map_element(BPF_MAP_UPDATE_ELEM, segments->map, request->index, &inner);
	if (r < 0)
		return r;
	segments->next = request->index + 1;
	return take_fd(&fd);
}
