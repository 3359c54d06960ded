/* SPDX-License-Identifier: Apache-2.0 */
/* Reaches targets through the broker. One request at a time is on the socket; the others queue. */
#ifndef KEYHOLE_WORKER_TARGET_BROKER_H
#define KEYHOLE_WORKER_TARGET_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/messages.h"
#include "ipc/time.h"
#include "worker/target/target.h"

struct broker;

#ifndef BROKER_QUEUE_MAX
#define BROKER_QUEUE_MAX 65536 /* requests; further ones get -EAGAIN */
#endif

#ifndef BROKER_DEADLINE
#define BROKER_DEADLINE (BROKER_SECONDS * NS_PER_SECOND) /* ns for an answer */
#endif

struct broker *broker_new(int fd);	 /* takes fd in any case; NULL: no memory */
void broker_free(struct broker *broker); /* open requests get no answer; NULL is fine */

struct target *broker_target(struct broker *broker);
int broker_fd(const struct broker *broker);
/*
 * Returns how many times BROKER_QUEUE_MAX was reached or the broker refused for now (-EAGAIN).
 * Further refusals count only after an answer.
 */
uint64_t broker_refused(const struct broker *broker);
/* Returns the number of requests that were sent. A repeated request counts each time. */
uint64_t broker_asked(const struct broker *broker, enum target_kind kind);
/* Repeats a request that the broker refused for now. The requests behind it have waited too. */
void broker_turn(struct broker *broker);
/*
 * Takes all answers that have come. A negative errno (-EPIPE, -EPROTO, ...) means that the broker
 * is gone. The request that was under way has then been answered with that error. The other
 * requests wait for another broker.
 */
int broker_receive(struct broker *broker);

bool broker_is_asked(const struct broker *broker); /* an answer is due */
/*
 * Gives up a broker whose answer is overdue, because a target can hang any process that touches the
 * target. Returns true when the broker was given up. The request has then been answered with
 * -ETIMEDOUT, and the broker is gone as above.
 */
bool broker_give_up(struct broker *broker, uint64_t now);
/* Connects to another broker, at the other end of fd, and takes fd. */
void broker_replace(struct broker *broker, int fd);

#endif
