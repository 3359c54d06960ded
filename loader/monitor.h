/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervision without privilege: one event loop over the children, signals, time, and what is
 * profiled. A child that ends or breaks the rules of its channel fails the recording.
 */
#ifndef KEYHOLE_LOADER_MONITOR_H
#define KEYHOLE_LOADER_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/channel.h"
#include "loader/spawner.h"

enum monitor_child {
	CHILD_WORKER,
	CHILD_EXPORTER,
	CHILD_BROKER,
	CHILD_COUNT
};

enum monitor_goal {
	GOAL_STOP,    /* something ends the recording: signal, time, command, processes gone */
	GOAL_WRITTEN, /* SUMMARY and WRITTEN are there */
	GOAL_COMMAND, /* the command has exited, or a signal */
};

enum monitor_result {
	MONITOR_REACHED,
	MONITOR_TIMEOUT,
	MONITOR_FAILED,	 /* said why */
	MONITOR_ABORTED, /* second signal */
};

struct child {
	struct spawner spawner;
	struct channel channel;
	pid_t pid; /* 0: not started */
};

struct event_base;
struct event;

struct monitor {
	struct event_base *base;
	struct event *events[96];
	unsigned int event_count;
	enum monitor_goal goal;
	enum monitor_result result;
	unsigned int signals;
	unsigned int targets; /* processes of -p that are left */
	pid_t command;	      /* 0: none, or it has exited */
	int command_status;   /* as from waitpid() */
	struct child children[CHILD_COUNT];
	struct message_progress progress;
	struct message_summary summary;
	struct message_written written;
	bool has_summary, has_written;
	void (*tick)(void *context); /* once a second while it records */
	void *context;
};

/* Catches the signals: before confinement, after everything was forked. 0 or a negative errno. */
int monitor_init(struct monitor *monitor);

int monitor_watch_children(struct monitor *monitor);
void monitor_stop_children(struct monitor *monitor);
int monitor_watch_process(struct monitor *monitor, int pidfd);

/* nanoseconds: 0 = no limit. */
enum monitor_result monitor_run(struct monitor *monitor, enum monitor_goal goal,
				uint64_t nanoseconds);

#endif
