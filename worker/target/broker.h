/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of requests, and the broker that answers them. One request at a time is on the socket;
 * the others wait in order.
 */
#ifndef KEYHOLE_WORKER_TARGET_BROKER_H
#define KEYHOLE_WORKER_TARGET_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/messages.h"
#include "worker/target/target.h"

struct broker;

/*
 * most: requests; further ones get -EAGAIN. clock: CLOCK_MONOTONIC, ns. The queue has no broker
 * yet. NULL: no memory.
 */
struct broker *broker_new(size_t most, uint64_t (*clock)(void));
/* Calls on_answer() for each answer, while its request is still under way. context: borrowed. */
void broker_watch(struct broker *broker, void (*on_answer)(void *context), void *context);
void broker_free(struct broker *broker); /* open requests get no answer; NULL is fine */

/* Queues the request. Returns 0 or a negative errno. */
int broker_ask(struct broker *broker, const struct target_request *request);
int broker_fd(const struct broker *broker); /* -1: there was no broker yet */
/*
 * Returns how many times the queue was full or the broker refused for now (-EAGAIN). Further
 * refusals count only after an answer.
 */
uint64_t broker_refused(const struct broker *broker);
/* Returns the number of requests that were sent. A repeated request counts each time. */
uint64_t broker_asked(const struct broker *broker, enum target_kind kind);
/* Returns the number of answers that were an error of that kind. */
uint64_t broker_refusals(const struct broker *broker, enum work_refusal reason);
/* Repeats a request that the broker refused for now. The requests behind it have waited too. */
void broker_turn(struct broker *broker);
/*
 * Takes all answers that have come. A negative errno (-EPIPE, -EPROTO, ...) means that the broker
 * is gone. The request that was under way has then been answered with that error, unless the broker
 * was given up. The other requests wait for another broker.
 */
int broker_receive(struct broker *broker);

bool broker_is_gone(const struct broker *broker);
size_t broker_waiting(const struct broker *broker); /* requests, that under way among them */
/* Returns the request under way, or NULL. */
const struct target_request *broker_under_way(const struct broker *broker);
uint64_t broker_asked_at(const struct broker *broker); /* when the request under way was sent */
/* Returns whether a request that matters() waits behind the one under way. */
bool broker_delays(const struct broker *broker,
		   bool (*matters)(const struct target_request *under_way,
				   const struct target_request *request));
/*
 * Gives the broker up, which may be ended from now on. A request that is under way then stays under
 * way until broker_take(), broker_adopt() or broker_replace(). Answers are still taken.
 */
void broker_give_up(struct broker *broker);
bool broker_is_given_up(const struct broker *broker);
/* Removes the request under way without an answer. False: there is none. */
bool broker_take(struct broker *broker, struct target_request *ret_request);

/* Connects to another broker, at the other end of fd, and takes fd. */
void broker_replace(struct broker *broker, int fd);
/*
 * Takes the broker of another queue, and the request that is under way there. A request that was
 * under way here is answered with -EPIPE.
 */
void broker_adopt(struct broker *broker, struct broker *from);
/* Moves waiting requests of another queue to the end of this one, those that moves() names. */
void broker_move(struct broker *broker, struct broker *from,
		 bool (*moves)(void *context, const struct target_request *request), void *context);

#endif
