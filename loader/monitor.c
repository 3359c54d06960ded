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

#define TARGETS	      (ROLE_SUPERVISED + 1) /* their first place in fds[] */
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
	for (int role = ROLE_WORKER; role < ROLE_SUPERVISED; role++)
		monitor->fds[role].fd = monitor->children[role].channel.fd;
	monitor->fds[ROLE_SUPERVISED].fd = monitor->audit.fd;
	for (unsigned int i = 0; i < TARGETS + monitor->targets; i++)
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
	monitor->fds[TARGETS + monitor->targets++].fd = pidfd;
}

void monitor_audit(struct monitor *monitor, enum audit_event event, enum message_party party,
		   uint64_t first, uint64_t second)
{
	const struct message_audit_event message = {event, party, {first, second}};

	if (monitor->audit.fd >= 0)
		monitor->unaudited |= channel_send(&monitor->audit, MESSAGE_AUDIT_EVENT, &message,
						   sizeof(message), -1) != 0;
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
		if (monitor->goal == GOAL_STOP) { /* only what failed ends a recording */
			if (!monitor->written.error || monitor->written.error == -ENODATA)
				return -EPROTO;
			monitor->result = MONITOR_REACHED;
		}
		return 0;
	case MESSAGE_BROKER_STUCK:
		if (monitor->brokers_stuck++ > BROKERS_MAX)
			return -EPROTO;
		log_warning("monitor: keyhole-broker: no answer for 2 s, given up");
		monitor_audit(monitor, AUDIT_kill, PARTY_BROKER, 0, 0);
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
		log_error("monitor: %s: %s; ended", message_party_name(child->channel.peer),
			  r == -EPROTO ? "violation of the protocol" : strerror(-r));
		monitor_audit(monitor, AUDIT_violation, child->channel.peer, (uint64_t)-r, 0);
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
	else if (index < ROLE_SUPERVISED)
		on_message(monitor, &monitor->children[index]);
	else if (index == ROLE_SUPERVISED)
		monitor->result = MONITOR_FAILED; /* it has nothing to say here: it has ended */
	else
		on_target(monitor, &monitor->fds[index]);
}

enum monitor_result monitor_run(struct monitor *monitor, enum monitor_goal goal, uint64_t until)
{
	const unsigned int count = TARGETS + monitor->targets;
	uint64_t now;

	monitor->goal = goal;
	monitor->result = monitor->unaudited ? MONITOR_FAILED : MONITOR_RUNNING;
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

	for (int role = ROLE_SUPERVISED - 1; role >= ROLE_WORKER && !number; role--) {
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
		/* after STOP nobody needs it, whatever became of it */
		cause = role == ROLE_BROKER && monitor->goal == GOAL_WRITTEN ? ROLE_BROKER
									     : ROLE_LOADER;
		if (r)
			continue;
		monitor_audit(monitor, AUDIT_exited, child->channel.peer, (uint64_t)status, 0);
		what = WIFSIGNALED(status) ? "ended by itself, signal" : "ended by itself, status";
		if (WIFSIGNALED(status) || role == ROLE_WORKER)
			cause = (enum policy_role)role;
	}
	if (name)
		log_error("monitor: %s: %s %d%s", name, what, number,
			  cause && number == SIGSYS ? ", the filter of system calls" : "");
	return cause;
}

void monitor_stop_children(struct monitor *monitor)
{
	for (int i = ROLE_WORKER; i < ROLE_SUPERVISED; i++) {
		channel_release(&monitor->children[i].channel);
		spawner_stop(&monitor->children[i].spawner);
	}
}
