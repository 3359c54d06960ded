/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/viewer.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/loop.h"
#include "ipc/time.h"
#include "policy/policy.h"
#include "view/screen.h"
#include "view/top/messages.h"
#include "view/top/members.h"
#include "view/top/ui.h"
#include "profile/format/format.h"

#define READ_BYTES    65536
#define MESSAGE_BYTES 4096
#define KEY_BYTES     256
#define BATCH_COLUMNS 80
#define BATCH_LINES   24
#define COLUMNS_MAX   400
#define LINES_MAX     200
#define HALF_SECOND   (500ull * 1000 * 1000)
#define RUNNING	      (-1)

enum watch {
	WATCH_SIGNALS,
	WATCH_PROFILES,
	WATCH_MESSAGES,
	WATCH_KEYS,
	WATCHES
};

struct viewer {
	const struct top_options *options;
	struct viewer_files files;
	struct ui ui;
	struct canvas canvas;
	struct members *members;
	struct messages messages;
	struct event_base *base;
	struct event *watch[WATCHES]; /* WATCH_KEYS of the interactive viewer alone */
	int signals;		      /* a signalfd */
	bool interactive, dirty;
	unsigned int updates;
	uint64_t shown_ns; /* batch: time of the last table */
	int result;	   /* VIEWER_*, or RUNNING */
};

/* ---- screen ---- */

static unsigned int at_most(unsigned int value, unsigned int most)
{
	return value < most ? value : most;
}

static void measure(struct viewer *viewer)
{
	struct winsize size = {0};

	viewer->canvas.columns = BATCH_COLUMNS;
	viewer->canvas.lines = BATCH_LINES;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return;
	viewer->canvas.columns = at_most(size.ws_col, COLUMNS_MAX);
	if (viewer->interactive)
		viewer->canvas.lines = at_most(size.ws_row, LINES_MAX);
}

static bool write_all(const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(STDOUT_FILENO, bytes, size);

		if (written < 0 && errno != EINTR)
			return false;
		if (written < 0)
			continue;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}

static void end(struct viewer *viewer, int result)
{
	if (viewer->result == RUNNING)
		viewer->result = result;
}

static void fail(struct viewer *viewer, const char *object, int r)
{
	messages_feed(&viewer->messages, "keyhole: top: ", 14);
	messages_feed(&viewer->messages, object, strlen(object));
	messages_feed(&viewer->messages, ": ", 2);
	messages_feed(&viewer->messages, strerror(-r), strlen(strerror(-r)));
	messages_feed(&viewer->messages, "\n", 1);
	end(viewer, VIEWER_FAILED);
}

static void draw(struct viewer *viewer)
{
	viewer->dirty = false;
	viewer->ui.lost = viewer->messages.lost;
	ui_draw(&viewer->ui, &viewer->canvas);
	if (write_all(viewer->canvas.bytes, viewer->canvas.size))
		return;
	if (errno == EPIPE) /* the reader has seen enough */
		end(viewer, VIEWER_UNREAD);
	else
		fail(viewer, "standard output", -errno);
}

/* Prints one table a window. */
static void print(struct viewer *viewer)
{
	if (viewer->shown_ns)
		write_all("\n", 1);
	viewer->shown_ns = viewer->ui.history.elapsed_ns;
	draw(viewer);
	viewer->updates++;
}

/* ---- what comes in ---- */

/* Returns whether the batch has seen a whole window since it printed a table. */
static bool is_window_full(const struct viewer *viewer)
{
	uint64_t since = viewer->ui.history.elapsed_ns - viewer->shown_ns;

	return since + HALF_SECOND >= viewer->options->window * NS_PER_SECOND;
}

static int take_profile(void *context, const unsigned char *bytes, size_t size)
{
	struct viewer *viewer = context;
	int r;

	if (viewer->result != RUNNING)
		return 0;
	r = ui_add(&viewer->ui, bytes, size);
	if (r < 0)
		return r;
	if (viewer->interactive) {
		viewer->updates++;
		viewer->dirty = true;
	} else if (is_window_full(viewer)) {
		print(viewer);
	}
	if (viewer->options->updates && viewer->updates >= viewer->options->updates)
		end(viewer, VIEWER_QUIT);
	return 0;
}

static void on_profiles(struct viewer *viewer)
{
	static unsigned char bytes[READ_BYTES];
	ssize_t got = read(viewer->files.profiles, bytes, sizeof(bytes));
	int r;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		end(viewer, VIEWER_ENDED);
		return;
	}
	r = members_feed(viewer->members, bytes, (size_t)got, take_profile, viewer);
	if (r < 0)
		fail(viewer, "stream", r);
}

/* Returns false at the end of the messages. */
static bool read_messages(struct viewer *viewer)
{
	char bytes[MESSAGE_BYTES];
	ssize_t got = read(viewer->files.messages, bytes, sizeof(bytes));

	if (got <= 0)
		return false;
	messages_feed(&viewer->messages, bytes, (size_t)got);
	return true;
}

static void on_messages(struct viewer *viewer)
{
	if (!read_messages(viewer))
		event_del(viewer->watch[WATCH_MESSAGES]);
}

static void press(struct viewer *viewer, int key)
{
	int r;

	if (key == KEY_NONE)
		return;
	r = ui_key(&viewer->ui, key);
	if (r < 0)
		fail(viewer, "memory", r);
}

static void on_keys(struct viewer *viewer)
{
	char bytes[KEY_BYTES];
	ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));
	size_t at = 0;

	if (got <= 0)
		end(viewer, VIEWER_QUIT);
	while (got > 0 && at < (size_t)got) {
		int key;

		at += ui_decode(bytes + at, (size_t)got - at, &key);
		press(viewer, key);
	}
	if (viewer->ui.quit)
		end(viewer, VIEWER_QUIT);
	viewer->dirty = true;
}

static void on_signal(struct viewer *viewer)
{
	struct signalfd_siginfo info;

	if (read(viewer->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo != SIGWINCH && info.ssi_signo != SIGCONT) {
		end(viewer, VIEWER_QUIT);
		return;
	}
	measure(viewer);
	ui_resize(&viewer->ui, viewer->canvas.lines);
	viewer->dirty = true;
}

/* ---- life ---- */

static void on_event(int fd, short what, void *argument)
{
	struct viewer *viewer = argument;

	(void)what;
	if (viewer->result != RUNNING)
		return;
	if (fd == viewer->signals)
		on_signal(viewer);
	else if (fd == viewer->files.profiles)
		on_profiles(viewer);
	else if (fd == viewer->files.messages)
		on_messages(viewer);
	else
		on_keys(viewer);
}

static int watch(struct viewer *viewer, enum watch watch, int fd)
{
	struct event *event = event_new(viewer->base, fd, EV_READ | EV_PERSIST, on_event, viewer);

	if (!event)
		return -ENOMEM;
	viewer->watch[watch] = event;
	if (event_add(event, NULL) < 0)
		return -EIO;
	return 0;
}

/* The viewer reads signals from a descriptor. libevent's own way installs handlers and a pipe. */
static int open_signals(struct viewer *viewer)
{
	static const int signals[] = {SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	viewer->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (viewer->signals < 0)
		return -errno;
	return 0;
}

/* Watches everything before confinement, after which the loop can only remove descriptors. */
static int open_all(struct viewer *viewer)
{
	int r = open_signals(viewer);

	if (r < 0)
		return r;
	viewer->base = loop_new();
	if (!viewer->base)
		return -ENOMEM;
	r = watch(viewer, WATCH_SIGNALS, viewer->signals);
	if (r == 0)
		r = watch(viewer, WATCH_PROFILES, viewer->files.profiles);
	if (r == 0)
		r = watch(viewer, WATCH_MESSAGES, viewer->files.messages);
	if (r == 0 && viewer->interactive)
		r = watch(viewer, WATCH_KEYS, STDIN_FILENO);
	return r;
}

static int make_ui(struct viewer *viewer)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r;

	viewer->members = members_new();
	if (!viewer->members)
		return -ENOMEM;
	r = ui_init(&viewer->ui, cpus > 0 ? (unsigned int)cpus : 1);
	if (r < 0)
		return r;
	ui_set_window(&viewer->ui, viewer->options->window);
	ui_resize(&viewer->ui, viewer->canvas.lines);
	return 0;
}

static int start(struct viewer *viewer)
{
	int r;

	viewer->canvas.escapes = viewer->interactive;
	viewer->canvas.colour = screen_wants_colour();
	measure(viewer);
	r = open_all(viewer);
	if (r < 0)
		return r;
	r = make_ui(viewer);
	if (r < 0)
		return r;
	return policy_confine_self(ROLE_TERMINAL, NULL);
}

/* Waits for something to read, reads all that is there, and draws once. */
static void turn(struct viewer *viewer)
{
	if (event_base_loop(viewer->base, EVLOOP_ONCE) < 0)
		fail(viewer, "events", -errno);
	if (viewer->dirty && viewer->interactive)
		draw(viewer);
}

/* Prints the recording's last words on standard error, where they outlive the screen. */
static void say_why(struct viewer *viewer)
{
	const char *line;

	while (viewer->result == VIEWER_ENDED && read_messages(viewer))
		;
	for (size_t i = 0; (line = messages_line(&viewer->messages, i)); i++)
		if (!strncmp(line, "keyhole", 7))
			dprintf(STDERR_FILENO, "%s\n", line);
}

int viewer_run(const struct top_options *options, const struct viewer_files *files,
	       bool interactive)
{
	static struct viewer viewer;
	int r;

	viewer = (struct viewer){
		.options = options, .files = *files, .interactive = interactive, .result = RUNNING};
	r = start(&viewer);
	if (r < 0)
		fail(&viewer, "confinement", r);
	else if (interactive)
		draw(&viewer);
	while (viewer.result == RUNNING)
		turn(&viewer);
	if (interactive)
		write_all(VIEWER_LEAVE, sizeof(VIEWER_LEAVE) - 1);
	else if (viewer.result == VIEWER_ENDED && viewer.ui.history.elapsed_ns > viewer.shown_ns)
		print(&viewer);
	if (viewer.result != VIEWER_QUIT)
		say_why(&viewer);
	return viewer.result;
}
