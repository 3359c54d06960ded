/* SPDX-License-Identifier: Apache-2.0 */
/* The target by way of the broker: one request on its socket at a time, the others queued here. */
#ifndef KEYHOLE_WORKER_TARGET_BROKER_H
#define KEYHOLE_WORKER_TARGET_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/target/target.h"

struct broker;

#ifndef BROKER_QUEUE_MAX
#define BROKER_QUEUE_MAX 65536 /* requests; more are -EAGAIN */
#endif

#ifndef BROKER_DEADLINE
#define BROKER_DEADLINE (2ull * 1000 * 1000 * 1000) /* ns for an answer */
#endif

struct broker *broker_new(int fd);	 /* takes fd, also when it returns NULL (no memory) */
void broker_free(struct broker *broker); /* open requests are never answered; NULL is fine */

struct target *broker_target(struct broker *broker);
int broker_fd(const struct broker *broker);
/* Times that BROKER_QUEUE_MAX was reached, or that the broker refused for now; whoever asks again
 * meanwhile is not counted again. */
uint64_t broker_refused(const struct broker *broker);
/* Requests that were sent; one that was refused for now counts each time. */
uint64_t broker_asked(const struct broker *broker, enum target_kind kind);
/* Asks again what the broker refused for now (-EAGAIN); the requests behind it have waited too. */
void broker_turn(struct broker *broker);
/*
 * Takes all answers that have come. Returns -EPIPE, -EPROTO or another negative errno when the
 * broker is gone. The request under way has then been answered with that error, and the others wait
 * for another broker.
 */
int broker_receive(struct broker *broker);

/*
 * Gives an overdue request up, because a target can hang the broker. Returns true when the request
 * has been answered with -ETIMEDOUT: then the broker is gone as above.
 */
bool broker_give_up(struct broker *broker, uint64_t now);
/* Takes another broker, at the other end of fd. */
void broker_replace(struct broker *broker, int fd);

#endif
