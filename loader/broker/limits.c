/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/limits.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/random.h>

#include "ipc/log.h"
#include "ipc/time.h"

#define TOKEN_NS (NS_PER_SECOND / LIMIT_REQUESTS_RATE)
#define NO_PLACE LIMIT_OBJECTS

int limits_init(struct limits *limits, uint32_t tokens, uint64_t now)
{
	if (tokens > LIMIT_REQUESTS)
		tokens = LIMIT_REQUESTS;
	*limits = (struct limits){.tokens = tokens, .filled = now};
	if (getrandom(&limits->key, sizeof(limits->key), 0) < 0)
		return -errno;
	return 0;
}

/* Counts a refusal. Logs the first one, and each that doubles their number. Returns r. */
static int count(uint64_t *counter, const char *what, int r)
{
	uint64_t before = (*counter)++;

	if ((before & *counter) == 0)
		log_warning("%s: %llu", what, (unsigned long long)*counter);
	return r;
}

/* `filled` moves by whole tokens: the rest of the time counts for the next token. */
int limits_request(struct limits *limits, uint64_t now)
{
	uint64_t due = (now - limits->filled) / TOKEN_NS;
	uint64_t room = LIMIT_REQUESTS - limits->tokens;

	limits->filled += due * TOKEN_NS;
	if (due > room)
		due = room;
	limits->tokens += due;
	if (limits->tokens == 0)
		return count(&limits->refused, "requests refused, too many at once", -EAGAIN);
	limits->tokens--;
	return 0;
}

/* Starts from a random key: no target can choose files that take each other's places. */
static uint64_t hash(const struct limits *limits, const struct message_object_reply *object)
{
	const uint64_t words[] = {object->device, object->inode, object->change_seconds,
				  object->change_nanoseconds};
	uint64_t hash = limits->key;

	for (int i = 0; i < 4; i++)
		hash = ((hash ^ words[i]) * 0x9e3779b97f4a7c15ull) ^ hash >> 29;
	return hash;
}

/*
 * Returns the first free place, or NO_PLACE. There is none for an object that was opened within the
 * last minute. There is none either when other objects have all places, because the table cannot
 * tell whether they pushed this object out.
 */
static uint64_t find_place(const struct limits *limits, uint64_t wanted, uint64_t now)
{
	uint64_t place = NO_PLACE;

	for (unsigned int i = 0; i < LIMIT_PROBES; i++) {
		const uint64_t at = (wanted + i) % LIMIT_OBJECTS;
		const uint64_t opened = limits->objects[at].opened;
		const bool is_free = opened == 0 || now - opened >= LIMIT_OPEN_AGAIN;

		if (!is_free && limits->objects[at].hash == wanted)
			return NO_PLACE;
		if (is_free && place == NO_PLACE)
			place = at;
	}
	return place;
}

int limits_may_open(struct limits *limits, const struct message_object_reply *object, uint64_t now)
{
	if (find_place(limits, hash(limits, object), now) == NO_PLACE)
		return count(&limits->repeated, "objects not opened again", -EALREADY);
	return 0;
}

void limits_opened(struct limits *limits, const struct message_object_reply *object, uint64_t now)
{
	const uint64_t opened = hash(limits, object);
	const uint64_t place = find_place(limits, opened, now);

	if (place == NO_PLACE)
		return;
	limits->objects[place].hash = opened;
	limits->objects[place].opened = now;
}
