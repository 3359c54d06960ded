/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/monitor.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/audit.h"

#define EXIT_WAIT_MS  500
#define TURN_MESSAGES 64  /* of one child, before the others and the signals have their turn */
#define LOG_LINES     200 /* of one child in a second: more are a violation */

int monitor_start(struct monitor *monitor)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	monitor->fds[0].fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	for (int role = ROLE_WORKER; role < ROLE_COUNT; role++)
		monitor->fds[role].fd = monitor->children[role].channel.fd;
	for (unsigned int i = 0; i < ROLE_COUNT + monitor->targets; i++)
		monitor->fds[i].events = POLLIN;
	monitor->targets_left = monitor->targets;
	return monitor->fds[0].fd < 0 ? -errno : 0;
}

void monitor_watch_child(struct monitor *monitor, enum policy_role role)
{
	monitor->fds[role] =
		(struct pollfd){.fd = monitor->children[role].channel.fd, .events = POLLIN};
}

void monitor_watch(struct monitor *monitor, int pidfd)
{
	monitor->fds[ROLE_COUNT + monitor->targets++].fd = pidfd;
}

static void on_signal(struct monitor *monitor)
{
	struct signalfd_siginfo info;

	if (read(monitor->fds[0].fd, &info, sizeof(info)) != sizeof(info))
		return;
	monitor->signals++;
	if (monitor->goal == GOAL_STOP)
		monitor->result = MONITOR_REACHED;
	else if (monitor->signals > 1)
		monitor->result = MONITOR_ABORTED;
}

static void on_target(struct monitor *monitor, struct pollfd *target)
{
	target->fd = -1;
	if (--monitor->targets_left == 0 && monitor->goal == GOAL_STOP)
		monitor->result = MONITOR_REACHED;
}

static int on_log(struct child *child, const struct message_log *line)
{
	uint64_t now = time_now();

	if (now >= child->log_until) {
		child->log_until = now + NS_PER_SECOND;
		child->log_lines = 0;
	}
	if (child->log_lines++ >= LOG_LINES)
		return -EPROTO;
	return log_from_message(message_party_name(child->channel.peer), line);
}

static int dispatch(struct monitor *monitor, struct child *child, const struct message *message)
{
	switch (message->head.type) {
	case MESSAGE_LOG:
		return on_log(child, &message->LOG);
	case MESSAGE_PROGRESS:
		monitor->progress = message->PROGRESS;
		monitor->progressed = true;
		return 0;
	case MESSAGE_SUMMARY:
		monitor->summary = message->SUMMARY;
		return 0;
	case MESSAGE_WRITTEN:
		monitor->written = message->WRITTEN;
		return 0;
	case MESSAGE_BROKER_STUCK:
		if (monitor->brokers_stuck++ > BROKERS_MAX)
			return -EPROTO;
		log_warning("monitor: keyhole-broker: no answer for 2 s, given up");
		audit_write(AUDIT_kill, "keyhole-broker\n0\nno answer for 2 s");
		monitor->broker_stuck = true;
		monitor->result = MONITOR_ENDED;
		return 0;
	default:
		return -EPROTO;
	}
}

static bool has_sent(const struct child *child, enum message_type type)
{
	return child->channel.seen >> type & 1;
}

static void on_message(struct monitor *monitor, struct child *child)
{
	struct message message;
	int r = 0;

	for (int i = 0; i < TURN_MESSAGES && r >= 0; i++) {
		r = channel_receive(&child->channel, &message);
		if (r <= 0)
			break;
		r = dispatch(monitor, child, &message);
		message_release(&message);
	}
	if (r == -EPIPE) {
		/* nobody else holds that end, so it is gone, or about to be */
		child->ended = true;
		monitor->result = MONITOR_ENDED;
	} else if (r < 0) {
		const char *name = message_party_name(child->channel.peer);
		const char *reason = r == -EPROTO ? "violation of the protocol" : strerror(-r);

		log_error("monitor: %s: %s; ended", name, reason);
		audit_write(AUDIT_violation, "%s\n%s", name, reason);
		monitor->result = MONITOR_FAILED;
	} else if (monitor->goal == GOAL_WRITTEN &&
		   has_sent(&monitor->children[ROLE_WORKER], MESSAGE_SUMMARY) &&
		   has_sent(&monitor->children[ROLE_EXPORTER], MESSAGE_WRITTEN)) {
		monitor->result = MONITOR_REACHED;
	}
}

static void on_ready(struct monitor *monitor, unsigned int index)
{
	if (index == 0)
		on_signal(monitor);
	else if (index < ROLE_COUNT)
		on_message(monitor, &monitor->children[index]);
	else
		on_target(monitor, &monitor->fds[index]);
}

enum monitor_result monitor_run(struct monitor *monitor, enum monitor_goal goal, uint64_t until)
{
	const unsigned int count = ROLE_COUNT + monitor->targets;
	uint64_t now;

	monitor->goal = goal;
	monitor->result = MONITOR_RUNNING;
	while (monitor->result == MONITOR_RUNNING) {
		now = time_now();
		if (now >= until)
			return MONITOR_TIMEOUT;
		if (poll(monitor->fds, count, (int)((until - now + NS_PER_MS - 1) / NS_PER_MS)) < 0)
			continue;
		for (unsigned int i = 0; i < count && monitor->result == MONITOR_RUNNING; i++)
			if (monitor->fds[i].revents)
				on_ready(monitor, i);
	}
	return monitor->result;
}

/*
 * When the worker ends, the others follow by themselves, and may be seen first: it comes last here,
 * and is waited for if anybody has ended. A signal or an error is the cause.
 */
enum policy_role monitor_explain(struct monitor *monitor)
{
	const uint64_t deadline = time_now() + EXIT_WAIT_MS * NS_PER_MS;
	enum policy_role cause = ROLE_LOADER;
	const char *name = NULL, *what = "closed its channel; status";
	int number = 0;

	for (int role = ROLE_COUNT - 1; role >= ROLE_WORKER && !number; role--) {
		struct child *child = &monitor->children[role];
		bool ended = child->ended;
		uint64_t now = time_now();
		int wait =
			(ended || name) && now < deadline ? (int)((deadline - now) / NS_PER_MS) : 0;
		struct message message;
		int r = channel_expect(&child->spawner.channel, MESSAGE_EXITED, wait, &message);
		int status = r ? 0 : message.EXITED.status;

		child->ended = false;
		number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
		if (!ended && !number && (r || !name))
			continue;
		name = message_party_name(child->channel.peer);
		if (r)
			continue;
		what = WIFSIGNALED(status) ? "ended by itself, signal" : "ended by itself, status";
		if (WIFSIGNALED(status) || role == ROLE_WORKER)
			cause = (enum policy_role)role;
	}
	if (name) {
		log_error("monitor: %s: %s %d%s", name, what, number,
			  cause && number == SIGSYS ? ", the filter of system calls" : "");
		audit_write(AUDIT_exited, "%s\n%s\n%d", name, what, number);
	}
	return cause;
}

void monitor_stop_children(struct monitor *monitor, int status)
{
	for (int i = ROLE_WORKER; i < ROLE_COUNT; i++) {
		/* nobody asks it for anything any more, and it ends */
		if (i == ROLE_BROKER)
			audit_end(status);
		channel_release(&monitor->children[i].channel);
		spawner_stop(&monitor->children[i].spawner);
	}
}
