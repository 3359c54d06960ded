/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervision without privilege: one loop over the children, signals, time, and the processes that
 * are profiled. A child that breaks the rules of its channel fails the recording; one that ends may
 * be replaced.
 */
#ifndef KEYHOLE_LOADER_MONITOR_H
#define KEYHOLE_LOADER_MONITOR_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/channel.h"
#include "loader/options.h"
#include "loader/spawner.h"

#define BROKERS_MAX 20 /* replaced in a recording */

enum monitor_goal {
	GOAL_STOP,    /* something ends the recording: a signal, the profiled processes are gone */
	GOAL_WRITTEN, /* SUMMARY and WRITTEN are there */
};

enum monitor_result {
	MONITOR_RUNNING,
	MONITOR_REACHED,
	MONITOR_TIMEOUT,
	MONITOR_FAILED,	 /* monitor_explain() says why */
	MONITOR_ABORTED, /* second signal */
	MONITOR_ENDED,	 /* a child has, or the broker hangs */
};

struct child {
	struct spawner spawner;
	struct channel channel;
	bool ended;	    /* its channel has, which nobody has explained yet */
	uint64_t deaths[2]; /* monotonic; the last ones, the latest first */
	uint64_t log_until; /* monotonic; the second that log_lines is of */
	unsigned int log_lines;
};

struct monitor {
	enum monitor_goal goal;
	enum monitor_result result;
	unsigned int signals;			/* received */
	struct child children[ROLE_SUPERVISED]; /* by role; the loader is none */
	/* keyhole-audit's, its fd -1 without an audit stream; the recording fails when it ends. */
	struct channel audit;
	bool unaudited; /* what it should have been told is not in the stream */
	/* Signals, in the loader's place; by role the children's channels; the audit stream's;
	 * pidfds of targets. */
	struct pollfd fds[ROLE_SUPERVISED + 1 + OPTIONS_PIDS_MAX];
	unsigned int targets, targets_left;
	bool progressed; /* PROGRESS came; the owner clears it */
	bool broker_stuck;
	unsigned int brokers_stuck; /* times */
	struct message_progress progress;
	struct message_summary summary;
	struct message_written written;
};

/* A process that is profiled, before monitor_start(): the end of the last one is the goal too. */
void monitor_watch(struct monitor *monitor, int pidfd);

/* Once the children are spawned. From here on SIGINT and SIGTERM are the monitor's. */
int monitor_start(struct monitor *monitor);

/* The child's channel is another one, or none. */
void monitor_watch_child(struct monitor *monitor, enum policy_role role);

/* Until the goal or the time, by the monotonic clock, is reached. */
enum monitor_result monitor_run(struct monitor *monitor, enum monitor_goal goal, uint64_t until);

/*
 * Waits a little for what became of children and says so, once. Returns the one to replace or to do
 * without: whom a signal ended, the worker, and after STOP the broker; ROLE_LOADER: none, for
 * others end by themselves only when something is wrong, or with the worker.
 */
enum policy_role monitor_explain(struct monitor *monitor);

/* Where there is an audit stream: the event, the values that it has. */
void monitor_audit(struct monitor *monitor, enum audit_event event, enum message_party party,
		   uint64_t first, uint64_t second);

void monitor_stop_children(struct monitor *monitor);

#endif
