/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-top has three processes. `keyhole record --every 1` has the rights that the user started
 * us with. The viewer (viewer.h) has none and reads what the recording writes. This process gives
 * up its rights before it starts the viewer, reads nothing, and puts the terminal right at the end.
 * The recording ends by itself when nobody reads it.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "generated/install.h"
#include "ipc/exit_status.h"
#include "ipc/log.h"
#include "ipc/signals.h"
#include "policy/policy.h"
#include "view/top/options.h"
#include "view/top/viewer.h"

#define NOBODY 65534 /* the kernel's overflowuid */

struct top {
	struct top_options options;
	struct policy_user user; /* whom the viewer runs as */
	pid_t record, viewer;
	struct viewer_files files;
	bool interactive;
	struct termios before;
	sigset_t signals, inherited;
};

static int failed(const char *object, int r)
{
	log_error("top: %s: %s", object, strerror(-r));
	return EXIT_FAILURE;
}

/* ---- keyhole record ---- */

static int open_keyhole(void)
{
	char own[PATH_MAX] = "";
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	const char *const folders[] = {length > 0 ? dirname(own) : "", KEYHOLE_BINDIR};
	char path[PATH_MAX + 16];
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/keyhole", folders[i]);
		fd = open(path, O_PATH | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* The recording gets a process group of its own, as a terminal's Ctrl-C is for the viewer. */
static void become_record(const struct top *top, int program, int profiles, int messages)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, &top->inherited, NULL);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(profiles, STDOUT_FILENO) >= 0 &&
	    dup2(messages, STDERR_FILENO) >= 0)
		fexecve(program, top->options.record, environ);
	_exit(EXIT_FAILURE);
}

static int start_record(struct top *top)
{
	int profiles[2], messages[2], program = open_keyhole();

	if (program < 0 || pipe2(profiles, O_CLOEXEC) || pipe2(messages, O_CLOEXEC))
		return failed("keyhole", program < 0 ? program : -errno);
	top->record = fork();
	if (top->record < 0)
		return failed("keyhole", -errno);
	if (top->record == 0)
		become_record(top, program, profiles[1], messages[1]);
	close(program);
	close(profiles[1]);
	close(messages[1]);
	top->files = (struct viewer_files){profiles[0], messages[0]};
	return EXIT_SUCCESS;
}

/* ---- the terminal ---- */

static bool knows_sequences(void)
{
	const char *terminal = getenv("TERM");

	return terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

/* Signals stay, but for stopping: nobody would put the screen right meanwhile. */
static void enter_terminal(struct top *top)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &top->before))
		top->interactive = false;
	if (!top->interactive)
		return;
	signal(SIGTTOU, SIG_IGN);
	raw = top->before;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	if (write(STDOUT_FILENO, VIEWER_ENTER, sizeof(VIEWER_ENTER) - 1) < 0)
		top->interactive = false;
}

static void leave_terminal(const struct top *top, bool crashed)
{
	if (!top->interactive)
		return;
	if (crashed && write(STDOUT_FILENO, VIEWER_LEAVE, sizeof(VIEWER_LEAVE) - 1) < 0)
		return;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &top->before);
}

/* ---- rights ---- */

static int find_user(struct top *top)
{
	if (policy_user_read(&top->user)) {
		log_error("top: SUDO_UID: not what sudo sets; run: env -u SUDO_UID keyhole top");
		return EXIT_USAGE;
	}
	if (top->user.uid == 0)
		top->user = (struct policy_user){.uid = NOBODY, .gid = NOBODY};
	return EXIT_SUCCESS;
}

static int give_up_rights(const struct top *top)
{
	int r;

	/* a viewer needs no group, and a static program cannot look up the user's */
	if (geteuid() == 0 && setgroups(0, NULL))
		return -errno;
	r = policy_user_become(&top->user);
	if (r < 0)
		return r;
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return 0;
}

/* ---- the viewer ---- */

static int start_viewer(struct top *top)
{
	const pid_t parent = getpid();
	int fds[] = {top->files.profiles, top->files.messages};
	int r;

	top->viewer = fork();
	if (top->viewer < 0)
		return failed("keyhole-top", -errno);
	if (top->viewer > 0) {
		close(top->files.profiles);
		close(top->files.messages);
		return EXIT_SUCCESS;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	policy_keep_descriptors(fds, sizeof(fds) / sizeof(fds[0]));
	r = viewer_run(&top->options, &top->files, top->interactive);
	_exit(r);
}

/* Returns the viewer's status as of waitpid(). Passes on signals that would end this process. */
static int await_viewer(const struct top *top)
{
	siginfo_t info;
	int status = 0;

	while (waitpid(top->viewer, &status, WNOHANG) == 0)
		if (sigwaitinfo(&top->signals, &info) > 0 && info.si_signo != SIGCHLD)
			kill(top->viewer, SIGTERM);
	return status;
}

/* Waits for the recording, which ends once nobody reads the pipe any more. */
static int await_record(const struct top *top)
{
	int status = 0;

	while (waitpid(top->record, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

static int finish(const struct top *top, int status)
{
	int recorded;

	leave_terminal(top, !WIFEXITED(status));
	sigprocmask(SIG_SETMASK, &top->inherited, NULL);
	recorded = await_record(top);
	if (WIFSIGNALED(status)) {
		log_error("top: keyhole-top: the viewer ended by signal %d", WTERMSIG(status));
		return EXIT_FAILURE;
	}
	return WEXITSTATUS(status) == VIEWER_ENDED ? recorded : WEXITSTATUS(status);
}

static void hold_signals(struct top *top)
{
	signals_that_end(&top->signals);
	sigaddset(&top->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &top->signals, &top->inherited);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would not come */
}

int main(int argc, char **argv)
{
	static struct top top;
	int r;

	signal(SIGPIPE, SIG_DFL); /* systemd ignores it: `| head` is no error even so */
	log_init("keyhole", LOG_LEVEL_WARNING);
	if (top_options_parse(argc, argv, &top.options))
		return EXIT_USAGE;
	if (top.options.help) {
		top_options_usage(stdout);
		return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	top.interactive = knows_sequences() && !top.options.batch && isatty(STDIN_FILENO) &&
			  isatty(STDOUT_FILENO);
	r = find_user(&top);
	if (r)
		return r;
	hold_signals(&top);
	if (start_record(&top))
		return EXIT_FAILURE;
	r = give_up_rights(&top);
	if (r)
		return failed("rights", r);
	enter_terminal(&top);
	if (start_viewer(&top)) {
		leave_terminal(&top, true);
		return EXIT_FAILURE;
	}
	return finish(&top, await_viewer(&top));
}
