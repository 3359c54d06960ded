/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "ipc/time.h"

#define VALUES (sizeof(struct account_values) / sizeof(uint64_t))

void shares_init(struct shares *ret_shares)
{
	memset(ret_shares, 0, sizeof(*ret_shares));
	ret_shares->begun = time_now();
	ret_shares->realtime_offset = time_since_1970() - ret_shares->begun;
}

void shares_release(struct shares *shares)
{
	for (size_t i = 0; i < ACCOUNT_ROWS; i++) {
		free(shares->rows[i]);
		shares->rows[i] = NULL;
	}
}

/* ---- numbers ---- */

static void add(uint64_t *to, uint64_t more)
{
	if (more > SHARES_COUNT_MAX - *to)
		*to = SHARES_COUNT_MAX;
	else
		*to += more;
}

/* Adds what has come since the last message. A number that is lower than before adds nothing. */
static void add_growth(struct share *share, const struct account_values *now)
{
	uint64_t *last = &share->last.ns, *total = &share->total.ns;
	const uint64_t *words = &now->ns;

	for (size_t i = 0; i < VALUES; i++) {
		if (words[i] > last[i])
			add(&total[i], words[i] - last[i]);
		last[i] = words[i];
	}
}

/*
 * Splits the CPU time as the kernel's cputime_adjust() (kernel/sched/cputime.c) does: by the ticks
 * in each mode, and so that neither mode falls.
 */
static void split(const struct account_values *values, struct share_modes *modes)
{
	const double user = (double)values->user, system = (double)values->system;
	uint64_t in_system;

	if (user + system <= 0 || values->ns < modes->user + modes->system)
		return;
	in_system = (uint64_t)((double)values->ns * (system / (user + system)));
	if (in_system > values->ns - modes->user)
		in_system = values->ns - modes->user;
	if (in_system < modes->system)
		in_system = modes->system;
	modes->system = in_system;
	modes->user = values->ns - in_system;
}

/* ---- rows ---- */

static void clean(char *text, size_t size)
{
	text[size - 1] = '\0';
	printable_mask((unsigned char *)text, strlen(text), false);
}

bool share_is_rest(const struct share *share, enum account_row kind)
{
	if (kind == ACCOUNT_PROCESS)
		return share->pid == 0;
	return share->group[0] == '\0';
}

static bool is_same(const struct share *one, const struct share *other, enum account_row kind)
{
	if (kind == ACCOUNT_PROCESS)
		return one->pid == other->pid;
	return strcmp(one->group, other->group) == 0;
}

/* Returns the place that was in no set for the longest time, or NULL while all are in this set. */
static struct share *oldest(const struct shares *shares, enum account_row kind)
{
	struct share *rows = shares->rows[kind], *found = &rows[0];

	for (size_t i = 1; i < SHARES_KEPT_MAX; i++)
		if (rows[i].set < found->set)
			found = &rows[i];
	if (found->set > shares->set)
		return NULL;
	return found;
}

static struct share *find(const struct shares *shares, const struct share *wanted,
			  enum account_row kind)
{
	struct share *rows = shares->rows[kind];

	for (size_t i = 0; i < SHARES_KEPT_MAX; i++)
		if (rows[i].set != 0 && is_same(&rows[i], wanted, kind))
			return &rows[i];
	return NULL;
}

/*
 * Returns whether an earlier exporter may have told numbers of the row, from which this one's would
 * fall by what no worker knows any more. Then the row counts from here on.
 */
static bool was_told(const struct shares *shares, const struct share *share, enum account_row kind)
{
	if (!shares->is_late)
		return false;
	if (kind == ACCOUNT_PROCESS && share->pid != 0)
		return share->id < shares->begun;
	return shares->set == 0;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* Begins a share whose numbers are 0. */
static void begin(const struct shares *shares, const struct share *fresh, enum account_row kind,
		  const struct account_values *values, struct share *ret_share)
{
	*ret_share = *fresh;
	if (was_told(shares, fresh, kind)) {
		ret_share->last = *values;
		ret_share->begun = shares->begun + shares->realtime_offset;
	} else if (kind == ACCOUNT_PROCESS && !share_is_rest(fresh, kind)) {
		ret_share->begun = shares->realtime_offset + at_most(fresh->id, time_now());
	}
}

/* Returns the share of a row, which may be a new one. NULL: there is no room. */
static struct share *find_or_begin(const struct shares *shares, const struct share *fresh,
				   enum account_row kind, const struct account_values *values)
{
	struct share *share = find(shares, fresh, kind);

	if (share && share->id == fresh->id)
		return share;
	if (share && (kind != ACCOUNT_PROCESS || share_is_rest(share, kind))) {
		/* a cgroup was made anew, or a worker: the series goes on */
		memset(&share->last, 0, sizeof(share->last));
		share->id = fresh->id;
		return share;
	}
	if (!share)
		share = oldest(shares, kind);
	if (share)
		begin(shares, fresh, kind, values, share);
	return share;
}

static int make_room(struct shares *shares, enum account_row kind)
{
	if (!shares->rows[kind])
		shares->rows[kind] = calloc(SHARES_KEPT_MAX, sizeof(struct share));
	if (!shares->rows[kind])
		return -ENOMEM;
	return 0;
}

static struct share fresh_of(const struct message_account *message)
{
	struct share fresh = {.id = message->id, .pid = message->pid};

	memcpy(fresh.name, message->name, sizeof(fresh.name));
	memcpy(fresh.group, message->group, sizeof(fresh.group));
	clean(fresh.name, sizeof(fresh.name));
	clean(fresh.group, sizeof(fresh.group));
	return fresh;
}

/* The first row of all tells whether there was an exporter before this one. */
static void note_epoch(struct shares *shares, uint64_t epoch)
{
	bool is_first = shares->set == 0;

	for (size_t i = 0; i < ACCOUNT_ROWS; i++)
		is_first = is_first && shares->taken[i] == 0;
	if (is_first && epoch > 0)
		shares->is_late = true;
}

/* Gives up the rows of a set that has no end. They stay in the last whole one, if it has room. */
static void give_up(struct shares *shares, enum account_row kind)
{
	for (size_t i = 0; i < SHARES_KEPT_MAX; i++) {
		struct share *share = &shares->rows[kind][i];

		if (share->set <= shares->set)
			continue;
		share->set = shares->set;
		if (share->before == shares->set)
			continue;
		if (shares->whole[kind] < SHARES_SHOWN_MAX)
			shares->whole[kind]++;
		else
			share->set--;
	}
}

/* Another worker begins its set anew. */
static void begin_epoch(struct shares *shares, uint64_t epoch)
{
	if (epoch == shares->epoch)
		return;
	shares->epoch = epoch;
	for (enum account_row kind = 0; kind < ACCOUNT_ROWS; kind++) {
		if (shares->taken[kind] > 0)
			give_up(shares, kind);
		shares->taken[kind] = 0;
	}
}

static void take(struct shares *shares, struct share *share, const struct share *fresh,
		 const struct account_values *values)
{
	share->before = share->set;
	share->set = shares->set + 1;
	memcpy(share->name, fresh->name, sizeof(share->name));
	memcpy(share->group, fresh->group, sizeof(share->group));
	add_growth(share, values);
	split(&share->total, &share->modes);
}

int shares_take(struct shares *shares, const struct message_account *message)
{
	const enum account_row kind = (enum account_row)message->kind;
	const struct share fresh = fresh_of(message);
	struct share *share = NULL;

	note_epoch(shares, message->epoch);
	begin_epoch(shares, message->epoch);
	if (message->kind >= ACCOUNT_ROWS || shares->taken[kind] >= SHARES_SHOWN_MAX) {
		add(&shares->refused, 1);
		return 0;
	}
	if (make_room(shares, kind))
		return -ENOMEM;
	share = find_or_begin(shares, &fresh, kind, &message->values);
	if (!share || share->set == shares->set + 1) { /* no room, or it came in this set already */
		add(&shares->refused, 1);
		return 0;
	}
	shares->taken[kind]++;
	take(shares, share, &fresh, &message->values);
	return 0;
}

bool shares_tells(const struct shares *shares, const struct share *share)
{
	return shares->set > 0 && share->set >= shares->set;
}

/* ---- sums ---- */

static void raise(uint64_t *count, uint64_t now)
{
	if (now > SHARES_COUNT_MAX)
		now = SHARES_COUNT_MAX;
	if (now > *count)
		*count = now;
}

static void raise_all(uint64_t *counts, const uint64_t *now, size_t count)
{
	for (size_t i = 0; i < count; i++)
		raise(&counts[i], now[i]);
}

void shares_take_interrupts(struct shares *shares, const struct message_interrupts *message)
{
	raise_all(shares->interrupts.ns, message->ns, ACCOUNTS_HARDIRQS);
}

void shares_take_sums(struct shares *shares, const struct message_account_sums *message)
{
	struct message_account_sums *own = &shares->sums;

#define COUNT(name)	    raise(&own->name, message->name);
#define LEVEL(name)	    own->name = message->name;
#define S(kind, name, help) kind(name)
#include "ipc/account_sums.def"
#undef S
#undef LEVEL
#undef COUNT
	own->counters = message->counters;
	raise_all(&own->threads.ns, &message->threads.ns, VALUES);
	raise_all(own->counter, message->counter, ACCOUNTS_COUNTERS);
	raise_all(own->softirq_ns, message->softirq_ns, ACCOUNTS_SOFTIRQS);
	raise_all(own->softirqs, message->softirqs, ACCOUNTS_SOFTIRQS);
	split(&own->threads, &shares->modes);
	memcpy(shares->whole, shares->taken, sizeof(shares->whole));
	memset(shares->taken, 0, sizeof(shares->taken));
	shares->set++;
}
