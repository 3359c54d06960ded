/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording: everything that its steps hold and hand on to each other. loader/main.c lists the
 * steps in their order. A step returns an exit status: EXIT_DONE goes on, and the step has
 * explained any other status on standard error.
 */
#ifndef KEYHOLE_LOADER_RECORDING_H
#define KEYHOLE_LOADER_RECORDING_H

#include <stdbool.h>
#include <sys/utsname.h>

#include "loader/chance.h"
#include "loader/cpus.h"
#include "loader/starts.h"
#include "loader/events.h"
#include "loader/kernel_symbols.h"
#include "loader/monitor.h"
#include "loader/options.h"
#include "loader/programs.h"
#include "loader/rules.h"
#include "loader/user.h"
#include "loader/zones.h"

/* The process ends after a recording: only what other processes wait for is released. */
struct recording {
	struct options *options; /* borrowed; the user's words */
	struct rules rules;	 /* of the administrator's policy file */
	struct policy_user user; /* the caller behind sudo, as sudo says */
	int cgroup;		 /* directory, or -1 */
	int spill;		 /* file without a name, which only the worker changes, or -1 */
	struct command command;
	struct output output; /* keyhole-output, a process with the user's rights */
	struct ksyms ksyms;   /* the words of keyhole-kernel-symbols, an unprivileged helper */
	struct programs programs;
	struct zones zones; /* `keyhole stat` */
	struct events events;
	struct events ticks; /* OPTIONS_ACCOUNTS: of the accounts' program; else without entries */
	struct cpus cpus;
	struct chance chance;
	bool outgrown; /* an agent ended for a CPU that is not sampled */
	struct monitor monitor;
	struct utsname machine;	      /* its name goes to the worker */
	struct message_waited waited; /* from keyhole-output, after STEP_END, for the worker */
	uint32_t epoch;		      /* number of the current worker's life, from 0 */
	struct starts starts[LANES];  /* of brokers that take the places of hung ones */
	enum exit_status status;      /* of the recording so far */
	struct message_status told;   /* to the exporter, the last time */
	uint64_t begun, started;      /* ns, monotonic: of the command, of sampling */
};

/*
 * Prepares a recording that holds no descriptor. programs_load() and events_open() fill in
 * rec->programs and rec->events. begun: monotonic time of the command's start.
 */
void recording_init(struct recording *rec, struct options *options, uint64_t begun);

/*
 * Writes the first or the last audit event and waits up to 10 s until the event is in the
 * stream. There must be an audit stream. Returns 0 or a negative errno, which is not logged.
 */
int recording_audit(struct recording *rec, enum audit_event event, uint64_t first, uint64_t second);

/*
 * Compares the layers that a process should have with those it has. missing: layers that were not
 * proven; lacking: layers that this machine cannot give. A layer may be missing when it is lacking
 * and --require does not insist on the layer. Logs each missing layer. Returns EXIT_DONE, or
 * EXIT_FAILED when a layer was refused.
 */
enum exit_status recording_check_layers(struct recording *rec, enum message_party party, pid_t pid,
					uint32_t missing, uint32_t lacking);

/* Moves the channels of all children to the phase. */
void recording_enter_phase(struct recording *rec, enum message_phase phase);

/* Returns whether standard output was to get the profile, and its reader has gone: `| head`. */
bool recording_is_unread(const struct recording *rec);

/*
 * Has keyhole-output take a step, and waits up to 60 s for the end of the step. Returns an exit
 * status: EXIT_EMPTY when keyhole-output found no sample, EXIT_NO_COMMAND when the command could
 * not be run, EXIT_PIPE when nobody reads the output.
 */
enum exit_status recording_take_step(struct recording *rec, enum output_step step);

#endif
