/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/guard.h"

#define START_MS  10000 /* the file systems of homes can be slow */
#define COMMIT_MS 60000

/* ---- the committer's side ------------------------------------------------------------------ */

struct committer {
	const char *name; /* in its working directory, the output's folder */
	bool force;
	char temporary[32];
};

static int enter_folder(struct committer *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	guard_free char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	c->name = slash ? slash + 1 : path;
	if (!*c->name)
		return -EISDIR;
	return !folder || chdir(folder) ? -errno : 0;
}

/* Early and without a guarantee: rename and link decide in the end. */
static int check_name(const struct committer *c)
{
	struct stat status;

	if (lstat(c->name, &status))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
		return -EINVAL;
	return c->force ? 0 : -EEXIST;
}

static int open_file(struct committer *c)
{
	int fd;

	snprintf(c->temporary, sizeof(c->temporary), ".keyhole-%08x.tmp", arc4random());
	fd = open(c->temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/* The descriptor of the temporary file, or a negative errno. */
static int prepare(struct committer *c, const char *path, const struct policy_user *user)
{
	int r = policy_user_become(user);

	r = r ? r : enter_folder(c, path);
	r = r || geteuid() ? r : policy_user_limit_root();
	r = r ? r : check_name(c);
	return r ? r : open_file(c);
}

static int commit(const struct committer *c)
{
	int r = check_name(c);

	if (r)
		return r;
	r = renameat2(AT_FDCWD, c->temporary, AT_FDCWD, c->name, c->force ? 0 : RENAME_NOREPLACE);
	/* NFS and others know no flags, but links; the temporary name goes at the end. */
	if (r && errno == EINVAL && !c->force)
		r = link(c->temporary, c->name);
	return r ? -errno : 0;
}

/* Never returns. */
static void committer_main(struct channel *channel, struct committer *c, const char *path,
			   const struct policy_user *user)
{
	struct message_reply reply = {0};
	struct message request;
	int file = prepare(c, path, user), r;

	reply.error = file < 0 ? file : 0;
	r = channel_send(channel, MESSAGE_OUTPUT_FILE, &reply, sizeof(reply), file);
	if (file < 0)
		_exit(0);
	while (r == 0 || r == -ETIMEDOUT)
		r = channel_wait(channel, INT_MAX, &request);
	if (r == 1) {
		reply.error = commit(c);
		channel_reply(channel, &request, MESSAGE_COMMITTED, &reply, sizeof(reply), -1);
	}
	unlink(c->temporary);
	_exit(0);
}

/* ---- the loader's side --------------------------------------------------------------------- */

static int receive_file(struct output *output)
{
	struct message message;
	int r = channel_expect(&output->channel, MESSAGE_OUTPUT_FILE, START_MS, &message);

	if (r)
		return r;
	output->fd = take_fd(&message.fd);
	return message.OUTPUT_FILE.error;
}

int output_start(struct output *ret_output, const char *path, bool force,
		 const struct policy_user *user)
{
	struct committer committer = {.force = force};
	int fds[2], r;

	*ret_output = (struct output){.fd = -1, .channel = {.fd = -1}};
	if (strcmp(path, "-") == 0) {
		ret_output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return ret_output->fd < 0 ? -errno : 0;
	}
	r = channel_pair(fds);
	ret_output->pid =
		r ? r : channel_forked(&ret_output->channel, PARTY_COMMITTER, fds, -1, fork());
	if (ret_output->pid == 0)
		committer_main(&ret_output->channel, &committer, path, user);
	r = ret_output->pid < 0 ? ret_output->pid : receive_file(ret_output);
	return r > 0 ? -EPROTO : r;
}

int output_commit(struct output *output)
{
	struct message message;
	int r;

	if (output->pid == 0)
		return 0;
	r = channel_send_bare(&output->channel, MESSAGE_COMMIT, -1);
	r = r ? r : channel_expect(&output->channel, MESSAGE_COMMITTED, COMMIT_MS, &message);
	return r ? r : message.COMMITTED.error;
}

void output_abandon(struct output *output)
{
	close_fd(&output->fd);
	channel_release(&output->channel);
	if (output->pid > 0)
		waitpid(output->pid, NULL, 0);
}
