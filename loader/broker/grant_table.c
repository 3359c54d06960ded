/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/grant_table.h"

#include <errno.h>
#include <string.h>

#include "bpf/abi.h"
#include "ipc/time.h"
#include "loader/broker/entries.h"

/* BPF goes on changing the map of processes: a key that goes makes the walk begin again. */
#define PROCESS_STEPS 65536

/* The id of a group has the namespace of mounts in its upper half, which does not matter here. */
static uint32_t uid_of(const struct charge_group *owner)
{
	return (uint32_t)owner->id;
}

/* ---- how many there are -------------------------------------------------------------------- */

struct sums {
	uint32_t all, of_user, of_strangers;
};

static void count(const struct grant_table *table, uint32_t uid, struct sums *ret_sums)
{
	const uint64_t *last = NULL;
	struct grant grant;
	uint64_t family;

	*ret_sums = (struct sums){0};
	while (ret_sums->all < GRANTS_MAX && entry_next(table->grants, last, &family) == 0) {
		last = &family;
		ret_sums->all++;
		if (entry_read(table->grants, &family, &grant) < 0)
			continue;
		ret_sums->of_user += grant.uid == uid;
		ret_sums->of_strangers += grant.stranger;
	}
}

static int check_sums(const struct sums *sums, bool stranger)
{
	if (sums->all >= GRANTS_MAX)
		return -ENOSPC;
	if (sums->of_user >= GRANTS_USER)
		return -EDQUOT;
	if (stranger && sums->of_strangers >= GRANTS_STRANGERS)
		return -EDQUOT;
	return 0;
}

static int check_room(const struct grant_table *table, const struct charge_group *owner)
{
	struct sums sums;

	count(table, uid_of(owner), &sums);
	return check_sums(&sums, owner->stranger);
}

/* ---- the sweep ----------------------------------------------------------------------------- */

struct families {
	uint64_t number[GRANTS_MAX];
	bool alive[GRANTS_MAX];
	size_t count;
};

static void collect(const struct grant_table *table, struct families *ret_families)
{
	const uint64_t *last = NULL;

	memset(ret_families, 0, sizeof(*ret_families));
	while (ret_families->count < GRANTS_MAX) {
		uint64_t *next = &ret_families->number[ret_families->count];

		if (entry_next(table->grants, last, next) < 0)
			return;
		last = next;
		ret_families->count++;
	}
}

/* A family may have two grants. */
static void mark(struct families *families, uint64_t number)
{
	for (size_t i = 0; i < families->count; i++)
		if ((families->number[i] & ~GRANT_OF_CONTEXT) == number)
			families->alive[i] = true;
}

static uint64_t family_of(int processes, uint32_t pid)
{
	struct generation process = {0};
	uint64_t family;

	if (entry_read(processes, &pid, &process) < 0)
		return 0;
	family = process.family;
	explicit_bzero(&process, sizeof(process)); /* process has an address of the kernel */
	return family;
}

/* Returns 0, or -EBUSY: not every process was looked at. */
static int mark_alive(const struct grant_table *table, struct families *families)
{
	const uint32_t *last = NULL;
	uint32_t pid;

	for (int i = 0; i < PROCESS_STEPS; i++) {
		if (entry_next(table->processes, last, &pid) < 0)
			return 0;
		last = &pid;
		mark(families, family_of(table->processes, pid));
	}
	return -EBUSY;
}

/* Removes the families that no process belongs to. */
static int sweep(const struct grant_table *table)
{
	static struct families families;
	int r;

	collect(table, &families);
	r = mark_alive(table, &families);
	if (r < 0)
		return r;
	for (size_t i = 0; i < families.count; i++)
		if (!families.alive[i])
			entry_remove(table->grants, &families.number[i]);
	return 0;
}

/* ---- the broker's questions ---------------------------------------------------------------- */

int grant_table_make_room(struct grant_table *table, uint64_t family,
			  const struct charge_group *owner, uint64_t now)
{
	struct grant known;
	int r;

	if (entry_read(table->grants, &family, &known) == 0 || check_room(table, owner) == 0)
		return 0;
	if (table->swept && now < table->swept + NS_PER_SECOND)
		return -EBUSY;
	table->swept = now;
	r = sweep(table);
	if (r < 0)
		return r;
	return check_room(table, owner);
}

int grant_table_add(const struct grant_table *table, uint64_t family,
		    const struct charge_group *owner)
{
	const struct grant grant = {.uid = uid_of(owner), .stranger = owner->stranger};
	int r = entry_write(table->grants, &family, &grant, BPF_NOEXIST);

	if (r == -EEXIST)
		return 0;
	if (r == -E2BIG)
		return -ENOSPC;
	return r;
}
