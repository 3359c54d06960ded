/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/account/energy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ipc/guard.h"
#include "worker/account/reader.h"
#include "worker/account/table.h"

/* ---- zones ---- */

void energy_init(struct energy *energy, int error)
{
	*energy = (struct energy){.error = error};
	for (size_t i = 0; i < ZONES_MAX; i++)
		energy->zones[i].fd = -1;
}

void energy_release(struct energy *energy)
{
	for (size_t i = 0; i < energy->count; i++)
		close_fd(&energy->zones[i].fd);
	energy->count = 0;
}

static const struct zone *top_of(const struct energy *energy, const struct zone *zone)
{
	const uint32_t number = ZONE_NUMBER(ZONE_TOP_OF(zone->number), 0);

	for (size_t i = 0; i < energy->count; i++)
		if (energy->zones[i].number == number)
			return &energy->zones[i];
	return NULL;
}

/* Returns whether another zone of the same name and family is in the list before. */
static bool is_second(const struct energy *energy, const struct zone *zone)
{
	const bool is_top = ZONE_MEMBER_OF(zone->number) == 0;

	for (const struct zone *other = energy->zones; other < zone; other++) {
		if (strcmp(other->name, zone->name))
			continue;
		if (is_top || ZONE_TOP_OF(other->number) == ZONE_TOP_OF(zone->number))
			return true;
	}
	return false;
}

/* Packages and psys are tops, and all others are children of packages. */
static bool is_in_place(const struct energy *energy, const struct zone *zone)
{
	const bool is_top = ZONE_MEMBER_OF(zone->number) == 0;
	const struct zone *top = top_of(energy, zone);

	if (zone->kind == ZONE_PACKAGE || zone->kind == ZONE_PSYS)
		return is_top;
	return !is_top && top && top->kind == ZONE_PACKAGE && top->name[0] != '\0';
}

static void refuse(struct zone *zone, const char *reason)
{
	zone->name[0] = '\0';
	zone_leave_out(zone, reason);
}

/* A zone that is refused has no name, and is none of the family. */
static void take_name(struct energy *energy, struct zone *zone, int fd)
{
	char text[ZONE_TEXT_BYTES];
	const int size = zone_read_file(fd, text);

	if (size < 0 || !zone_parse_name(zone, text, (size_t)size))
		refuse(zone, "its name is none that is known");
	else if (is_second(energy, zone))
		refuse(zone, "another zone has its name");
	else if (!is_in_place(energy, zone))
		refuse(zone, "it is not where its name belongs");
}

static void take_range(struct zone *zone, int fd)
{
	char text[ZONE_TEXT_BYTES];
	const int size = zone_read_file(fd, text);

	if (size < 0 || !zone_parse_number(text, (size_t)size, &zone->range) || zone->range == 0)
		zone_leave_out(zone, "it has no range");
}

int energy_add(struct energy *energy, uint32_t index, int fd)
{
	const uint32_t number = index / ZONE_FILES, file = index % ZONE_FILES;
	guard_fd int owned = fd;
	struct zone *zone;

	if (index > ZONE_INDEX_MAX || index < energy->next ||
	    (file != ZONE_FILE_NAME && index != energy->next))
		return -EINVAL;
	if (file == ZONE_FILE_NAME && energy->count == ZONES_MAX)
		return -ENOSPC;
	if (file == ZONE_FILE_NAME && energy->next % ZONE_FILES != ZONE_FILE_NAME)
		return -EINVAL;
	energy->next = index + 1;
	if (file == ZONE_FILE_NAME)
		energy->zones[energy->count++] = (struct zone){.number = number, .fd = -1};
	zone = &energy->zones[energy->count - 1];
	if (file == ZONE_FILE_NAME)
		take_name(energy, zone, owned);
	else if (file == ZONE_FILE_RANGE)
		take_range(zone, owned);
	else if (!zone->reason)
		zone->fd = take_fd(&owned);
	return 0;
}

void energy_read(struct energy *energy, uint64_t now)
{
	for (size_t i = 0; i < energy->count; i++) {
		struct zone *zone = &energy->zones[i];
		const uint64_t before = zone->total;

		if (!zone_read(zone, now) || !zone_is_summed(zone))
			continue;
		energy->summed += zone->total - before;
		energy->totals.readings++;
	}
	energy->totals.read_at = now;
}

/* ---- shares ---- */

/* Cuts an energy in parts by their weights. The parts are whole, and their sum is the energy. */
struct cut {
	uint64_t energy, weight; /* of all parts */
	uint64_t seen, given;	 /* of those so far */
};

static uint64_t cut_next(struct cut *cut, uint64_t weight)
{
	uint64_t until;

	if (weight == 0)
		return 0;
	cut->seen += weight;
	until = (uint64_t)((unsigned __int128)cut->energy * cut->seen / cut->weight);
	weight = until - cut->given;
	cut->given = until;
	return weight;
}

static uint64_t weight_of(const struct amount *amount, bool by_cycles)
{
	if (amount->ns == 0 || !by_cycles)
		return amount->ns;
	return amount->counter[ACCOUNT_COUNTER_cycles];
}

static uint64_t weight_of_row(const struct row *row, bool by_cycles)
{
	const struct amount amount = amount_since(&row->total, &row->mark);

	return weight_of(&amount, by_cycles);
}

static uint64_t weight_of_rows(struct row **rows, size_t count, bool by_cycles)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < count; i++)
		weight += weight_of_row(rows[i], by_cycles);
	return weight;
}

static uint64_t sum_of(const uint64_t *words, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += words[i];
	return sum;
}

/* Writes the weights of all that are threads. */
static void weigh_threads(const struct accounts_sums *sums, struct row **rows, size_t count,
			  bool by_cycles, uint64_t ret_weights[static ENERGY_THREADS])
{
	ret_weights[ENERGY_ROWS] = weight_of_rows(rows, count, by_cycles);
	ret_weights[ENERGY_OTHERS] = weight_of(&sums->kind[ACCOUNT_OTHERS], by_cycles);
	ret_weights[ENERGY_DENIED] = weight_of(&sums->kind[ACCOUNT_DENIED], by_cycles);
	ret_weights[ENERGY_UNLISTED] = weight_of(&sums->kind[ACCOUNT_UNLISTED], by_cycles);
	ret_weights[ENERGY_UNSEEN] = weight_of(&sums->unseen, by_cycles);
}

static uint64_t sum_times(const struct account_time *times, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += times[i].ns;
	return sum;
}

/* Returns the part of all threads, and gives the CPUs' other time its parts. */
static uint64_t cut_time(const struct accounts_sums *sums, uint64_t energy, uint64_t threads,
			 uint64_t part[static ENERGY_PARTS])
{
	const uint64_t idle = sums->kind[ACCOUNT_IDLE].ns;
	const uint64_t softirqs = sum_times(sums->softirqs, ACCOUNT_SOFTIRQS);
	const uint64_t hardirqs = sum_times(sums->hardirqs, ACCOUNT_HARDIRQS);
	struct cut cut = {.energy = energy, .weight = threads + idle + softirqs + hardirqs};

	if (cut.weight == 0) { /* no CPU has had an event: they idle */
		part[ENERGY_IDLE] = energy;
		return 0;
	}
	part[ENERGY_IDLE] = cut_next(&cut, idle);
	part[ENERGY_SOFTIRQS] = cut_next(&cut, softirqs);
	part[ENERGY_HARDIRQS] = cut_next(&cut, hardirqs);
	return cut_next(&cut, threads);
}

static void cut_rows(struct row **rows, size_t count, bool by_cycles, uint64_t energy)
{
	struct cut cut = {.energy = energy, .weight = weight_of_rows(rows, count, by_cycles)};

	for (size_t i = 0; i < count; i++)
		rows[i]->total.energy += cut_next(&cut, weight_of_row(rows[i], by_cycles));
}

/* Cuts the part of all threads. Returns whether that was by what is asked for. */
static bool cut_threads(const struct accounts_sums *sums, struct row **rows, size_t count,
			bool by_cycles, uint64_t energy, uint64_t part[static ENERGY_PARTS])
{
	uint64_t weights[ENERGY_THREADS];
	struct cut cut = {.energy = energy};

	weigh_threads(sums, rows, count, by_cycles, weights);
	cut.weight = sum_of(weights, ENERGY_THREADS);
	if (cut.weight == 0)
		return false;
	for (size_t i = 0; i < ENERGY_THREADS; i++)
		part[i] = cut_next(&cut, weights[i]);
	return true;
}

void energy_charge(struct energy *energy, const struct accounts_sums *sums, struct row **rows,
		   size_t count)
{
	uint64_t weights[ENERGY_THREADS], part[ENERGY_PARTS] = {0}, threads;

	weigh_threads(sums, rows, count, false, weights);
	threads = cut_time(sums, energy->summed, sum_of(weights, ENERGY_THREADS), part);
	energy->by_cycles = sums->counters >> ACCOUNT_COUNTER_cycles & 1;
	if (energy->by_cycles) /* unless they have not counted yet */
		energy->by_cycles = cut_threads(sums, rows, count, true, threads, part);
	if (!energy->by_cycles)
		cut_threads(sums, rows, count, false, threads, part);
	cut_rows(rows, count, energy->by_cycles, part[ENERGY_ROWS]);
	for (size_t i = 0; i < ENERGY_PARTS; i++)
		energy->totals.part[i] += part[i];
	for (size_t i = 0; i < energy->count; i++)
		energy->totals.zone[i] = energy->zones[i].total;
	energy->totals.measured += energy->summed;
	energy->summed = 0;
}

struct energy_totals energy_since(const struct energy_totals *now,
				  const struct energy_totals *before)
{
	struct energy_totals since = *now;
	uint64_t *words = &since.measured;
	const uint64_t *others = &before->measured;

	for (size_t i = 0; i < sizeof(since) / sizeof(*words); i++)
		words[i] -= others[i];
	return since;
}

/* ---- words ---- */

void energy_label(const struct energy *energy, const struct zone *zone,
		  char ret_label[static ENERGY_LABEL_BYTES])
{
	const uint32_t top = ZONE_TOP_OF(zone->number), member = ZONE_MEMBER_OF(zone->number);

	if (zone->name[0] && member == 0)
		snprintf(ret_label, ENERGY_LABEL_BYTES, "%s", zone->name);
	else if (zone->name[0])
		snprintf(ret_label, ENERGY_LABEL_BYTES, "%s/%s", top_of(energy, zone)->name,
			 zone->name);
	else if (member == 0)
		snprintf(ret_label, ENERGY_LABEL_BYTES, "intel-rapl:%u", top);
	else
		snprintf(ret_label, ENERGY_LABEL_BYTES, "intel-rapl:%u:%u", top, member - 1);
}

const char *energy_absence(const struct energy *energy)
{
	if (energy->count > 0)
		return NULL;
	if (energy->error == -ENOENT)
		return "this machine has no energy zones";
	if (energy->error)
		return strerror(-energy->error);
	return "no energy zones were given";
}
