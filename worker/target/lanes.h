/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaches targets through two brokers. A target can hang the broker that touches it. So requests
 * about a group of processes that hung a broker go through a second, penal broker, until a minute
 * has passed without a hang. All other requests go through the ordinary broker, whose hang is
 * noticed soon. A group that uses much of the ordinary broker's time, while others wait, is
 * penalized as well. The loader then makes the hung broker the penal one, or ends it, and starts
 * another. A process that starves while it holds its own locks looks the same as a hostile one; its
 * request is repeated.
 */
#ifndef KEYHOLE_WORKER_TARGET_LANES_H
#define KEYHOLE_WORKER_TARGET_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/messages.h"
#include "ipc/time.h"
#include "worker/target/target.h"

struct lanes;

#ifndef BROKER_QUEUE_MAX
#define BROKER_QUEUE_MAX 65536 /* requests of the ordinary lane; further ones get -EAGAIN */
#endif
#ifndef LANES_PENAL_MAX
#define LANES_PENAL_MAX 4096 /* of the penal lane */
#endif

#ifndef LANES_DEADLINE
#define LANES_DEADLINE (150 * NS_PER_MS) /* for an answer of the ordinary broker */
#endif
#ifndef LANES_PENAL_DEADLINE
#define LANES_PENAL_DEADLINE (BROKER_SECONDS * NS_PER_SECOND) /* of the penal one */
#endif
#define LANES_SWIFT	 (5 * NS_PER_MS)     /* an answer that took less costs nothing */
#define LANES_LOSSES_MAX 3		     /* brokers lost with a request: then it has failed */
#define LANES_GAP_FIRST	 (1 * NS_PER_SECOND) /* between two complaints; then doubled */
#define LANES_GAP_MAX	 (4 * NS_PER_SECOND)

struct lanes_parts {
	uint64_t (*clock)(void); /* CLOCK_MONOTONIC, ns */
	/* Tells the loader that the lane's broker hangs or is missing. */
	void (*complain)(void *context, const struct message_stuck *stuck);
	/* Says that the process let a broker wait for so long, and is penalized from now on. */
	void (*blame)(void *context, const struct target_process *process, uint64_t nanoseconds);
	void *context; /* all borrowed */
};

/* Takes fd in any case; NULL: no memory. */
struct lanes *lanes_new(const struct lanes_parts *parts, int fd);
void lanes_free(struct lanes *lanes); /* open requests get no answer; NULL is fine */

struct target *lanes_target(struct lanes *lanes);
int lanes_fd(const struct lanes *lanes, enum broker_lane lane); /* -1: no broker */
/* Takes the lane's answers. Returns as broker_receive() does. */
int lanes_receive(struct lanes *lanes, enum broker_lane lane);
/* Repeats requests that were refused for now, and gives up brokers whose answer is overdue. */
void lanes_turn(struct lanes *lanes);
/* Returns the time until lanes_turn() has more to do, in ns; UINT64_MAX: until an answer comes. */
uint64_t lanes_wait(const struct lanes *lanes);
/*
 * Takes a new broker, at the other end of fd, for the lane. LANE_DEMOTING: for the ordinary lane,
 * whose broker becomes the penal one.
 */
void lanes_replace(struct lanes *lanes, enum broker_lane lane, int fd);

/*
 * Tells of the worker's own work, which has just ended: an answer may have waited for the worker.
 * Work before the request was sent delayed no answer, and does not count.
 */
void lanes_spend(struct lanes *lanes, uint64_t nanoseconds);

uint64_t lanes_refused(const struct lanes *lanes); /* as broker_refused() */
uint64_t lanes_asked(const struct lanes *lanes, enum target_kind kind);
uint64_t lanes_refusals(const struct lanes *lanes, enum work_refusal reason);

#endif
