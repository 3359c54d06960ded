/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/verdicts.h"

#include <errno.h>
#include <stddef.h>
#include <sys/random.h>

int verdicts_init(struct verdicts *verdicts)
{
	*verdicts = (struct verdicts){0};
	if (getrandom(&verdicts->key, sizeof(verdicts->key), 0) < 0)
		return -errno;
	return 0;
}

/* Starts from a random key: nobody can choose mounts that take each other's places. */
static struct verdict *place_at(struct verdicts *verdicts, uint64_t mount, unsigned int probe)
{
	uint64_t hash = (mount ^ verdicts->key) * 0x9e3779b97f4a7c15ull;

	hash ^= hash >> 29;
	return &verdicts->places[(hash + probe) % VERDICTS_MAX];
}

bool verdicts_find(struct verdicts *verdicts, uint64_t mount, uint64_t now, int *ret_error)
{
	for (unsigned int i = 0; i < VERDICT_PROBES; i++) {
		struct verdict *at = place_at(verdicts, mount, i);

		if (at->mount != mount || now >= at->until)
			continue;
		at->used = now;
		*ret_error = at->error;
		return true;
	}
	return false;
}

/* Returns whether a verdict goes before another one. */
static bool goes_before(const struct verdict *verdict, const struct verdict *other)
{
	if (verdict->privileged != other->privileged)
		return other->privileged;
	return verdict->used < other->used;
}

/* Returns the mount's own place, or that of the verdict that goes first, as a free one does. */
static struct verdict *find_place(struct verdicts *verdicts, uint64_t mount)
{
	struct verdict *first = place_at(verdicts, mount, 0);

	for (unsigned int i = 0; i < VERDICT_PROBES; i++) {
		struct verdict *at = place_at(verdicts, mount, i);

		if (at->mount == mount)
			return at;
		if (goes_before(at, first))
			first = at;
	}
	return first;
}

void verdicts_add(struct verdicts *verdicts, const struct verdict *verdict)
{
	struct verdict *place = find_place(verdicts, verdict->mount);
	const bool same = place->mount == verdict->mount;
	const bool privileged = verdict->privileged || (same && place->privileged);

	if (place->privileged && !privileged)
		return;
	*place = *verdict;
	place->privileged = privileged;
}
