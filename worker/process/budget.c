/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/budget.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/map.h"

#define CGROUP_ROOT   1u	   /* the id of the root of cgroup v2, where v1 has all processes */
#define OWNER_PAYER   (1ull << 63) /* not a bit of a cgroup's id, nor of a uid */
#define OWNER_ANYBODY (OWNER_PAYER | UINT32_MAX)

#define PAYERS_PRUNED_AT 1024u

/*
 * An account is the time at which its debt will be paid. A ns of work moves that time by PAY_TIME
 * or PAY_TIME_ALL, and work may begin while it is less than FULL_TIME ahead.
 */
#define PAY_TIME   (100u / BUDGET_PERCENT)
#define FULL_TIME  (BUDGET_AT_ONCE * PAY_TIME)
#define FRESH_TIME (FULL_TIME / 100 * (100 - BUDGET_FRESH_PERCENT))
#define USED_MAX   (UINT32_MAX * NS_PER_MS) /* of one charge: no sum overflows */

struct budget {
	struct map *paid_at; /* payer: the time, as the pointer */
	uint64_t all_paid_at;
	size_t prune_at; /* payers */
};

struct budget *budget_new(void)
{
	struct budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return NULL;
	budget->prune_at = PAYERS_PRUNED_AT;
	budget->paid_at = map_new();
	if (budget->paid_at)
		return budget;
	free(budget);
	return NULL;
}

void budget_free(struct budget *budget)
{
	if (!budget)
		return;
	map_free(budget->paid_at);
	free(budget);
}

/* A file of root's that anybody may write is nobody's. */
uint64_t budget_owner(int fd)
{
	struct stat status;

	if (fd < 0)
		return BUDGET_ROOT;
	if (fstat(fd, &status))
		return OWNER_ANYBODY;
	if (status.st_uid != 0)
		return OWNER_PAYER | status.st_uid;
	if (status.st_mode & S_IWOTH)
		return OWNER_ANYBODY;
	return BUDGET_ROOT;
}

uint64_t budget_payer(uint64_t cgroup, uint64_t owner)
{
	if (cgroup > CGROUP_ROOT)
		return cgroup;
	return owner;
}

/* Returns how far the time of payment is ahead. */
static uint64_t ahead(uint64_t paid_at, uint64_t now)
{
	if (paid_at <= now)
		return 0;
	return paid_at - now;
}

static uint64_t paid_at(const struct budget *budget, uint64_t payer)
{
	return (uintptr_t)map_get(budget->paid_at, payer);
}

bool budget_allows(const struct budget *budget, uint64_t payer, uint64_t now)
{
	uint64_t debt;

	if (payer == BUDGET_ROOT)
		return true;
	debt = ahead(paid_at(budget, payer), now);
	if (debt < FRESH_TIME)
		return true;
	return debt < FULL_TIME && ahead(budget->all_paid_at, now) < FULL_TIME;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

/* Returns the time at which a payment is less than `most` ahead. */
static uint64_t near_at(uint64_t paid_at, uint64_t most, uint64_t now)
{
	return now + at_least(ahead(paid_at, now), most - 1) - (most - 1);
}

uint64_t budget_allows_at(const struct budget *budget, uint64_t payer, uint64_t now)
{
	uint64_t own = paid_at(budget, payer), allowed;

	if (payer == BUDGET_ROOT)
		return now;
	allowed = at_least(near_at(own, FULL_TIME, now),
			   near_at(budget->all_paid_at, FULL_TIME, now));
	return at_most(allowed, near_at(own, FRESH_TIME, now));
}

/* Forgets the payers that owe nothing. */
static void prune(struct budget *budget, uint64_t now)
{
	size_t cursor = 0;
	uint64_t payer;
	void *at;

	while (map_next(budget->paid_at, &cursor, &payer, &at))
		if ((uintptr_t)at <= now)
			map_remove(budget->paid_at, payer);
	budget->prune_at = at_least(2 * map_count(budget->paid_at), PAYERS_PRUNED_AT);
}

void budget_charge(struct budget *budget, uint64_t payer, uint64_t used, uint64_t now)
{
	uint64_t own, cost = at_most(used, USED_MAX) * PAY_TIME;

	if (payer == BUDGET_ROOT || used == 0)
		return;
	own = at_least(paid_at(budget, payer), now) + cost;
	map_put(budget->paid_at, payer, (void *)(uintptr_t)own);
	budget->all_paid_at = at_least(budget->all_paid_at, now) + cost / BUDGET_ALL;
	if (map_count(budget->paid_at) >= budget->prune_at)
		prune(budget, now);
}
