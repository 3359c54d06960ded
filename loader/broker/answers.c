/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "ipc/time.h"
#include "loader/broker/code_file.h"
#include "loader/broker/entries.h"
#include "loader/broker/limits.h"
#include "loader/broker/mapped.h"
#include "loader/broker/mounts.h"
#include "loader/broker/thread.h"

#define PATH_BYTES 80

/* ---- processes ----------------------------------------------------------------------------- */

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
		r = entry_read(processes, &pid, &process);
	if (r == 0 && process.denied)
		r = -EACCES;
	explicit_bzero(&process, sizeof(process)); /* process has an address of the kernel */
	return r;
}

/* Opens a file of the kernel's own about a thread of the process. */
static int open_listing(int processes, const struct message_maps *request, const char *name)
{
	guard_fd int opened = thread_open(request->pid, request->thread, name);
	int r;

	r = check_process(processes, request->pid);
	if (r < 0)
		return r;
	if (opened < 0)
		return opened;
	return take_fd(&opened);
}

int answer_maps(int processes, const struct message_maps *request)
{
	return open_listing(processes, request, "maps");
}

int answer_cgroups(int processes, const struct message_maps *request)
{
	return open_listing(processes, request, "cgroup");
}

/* ---- objects ------------------------------------------------------------------------------- */

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
	const struct mapped mapped = {request->pid, request->thread, request->start, request->end};
	const uint64_t now = time_now();
	struct statx status;
	guard_fd int fd = -1;
	int r;

	if (request->flags & ~(uint64_t)OBJECT_WANT_FD || !mapped_is_valid(&mapped))
		return -EINVAL;
	fd = mapped_open(&mapped);
	r = check_process(answerer->processes, request->pid);
	if (r < 0)
		return r;
	if (fd < 0)
		return fd;
	r = mapped_identify(fd, &status, ret_reply);
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

/* ---- names of code --------------------------------------------------------------------------- */

/* Returns 0 for a process of that generation that no deny rule covers, or a negative errno. */
static int check_generation(int processes, uint32_t pid, uint64_t number)
{
	struct generation process = {0};
	int r = check_process(processes, pid);

	if (r < 0)
		return r;
	r = entry_read(processes, &pid, &process);
	if (r == 0 && (process.number != number || process.mm == MM_OF_EXEC))
		r = -ESRCH;
	explicit_bzero(&process, sizeof(process)); /* process has an address of the kernel */
	return r;
}

/* The second check proves that what was opened is of the program that the request is about. */
int answer_code_file(const struct answerer *answerer, const struct message_code_file *request,
		     struct message_object_reply *ret_reply, int *ret_fd)
{
	const struct mapped mapped = {request->pid, request->thread, request->start, request->end};
	guard_fd int path = -1, fd = -1;
	int r;

	if (answerer->no_code_files)
		return -EPERM;
	r = check_generation(answerer->processes, request->pid, request->generation);
	if (r < 0)
		return r;
	path = code_file_open(answerer->mounts, &mapped, ret_reply);
	if (path < 0)
		return path;
	fd = reopen(path);
	r = check_generation(answerer->processes, request->pid, request->generation);
	if (r < 0)
		return r;
	if (fd < 0)
		return fd;
	*ret_fd = take_fd(&fd);
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
	return entries_call(BPF_MAP_CREATE, &attr);
}

int segments_init(struct segments *ret_segments, int map, uint32_t first)
{
	uint32_t id;
	const uint32_t index = 0;
	int r = entry_read(map, &index, &id);

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
	r = entry_write(segments->map, &request->index, &inner, BPF_ANY);
	if (r < 0)
		return r;
	segments->next = request->index + 1;
	return take_fd(&fd);
}
