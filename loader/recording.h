/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording, from the first step (loader/main.c) to the last, and what its start shares with
 * another start of a child (loader/replace.c). Functions that fail have said why.
 */
#ifndef KEYHOLE_LOADER_RECORDING_H
#define KEYHOLE_LOADER_RECORDING_H

#include "loader/events.h"
#include "loader/kernel_symbols.h"
#include "loader/monitor.h"
#include "loader/programs.h"
#include "loader/user.h"

struct recording {
	struct options *options;
	struct rules rules;
	struct policy_user user;
	int cgroup; /* directory, or -1 */
	struct command command;
	struct output output;
	struct ksyms ksyms;
	struct programs programs;
	struct events events;
	struct monitor monitor;
	unsigned int brokers; /* replaced */
	uint32_t epoch;	      /* workers before this one */
	int status;
	uint64_t begun, started; /* monotonic */
};

/* Says what failed, with the text of a negative errno. Returns EXIT_FAILED. */
int failed(const char *what, const char *object, int r);

/* What keyhole-output has to do at this point, which may be to say that there are no samples. */
int take_step(struct recording *rec, enum output_step step);

/* A child that was spawned is who it should be, and confined: an exit status. */
int expect_ready(struct recording *rec, struct child *child);

/* To children that are ready: 0 or a negative errno, and an exit status for all of them.
 * segments: that the worker has, 0: as many as there are. */
int equip_exporter(struct recording *rec);
int equip_broker(struct recording *rec, uint32_t segments);
int equip_children(struct recording *rec);

/* monitor_run(), and another child in place of one that has ended or hangs. */
enum monitor_result replace_watch(struct recording *rec, enum monitor_goal goal, uint64_t until);

#endif
