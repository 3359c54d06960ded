/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/spool.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/spool_file.h"
#include "ipc/channel.h"
#include "ipc/time.h"

#define ASK_AGAIN_NS (5 * NS_PER_SECOND) /* while the server takes nothing */

struct spool {
	struct spool_owner owner;
	struct channel channel;
	struct event *event;
	bool reading; /* keyhole-output reads a window */
	bool asked;   /* for the oldest */
	bool empty;   /* no file is there but those of the queue */
	uint64_t last_id, ask_at;
	uint64_t left; /* events_spooled when `empty` was set */
};

static struct delivery_counts *counts(struct spool *spool)
{
	return delivery_counts(spool->owner.delivery);
}

static void tell(struct spool *spool, enum log_level level, const char *reason)
{
	reporter_tell(spool->owner.reporter, NOTICE_SPOOL, level, "spool", reason);
}

/* ---- ids ---- */

/* Ids grow with the time of day, so that the oldest window is that of the smallest id. */
static uint64_t next_id(struct spool *spool)
{
	uint64_t id = time_since_1970();

	if (id <= spool->last_id)
		id = spool->last_id + 1;
	spool->last_id = id;
	return id;
}

static void forget(void *owner, uint64_t id)
{
	struct spool *spool = owner;
	const struct message_forget message = {.id = id};

	if (spool->event)
		channel_send(&spool->channel, MESSAGE_FORGET, &message, sizeof(message), -1);
}

/* ---- answers ---- */

static void count_pushed(struct spool *spool, const struct message_spooled *answer)
{
	char reason[96];

	if (answer->pushed == 0)
		return;
	counts(spool)->spool_pushed += answer->pushed;
	counts(spool)->spool_pushed_events += answer->events;
	snprintf(reason, sizeof(reason),
		 "%" PRIu32 " profiles (%" PRIu64 " events) removed from disk, it is full or they "
		 "are old",
		 answer->pushed, answer->events);
	tell(spool, LOG_LEVEL_WARNING, reason);
}

static void on_spooled(struct spool *spool, struct message_spooled answer)
{
	spool->reading = false;
	count_pushed(spool, &answer);
	if (answer.error == 0) {
		counts(spool)->spool_windows++;
		return;
	}
	counts(spool)->spool_failed++;
	delivery_unname(spool->owner.delivery, answer.id);
	tell(spool, LOG_LEVEL_WARNING, strerror(-answer.error));
}

/* Queues the window of a file. Returns 0 or a negative errno: the file is to be removed. */
static int restore(struct spool *spool, uint64_t id, int fd)
{
	struct delivery_counts *sums = counts(spool);
	const uint64_t before = sums->events_taken;
	uint8_t *bytes;
	uint64_t size;
	int r = spool_file_read(fd, spool->owner.window_max, &bytes, &size);

	if (r < 0)
		return r;
	r = delivery_add(spool->owner.delivery, bytes, size, id, time_now());
	if (r < 0)
		return r;
	sums->spool_restored++;
	sums->spool_restored_events += sums->events_taken - before;
	return 0;
}

static void on_unspooled(struct spool *spool, struct message_spooled answer, int fd)
{
	int r = answer.error;

	spool->asked = false;
	count_pushed(spool, &answer);
	if (r == -ENOENT) {
		spool->empty = true;
		spool->left = counts(spool)->events_spooled;
		return;
	}
	if (r == 0)
		r = restore(spool, answer.id, fd);
	if (r == 0)
		return;
	counts(spool)->spool_torn++;
	tell(spool, LOG_LEVEL_WARNING, "a profile on disk cannot be read, and is removed");
	forget(spool, answer.id);
}

/* keyhole-output has ended: so does the agent soon. */
static void lose(struct spool *spool)
{
	event_free(spool->event);
	spool->event = NULL;
	channel_release(&spool->channel);
	spool->reading = false;
	spool->empty = true;
}

static void take(struct spool *spool, struct message *message)
{
	if (message->head.type == MESSAGE_SPOOLED)
		on_spooled(spool, message->SPOOLED);
	else
		on_unspooled(spool, message->UNSPOOLED, message->fd);
	message_release(message);
}

static void on_answer(int fd, short what, void *argument)
{
	struct spool *spool = argument;
	struct message message;
	int r = channel_receive(&spool->channel, &message);

	(void)fd;
	(void)what;
	if (r == 0)
		return;
	if (r < 0)
		lose(spool);
	else
		take(spool, &message);
	spool->owner.changed(spool->owner.owner);
}

/* ---- life ---- */

int spool_new(struct event_base *base, int channel, const struct spool_owner *owner,
	      struct spool **ret_spool)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	if (!spool)
		return -ENOMEM;
	spool->owner = *owner;
	channel_init(&spool->channel, channel, PARTY_EXPORTER, PARTY_COMMITTER);
	spool->channel.phase = PHASE_RUN;
	spool->event = event_new(base, spool->channel.fd, EV_READ | EV_PERSIST, on_answer, spool);
	if (!spool->event || event_add(spool->event, NULL) < 0) {
		spool_free(spool);
		return -ENOMEM;
	}
	delivery_set_spool(owner->delivery, forget, spool);
	*ret_spool = spool;
	return 0;
}

void spool_free(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->event)
		event_free(spool->event);
	channel_release(&spool->channel);
	free(spool);
}

/* ---- windows ---- */

static int write_window(struct spool *spool, int fd, const struct message_spool *window)
{
	int r = -EPIPE;

	if (spool->event && !spool->reading)
		r = channel_send(&spool->channel, MESSAGE_SPOOL, window, sizeof(*window), fd);
	if (r == 0) {
		spool->reading = true;
		return 1;
	}
	counts(spool)->spool_failed++;
	delivery_unname(spool->owner.delivery, window->id);
	return 0;
}

int spool_window(struct spool *spool, int fd, uint8_t *bytes, size_t size, uint64_t now)
{
	struct message_spool window = {.id = next_id(spool), .bytes = size};
	int r;

	window.checksum = spool_file_checksum(bytes, size);
	r = delivery_add(spool->owner.delivery, bytes, size, window.id, now);
	if (r < 0)
		return r;
	window.events = delivery_events_of(spool->owner.delivery, window.id);
	if (window.events == 0) /* nobody is sent it */
		return 0;
	return write_window(spool, fd, &window);
}

bool spool_is_reading(const struct spool *spool)
{
	return spool->reading;
}

/* ---- steps ---- */

uint64_t spool_due(const struct spool *spool)
{
	struct delivery *delivery = spool->owner.delivery;

	if (!spool->event || spool->asked || !delivery_is_empty(delivery))
		return DELIVERY_NEVER;
	if (spool->empty && delivery_counts(delivery)->events_spooled == spool->left)
		return DELIVERY_NEVER;
	if (spool->owner.reporter->failing)
		return spool->ask_at;
	return 0;
}

void spool_step(struct spool *spool, uint64_t now)
{
	if (spool_due(spool) > now)
		return;
	spool->empty = false;
	spool->ask_at = now + ASK_AGAIN_NS;
	spool->asked = channel_send_bare(&spool->channel, MESSAGE_UNSPOOL, -1) == 0;
}
