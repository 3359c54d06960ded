/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/guard.h"

#define START_MS  10000 /* the file systems of homes can be slow */
#define COMMIT_MS 60000

struct committer {
	struct channel channel;
	const char *name; /* in the folder */
	bool force;
	bool named; /* the temporary file has a name: no O_TMPFILE here */
	int folder, file;
	char temporary[48];
};

/* ---- the committer's side ------------------------------------------------------------------ */

static int open_folder(struct committer *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	size_t length = slash ? (size_t)(slash - path) + 1 : 0;

	c->name = slash ? slash + 1 : path;
	if (!*c->name)
		return -EISDIR;
	if (length >= sizeof(folder))
		return -ENAMETOOLONG;
	memcpy(folder, path, length);
	folder[length] = '\0';
	c->folder = open(length ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return c->folder < 0 ? -errno : 0;
}

/* Early and without a guarantee: linkat() and RENAME_NOREPLACE decide in the end. */
static int check_name(const struct committer *c)
{
	struct stat status;

	if (fstatat(c->folder, c->name, &status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
		return -EINVAL;
	return c->force ? 0 : -EEXIST;
}

static int open_file(struct committer *c)
{
	unsigned long long number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (unsigned long long)getpid();
	snprintf(c->temporary, sizeof(c->temporary), ".keyhole-%016llx.tmp", number);
	c->file = openat(c->folder, c->temporary,
			 O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	return c->file < 0 ? -errno : 0;
}

static int commit(const struct committer *c)
{
	unsigned int flags = c->force ? 0 : RENAME_NOREPLACE;
	int r = check_name(c);

	if (r || renameat2(c->folder, c->temporary, c->folder, c->name, flags) == 0)
		return r;
	/* NFS and others know no flags, but links; the temporary name goes at the end. */
	if (errno == EINVAL && !c->force)
		r = linkat(c->folder, c->temporary, c->folder, c->name, 0);
	else
		r = -1;
	return r ? -errno : 0;
}

static int prepare(struct committer *c, const struct output_request *request)
{
	int r = identity_become(request->identity);

	if (r || (r = open_folder(c, request->path)) || (r = check_name(c)))
		return r;
	return open_file(c);
}

static void serve_commit(struct committer *c)
{
	struct pollfd poll_fd = {.fd = c->channel.fd, .events = POLLIN};
	struct message_reply reply = {0};
	struct message request;
	int r;

	do {
		poll(&poll_fd, 1, -1);
		r = channel_receive(&c->channel, &request);
	} while (r == 0);
	if (r == 1) {
		reply.error = commit(c);
		channel_reply(&c->channel, &request, MESSAGE_COMMITTED, &reply, sizeof(reply), -1);
	}
}

/* Never returns. */
static void committer_main(int socket, const struct output_request *request)
{
	struct committer c = {.folder = -1, .file = -1, .force = request->force};
	struct message_reply reply;

	/* A terminal's Ctrl-C is for the loader, which still wants the file. */
	setsid();
	prctl(PR_SET_NAME, "keyhole-commit");
	if (dup2(socket, 3) < 0)
		_exit(1);
	close_range(4, ~0u, 0);
	channel_init(&c.channel, 3, PARTY_COMMITTER, PARTY_LOADER);
	reply = (struct message_reply){.error = prepare(&c, request)};
	if (channel_send(&c.channel, MESSAGE_OUTPUT_FILE, &reply, sizeof(reply), c.file) == 0 &&
	    c.file >= 0)
		serve_commit(&c);
	if (c.file >= 0)
		unlinkat(c.folder, c.temporary, 0);
	_exit(0);
}

/* ---- the loader's side --------------------------------------------------------------------- */

static int standard_output(struct output *ret_output)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return -errno;
	*ret_output = (struct output){.fd = fd, .channel = {.fd = -1}};
	return 0;
}

static int receive_file(struct output *output)
{
	struct message message;
	int r = channel_expect(&output->channel, MESSAGE_OUTPUT_FILE, START_MS, &message);

	if (r)
		return r;
	output->fd = take_fd(&message.fd);
	return message.OUTPUT_FILE.error;
}

int output_start(struct output *ret_output, const struct output_request *request)
{
	struct output output = {.fd = -1};
	int fds[2];
	int r;

	if (strcmp(request->path, "-") == 0)
		return standard_output(ret_output);
	r = channel_pair(fds);
	if (r)
		return r;
	output.pid = fork();
	if (output.pid == 0)
		committer_main(fds[1], request);
	r = output.pid < 0 ? -errno : 0;
	close(fds[1]);
	channel_init(&output.channel, fds[0], PARTY_LOADER, PARTY_COMMITTER);
	if (r == 0)
		r = receive_file(&output);
	if (r)
		output_abandon(&output);
	else
		*ret_output = output;
	return r > 0 ? -EPROTO : r;
}

int output_commit(struct output *output)
{
	const struct message_none none = {0};
	struct message message;
	int r;

	if (output->pid == 0)
		return 0;
	r = channel_send(&output->channel, MESSAGE_COMMIT, &none, sizeof(none), -1);
	if (r == 0)
		r = channel_expect(&output->channel, MESSAGE_COMMITTED, COMMIT_MS, &message);
	return r ? r : message.COMMITTED.error;
}

void output_abandon(struct output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	channel_release(&output->channel);
	if (output->pid > 0)
		waitpid(output->pid, NULL, 0);
	*output = (struct output){.fd = -1, .channel = {.fd = -1}};
}
