/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/audit/tally.h"

#include "ipc/time.h"

/* Records about all processes: each second, and when the tally ends. */
#define KEPT_AT_ONCE (2 * TALLY_OTHERS)
#define DETAIL_NS    (NS_PER_SECOND / (TALLY_RATE - TALLY_OTHERS))

void tally_start(struct tally *tally, void (*report)(const struct operations *), uint64_t now)
{
	*tally = (struct tally){.report = report, .since = now};
}

static bool alike(const struct operations *a, const struct operations *b)
{
	return a->operation == b->operation && a->pid == b->pid && a->error == b->error &&
	       a->device == b->device && a->inode == b->inode;
}

static struct operations *place_of(struct tally *tally, const struct operations *operation)
{
	uint64_t hash = operation->pid ^ (uint64_t)operation->operation << 32;

	hash = (hash * 0x9e3779b97f4a7c15ull ^ operation->inode) * 0x9e3779b97f4a7c15ull;
	hash = (hash ^ operation->device ^ (uint32_t)operation->error) * 0x9e3779b97f4a7c15ull;
	return &tally->rows[(hash >> 32) % TALLY_ROWS];
}

static void add(struct operations *row, const struct operations *operation)
{
	const uint64_t count = row->count, granted = count ? row->granted : 0;

	*row = *operation;
	row->count += count;
	row->granted += granted;
}

static void add_to_others(struct tally *tally, struct operations *row)
{
	struct operations all = {.count = row->count,
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

static void report(struct tally *tally, struct operations *row)
{
	tally->report(row);
	tally->sent++;
	row->count = 0;
}

void tally_count(struct tally *tally, const struct operations *operation, uint64_t now)
{
	struct operations *row = place_of(tally, operation);

	if (row->count && !alike(row, operation)) {
		if (may_detail(tally, now))
			report(tally, row);
		else
			add_to_others(tally, row);
	}
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
		struct operations *row = &tally->rows[i];

		if (row->count == 0)
			continue;
		if (i < TALLY_ROWS && !may_detail(tally, now))
			add_to_others(tally, row);
		else
			report(tally, row);
	}
	tally->due = 0;
	return -1;
}
