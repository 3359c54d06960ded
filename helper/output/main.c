/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-output: does the parts of a recording that need the invoking user's rights.
 *
 * - The program makes the output file and finally gives the file its name (file.h).
 * - The program connects to the service manager (notify.h).
 * - The program makes the socket at which an agent shows numbers of itself (listener.h).
 * - The program shows the counts of BPF on standard error (counts.h, summary.h).
 * - The program starts a process that opens files of debug information for the worker (debug.h).
 *
 * With `-- CMD`, another instance holds CMD of `record -- CMD` until CMD may run.
 *
 *   keyhole-output write|replace|stream|deliver|rotate|spool FILE [FOLDERS]
 *   ... -- CMD ARGS
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/formats.h"
#include "helper/output/counts.h"
#include "helper/output/debug.h"
#include "helper/output/denials.h"
#include "helper/output/file.h"
#include "helper/output/listener.h"
#include "helper/output/notify.h"
#include "helper/output/rotation.h"
#include "helper/output/screen.h"
#include "helper/output/spool.h"
#include "helper/output/summary.h"
#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/signals.h"

struct committer {
	struct channel loader, exporter; /* exporter: whose windows get files; fd -1: none */
	enum profile_format format;	 /* of the windows */
	struct spool spool;		 /* most 0: each window keeps its file */
	struct output_file file;
	bool why, stat, stream, quiet;
	struct counts counts;
	struct counted counted;	      /* at the end of sampling */
	struct message_waited waited; /* at the end of sampling */
	struct message_summary named; /* from the worker */
	struct debug debug;
	struct listener listener; /* family 0: none */
	bool by_name;		  /* the worker leaves out samples by their names */
};

/* ---- the loader's messages ----------------------------------------------------------------- */

/* A recording without samples has failed, while an agent may have had nothing to see. */
static int say_no_samples(const struct committer *c, uint32_t flags, uint64_t lost,
			  uint64_t filtered)
{
	if (c->file.is_nowhere)
		return 0;
	if (!(flags & STEP_QUIET))
		summary_explain_none(&c->counted, &c->waited, lost, filtered);
	return -ENODATA;
}

/* Shows progress on a terminal, or to the reader of a stream, who learns of losses only here. */
static void show_progress(const struct committer *c, const struct message_progress *seen)
{
	unsigned int columns = 0;
	char line[PROGRESS_BYTES];
	struct counted counted;

	if (!c->quiet && !c->why && !c->stat)
		columns = screen_columns(STDERR_FILENO);
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

/* Refuses when only denied samples came. `why` also has an answer about a process that sleeps. */
static int end_why(const struct committer *c)
{
	if (c->counted.samples || !c->counted.denied)
		return 0;
	return refuse_why("a rule of the policy denies it; see: keyhole check-config");
}

/* Tells the use of CPU time where processes were chosen and where CPU time is sampled. */
static void find_waited(struct committer *c, uint32_t flags)
{
	const struct counted *counted = &c->counted;

	if (counted->counted || (!(flags & OPTIONS_SOME) && !c->counts.source.cgroup))
		return;
	c->waited = (struct message_waited){
		.used = counted->used, .wall = counted->elapsed, .threads = counted->threads};
}

static int end(struct committer *c, uint32_t flags)
{
	int r = counts_end(&c->counts, &c->counted);

	if (r == 0)
		find_waited(c, flags);
	if (r == 0 && c->why)
		return end_why(c);
	if (c->why || c->stat)
		return r;
	if (!c->quiet && screen_columns(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (r || c->counted.samples)
		return r;
	return say_no_samples(c, flags, 0, c->counted.filtered);
}

/* Prints lines of text as they are, or where log lines have a structure, as log lines. */
static void say(char *text)
{
	const char *line;

	if (log_chosen() != LOG_JSON) {
		screen_print(text, screen_columns(STDERR_FILENO), stderr);
		return;
	}
	while ((line = strsep(&text, "\n")))
		if (*line)
			log_info("%s", line);
}

/* Prints the summary in one piece, so that messages of other processes cannot interrupt it. */
static void say_summary(const struct committer *c, const struct summary *sum, bool verbose)
{
	guard_free char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return;
	summary_print(sum, verbose, stream);
	denials_print(&c->counts, stream);
	if (fclose(stream) == 0)
		say(text);
}

/* Gives the file its name, or says why not and under which name the profile stays. */
static int name_file(struct output_file *file)
{
	int r = output_file_commit(file);
	char folder[PATH_MAX];

	if (r == 0)
		return 0;
	log_error("output: %s: %s", file->path, file->problem);
	if (!file->kept)
		return r;
	if (!getcwd(folder, sizeof(folder)))
		snprintf(folder, sizeof(folder), "its folder");
	log_error("output: %s: the profile is kept as %s/%s", file->path, folder, file->temporary);
	return r;
}

static int refuse_summary(const struct committer *c)
{
	log_error("output: %s: %s: the worker's summary contradicts its profile; record again",
		  c->file.path, strerror(EBADMSG));
	return -EBADMSG;
}

static const char *where(const struct committer *c)
{
	if (strcmp(c->file.path, "-") == 0)
		return "to standard output";
	if (c->file.is_nowhere && (!c->file.is_folder || c->spool.most > 0))
		return "to the server";
	return c->file.path;
}

static void say_written(const struct committer *c, uint32_t bytes)
{
	const char *more = "";
	char text[PATH_MAX + 64];

	if (bytes == UINT32_MAX)
		more = " or more";
	snprintf(text, sizeof(text), "wrote %s (%u bytes%s)\n", where(c), bytes, more);
	if (log_chosen() == LOG_JSON)
		say(text);
	else
		fputs(text, stderr);
}

/*
 * Shows the summary and names the file. Explains each failure. -ENODATA: the file has no sample and
 * gets no name.
 */
static int commit(struct committer *c, const struct message_step *step)
{
	struct summary sum;
	bool any;
	int r = 0;

	if (c->why) /* the text has been printed */
		return 0;
	if (c->stat)
		return name_file(&c->file);
	counts_settle(&c->counts, &c->counted);
	summary_make(&c->counted, &c->named, c->by_name, &sum);
	sum.waited = c->waited;
	any = sum.taken != sum.lost;
	/* a server that was away has taken nothing */
	if (any && !step->bytes && !c->file.is_nowhere)
		return refuse_summary(c);
	if (any)
		r = name_file(&c->file);
	if (r)
		return r;
	if (!c->quiet)
		say_summary(c, &sum, step->flags & OPTIONS_VERBOSE);
	if (!any)
		return say_no_samples(c, step->flags, sum.lost, sum.filtered);
	if (!c->quiet)
		say_written(c, step->bytes);
	return 0;
}

static int take_step(struct committer *c, const struct message_step *step)
{
	c->quiet = step->flags & OPTIONS_QUIET;
	c->by_name = step->flags & OPTIONS_COMM;
	switch (step->step) {
	case STEP_BEGIN:
		c->why = step->flags & OPTIONS_WHY;
		c->stat = step->flags & OPTIONS_STAT;
		c->stream = step->every && !c->file.is_nowhere && !c->stat;
		return counts_begin(&c->counts);
	case STEP_WORKER:
		counts_replace(&c->counts);
		if (c->why)
			return refuse_why("its worker has ended, and what it knew with it; run it "
					  "again");
		return 0;
	case STEP_END:
		return end(c, step->flags);
	case STEP_COMMIT:
		return commit(c, step);
	default:
		return -EPROTO;
	}
}

static int take_exporter(struct committer *c, struct message *message)
{
	if (!c->file.is_folder || message->WINDOWS_PEER.format >= FORMAT_COUNT)
		return -EPROTO;
	channel_release(&c->exporter);
	channel_init(&c->exporter, take_fd(&message->fd), PARTY_COMMITTER, PARTY_EXPORTER);
	c->exporter.phase = PHASE_RUN;
	c->format = (enum profile_format)message->WINDOWS_PEER.format;
	c->spool.most = (uint64_t)message->WINDOWS_PEER.spool << 10;
	return 0;
}

static void log_window(const struct committer *c, int error)
{
	if (error < 0)
		log_error("output: %s: %s", c->file.path, strerror(-error));
}

static int keep_window(struct committer *c, struct message *message)
{
	const char *suffix = formats_suffix(c->format);
	struct message_reply reply;

	reply.error = rotation_keep(message->fd, message->KEEP.bytes, suffix, time(NULL));
	log_window(c, reply.error);
	return channel_reply(&c->exporter, message, &reply, sizeof(reply), -1);
}

static int write_spool(struct committer *c, struct message *message)
{
	struct message_spooled reply = {.id = message->SPOOL.id};

	reply.error = spool_write(&c->spool, message->fd, &message->SPOOL, time(NULL));
	log_window(c, reply.error);
	spool_take_pushed(&c->spool, &reply);
	return channel_reply(&c->exporter, message, &reply, sizeof(reply), -1);
}

static int open_spool(struct committer *c, struct message *message)
{
	struct message_spooled reply = {0};
	guard_fd int fd = spool_open_oldest(&c->spool, time(NULL), &reply.id);

	if (fd < 0)
		reply.error = fd;
	spool_take_pushed(&c->spool, &reply);
	return channel_reply(&c->exporter, message, &reply, sizeof(reply), fd);
}

/* An exporter without a spool keeps windows, and another one speaks of the spool. */
static int take_window(struct committer *c, struct message *message)
{
	if ((message->head.type == MESSAGE_KEEP) != (c->spool.most == 0))
		return -EPROTO;
	switch (message->head.type) {
	case MESSAGE_KEEP:
		return keep_window(c, message);
	case MESSAGE_SPOOL:
		return write_spool(c, message);
	case MESSAGE_UNSPOOL:
		return open_spool(c, message);
	default:
		spool_remove(message->FORGET.id);
		return 0;
	}
}

/* An exporter that breaks the rules, or ends, has no channel any more. Another one may follow. */
static void on_exporter(struct committer *c)
{
	struct message message;
	int r = channel_receive(&c->exporter, &message);

	if (r > 0) {
		r = take_window(c, &message);
		message_release(&message);
	}
	if (r < 0)
		channel_release(&c->exporter);
}

static int make_listener(struct committer *c, const struct message *message)
{
	struct message_reply reply = {0};
	guard_fd int fd = -1;
	int r = listener_read(message->fd, &c->listener);

	if (r < 0)
		return r;
	fd = listener_open(&c->listener);
	if (fd < 0) {
		reply.error = fd;
		c->listener.family = 0; /* the path may be somebody else's */
	}
	return channel_reply(&c->loader, message, &reply, sizeof(reply), fd);
}

/* Handles one message. 0, or a negative errno that ends the conversation. */
static int on_message(struct committer *c, struct message *message)
{
	struct message_stepped stepped = {0};

	switch (message->head.type) {
	case MESSAGE_DEBUG_PEER:
		debug_start(&c->debug, message->fd);
		return 0;
	case MESSAGE_WINDOWS_PEER:
		return take_exporter(c, message);
	case MESSAGE_LISTEN:
		return make_listener(c, message);
	case MESSAGE_COUNTS:
		return counts_take(&c->counts, &message->COUNTS, take_fd(&message->fd));
	case MESSAGE_SEEN:
		show_progress(c, &message->SEEN);
		return 0;
	case MESSAGE_NAMED:
		c->named = message->NAMED;
		return 0;
	case MESSAGE_STEP:
		stepped.error = take_step(c, &message->STEP);
		stepped.step = message->STEP.step;
		stepped.waited = c->waited;
		return channel_reply(&c->loader, message, &stepped, sizeof(stepped), -1);
	default:
		return -EPROTO;
	}
}

static int send_manager(struct committer *c)
{
	guard_fd int fd = notify_open();
	struct message_reply reply = {0};

	if (fd < 0)
		reply.error = fd;
	if (fd < 0 && fd != -ENODATA) {
		log_error("notify: NOTIFY_SOCKET: %s; run: env -u NOTIFY_SOCKET keyhole ...",
			  strerror(-fd));
		return fd;
	}
	return channel_send(&c->loader, MESSAGE_NOTIFY, &reply, sizeof(reply), fd);
}

static int on_loader(struct committer *c)
{
	struct message message;
	int r = channel_receive(&c->loader, &message);

	if (r == 1)
		r = on_message(c, &message);
	return r;
}

/* Waits for loader and exporter, and handles what comes. Returns 0 or a negative errno. */
static int turn(struct committer *c)
{
	struct pollfd fds[] = {{.fd = c->loader.fd, .events = POLLIN},
			       {.fd = c->exporter.fd, .events = POLLIN}};

	if (poll(fds, 2, -1) < 0 && errno != EINTR)
		return -errno;
	if (fds[1].revents)
		on_exporter(c);
	if (fds[0].revents)
		return on_loader(c);
	return 0;
}

static int write_file(struct committer *c)
{
	struct message_reply reply = {0};
	int file, r = send_manager(c);

	if (r)
		return 1;
	signals_leave_to_loader();
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, message_party_name(PARTY_COMMITTER));
	file = output_file_open(&c->file);
	if (file < 0)
		reply.error = file;
	if (file < 0)
		log_error("output: %s: %s", c->file.path, c->file.problem);
	r = channel_send(&c->loader, MESSAGE_OUTPUT_FILE, &reply, sizeof(reply), file);
	if (file > STDERR_FILENO)
		close(file);
	while (file >= 0 && (r == 0 || r == -ETIMEDOUT))
		r = turn(c);
	listener_remove(&c->listener);
	output_file_discard(&c->file);
	return r != -EPIPE;
}

/* ---- a command ----------------------------------------------------------------------------- */

static int hold(struct channel *loader, char **argv)
{
	const char *mend = "not in PATH, give its path";
	struct message message;

	if (channel_expect(loader, MESSAGE_RELEASE, INT_MAX, &message))
		return 127;
	unsetenv("KEYHOLE_BUILD");
	unsetenv(LOG_VARIABLE);
	execvp(argv[0], argv);
	if (errno != ENOENT)
		mend = "it must be a program that you may run";
	else if (strchr(argv[0], '/'))
		mend = "give the path of a program";
	log_error("record: %s: %s; %s", argv[0], strerror(errno), mend);
	return 127;
}

int main(int argc, char **argv)
{
	static struct committer committer; /* all 0 */

	if (argc < 3 || close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	log_init("keyhole", LOG_LEVEL_INFO);
	channel_init(&committer.loader, CHANNEL_FD, PARTY_COMMITTER, PARTY_LOADER);
	if (strcmp(argv[1], "--") == 0)
		return hold(&committer.loader, argv + 2);
	committer.file.path = argv[2];
	committer.file.force = strcmp(argv[1], OUTPUT_VERB_REPLACE) == 0;
	committer.file.stream = strcmp(argv[1], OUTPUT_VERB_STREAM) == 0;
	committer.file.is_folder =
		strcmp(argv[1], OUTPUT_VERB_ROTATE) == 0 || strcmp(argv[1], OUTPUT_VERB_SPOOL) == 0;
	committer.file.is_nowhere =
		committer.file.is_folder || strcmp(argv[1], OUTPUT_VERB_DELIVER) == 0;
	committer.exporter.fd = -1;
	debug_open(&committer.debug, argv[3]);
	return write_file(&committer);
}
