/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/account/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

#define PID_BITS 22 /* of a key; the rest is the time of the start */

/* ---- rows ---- */

int table_rows_init(struct rows *rows)
{
	rows->places = map_new();
	if (!rows->places)
		return -ENOMEM;
	return 0;
}

void table_rows_release(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->items[i]);
	free(rows->items);
	map_free(rows->places);
}

struct row *table_rows_add(struct rows *rows, uint64_t key)
{
	struct row *row;

	if (ARRAY_RESERVE(rows->items, rows->capacity, rows->count + 1) < 0)
		return NULL;
	row = calloc(1, sizeof(*row));
	if (!row || map_put(rows->places, key, row) < 0) {
		free(row);
		return NULL;
	}
	row->key = key;
	rows->items[rows->count++] = row;
	return row;
}

static uint64_t key_of(uint32_t pid, uint64_t start)
{
	return start << PID_BITS ^ pid;
}

static uint32_t number_of(const struct table *table, const struct account *account)
{
	if (table->by_thread)
		return account->thread;
	return account->pid;
}

/* Two processes of one key are one pid and 73 minutes: the later one takes the row's place. */
static bool is_row_of(const struct table *table, const struct row *row,
		      const struct account *account)
{
	if (table->by_thread && row->thread != account->thread)
		return false;
	return row->pid == account->pid && row->start == account->start;
}

/* ---- ended processes ---- */

static uint64_t key_of_name(const char name[ABI_COMM_BYTES])
{
	uint64_t words[2];

	memcpy(words, name, sizeof(words));
	return words[0] ^ words[1] * 0x9e3779b97f4a7c15u;
}

static struct row *row_of_name(struct table *table, const char name[ABI_COMM_BYTES])
{
	const uint64_t key = key_of_name(name);
	struct row *row = map_get(table->names.places, key);

	if (row && memcmp(row->name, name, ABI_COMM_BYTES) == 0)
		return row;
	if (row || table->names.count >= TABLE_NAMES)
		return &table->other_names;
	row = table_rows_add(&table->names, key);
	if (!row)
		return &table->other_names;
	memcpy(row->name, name, ABI_COMM_BYTES);
	return row;
}

static void fold_process(struct table *table, const struct row *process)
{
	struct row *row = row_of_name(table, process->name);

	amount_add(&row->total, &process->total);
	amount_add(&row->mark, &process->mark);
	row->processes++;
}

static void fold_cgroup(struct table *table, const struct row *cgroup)
{
	amount_add(&table->other_cgroups.total, &cgroup->total);
	amount_add(&table->other_cgroups.mark, &cgroup->mark);
}

static bool has_ended(const struct row *row)
{
	return row->stints == 0;
}

static bool is_forgotten(const struct row *row)
{
	return row->stints == 0 && row->ended >= 2 && !row->shown;
}

/* Removes the rows of which `goes` says so. fold: keeps their sums in other rows; NULL: none. */
static void remove_rows(struct table *table, struct rows *rows, bool (*goes)(const struct row *row),
			void (*fold)(struct table *table, const struct row *row))
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = rows->items[i];

		if (!goes(row)) {
			rows->items[kept++] = row;
			continue;
		}
		if (fold)
			fold(table, row);
		if (map_get(rows->places, row->key) == row)
			map_remove(rows->places, row->key);
		free(row);
	}
	rows->count = kept;
}

static bool is_idle(const struct row *row)
{
	return row->score == 0 && !row->shown;
}

void table_rows_drop_idle(struct rows *rows)
{
	remove_rows(NULL, rows, is_idle, NULL);
}

/* ---- the table ---- */

int table_init(struct table *table)
{
	int r;

	*table = (struct table){0};
	r = table_rows_init(&table->processes);
	if (r == 0)
		r = table_rows_init(&table->names);
	if (r == 0)
		r = table_rows_init(&table->cgroups);
	return r;
}

void table_release(struct table *table)
{
	table_rows_release(&table->processes);
	table_rows_release(&table->names);
	table_rows_release(&table->cgroups);
}

static struct row *find_process(struct table *table, const struct account *account)
{
	const uint64_t key = key_of(number_of(table, account), account->start);
	struct row *row = map_get(table->processes.places, key);

	if (row && is_row_of(table, row, account))
		return row;
	if (table->processes.count >= TABLE_PROCESSES)
		remove_rows(table, &table->processes, has_ended, fold_process);
	if (table->processes.count >= TABLE_PROCESSES)
		return &table->crowded;
	row = table_rows_add(&table->processes, key);
	if (!row)
		return &table->crowded;
	row->pid = account->pid;
	row->start = account->start;
	row->kernel = account->kernel;
	if (table->by_thread)
		row->thread = account->thread;
	return row;
}

/* A process or a thread of the name is wanted where the filter matches either. */
static bool is_wanted(const struct table *table, const struct row *row,
		      const struct account *account)
{
	if (!table->wants || table->wants(table->wants_context, row->name))
		return true;
	return table->by_thread && table->wants(table->wants_context, account->name);
}

static const char *name_of(const struct table *table, const struct account *account)
{
	if (table->by_thread)
		return account->thread_name;
	return account->name;
}

void table_update(const struct table *table, struct row *row, const struct account *account)
{
	if (row->pid != account->pid)
		return;
	/* a thread that began earlier may have an earlier name of the process */
	if (table->by_thread || account->thread == account->pid || row->name[0] == '\0') {
		memcpy(row->name, name_of(table, account), sizeof(row->name));
		row->name[sizeof(row->name) - 1] = '\0';
		row->unwanted = !is_wanted(table, row, account);
	}
	row->cgroup = account->cgroup;
}

struct row *table_process(struct table *table, const struct account *account)
{
	struct row *row = find_process(table, account);

	table_update(table, row, account);
	return row;
}

struct row *table_cgroup(struct table *table, uint64_t id)
{
	struct row *row = map_get(table->cgroups.places, id);

	if (row)
		return row;
	if (table->cgroups.count >= TABLE_CGROUPS)
		remove_rows(table, &table->cgroups, has_ended, fold_cgroup);
	if (table->cgroups.count >= TABLE_CGROUPS)
		return &table->other_cgroups;
	row = table_rows_add(&table->cgroups, id);
	if (!row)
		return &table->other_cgroups;
	row->cgroup = id;
	return row;
}

static size_t list_rows(struct row **list, const struct rows *rows)
{
	if (rows->count > 0)
		memcpy(list, rows->items, rows->count * sizeof(*list));
	return rows->count;
}

int table_list(struct table *table, bool by_cgroup, struct row ***ret_rows, size_t *ret_count)
{
	const size_t most = table->processes.count + table->names.count + table->cgroups.count + 2;
	struct row **list = calloc(most, sizeof(struct row *));
	size_t count;

	if (!list)
		return -ENOMEM;
	if (by_cgroup) {
		count = list_rows(list, &table->cgroups);
		list[count++] = &table->other_cgroups;
	} else {
		count = list_rows(list, &table->processes);
		count += list_rows(list + count, &table->names);
		list[count++] = &table->other_names;
		list[count++] = &table->crowded;
	}
	*ret_rows = list;
	*ret_count = count;
	return 0;
}

static void mark_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		rows->items[i]->mark = rows->items[i]->total;
}

void table_forget(struct table *table)
{
	remove_rows(table, &table->processes, is_forgotten, NULL);
}

void table_mark(struct table *table, bool forget)
{
	struct row *const others[] = {&table->other_names, &table->other_cgroups, &table->crowded};

	if (forget)
		remove_rows(table, &table->processes, has_ended, NULL);
	mark_rows(&table->processes);
	mark_rows(&table->names);
	mark_rows(&table->cgroups);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		others[i]->mark = others[i]->total;
}
