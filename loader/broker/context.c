/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/context.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "loader/broker/grant.h"
#include "loader/broker/mapped.h"
#include "loader/broker/mounts.h"
#include "loader/broker/thread.h"

#define PIECE_BYTES	      4096
#define ENVIRONMENT_BYTES_MAX (1u << 20) /* that are read of one */

/* The header of OTEP 4719, version 2. */
struct header {
	char signature[8];
	uint32_t version, size; /* size: of the payload, in bytes */
	uint64_t published;	/* 0: the process writes just now */
	uint64_t payload;	/* its address */
};
_Static_assert(sizeof(struct header) == 32, "OTEP 4719 has 32 bytes");
#define SIGNATURE "OTEL_CTX"
#define VERSION	  2u

/* ---- the process context ------------------------------------------------------------------- */

static int read_at(int memory, uint64_t address, void *ret_bytes, size_t size)
{
	ssize_t got;

	if (address > INT64_MAX)
		return -EINVAL;
	got = pread(memory, ret_bytes, size, (off_t)address);
	if (got < 0)
		return -errno;
	if ((size_t)got != size)
		return -EINVAL;
	return 0;
}

static int check_header(const struct header *header)
{
	if (memcmp(header->signature, SIGNATURE, sizeof(header->signature)) != 0 ||
	    header->version != VERSION)
		return -EINVAL;
	if (!header->published)
		return -EBUSY;
	if (header->size > CONTEXT_BYTES_MAX)
		return -E2BIG;
	if (header->size == 0)
		return -ENODATA;
	return 0;
}

/* The data of a program are in its file's mapping. */
static int check_file(const struct contexts *contexts, const struct mapped *mapped)
{
	guard_fd int fd = mapped_open_any(mapped);
	struct message_object_reply ignored;
	struct statx status;
	int r;

	if (fd < 0)
		return fd;
	r = mapped_identify(fd, &status, &ignored);
	if (r < 0)
		return r;
	return mounts_check(contexts->mounts, mapped->pid, fd);
}

/* The process chooses the place, and some file systems would keep the broker waiting there. */
static int check_payload(const struct contexts *contexts, const struct message_context *request,
			 const struct header *header)
{
	const struct mapped mapped = {request->pid, request->thread, header->payload,
				      header->payload + header->size};
	struct mapped file;
	int r;

	if (header->payload > INT64_MAX)
		return -EINVAL;
	r = mapped_find_file(&mapped, contexts->mounts->memfd_device, &file);
	if (r <= 0)
		return r;
	return check_file(contexts, &file);
}

/* A second look at the header proves that the process did not write meanwhile. */
static ssize_t read_payload(struct contexts *contexts, const struct message_context *request,
			    int memory)
{
	struct header header, again;
	int r = read_at(memory, request->start, &header, sizeof(header));

	if (r < 0)
		return r;
	r = check_header(&header);
	if (r < 0)
		return r;
	r = check_payload(contexts, request, &header);
	if (r < 0)
		return r;
	r = read_at(memory, header.payload, contexts->bytes, header.size);
	if (r < 0)
		return r;
	r = read_at(memory, request->start, &again, sizeof(again));
	if (r < 0)
		return r;
	if (memcmp(&again, &header, sizeof(header)) != 0)
		return -EBUSY;
	return header.size;
}

/*
 * A process that publishes a context may have a grant of its threads' contexts, which are where the
 * worker says. Without room for the grant, the answer is the context all the same.
 */
static void prepare_grant(struct contexts *contexts)
{
	contexts->has_prepared = grant_prepare_context(contexts->granter) == 0;
}

/* The descriptor pins the memory. The memory of a program that ended meanwhile has no bytes. */
static ssize_t read_context(struct contexts *contexts, const struct message_context *request)
{
	const struct mapped mapped = {request->pid, request->thread, request->start, request->end};
	guard_fd int memory = -1;
	ssize_t size;
	int r;

	if (contexts->no_contexts)
		return -EPERM;
	if (!mapped_is_valid(&mapped))
		return -EINVAL;
	memory = thread_open(request->pid, request->thread, "mem");
	if (memory < 0)
		return memory;
	r = mapped_check_context(&mapped, contexts->mounts->memfd_device);
	if (r < 0)
		return r;
	r = grant_check_reading(contexts->granter, request->pid, request->generation);
	if (r < 0)
		return r;
	size = read_payload(contexts, request, memory);
	if (size > 0)
		prepare_grant(contexts);
	return size;
}

/* ---- the environment ---------------------------------------------------------------------- */

static ssize_t cut_out(struct contexts *contexts, int environment)
{
	struct environment_cut cut = {.names = &contexts->variables,
				      .room = contexts->bytes,
				      .size = sizeof(contexts->bytes)};
	char piece[PIECE_BYTES];

	for (size_t total = 0; total < ENVIRONMENT_BYTES_MAX; total += sizeof(piece)) {
		ssize_t got = read(environment, piece, sizeof(piece));

		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		environment_cut(&cut, piece, (size_t)got);
	}
	explicit_bzero(piece, sizeof(piece));
	if (environment_size(&cut) == 0)
		return -ENODATA;
	return (ssize_t)environment_size(&cut);
}

static ssize_t read_variables(struct contexts *contexts, const struct message_context *request)
{
	guard_fd int environment = -1;
	int r;

	if (contexts->variables.count == 0)
		return -EOPNOTSUPP;
	environment = thread_open(request->pid, request->thread, "environ");
	if (environment < 0)
		return environment;
	r = grant_check_reading(contexts->granter, request->pid, request->generation);
	if (r < 0)
		return r;
	return cut_out(contexts, environment);
}

/* ---- together -------------------------------------------------------------------------------- */

/* Returns the end to read, which alone stays open. */
static int fill_pipe(const char *bytes, size_t size)
{
	guard_fd int reader = -1, writer = -1;
	int ends[2];
	ssize_t put;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	reader = ends[0];
	writer = ends[1];
	put = write(writer, bytes, size);
	if (put < 0 && errno != EAGAIN)
		return -errno;
	if (put != (ssize_t)size)
		return -ENOSPC; /* the user has very many pipes, and this one got less room */
	return take_fd(&reader);
}

int context_answer(struct contexts *contexts, const struct message_context *request)
{
	ssize_t size;
	int fd;

	contexts->has_prepared = false;
	if (request->start || request->end)
		size = read_context(contexts, request);
	else
		size = read_variables(contexts, request);
	if (size < 0)
		fd = (int)size;
	else
		fd = fill_pipe(contexts->bytes, (size_t)size);
	explicit_bzero(contexts->bytes, sizeof(contexts->bytes));
	return fd;
}

void context_commit(const struct contexts *contexts)
{
	if (contexts->has_prepared)
		grant_commit(contexts->granter);
}
