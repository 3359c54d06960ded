/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervision without privilege: one loop over the children, signals, time and the targets. A child
 * that breaks the rules of its channel fails the recording. A child that ends may be replaced.
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

enum monitor_goal {
	GOAL_STOP,    /* a signal of signals_that_end(), or the last target's end, ends sampling */
	GOAL_WRITTEN, /* SUMMARY and WRITTEN have come */
	GOALS
};

enum monitor_result {
	MONITOR_RUNNING, /* supervision goes on; monitor_run() never returns this */
	MONITOR_REACHED, /* the goal */
	MONITOR_TIMEOUT,
	MONITOR_FAILED,	 /* for a reason that a line has told, or that monitor_explain() logs */
	MONITOR_HURRIED, /* the second SIGINT or SIGTERM came, and there is a draft */
	MONITOR_ABORTED, /* the third one came */
	MONITOR_ENDED,	 /* a child ended: monitor_explain() says why */
	MONITOR_HANGS,	 /* the worker wants another broker, for the lane `stuck` */
	MONITOR_GAVE_UP, /* only of replace_watch(): the broker ended too often */
};

/* How a child ended, as far as it is known. */
enum child_end {
	CHILD_RUNS,
	CHILD_CLOSED, /* its channel ended; its spawner has told no status */
	CHILD_ENDED,  /* with an exit status */
	CHILD_KILLED, /* by a signal */
	CHILD_HANGS,  /* the worker has given up the broker */
	CHILD_END_COUNT
};

/* Consequence of a child's end for the recording. */
enum monitor_fate {
	FATE_FAIL,
	FATE_REPLACE,
	FATE_WITHOUT, /* the recording goes on, and nothing takes the child's place */
	FATE_DRAFT,   /* as FATE_WITHOUT where there is a draft, else as FATE_FAIL */
};

struct monitor_verdict {
	int child; /* in children[]; ROLE_LOADER: no child is known to have ended */
	enum child_end end;
	enum monitor_fate fate;
};

/*
 * The place of the penal broker in children[], behind the roles. The place has a spawner of its own
 * from the start on, and a child once a broker has hung.
 */
#define CHILD_PENAL ROLE_SUPERVISED
#define CHILDREN    (ROLE_SUPERVISED + 1)

#define DEATHS_MAX    3 /* in one role, before a recording gives up (loader/replace.c) */
#define MONITOR_RATES 3 /* types of messages of which a child may send so many in a second */

struct child {
	struct spawner spawner;
	struct channel channel;
	bool ended;	 /* the channel ended, and monitor_explain() has not told why */
	bool muted;	 /* monitor_run() leaves the channel alone */
	bool told;	 /* the spawner told the status of the child's end */
	bool explained;	 /* monitor_explain() has logged the end of the child */
	int status;	 /* the spawner's word, as waitpid() has it */
	uint32_t number; /* of the spawner among those of its role, for keyhole-audit */
	/* ns, monotonic: the last deaths in this role, the latest first; 0: none */
	uint64_t deaths[DEATHS_MAX];
	uint64_t second; /* ns, monotonic: end of the second in which `counted` counts */
	unsigned int counted[MONITOR_RATES]; /* messages of the types that monitor.c bounds */
	uint64_t restarts;		     /* children after the first one */
};

/* recording_init() makes the first state, in which no channel is open. */
struct monitor {
	enum monitor_goal goal;
	enum monitor_result result;
	unsigned int signals; /* how many SIGINTs and SIGTERMs came */
	bool hung_up;	      /* SIGHUP ended sampling */
	bool unasked;	      /* sampling ended by a signal that is no way to end a recording */
	bool drafted;	      /* the exporter has a profile, and summary is about that one */
	bool draftless;	      /* the exporter with the drafts has ended: monitor_lose_draft() */
	unsigned int drafts;  /* DRAFTEDs that came */
	struct child children[CHILDREN]; /* by role, and CHILD_PENAL; [ROLE_LOADER] is unused */
	uint32_t brokers;		 /* given to the present worker */
	uint32_t segments;	/* index of the next segment that a broker may give this worker */
	uint32_t given;		/* segments that this worker has, by any of its brokers */
	enum broker_lane stuck; /* MONITOR_HANGS: whose broker it is */
	uint64_t hangs;		/* of brokers so far */
	/* The channel to keyhole-audit, whose end fails the recording; fd -1: no audit stream. */
	struct channel audit;
	/* The channel to keyhole-connector, whose end fails the recording; fd -1: there is none. */
	struct channel connector;
	bool unaudited; /* keyhole-audit did not take an event, as a line has told */
	/*
	 * By child, as monitor_run() fills in, with signals in the loader's place; then the audit
	 * channel, the channel to keyhole-connector, then targets.
	 */
	struct pollfd fds[CHILDREN + 2 + OPTIONS_PIDS_MAX];
	unsigned int targets, targets_left;
	bool progressed; /* PROGRESS came; the owner clears it */
	/*
	 * The last of each message: words of unprivileged children. The loader passes them on to
	 * keyhole-output, which has no rights either. Until SUMMARY comes, summary is that of the
	 * last DRAFTED. written.error is 0 or a negative errno.
	 */
	struct message_progress progress;
	struct message_summary summary;
	struct message_written written;
};

/*
 * Adds a target, before monitor_start(): the end of the last target reaches GOAL_STOP. The monitor
 * keeps the descriptor open for its whole life. The limit is OPTIONS_PIDS_MAX targets.
 */
void monitor_add_target(struct monitor *monitor, int pidfd);

/*
 * Starts supervision once the children are spawned. From here on only the monitor sees the signals
 * of signals_that_end(). Returns 0 or a negative errno.
 */
int monitor_start(struct monitor *monitor);

/*
 * Supervises until the goal or a time is reached, or something fails or ends. until: ns, monotonic,
 * at most 24 days ahead.
 */
enum monitor_result monitor_run(struct monitor *monitor, enum monitor_goal goal, uint64_t until);

/* Returns whether the worker has told that its whole profile is with the exporter. */
bool monitor_has_profile(const struct monitor *monitor);

/* Notes after STOP that an exporter has ended, and the worker's drafts with the exporter. */
void monitor_lose_draft(struct monitor *monitor);

/*
 * Waits for the spawner's word that the child has ended, and audits the status. Returns 0 when
 * child->status is known, or a negative errno; -ETIMEDOUT: the spawner has said nothing.
 */
int monitor_await_end(struct monitor *monitor, struct child *child, int milliseconds);

/* Returns what it means that a child ended or hangs, before the goal is reached. */
enum monitor_fate monitor_decide(int child, enum child_end end, enum monitor_goal goal);

/* Returns the place of a lane's broker in children[]. */
int monitor_child_of(enum broker_lane lane);
/* Returns the name of the program that runs in a place of children[]. */
const char *monitor_name(int child);

/*
 * Handles all messages that a child has sent so far, also those of a child that has ended. Returns
 * 0, or a negative errno for a violation, which a line has told.
 */
int monitor_drain(struct monitor *monitor, struct child *child);

/*
 * Waits up to 0.5 s for the status of children that ended, audits each status, and logs the cause
 * once. Returns the child that is the cause, and what monitor_decide() says of the child. The call
 * is valid at any time after recording_init(): if no child has ended, nothing is logged.
 */
struct monitor_verdict monitor_explain(struct monitor *monitor);

/* Returns after MONITOR_HANGS what monitor_explain() would return. */
struct monitor_verdict monitor_explain_hang(const struct monitor *monitor);

/*
 * Sends an event and its two values to the audit stream, if there is one. Logs the first failure;
 * after a failure the next monitor_run() returns MONITOR_FAILED.
 */
void monitor_audit(struct monitor *monitor, enum audit_event event, enum message_party party,
		   uint64_t first, uint64_t second);

/* Ends all children and spawners, and waits for the spawners. */
void monitor_stop_children(struct monitor *monitor);

#endif
