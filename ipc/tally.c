/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/tally.h"

#include <poll.h>

#include "ipc/time.h"

#define RETRY_MS 10

/* Of the messages, those about all processes: each second, and when the tally ends. */
#define KEPT_AT_ONCE (2 * TALLY_OTHERS)
#define DETAIL_NS    (NS_PER_SECOND / (TALLY_RATE - TALLY_OTHERS))

void tally_start(struct tally *tally, struct channel *channel, uint64_t now)
{
	*tally = (struct tally){.channel = channel, .since = now};
}

static bool alike(const struct message_audit *a, const struct message_audit *b)
{
	return a->operation == b->operation && a->pid == b->pid && a->error == b->error &&
	       a->device == b->device && a->inode == b->inode;
}

static struct message_audit *place_of(struct tally *tally, const struct message_audit *operation)
{
	uint64_t hash = operation->pid ^ (uint64_t)operation->operation << 32;

	hash = (hash * 0x9e3779b97f4a7c15ull ^ operation->inode) * 0x9e3779b97f4a7c15ull;
	hash = (hash ^ operation->device ^ (uint16_t)operation->error) * 0x9e3779b97f4a7c15ull;
	return &tally->rows[(hash >> 32) % TALLY_ROWS];
}

static void add(struct message_audit *row, const struct message_audit *operation)
{
	const uint32_t count = row->count, granted = count ? row->granted : 0;

	*row = *operation;
	row->count += count;
	row->granted += granted;
}

static void add_to_others(struct tally *tally, struct message_audit *row)
{
	struct message_audit all = {.count = row->count,
				    .granted = row->granted,
				    .operation = row->operation,
				    .error = row->error ? TALLY_SEVERAL : 0};

	add(&tally->rows[TALLY_ROWS + 2 * row->operation + !!row->error], &all);
	row->count = 0;
}

static bool may_detail(const struct tally *tally, uint64_t now)
{
	return tally->sent < TALLY_AT_ONCE - KEPT_AT_ONCE + (now - tally->since) / DETAIL_NS;
}

static bool has_room(const struct tally *tally)
{
	struct pollfd poll_fd = {.fd = tally->channel->fd, .events = POLLOUT};

	return poll(&poll_fd, 1, 0) == 1 && poll_fd.revents == POLLOUT;
}

static bool report(struct tally *tally, struct message_audit *row)
{
	if (channel_send(tally->channel, MESSAGE_AUDIT, row, sizeof(*row), -1))
		return false;
	tally->sent++;
	row->count = 0;
	return true;
}

void tally_count(struct tally *tally, const struct message_audit *operation, uint64_t now)
{
	struct message_audit *row = place_of(tally, operation);

	if (!tally->channel)
		return;
	if (row->count && !alike(row, operation) &&
	    !(may_detail(tally, now) && has_room(tally) && report(tally, row)))
		add_to_others(tally, row);
	add(row, operation);
	if (!tally->due)
		tally->due = now + NS_PER_SECOND;
}

int tally_turn(struct tally *tally, uint64_t now, bool last)
{
	if (!tally->due)
		return -1;
	if (!last && now < tally->due)
		return (int)((tally->due - now + NS_PER_MS - 1) / NS_PER_MS);
	for (size_t i = 0; i < TALLY_ROWS + TALLY_OTHERS; i++) {
		struct message_audit *row = &tally->rows[i];

		if (row->count == 0)
			continue;
		if (i < TALLY_ROWS && !may_detail(tally, now))
			add_to_others(tally, row);
		else if (!(last || has_room(tally)) || !report(tally, row))
			return RETRY_MS;
	}
	tally->due = 0;
	return -1;
}
