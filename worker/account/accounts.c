/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/account/accounts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "ipc/messages.h"
#include "profile/format/output.h"
#include "worker/account/energy.h"
#include "worker/account/reader.h"
#include "worker/account/reference.h"
#include "worker/account/table.h"
#include "worker/account/teller.h"
#include "worker/account/texts.h"
#include "worker/account/view.h"

#define NAME_BYTES   32	 /* of a process, clean */
#define CGROUP_BYTES 512 /* of a path, clean */

struct accounts {
	struct accounts_parts parts;
	struct accounts_reader reader;
	struct table table;
	struct texts texts;
	struct teller teller;
	struct reference reference;    /* when the accounts began */
	struct accounts_sums before;   /* at the table before */
	struct energy_totals energies; /* the same */
	uint64_t ended; /* CLOCK_MONOTONIC, ns: the end of the table before; 0: none */
	uint64_t tables;
	uint64_t last_turn, told; /* CLOCK_MONOTONIC, ns */
};

/* The first reading is before the first event, as near as the worker's start is. */
static void begin_energy(struct accounts *accounts)
{
	struct energy *energy = accounts->parts.energy;

	if (!energy)
		return;
	energy_read(energy, accounts->parts.clock());
	accounts->energies = energy->totals;
}

struct accounts *accounts_new(const struct accounts_parts *parts)
{
	struct accounts *accounts = calloc(1, sizeof(*accounts));
	int r;

	if (!accounts)
		return NULL;
	accounts->parts = *parts;
	accounts->reader = (struct accounts_reader){
		.places = parts->places,
		.cpus = parts->cpus,
		.cpu_count = parts->cpu_count,
		.clock = parts->clock,
		.table = &accounts->table,
		.note = parts->note,
	};
	accounts->texts = (struct texts){parts->redact, parts->path, parts->path_context};
	accounts->reference = reference_look(parts->clock());
	r = table_init(&accounts->table);
	accounts->table.wants = parts->wants;
	accounts->table.wants_context = parts->wants_context;
	accounts->table.by_thread = parts->flags & OPTIONS_STAT && parts->flags & OPTIONS_BY_THREAD;
	if (r == 0)
		r = teller_init(&accounts->teller, parts->top, parts->epoch);
	if (r == 0)
		r = accounts_reader_init(&accounts->reader);
	if (r == 0) {
		begin_energy(accounts);
		return accounts;
	}
	accounts_free(accounts);
	return NULL;
}

void accounts_free(struct accounts *accounts)
{
	if (!accounts)
		return;
	accounts_reader_release(&accounts->reader);
	teller_release(&accounts->teller);
	table_release(&accounts->table);
	free(accounts);
}

static void read_energy(struct accounts *accounts)
{
	if (accounts->parts.energy)
		energy_read(accounts->parts.energy, accounts->parts.clock());
}

static void take_turn(struct accounts *accounts)
{
	accounts_reader_turn(&accounts->reader);
	read_energy(accounts);
}

void accounts_turn(struct accounts *accounts)
{
	const uint64_t now = accounts->parts.clock();

	if (now < accounts->last_turn + accounts->parts.tick)
		return;
	accounts->last_turn = now;
	take_turn(accounts);
}

/* ---- rows ---- */

static char *copy_process(const struct accounts *accounts, const struct row *row)
{
	char clean[NAME_BYTES];

	texts_process(&accounts->texts, row->name, clean, sizeof(clean));
	return strdup(clean);
}

static char *copy_cgroup(const struct accounts *accounts, uint64_t id)
{
	char clean[CGROUP_BYTES];

	texts_cgroup(&accounts->texts, id, clean, sizeof(clean));
	return strdup(clean);
}

/* Adds a row that has used something. Returns 0 or -ENOMEM. */
static int add_row(const struct accounts *accounts, const struct row *row, struct view *view)
{
	struct view_row *to = &view->rows[view->count];

	to->amount = amount_since(&row->total, &row->mark);
	to->ns = to->amount.ns;
	if (to->ns == 0)
		return 0;
	to->pid = row->pid;
	to->thread = row->thread;
	to->processes = row->processes;
	to->name = copy_process(accounts, row);
	to->cgroup = copy_cgroup(accounts, row->cgroup);
	view->count++;
	if (!to->name || !to->cgroup)
		return -ENOMEM;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct view_row *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns < right->ns ? 1 : -1;
	return (left->pid > right->pid) - (left->pid < right->pid);
}

static int collect(const struct accounts *accounts, struct row **rows, size_t count,
		   struct view *view)
{
	int r = 0;

	view->rows = calloc(count, sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++)
		r = add_row(accounts, rows[i], view);
	qsort(view->rows, view->count, sizeof(*view->rows), by_time);
	return r;
}

static void release_view(struct view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		free((char *)(uintptr_t)view->rows[i].name);
		free((char *)(uintptr_t)view->rows[i].cgroup);
	}
	free(view->rows);
}

/* ---- sums ---- */

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void times_since(struct account_time *times, const struct account_time *before, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		times[i].ns = since(times[i].ns, before[i].ns);
		times[i].count = since(times[i].count, before[i].count);
	}
}

static struct accounts_sums sums_since(const struct accounts_sums *now,
				       const struct accounts_sums *before)
{
	struct accounts_sums sums = *now;

	for (size_t i = 0; i < ACCOUNT_KINDS; i++)
		sums.kind[i] = amount_since(&now->kind[i], &before->kind[i]);
	sums.unseen = amount_since(&now->unseen, &before->unseen);
	sums.threads = amount_since(&now->threads, &before->threads);
	sums.counted = amount_since(&now->counted, &before->counted);
	times_since(sums.softirqs, before->softirqs, ACCOUNT_SOFTIRQS);
	times_since(sums.hardirqs, before->hardirqs, ACCOUNT_HARDIRQS);
	sums.wall = since(now->wall, before->wall);
	sums.charged = since(now->charged, before->charged);
	sums.lost_places = since(now->lost_places, before->lost_places);
	sums.lost_tasks = since(now->lost_tasks, before->lost_tasks);
	sums.skipped = since(now->skipped, before->skipped);
	sums.missed = since(now->missed, before->missed);
	return sums;
}

/* ---- tables ---- */

static void write_view(const struct accounts *accounts, const struct view *view,
		       struct output *output)
{
	if (accounts->parts.flags & OPTIONS_STAT_JSON)
		view_json(view, output);
	else if (accounts->parts.flags & OPTIONS_STAT_CSV)
		view_csv(view, output);
	else
		view_text(view, output);
}

static int put_view(const struct accounts *accounts, const struct view *view, int fd)
{
	struct output output;
	int r = output_init(&output, fd, false);

	if (r == 0) {
		write_view(accounts, view, &output);
		r = output_finish(&output);
	}
	output_release(&output);
	return r;
}

/* Shares out the energy of the table's time, where there is some, and writes the table. */
static int put_table(struct accounts *accounts, struct view *view, int fd)
{
	struct energy *energy = accounts->parts.energy;
	guard_free struct row **rows = NULL;
	size_t count;
	int r = table_list(&accounts->table, view->by_cgroup, &rows, &count);

	if (r < 0)
		return r;
	if (energy) {
		energy_charge(energy, &view->sums, rows, count);
		view->energy = energy;
		view->energies = energy_since(&energy->totals, &accounts->energies);
	}
	r = collect(accounts, rows, count, view);
	if (r == 0)
		r = put_view(accounts, view, fd);
	release_view(view);
	return r;
}

int accounts_render(struct accounts *accounts, bool goes_on, int fd)
{
	struct accounts_sums sums;
	struct view view = {
		.number = accounts->tables,
		.by_cgroup = accounts->parts.flags & OPTIONS_BY_CGROUP,
		.by_thread = accounts->table.by_thread,
	};
	uint64_t now;
	int r;

	take_turn(accounts);
	now = accounts->parts.clock();
	accounts_reader_sum(&accounts->reader, &sums);
	view.realtime = now + accounts->parts.realtime_offset;
	view.elapsed = since(now, accounts->ended ? accounts->ended : sums.begin);
	view.sums = sums_since(&sums, &accounts->before);
	view.reference_hz = reference_rate(&accounts->reference, now);
	r = put_table(accounts, &view, fd);
	if (r < 0)
		return r;
	accounts->before = sums;
	if (accounts->parts.energy)
		accounts->energies = accounts->parts.energy->totals;
	accounts->ended = now;
	accounts->tables++;
	table_mark(&accounts->table, goes_on);
	return 0;
}

int accounts_tell(struct accounts *accounts, const struct teller_channel *channel)
{
	struct accounts_sums sums;
	const uint64_t now = accounts->parts.clock();

	if (now < accounts->told + ACCOUNTS_TELL)
		return 0;
	accounts->told = now;
	take_turn(accounts);
	accounts_reader_sum(&accounts->reader, &sums);
	return teller_tell(&accounts->teller, &accounts->table, &accounts->texts, &sums,
			   reference_rate(&accounts->reference, now), channel);
}
