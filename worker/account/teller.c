/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/account/teller.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/redact.h"
#include "worker/account/reference.h"

#define UTF8_BYTES_MAX 4 /* a text is cut before a character that has no room */
#define SCORE_FALLS    4 /* a fourth of what is left, at each telling */
#define RATIO_ONE      1000000000ull

_Static_assert(ACCOUNTS_COUNTERS == ACCOUNT_COUNTERS && ACCOUNTS_SOFTIRQS == ACCOUNT_SOFTIRQS &&
		       ACCOUNTS_HARDIRQS == ACCOUNT_HARDIRQS,
	       "messages have what BPF counts");

/* The rows of a kind, while they are told. */
struct choice {
	enum account_row kind;
	struct teller *teller;
	const struct texts *texts;
	struct message_account *messages; /* room for teller->top + 1 */
	uint32_t count;
};

int teller_init(struct teller *teller, uint32_t top, uint64_t epoch)
{
	int r;

	*teller = (struct teller){.top = top, .epoch = epoch};
	if (top > ACCOUNTS_TOP_MAX)
		return -EINVAL;
	r = hash_key_random(&teller->key);
	if (r == 0)
		r = table_rows_init(&teller->containers);
	return r;
}

void teller_release(struct teller *teller)
{
	table_rows_release(&teller->containers);
}

/* ---- values ---- */

static void take_values(const struct amount *amount, struct account_values *ret_values)
{
	const uint64_t *figure = amount->figure;

	*ret_values = (struct account_values){
		.ns = amount->ns,
		.user = figure[FIGURE_user],
		.system = figure[FIGURE_system],
		.delay = figure[FIGURE_delay],
		.voluntary = figure[FIGURE_voluntary],
		.involuntary = figure[FIGURE_involuntary],
		.migrations = figure[FIGURE_migrations],
		.minor_faults = figure[FIGURE_minor_faults],
		.major_faults = figure[FIGURE_major_faults],
		.softirqs = amount->softirqs,
	};
	memcpy(ret_values->counter, amount->counter, sizeof(ret_values->counter));
}

/* ---- rows ---- */

static void name_process(const struct choice *choice, const struct row *row,
			 struct message_account *message)
{
	char id[CONTAINER_ID_BYTES];

	message->id = row->start;
	message->pid = row->pid;
	texts_process(choice->texts, row->name, message->name, sizeof(message->name));
	texts_container(choice->texts, row->cgroup, id);
	memcpy(message->group, id, sizeof(id));
}

/* A path that is too long has its id, by which it differs from others. */
static void name_cgroup(const struct choice *choice, const struct row *row,
			struct message_account *message)
{
	const size_t size = sizeof(message->group);

	message->id = row->cgroup;
	texts_cgroup(choice->texts, row->cgroup, message->group, size);
	if (strlen(message->group) >= size - UTF8_BYTES_MAX)
		snprintf(message->group, size, "id:%" PRIu64, row->cgroup);
	if (!strcmp(message->group, REDACT_DROPPED))
		message->group[0] = '\0';
}

/* A pid may have been another process's, whose row is still there. */
static bool is_same(enum account_row kind, const struct message_account *left,
		    const struct message_account *right)
{
	if (kind == ACCOUNT_PROCESS)
		return left->pid == right->pid;
	return strcmp(left->group, right->group) == 0;
}

/* Returns whether the row has a name that no other row of the set has. */
static bool is_named(const struct choice *choice, const struct message_account *message)
{
	if (choice->kind == ACCOUNT_PROCESS && message->pid == 0)
		return false;
	if (choice->kind != ACCOUNT_PROCESS && message->group[0] == '\0')
		return false;
	for (uint32_t i = 0; i < choice->count; i++)
		if (is_same(choice->kind, &choice->messages[i], message))
			return false;
	return true;
}

/* Takes a row into the set. Returns whether there was room for it, and the row has a name. */
static bool show(struct choice *choice, const struct row *row)
{
	struct message_account *message = &choice->messages[choice->count];

	if (choice->count == choice->teller->top || row->score == 0)
		return false;
	memset(message, 0, sizeof(*message));
	message->kind = choice->kind;
	message->epoch = choice->teller->epoch;
	if (choice->kind == ACCOUNT_PROCESS)
		name_process(choice, row, message);
	else if (choice->kind == ACCOUNT_CGROUP)
		name_cgroup(choice, row, message);
	else
		memcpy(message->group, row->group, sizeof(row->group));
	if (!is_named(choice, message))
		return false;
	take_values(&row->total, &message->values);
	choice->count++;
	return true;
}

/* A later worker tells no rest of what was used before its time: an earlier one may have. */
static void add_rest(struct teller *teller, enum account_row kind, const struct amount *growth)
{
	if (teller->has_told || teller->epoch == 0)
		amount_add(&teller->rest[kind], growth);
}

static void pass_over(struct teller *teller, enum account_row kind, struct row *row)
{
	const struct amount growth = amount_since(&row->total, &row->mark);

	add_rest(teller, kind, &growth);
	row->mark = row->total;
}

static void weigh(struct row *row)
{
	/* rounded up, so that a row that rests comes to 0 */
	row->score -= (row->score + SCORE_FALLS - 1) / SCORE_FALLS;
	row->score += amount_since(&row->total, &row->mark).ns;
	row->ended++;
	if (row->stints)
		row->ended = 0;
}

static int by_score(const void *a, const void *b)
{
	const struct row *left = *(struct row *const *)a, *right = *(struct row *const *)b;

	if (left->score != right->score)
		return left->score < right->score ? 1 : -1;
	/* a cgroup made anew has the path of the one before, whose row is still there */
	if (left->ended != right->ended)
		return left->ended > right->ended ? 1 : -1;
	return (left->key > right->key) - (left->key < right->key);
}

/* Chooses among the rows, which change their order. */
static void choose(struct choice *choice, const struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		weigh(rows->items[i]);
	if (rows->count > 0)
		qsort(rows->items, rows->count, sizeof(*rows->items), by_score);
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = rows->items[i];

		row->shown = show(choice, row);
		if (row->shown)
			row->mark = row->total;
		else
			pass_over(choice->teller, choice->kind, row);
	}
}

static void add_rest_row(struct choice *choice)
{
	const struct teller *teller = choice->teller;
	struct message_account *message = &choice->messages[choice->count++];

	memset(message, 0, sizeof(*message));
	message->kind = choice->kind;
	message->id = message->epoch = teller->epoch;
	take_values(&teller->rest[choice->kind], &message->values);
}

/* ---- kinds ---- */

static void choose_processes(struct choice *choice, struct table *table,
			     const struct accounts_sums *sums)
{
	struct teller *teller = choice->teller;
	const struct amount unseen = amount_raise(&teller->unseen, &sums->unseen);

	choose(choice, &table->processes);
	for (size_t i = 0; i < table->names.count; i++)
		pass_over(teller, ACCOUNT_PROCESS, table->names.items[i]);
	pass_over(teller, ACCOUNT_PROCESS, &table->other_names);
	pass_over(teller, ACCOUNT_PROCESS, &table->crowded);
	add_rest(teller, ACCOUNT_PROCESS, &unseen);
	table_forget(table);
}

static struct row *row_of_container(struct teller *teller, const char id[CONTAINER_ID_BYTES])
{
	const uint64_t key = hash_bytes(&teller->key, id, CONTAINER_ID_BYTES);
	struct row *row = map_get(teller->containers.places, key);

	if (row)
		return row;
	if (teller->containers.count >= TABLE_CGROUPS)
		table_rows_drop_idle(&teller->containers);
	if (teller->containers.count >= TABLE_CGROUPS)
		return &teller->other_containers;
	row = table_rows_add(&teller->containers, key);
	if (!row)
		return &teller->other_containers;
	memcpy(row->group, id, CONTAINER_ID_BYTES);
	return row;
}

/* Gives each container what its cgroups have used since they were told. */
static void fill_containers(struct choice *choice, const struct table *table)
{
	for (size_t i = 0; i < table->cgroups.count; i++) {
		const struct row *cgroup = table->cgroups.items[i];
		const struct amount growth = amount_since(&cgroup->total, &cgroup->mark);
		char id[CONTAINER_ID_BYTES];

		if (growth.ns > 0 && texts_container(choice->texts, cgroup->cgroup, id))
			amount_add(&row_of_container(choice->teller, id)->total, &growth);
	}
}

static void choose_rows(struct choice *choice, struct table *table,
			const struct accounts_sums *sums)
{
	switch (choice->kind) {
	case ACCOUNT_PROCESS:
		choose_processes(choice, table, sums);
		break;
	case ACCOUNT_CGROUP:
		/* before the marks of the cgroups are set */
		fill_containers(choice, table);
		choose(choice, &table->cgroups);
		pass_over(choice->teller, ACCOUNT_CGROUP, &table->other_cgroups);
		break;
	default:
		choose(choice, &choice->teller->containers);
		pass_over(choice->teller, ACCOUNT_CONTAINER, &choice->teller->other_containers);
		break;
	}
}

/* ---- sums ---- */

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Returns which part of the time since the last telling is charged too much or too little. */
static uint64_t error_of(const struct accounts_sums *now, const struct accounts_sums *before)
{
	const double wall = (double)since(now->wall, before->wall);
	const double off = wall - (double)since(now->charged, before->charged);

	if (wall <= 0)
		return 0;
	return (uint64_t)((off < 0 ? -off : off) / wall * (double)RATIO_ONE);
}

static uint64_t frequency_of(const struct accounts_sums *now, const struct accounts_sums *before,
			     uint64_t rate)
{
	const struct amount counted = amount_since(&now->counted, &before->counted);

	return reference_scale(rate, counted.counter[ACCOUNT_COUNTER_cycles],
			       counted.counter[ACCOUNT_COUNTER_ref_cycles]);
}

static void fill_sums(const struct teller *teller, const struct accounts_sums *sums, uint64_t rate,
		      struct message_account_sums *ret_message)
{
	*ret_message = (struct message_account_sums){
		.wall = sums->wall,
		.idle = sums->kind[ACCOUNT_IDLE].ns,
		.others = sums->kind[ACCOUNT_OTHERS].ns,
		.denied = sums->kind[ACCOUNT_DENIED].ns,
		.unlisted = sums->kind[ACCOUNT_UNLISTED].ns,
		.unseen = sums->unseen.ns,
		.lost_places = sums->lost_places,
		.lost_tasks = sums->lost_tasks,
		.skipped = sums->skipped,
		.missed = sums->missed,
		.cpus = sums->cpus,
		.error = error_of(sums, &teller->before),
		.frequency = frequency_of(sums, &teller->before, rate),
		.counters = sums->counters,
	};
	take_values(&sums->threads, &ret_message->threads);
	memcpy(ret_message->counter, sums->counted.counter, sizeof(ret_message->counter));
	for (unsigned int i = 0; i < ACCOUNT_SOFTIRQS; i++) {
		ret_message->softirq_ns[i] = sums->softirqs[i].ns;
		ret_message->softirqs[i] = sums->softirqs[i].count;
	}
}

/* ---- messages ---- */

static int send_choice(const struct choice *choice, const struct teller_channel *channel)
{
	int r = 0;

	for (uint32_t i = 0; i < choice->count && r == 0; i++)
		r = channel->send(channel->context, MESSAGE_ACCOUNT, &choice->messages[i],
				  sizeof(choice->messages[i]));
	return r;
}

static int send_sums(const struct teller *teller, const struct accounts_sums *sums, uint64_t rate,
		     const struct teller_channel *channel)
{
	struct message_account_sums message;
	struct message_interrupts interrupts;
	int r;

	for (unsigned int i = 0; i < ACCOUNT_HARDIRQS; i++)
		interrupts.ns[i] = sums->hardirqs[i].ns;
	fill_sums(teller, sums, rate, &message);
	r = channel->send(channel->context, MESSAGE_INTERRUPTS, &interrupts, sizeof(interrupts));
	if (r)
		return r;
	return channel->send(channel->context, MESSAGE_ACCOUNT_SUMS, &message, sizeof(message));
}

/* Sends what it can: a set without its end is not told. */
int teller_tell(struct teller *teller, struct table *table, const struct texts *texts,
		const struct accounts_sums *sums, uint64_t rate,
		const struct teller_channel *channel)
{
	struct choice choice = {.teller = teller, .texts = texts};
	int r = 0;

	choice.messages = calloc(teller->top + 1, sizeof(*choice.messages));
	if (!choice.messages)
		return -ENOMEM;
	for (choice.kind = ACCOUNT_PROCESS; choice.kind < ACCOUNT_ROWS; choice.kind++) {
		choice.count = 0;
		choose_rows(&choice, table, sums);
		add_rest_row(&choice);
		if (r == 0)
			r = send_choice(&choice, channel);
	}
	if (r == 0)
		r = send_sums(teller, sums, rate, channel);
	free(choice.messages);
	teller->has_told = true;
	teller->before = *sums;
	return r;
}
