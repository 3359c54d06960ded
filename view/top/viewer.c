/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/viewer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/policy.h"
#include "view/screen.h"
#include "view/top/messages.h"
#include "view/top/members.h"
#include "view/top/ui.h"
#include "profile/format/format.h"

#define READ_BYTES    65536
#define BATCH_COLUMNS 80
#define BATCH_LINES   24
#define COLUMNS_MAX   400
#define LINES_MAX     200

struct viewer {
	const struct top_options *options;
	struct viewer_files files;
	struct ui ui;
	struct canvas canvas;
	struct members *members;
	struct messages messages;
	int epoll, signals;
	bool interactive, dirty;
	unsigned int updates;
	uint64_t shown_ns; /* batch: what has been printed */
	int result;	   /* VIEWER_*, -1: it goes on */
};

/* ---- screen ---- */

static void measure(struct viewer *viewer)
{
	struct winsize size = {0};

	viewer->canvas.columns = BATCH_COLUMNS;
	viewer->canvas.lines = BATCH_LINES;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return;
	viewer->canvas.columns = size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
	if (viewer->interactive)
		viewer->canvas.lines = size.ws_row < LINES_MAX ? size.ws_row : LINES_MAX;
}

static bool write_all(const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(STDOUT_FILENO, bytes, size);

		if (written < 0 && errno != EINTR)
			return false;
		bytes += written > 0 ? written : 0;
		size -= written > 0 ? (size_t)written : 0;
	}
	return true;
}

static void end(struct viewer *viewer, int result)
{
	if (viewer->result < 0)
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
	if (errno == EPIPE) /* who reads has what it wanted */
		end(viewer, VIEWER_FAILED);
	else
		fail(viewer, "standard output", -errno);
}

/* A table a window. */
static void print(struct viewer *viewer)
{
	if (viewer->shown_ns)
		write_all("\n", 1);
	viewer->shown_ns = viewer->ui.history.elapsed_ns;
	draw(viewer);
	viewer->updates++;
}

/* ---- what comes in ---- */

static int take_profile(void *context, const unsigned char *bytes, size_t size)
{
	struct viewer *viewer = context;
	int r;

	if (viewer->result >= 0)
		return 0;
	r = ui_add(&viewer->ui, bytes, size);
	if (r)
		return r;
	if (viewer->interactive) {
		viewer->updates++;
		viewer->dirty = true;
	} else if (viewer->ui.history.elapsed_ns - viewer->shown_ns + 500000000 >=
		   viewer->options->window * 1000000000ull) {
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
	if (r)
		fail(viewer, "stream", r);
}

/* False: there is no more. */
static bool on_messages(struct viewer *viewer)
{
	char bytes[4096];
	ssize_t got = read(viewer->files.messages, bytes, sizeof(bytes));

	if (got > 0)
		messages_feed(&viewer->messages, bytes, (size_t)got);
	return got > 0;
}

static void on_keys(struct viewer *viewer)
{
	char bytes[256];
	ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));
	size_t used;
	int key, r;

	if (got <= 0)
		end(viewer, VIEWER_QUIT);
	for (size_t at = 0; got > 0 && at < (size_t)got; at += used) {
		used = ui_decode(bytes + at, (size_t)got - at, &key);
		r = key == KEY_NONE ? 0 : ui_key(&viewer->ui, key);
		if (r)
			fail(viewer, "memory", r);
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

static int watch(struct viewer *viewer, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(viewer->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_all(struct viewer *viewer)
{
	static const int signals[] = {SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;
	int r;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	viewer->signals = signalfd(-1, &set, SFD_CLOEXEC);
	viewer->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (viewer->signals < 0 || viewer->epoll < 0)
		return -errno;
	r = watch(viewer, viewer->signals);
	r = r ? r : watch(viewer, viewer->files.profiles);
	r = r ? r : watch(viewer, viewer->files.messages);
	if (viewer->interactive)
		r = r ? r : watch(viewer, STDIN_FILENO);
	return r;
}

static int start(struct viewer *viewer)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r = open_all(viewer);

	viewer->canvas.escapes = viewer->interactive;
	viewer->canvas.colour = screen_wants_colour();
	measure(viewer);
	viewer->members = members_new();
	r = r ? r : ui_init(&viewer->ui, cpus > 0 ? (unsigned int)cpus : 1);
	r = r ? r : viewer->members ? 0 : -ENOMEM;
	ui_set_window(&viewer->ui, viewer->options->window);
	ui_resize(&viewer->ui, viewer->canvas.lines);
	if (r < 0)
		return r;
	return policy_confine_self(ROLE_TERMINAL, NULL);
}

static void turn(struct viewer *viewer)
{
	struct epoll_event events[4];
	int count = epoll_wait(viewer->epoll, events, 4, -1);

	if (count < 0 && errno != EINTR)
		fail(viewer, "events", -errno);
	for (int i = 0; i < count && viewer->result < 0; i++) {
		const int fd = events[i].data.fd;

		if (fd == viewer->signals)
			on_signal(viewer);
		else if (fd == viewer->files.profiles)
			on_profiles(viewer);
		else if (fd == viewer->files.messages) {
			if (!on_messages(viewer))
				epoll_ctl(viewer->epoll, EPOLL_CTL_DEL, fd, NULL);
		} else
			on_keys(viewer);
	}
	if (viewer->dirty && viewer->interactive)
		draw(viewer);
}

/* Its last words, where they can be read; they are why it ended. */
static void say_why(struct viewer *viewer)
{
	const char *line;

	while (viewer->result == VIEWER_ENDED && on_messages(viewer))
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
		.options = options, .files = *files, .interactive = interactive, .result = -1};
	r = start(&viewer);
	if (r)
		fail(&viewer, "confinement", r);
	else if (interactive)
		draw(&viewer);
	while (viewer.result < 0)
		turn(&viewer);
	if (interactive)
		write_all(VIEWER_LEAVE, sizeof(VIEWER_LEAVE) - 1);
	else if (viewer.result == VIEWER_ENDED && viewer.ui.history.elapsed_ns > viewer.shown_ns)
		print(&viewer);
	if (viewer.result != VIEWER_QUIT)
		say_why(&viewer);
	return viewer.result;
}
