/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/monitor.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "ipc/log.h"
#include "ipc/time.h"

#define EVENTS_MAX   (sizeof(((struct monitor *)0)->events) / sizeof(struct event *))
#define OWN_EVENTS   4 /* signals and the tick */
#define EXIT_WAIT_MS 500

static void stop(struct monitor *monitor, enum monitor_result result)
{
	monitor->result = result;
	event_base_loopbreak(monitor->base);
}

static int watch(struct monitor *monitor, int fd, short what, event_callback_fn function,
		 const struct timeval *interval)
{
	struct event *event;

	if (monitor->event_count == EVENTS_MAX)
		return -E2BIG;
	event = event_new(monitor->base, fd, what, function, monitor);
	if (!event || event_add(event, interval)) {
		if (event)
			event_free(event);
		return -ENOMEM;
	}
	monitor->events[monitor->event_count++] = event;
	return 0;
}

static void on_signal(evutil_socket_t number, short what, void *context)
{
	struct monitor *monitor = context;

	(void)number, (void)what;
	monitor->signals++;
	if (monitor->goal != GOAL_WRITTEN)
		stop(monitor, MONITOR_REACHED);
	else if (monitor->signals > 1)
		stop(monitor, MONITOR_ABORTED);
}

static void on_child_signal(evutil_socket_t number, short what, void *context)
{
	struct monitor *monitor = context;

	(void)number, (void)what;
	if (!monitor->command ||
	    waitpid(monitor->command, &monitor->command_status, WNOHANG) != monitor->command)
		return;
	monitor->command = 0;
	if (monitor->goal != GOAL_WRITTEN)
		stop(monitor, MONITOR_REACHED);
}

static void on_target_gone(evutil_socket_t fd, short what, void *context)
{
	struct monitor *monitor = context;

	(void)fd, (void)what;
	if (--monitor->targets == 0 && monitor->goal == GOAL_STOP)
		stop(monitor, MONITOR_REACHED);
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	struct monitor *monitor = context;

	on_child_signal(fd, what, monitor); /* one that came before we listened */
	if (monitor->goal == GOAL_STOP)
		monitor->tick(monitor->context);
}

/* Its channel has ended or its spawner has something to say: in both cases it is gone. */
static void child_ended(struct monitor *monitor, struct child *child)
{
	struct pollfd ready = {.fd = child->spawner.channel.fd, .events = POLLIN};
	const char *name = policy_role_name(child->spawner.role);
	int status;

	if (poll(&ready, 1, EXIT_WAIT_MS) > 0 && spawner_exited(&child->spawner, &status) == 1)
		log_error("monitor: %s: ended by itself, %s %d", name,
			  WIFSIGNALED(status) ? "signal" : "status",
			  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	else
		log_error("monitor: %s: closed its channel", name);
	stop(monitor, MONITOR_FAILED);
}

static int dispatch(struct monitor *monitor, const struct child *child,
		    const struct message *message)
{
	switch (message->head.type) {
	case MESSAGE_LOG:
		return log_from_message(policy_role_name(child->spawner.role), &message->LOG);
	case MESSAGE_PROGRESS:
		monitor->progress = message->PROGRESS;
		return 0;
	case MESSAGE_SUMMARY:
		monitor->summary = message->SUMMARY;
		monitor->has_summary = true;
		return 0;
	case MESSAGE_WRITTEN:
		monitor->written = message->WRITTEN;
		monitor->has_written = true;
		return 0;
	default:
		return -EPROTO;
	}
}

static void drain(struct monitor *monitor, struct child *child)
{
	struct message message;
	int r;

	while ((r = channel_receive(&child->channel, &message)) == 1) {
		r = dispatch(monitor, child, &message);
		message_release(&message);
		if (r)
			break;
	}
	if (r == -EPIPE) {
		child_ended(monitor, child);
	} else if (r < 0) {
		log_error("monitor: %s: %s; ended", policy_role_name(child->spawner.role),
			  r == -EPROTO ? "violation of the protocol" : strerror(-r));
		stop(monitor, MONITOR_FAILED);
	} else if (monitor->goal == GOAL_WRITTEN && monitor->has_summary && monitor->has_written) {
		stop(monitor, MONITOR_REACHED);
	}
}

static void on_child(evutil_socket_t fd, short what, void *context)
{
	struct monitor *monitor = context;

	(void)what;
	for (int i = 0; i < CHILD_COUNT; i++) {
		if (monitor->children[i].channel.fd == fd)
			drain(monitor, &monitor->children[i]);
		else if (monitor->children[i].spawner.channel.fd == fd)
			child_ended(monitor, &monitor->children[i]);
	}
}

int monitor_init(struct monitor *monitor)
{
	static const struct {
		int number;
		event_callback_fn function;
	} signals[] = {{SIGINT, on_signal}, {SIGTERM, on_signal}, {SIGCHLD, on_child_signal}};
	int r = 0;

	monitor->base = event_base_new();
	if (!monitor->base)
		return -ENOMEM;
	for (size_t i = 0; !r && i < sizeof(signals) / sizeof(signals[0]); i++)
		r = watch(monitor, signals[i].number, EV_SIGNAL | EV_PERSIST, signals[i].function,
			  NULL);
	return r ? r : watch(monitor, -1, EV_PERSIST, on_tick, &(struct timeval){.tv_sec = 1});
}

int monitor_watch_children(struct monitor *monitor)
{
	int r = 0;

	for (int i = 0; !r && i < CHILD_COUNT; i++) {
		struct child *child = &monitor->children[i];

		r = watch(monitor, child->channel.fd, EV_READ | EV_PERSIST, on_child, NULL);
		r = r ? r
		      : watch(monitor, child->spawner.channel.fd, EV_READ | EV_PERSIST, on_child,
			      NULL);
	}
	return r;
}

/* Their events are the last ones, with those of the processes. */
void monitor_stop_children(struct monitor *monitor)
{
	while (monitor->event_count > OWN_EVENTS)
		event_free(monitor->events[--monitor->event_count]);
	for (int i = 0; i < CHILD_COUNT; i++) {
		if (monitor->children[i].pid)
			channel_release(&monitor->children[i].channel);
		monitor->children[i].pid = 0;
		if (monitor->children[i].spawner.pid)
			spawner_stop(&monitor->children[i].spawner);
	}
}

int monitor_watch_process(struct monitor *monitor, int pidfd)
{
	monitor->targets++;
	return watch(monitor, pidfd, EV_READ, on_target_gone, NULL);
}

static void on_time(evutil_socket_t fd, short what, void *context)
{
	struct monitor *monitor = context;

	(void)fd, (void)what;
	stop(monitor, MONITOR_TIMEOUT);
}

enum monitor_result monitor_run(struct monitor *monitor, enum monitor_goal goal,
				uint64_t nanoseconds)
{
	struct timeval limit = {.tv_sec = (time_t)(nanoseconds / NS_PER_SECOND),
				.tv_usec = (suseconds_t)(nanoseconds % NS_PER_SECOND / 1000)};
	struct event *timer = evtimer_new(monitor->base, on_time, monitor);

	monitor->goal = goal;
	monitor->result = MONITOR_FAILED;
	if (timer && (!nanoseconds || !evtimer_add(timer, &limit)))
		event_base_dispatch(monitor->base);
	if (timer)
		event_free(timer);
	return monitor->result;
}
