/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/limits.h"

#include <errno.h>
#include <sys/random.h>

#include "ipc/log.h"
#include "ipc/time.h"

#define TOKEN_NS (NS_PER_SECOND / LIMIT_REQUESTS_RATE)

int limits_init(struct limits *limits, uint64_t now)
{
	*limits = (struct limits){.tokens = LIMIT_REQUESTS, .filled = now};
	return getrandom(&limits->key, sizeof(limits->key), 0) < 0 ? -errno : 0;
}

/* The first one is logged, and each time their number has doubled. */
static int count(uint64_t *counter, const char *what, int r)
{
	uint64_t before = (*counter)++;

	if ((before & *counter) == 0)
		log_warning("%s: %llu", what, (unsigned long long)*counter);
	return r;
}

/* What is less than a whole token is left in `filled`. */
int limits_request(struct limits *limits, uint64_t now)
{
	uint64_t due = (now - limits->filled) / TOKEN_NS, room = LIMIT_REQUESTS - limits->tokens;

	limits->filled += due * TOKEN_NS;
	limits->tokens += due < room ? due : room;
	if (limits->tokens == 0)
		return count(&limits->refused, "requests refused, too many at once", -EAGAIN);
	limits->tokens--;
	return 0;
}

/* With a random number in it: no target can choose files that take each other's places. */
static uint64_t hash(const struct limits *limits, const struct message_object_reply *object)
{
	const uint64_t words[] = {object->device, object->inode, object->change_seconds,
				  object->change_nanoseconds};
	uint64_t hash = limits->key;

	for (int i = 0; i < 4; i++)
		hash = ((hash ^ words[i]) * 0x9e3779b97f4a7c15ull) ^ hash >> 29;
	return hash;
}

int limits_open(struct limits *limits, const struct message_object_reply *object, uint64_t now)
{
	uint64_t wanted = hash(limits, object), place = LIMIT_OBJECTS;

	for (unsigned int i = 0; i < LIMIT_PROBES; i++) {
		uint64_t at = (wanted + i) % LIMIT_OBJECTS, opened = limits->objects[at].opened;

		if (opened == 0 || now - opened >= LIMIT_OPEN_AGAIN) {
			place = place < LIMIT_OBJECTS ? place : at;
		} else if (limits->objects[at].hash == wanted) {
			place = LIMIT_OBJECTS;
			break;
		}
	}
	/* Where others have all its places, it could be one that was pushed out. */
	if (place == LIMIT_OBJECTS)
		return count(&limits->repeated, "objects not opened again", -EALREADY);
	limits->objects[place].hash = wanted;
	limits->objects[place].opened = now;
	return 0;
}
