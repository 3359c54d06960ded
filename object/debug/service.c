/* SPDX-License-Identifier: Apache-2.0 */
#include "object/debug/service.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "object/debug/folders.h"
#include "object/dwarf/answer.h"

static const struct reader_limits *limits_of(const struct debug_service *service)
{
	return &reader_limits[service->job.purpose];
}

/* ---- files of the next question ---- */

static void forget_question(struct debug_service *service)
{
	struct reader_job *job = &service->job;

	while (job->file_count > 0)
		close_fd(&job->files[--job->file_count]);
	close_fd(&job->answer);
	job->id_size = 0;
}

/*
 * Opens a given file again by our own rights, so that the reader gets only files that the user
 * could open. The file's mode alone decides. Its folders do not count, because the file may be of
 * another root, or deleted.
 */
static int open_again(int fd)
{
	char path[32];
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return -EACCES;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -EACCES : fd;
}

static int add_given(struct debug_service *service, int fd)
{
	struct reader_job *job = &service->job;
	guard_fd int given = fd;

	if (job->file_count == limits_of(service)->files)
		return -EPROTO;
	job->files[job->file_count++] = open_again(given);
	return 0;
}

static void add_found(struct debug_service *service, int fd)
{
	struct reader_job *job = &service->job;

	if (fd < 0)
		return;
	if (job->file_count < limits_of(service)->files)
		job->files[job->file_count++] = fd;
	else
		close(fd);
}

/* Opens all files that may belong to the object, files with debug information first. */
static int add_object(struct debug_service *service, const struct message_lines_object *object)
{
	static const char *const suffixes[] = {DEBUG_SUFFIX, ""};
	struct reader_job *job = &service->job;
	char path[DEBUG_ID_PATH_BYTES];

	if (job->file_count > 0 || object->id_size == 0 || object->id_size > sizeof(job->id) ||
	    !memchr(object->path, '\0', sizeof(object->path)))
		return -EPROTO;
	memcpy(job->id, object->id, object->id_size);
	job->id_size = object->id_size;
	for (size_t kind = 0; kind < 2; kind++) {
		if (debug_id_path(job->id, job->id_size, suffixes[kind], path) < 0)
			break;
		for (size_t i = 0; i < service->folders->count; i++)
			add_found(service, debug_folders_open_at(service->folders, i, path));
	}
	add_found(service, debug_open_path(object->path));
	return 0;
}

/*
 * Checks the asker's memfd, which is used as it came. A memfd that was opened again would let the
 * reader write to a file that the asker can only read.
 */
static int check_answer_file(int fd)
{
	const int fixed = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
	const int flags = fcntl(fd, F_GETFL), seals = fcntl(fd, F_GET_SEALS);
	struct stat status;

	if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || seals < 0 || seals & fixed)
		return -EACCES;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return -EACCES;
	return 0;
}

static int take_answer_file(struct debug_service *service, int fd)
{
	if (service->job.answer >= 0) {
		close(fd);
		return -EPROTO;
	}
	service->job.answer = fd;
	return 0;
}

/* ---- one question ---- */

/* Opens dwz's file by its build id, else by its name below .dwz, as distributions have it. */
static int open_alternate(const struct debug_folders *folders, const struct answer_summary *summary)
{
	const char *name = strstr(summary->alt_name, ".dwz/");
	int fd = debug_folders_find_id(folders, summary->alt_id, summary->alt_id_size);

	if (fd < 0 && name)
		fd = debug_folders_find(folders, name);
	return fd;
}

/* Copies the whole file and cuts `to` to its size. */
static int copy_file(int from, int to)
{
	struct stat status;
	off_t at = 0;

	if (fstat(from, &status) || ftruncate(to, 0) || lseek(to, 0, SEEK_SET))
		return -errno;
	while (at < status.st_size) {
		ssize_t done = sendfile(to, from, &at, (size_t)(status.st_size - at));

		if (done < 0)
			return -errno;
		if (done == 0)
			return -EIO;
	}
	return 0;
}

/*
 * Reads once more with the file to which dwz moved parts, if the first answer names such a file and
 * the file is here. The second reading takes longer. Only a complete answer is better than the
 * first one.
 */
static int read_again(const struct debug_service *service, const struct message_lines *question)
{
	struct reader_job job = service->job;
	struct answer_summary summary;
	guard_fd int alternate = -1, again = -1;
	int r;

	if (answer_peek(job.answer, &summary) < 0)
		return -EBADMSG;
	if (summary.alt_id_size == 0)
		return 0;
	alternate = open_alternate(service->folders, &summary);
	if (alternate < 0)
		return 0;
	again = memfd_create("keyhole-lines", MFD_CLOEXEC);
	if (again < 0)
		return 0;
	job.alternate = alternate;
	job.answer = again;
	if (limits_of(service)->time_again)
		job.deadline = time_now() + question->milliseconds * NS_PER_MS;
	r = reader_run(&job, service->program);
	if (r < 0 || !answer_is_complete(again))
		return 0;
	return copy_file(again, service->job.answer);
}

static int check(const struct debug_service *service, const struct message_lines *question)
{
	const struct reader_limits *limits = limits_of(service);
	const struct reader_job *job = &service->job;

	for (unsigned int i = 0; i < job->file_count; i++)
		if (job->files[i] < 0)
			return job->files[i];
	if (question->count == 0 || question->count > limits->addresses ||
	    question->milliseconds > limits->milliseconds || job->answer < 0)
		return -EINVAL;
	if (job->file_count == 0)
		return job->id_size ? -ENOENT : -EINVAL;
	if (limits->questions && service->asked >= limits->questions)
		return -E2BIG;
	if (limits->total &&
	    service->spent + question->milliseconds * NS_PER_MS > limits->total * NS_PER_MS)
		return -ETIME;
	return check_answer_file(job->answer);
}

static int read_files(struct debug_service *service, const struct message_lines *question,
		      int addresses)
{
	struct reader_job *job = &service->job;
	guard_fd int opened = open_again(addresses);
	int r = check(service, question);

	if (r < 0)
		return r;
	if (opened < 0)
		return opened;
	job->addresses = opened;
	job->address_count = question->count;
	job->deadline = time_now() + question->milliseconds * NS_PER_MS;
	r = reader_run(job, service->program);
	if (r < 0)
		return r;
	return read_again(service, question);
}

/* Logs once why no object has lines. */
static void explain(const struct debug_service *service, int r)
{
	static bool told;
	const char *problem = NULL;

	if (service->program < 0)
		problem = strerror(ENOENT);
	else if (r == -EPROTO)
		problem = "of another version";
	if (!problem || told)
		return;
	told = true;
	log_error("lines: " READER_PROGRAM
		  ": %s, no lines are added; install all programs together",
		  problem);
}

static int answer_question(struct debug_service *service, const struct message_lines *question,
			   int fd)
{
	const uint64_t began = time_now();
	guard_fd int addresses = fd;
	int r = read_files(service, question, addresses);

	service->asked++;
	service->spent += time_now() - began;
	forget_question(service);
	explain(service, r);
	return r;
}

/* ---- messages ---- */

static int reply_with(struct channel *asker, const struct message *request, int fd)
{
	guard_fd int given = fd;
	struct message_reply reply = {0};

	if (given < 0)
		reply.error = given;
	return channel_reply(asker, request, &reply, sizeof(reply), given);
}

static int open_debug_file(const struct debug_service *service,
			   const struct message_debug_file *request)
{
	if (!memchr(request->path, '\0', sizeof(request->path)))
		return -EINVAL;
	return debug_folders_find(service->folders, request->path);
}

static int on_message(struct debug_service *service, struct channel *asker, struct message *message)
{
	switch (message->head.type) {
	case MESSAGE_DEBUG_FILE:
		return reply_with(asker, message, open_debug_file(service, &message->DEBUG_FILE));
	case MESSAGE_LINES_FILE:
		return add_given(service, take_fd(&message->fd));
	case MESSAGE_LINES_OBJECT:
		return add_object(service, &message->LINES_OBJECT);
	case MESSAGE_LINES_ANSWER:
		return take_answer_file(service, take_fd(&message->fd));
	case MESSAGE_LINES: {
		const struct message_reply reply = {
			answer_question(service, &message->LINES, take_fd(&message->fd))};

		return channel_reply(asker, message, &reply, sizeof(reply), -1);
	}
	default:
		return -EPROTO;
	}
}

void debug_service_init(struct debug_service *service, enum reader_purpose purpose,
			const struct debug_folders *folders, int program)
{
	*service = (struct debug_service){
		.folders = folders,
		.program = program,
		.job = {.purpose = purpose, .addresses = -1, .answer = -1, .alternate = -1},
	};
}

int debug_service_run(struct debug_service *service, struct channel *asker)
{
	struct message message;
	int r = 0;

	while (r >= 0) {
		r = channel_wait(asker, INT_MAX, &message);
		if (r == -ETIMEDOUT)
			r = 0;
		else if (r == 1)
			r = on_message(service, asker, &message);
	}
	forget_question(service);
	return r;
}
