/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-output: what of a recording is the invoking user's, with that user's rights. It makes the
 * output file, connects to the service manager, shows on standard error what BPF counts, makes the
 * finished file appear under its name; for the worker it opens files of debug information
 * (debug.h). Or it holds `record -- CMD` until CMD may run.
 *
 *   keyhole-output write|replace FILE [FOLDERS]
 *   ... -- CMD ARGS
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/output/counts.h"
#include "helper/output/debug.h"
#include "helper/output/notify.h"
#include "helper/output/screen.h"
#include "helper/output/summary.h"
#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"

struct committer {
	struct channel loader;
	const char *path;
	const char *name; /* in its working directory, the output's folder */
	bool force, why, stream;
	char temporary[32]; /* "": standard output */
	bool quiet;
	struct counts counts;
	struct counted counted;	      /* when sampling was over */
	struct message_summary named; /* by the worker */
	struct debug debug;
	bool by_name; /* the worker leaves out samples */
};

/* ---- the file ------------------------------------------------------------------------------ */

static int enter_folder(struct committer *c)
{
	const char *slash = strrchr(c->path, '/');
	guard_free char *folder =
		slash ? strndup(c->path, (size_t)(slash - c->path) + 1) : strdup(".");

	c->name = slash ? slash + 1 : c->path;
	if (!*c->name)
		return -EISDIR;
	return !folder || chdir(folder) ? -errno : 0;
}

/* All that root keeps is to write into somebody else's folder, and that only if this is one. */
static int limit_root(void)
{
	const cap_value_t override = CAP_DAC_OVERRIDE;
	cap_t caps = cap_get_proc();

	if (!caps || cap_clear_flag(caps, CAP_EFFECTIVE) || cap_set_proc(caps) || cap_clear(caps) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (faccessat(AT_FDCWD, ".", W_OK | X_OK, AT_EACCESS) &&
	    (cap_set_flag(caps, CAP_PERMITTED, 1, &override, CAP_SET) ||
	     cap_set_flag(caps, CAP_EFFECTIVE, 1, &override, CAP_SET)))
		return -errno;
	return cap_set_proc(caps) ? -errno : 0;
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

/* The descriptor of the temporary file or of standard output, or a negative errno. */
static int prepare(struct committer *c)
{
	const bool stream = strcmp(c->path, "-") == 0;
	int r = !stream ? enter_folder(c) : chdir("/") ? -errno : 0;

	r = r || geteuid() ? r : limit_root();
	if (r == 0 && stream)
		return STDOUT_FILENO;
	r = r ? r : check_name(c);
	return r ? r : open_file(c);
}

static int move_file(const struct committer *c)
{
	int r;

	if (!*c->temporary)
		return 0;
	r = check_name(c);
	if (r)
		return r;
	r = renameat2(AT_FDCWD, c->temporary, AT_FDCWD, c->name, c->force ? 0 : RENAME_NOREPLACE);
	/* NFS and others know no flags, but links; the temporary name goes at the end. */
	if (r && errno == EINVAL && !c->force)
		r = link(c->temporary, c->name);
	return r ? -errno : 0;
}

/* ---- the loader's messages ----------------------------------------------------------------- */

static int say_no_samples(const struct committer *c, uint32_t flags, uint64_t lost,
			  uint64_t filtered)
{
	if (flags & STEP_QUIET)
		return -ENODATA;
	if (c->counted.denied && c->counted.denied >= c->counted.expected && !lost && !filtered)
		log_error("record: no samples: %" PRIu64 " denied, by a rule of the policy or by "
			  "--exclude-*; see: keyhole check-config",
			  c->counted.denied);
	else if (c->counted.counted)
		log_error("record: no samples: the event came less often than its period, or was "
			  "filtered: %" PRIu64 " were lost, %" PRIu64 " denied, %" PRIu64
			  " filtered; record longer (-d), another event or other filters",
			  lost, c->counted.denied, filtered);
	else if (!c->counted.expected && !c->counted.denied)
		log_error("record: no samples: no CPU time was used by what may be sampled; "
			  "record while there is work, or longer (-d)");
	else
		log_error("record: no samples: CPU time for %" PRIu64 " was used, %" PRIu64
			  " were lost, %" PRIu64 " denied, %" PRIu64
			  " filtered; record longer (-d), at another rate (-F) or with other "
			  "filters",
			  c->counted.expected, lost, c->counted.denied, filtered);
	return -ENODATA;
}

/* Who reads a stream has no other way to know what is lost. */
static void show_progress(const struct committer *c, const struct message_progress *seen)
{
	const unsigned int columns = c->quiet || c->why ? 0 : screen_columns(STDERR_FILENO);
	char line[PROGRESS_BYTES];
	struct counted counted;

	if (!columns && (!c->stream || c->quiet))
		return;
	counted = counts_sum(&c->counts);
	counted.seen = seen->samples;
	counted.complete = seen->complete;
	if (c->by_name)
		counted.samples = seen->samples;
	summary_progress(&counted, line);
	if (columns)
		screen_replace_line(line, columns, stderr);
	else
		fprintf(stderr, "%s\n", line);
}

static int refuse_why(const char *reason)
{
	log_error("why: %s", reason);
	return -ENODATA;
}

/* `why` has an answer for who sleeps, but none for who is denied. */
static int end_why(const struct committer *c)
{
	if (c->counted.samples || !c->counted.denied)
		return 0;
	return refuse_why("a rule of the policy denies it; see: keyhole check-config");
}

static int end(struct committer *c, uint32_t flags)
{
	int r = counts_end(&c->counts, &c->counted);

	if (c->why)
		return r ? r : end_why(c);
	if (!c->quiet && screen_columns(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return r || c->counted.samples ? r : say_no_samples(c, flags, 0, c->counted.filtered);
}

/* In one piece, which the messages of others do not get into. */
static void say_summary(const struct summary *sum, bool verbose)
{
	guard_free char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return;
	summary_print(sum, verbose, stream);
	if (fclose(stream) == 0)
		screen_print(text, screen_columns(STDERR_FILENO), stderr);
}

/* -ENODATA: not one sample is in the file, and it does not appear. */
static int commit(const struct committer *c, const struct message_step *step)
{
	struct summary sum;
	bool any;
	int r;

	if (c->why) /* it is printed */
		return 0;
	summary_make(&c->counted, &c->named, c->by_name, &sum);
	any = sum.taken != sum.lost;
	if (any && !step->bytes) /* the worker says otherwise than its profile */
		return -EBADMSG;
	r = any ? move_file(c) : 0;
	if (r)
		return r;
	if (!c->quiet)
		say_summary(&sum, step->flags & OPTIONS_VERBOSE);
	if (!any)
		return say_no_samples(c, step->flags, sum.lost, sum.filtered);
	if (!c->quiet)
		fprintf(stderr, "wrote %s (%u bytes%s)\n",
			*c->temporary ? c->path : "to standard output", step->bytes,
			step->bytes == UINT32_MAX ? " or more" : "");
	return 0;
}

static int take_step(struct committer *c, const struct message_step *step)
{
	c->quiet = step->flags & OPTIONS_QUIET;
	c->by_name = step->flags & OPTIONS_COMM;
	switch (step->step) {
	case STEP_BEGIN:
		c->why = step->flags & OPTIONS_WHY;
		c->stream = step->every;
		return counts_begin(&c->counts);
	case STEP_WORKER:
		counts_replace(&c->counts);
		return c->why ? refuse_why("its worker has ended, and what it knew with it; run it "
					   "again")
			      : 0;
	case STEP_END:
		return end(c, step->flags);
	case STEP_COMMIT:
		return commit(c, step);
	default:
		return -EPROTO;
	}
}

/* 0, or a negative errno that ends the conversation. */
static int on_message(struct committer *c, struct message *message)
{
	struct message_reply reply;

	switch (message->head.type) {
	case MESSAGE_DEBUG_PEER:
		debug_start(&c->debug, message->fd);
		return 0;
	case MESSAGE_COUNTS:
		return counts_take(&c->counts, &message->COUNTS, take_fd(&message->fd));
	case MESSAGE_SEEN:
		show_progress(c, &message->SEEN);
		return 0;
	case MESSAGE_NAMED:
		c->named = message->NAMED;
		return 0;
	case MESSAGE_STEP:
		reply.error = take_step(c, &message->STEP);
		return channel_reply(&c->loader, message, &reply, sizeof(reply), -1);
	default:
		return -EPROTO;
	}
}

static int send_manager(struct committer *c)
{
	guard_fd int fd = notify_open();
	const struct message_reply reply = {.error = fd < 0 ? fd : 0};

	if (fd < 0 && fd != -ENODATA) {
		log_error("notify: NOTIFY_SOCKET: %s; run: env -u NOTIFY_SOCKET keyhole ...",
			  strerror(-fd));
		return fd;
	}
	return channel_send(&c->loader, MESSAGE_NOTIFY, &reply, sizeof(reply), fd);
}

static int write_file(struct committer *c)
{
	struct message_reply reply = {0};
	struct message message;
	int file, r = send_manager(c);

	if (r)
		return 1;
	/* a terminal's Ctrl-C is the loader's affair */
	setsid();
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, message_party_name(PARTY_COMMITTER));
	file = prepare(c);
	reply.error = file < 0 ? file : 0;
	if (file < 0)
		log_error("output: %s: %s; %s", c->path,
			  file == -EINVAL ? "not a file" : strerror(-file),
			  file == -EEXIST ? "to replace it add: --force"
					  : "name another one: -o FILE");
	r = channel_send(&c->loader, MESSAGE_OUTPUT_FILE, &reply, sizeof(reply), file);
	if (file > STDERR_FILENO)
		close(file);
	while (file >= 0 && (r == 0 || r == -ETIMEDOUT)) {
		r = channel_wait(&c->loader, INT_MAX, &message);
		r = r == 1 ? on_message(c, &message) : r;
	}
	if (*c->temporary)
		unlink(c->temporary);
	return r != -EPIPE;
}

/* ---- a command ----------------------------------------------------------------------------- */

static int hold(struct channel *loader, char **argv)
{
	struct message message;

	if (channel_expect(loader, MESSAGE_RELEASE, INT_MAX, &message))
		return 127;
	unsetenv("KEYHOLE_BUILD");
	execvp(argv[0], argv);
	log_error("record: %s: %s; %s", argv[0], strerror(errno),
		  errno != ENOENT	 ? "it must be a program that you may run"
		  : strchr(argv[0], '/') ? "give the path of a program"
					 : "not in PATH, give its path");
	return 127;
}

int main(int argc, char **argv)
{
	static struct committer committer; /* zero */

	if (argc < 3 || close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	channel_init(&committer.loader, CHANNEL_FD, PARTY_COMMITTER, PARTY_LOADER);
	if (strcmp(argv[1], "--") == 0)
		return hold(&committer.loader, argv + 2);
	committer.path = argv[2];
	committer.force = strcmp(argv[1], "replace") == 0;
	debug_open(&committer.debug, argv[3]);
	return write_file(&committer);
}
