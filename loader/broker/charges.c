/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/charges.h"

#include <errno.h>
#include <sys/random.h>

int charges_init(struct charges *charges)
{
	*charges = (struct charges){0};
	if (getrandom(&charges->key, sizeof(charges->key), 0) < 0)
		return -errno;
	return 0;
}

static uint64_t hash(const struct charges *charges, uint64_t id)
{
	const uint64_t hash = (id ^ charges->key) * 0x9e3779b97f4a7c15ull;

	return hash ^ hash >> 29;
}

static uint64_t place_at(const struct charges *charges, uint64_t id, unsigned int probe)
{
	return (hash(charges, id) + probe) % CHARGE_GROUPS;
}

/* Returns until when the group has used its share; 0 for a group without a place. */
static uint64_t used_until(const struct charges *charges, uint64_t id)
{
	for (unsigned int i = 0; i < CHARGE_PROBES; i++) {
		const uint64_t at = place_at(charges, id, i);

		if (charges->groups[at].id == id)
			return charges->groups[at].until;
	}
	return 0;
}

/* Returns the group's place, or that of the group which used least. */
static uint64_t find_place(const struct charges *charges, uint64_t id)
{
	uint64_t least = place_at(charges, id, 0);

	for (unsigned int i = 0; i < CHARGE_PROBES; i++) {
		const uint64_t at = place_at(charges, id, i);

		if (charges->groups[at].id == id)
			return at;
		if (charges->groups[at].until < charges->groups[least].until)
			least = at;
	}
	return least;
}

static uint64_t add(uint64_t until, uint64_t spent, uint64_t share, uint64_t now)
{
	if (until < now)
		until = now;
	return until + spent * share;
}

int charges_check(struct charges *charges, const struct charge_group *group, uint64_t now)
{
	const uint64_t limit = now + CHARGE_AHEAD;

	if (used_until(charges, group->id) > limit)
		return -EBUSY;
	if (group->stranger && charges->strangers > limit)
		return -EBUSY;
	return 0;
}

void charges_add(struct charges *charges, const struct charge_group *group, uint64_t start,
		 uint64_t now)
{
	const uint64_t at = find_place(charges, group->id);
	uint64_t until = used_until(charges, group->id), spent = now - start;

	if (spent > CHARGE_MOST)
		spent = CHARGE_MOST;
	charges->groups[at].id = group->id;
	charges->groups[at].until = add(until, spent, CHARGE_SHARE, now);
	if (group->stranger)
		charges->strangers = add(charges->strangers, spent, CHARGE_SHARE_ALL, now);
}
