/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/account/reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A CPU may have an event while it is read; then the reader looks again. */
#define CPU_TRIES  8
#define TURN_TRIES 3 /* a CPU may have more changes than it tells */

struct reader_stint {
	uint64_t number; /* 0: none, or a place of a CPU */
	struct amount amount;
	struct row *process, *cgroup; /* NULL: the stint has ended, or is no thread's */
	bool unwanted;		      /* the filter left its process out, last */
};

_Static_assert(AMOUNT_WORDS <= ACCOUNT_NOTE_WORDS, "a note has an amount");

/*
 * Begins where the worker before has ended. A stint whose place was taken while there was no worker
 * counts as one that nobody has read.
 */
static void take_note(struct accounts_reader *reader)
{
	if (!reader->note)
		return;
	memcpy(&reader->taken_over, reader->note->read, sizeof(reader->taken_over));
	memcpy(&reader->taken_over_unwanted, reader->note->unwanted,
	       sizeof(reader->taken_over_unwanted));
	reader->unwanted = reader->taken_over_unwanted;
}

static void leave_note(const struct accounts_reader *reader)
{
	if (!reader->note)
		return;
	memcpy(reader->note->read, &reader->taken_over, sizeof(reader->taken_over));
	memcpy(reader->note->unwanted, &reader->taken_over_unwanted,
	       sizeof(reader->taken_over_unwanted));
}

int accounts_reader_init(struct accounts_reader *reader)
{
	reader->known = calloc(ACCOUNTS, sizeof(*reader->known));
	reader->until = calloc(reader->cpu_count, sizeof(*reader->until));
	reader->changes = calloc(reader->cpu_count, sizeof(*reader->changes));
	reader->seen = calloc(reader->cpu_count, sizeof(*reader->seen));
	if (!reader->known || !reader->until || !reader->changes || !reader->seen)
		return -ENOMEM;
	take_note(reader);
	return 0;
}

void accounts_reader_release(struct accounts_reader *reader)
{
	free(reader->known);
	free(reader->until);
	free(reader->changes);
	free(reader->seen);
	reader->known = NULL;
	reader->until = NULL;
	reader->changes = NULL;
	reader->seen = NULL;
}

static uint64_t load(const u64 *word)
{
	return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
}

static uint32_t first_of_threads(const struct accounts_reader *reader)
{
	return ACCOUNT_PLACE(reader->cpu_count, ACCOUNT_IDLE);
}

static void take_amount(const struct account *account, struct amount *ret_amount)
{
	ret_amount->ns = account->ns;
	ret_amount->switches = account->switches;
	ret_amount->softirqs = account->softirqs;
	ret_amount->energy = 0;
	for (size_t i = 0; i < FIGURES; i++) {
		const uint64_t first = account->first[i], last = account->last[i];

		ret_amount->figure[i] = 0;
		if (last > first)
			ret_amount->figure[i] = last - first;
	}
	memcpy(ret_amount->counter, account->counter, sizeof(ret_amount->counter));
}

/* Copies a place as it was at one moment. Returns false when another stint takes it just now. */
static bool copy_place(const struct account *place, struct account *ret_account)
{
	const uint64_t number = load(&place->number);

	if (number == 0)
		return false;
	memcpy(ret_account, place, sizeof(*ret_account));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	ret_account->number = number;
	return load(&place->number) == number;
}

static void forget_stint(struct reader_stint *known)
{
	if (!known->process)
		return;
	known->process->stints--;
	known->cgroup->stints--;
	known->process = NULL;
	known->cgroup = NULL;
}

static void meet_stint(struct accounts_reader *reader, struct reader_stint *known,
		       const struct account *account)
{
	amount_add(&reader->taken_over, &known->amount);
	if (known->unwanted)
		amount_add(&reader->taken_over_unwanted, &known->amount);
	forget_stint(known);
	*known = (struct reader_stint){.number = account->number};
	known->process = table_process(reader->table, account);
	known->process->stints++;
	known->cgroup = table_cgroup(reader->table, account->cgroup);
	known->cgroup->stints++;
}

static void charge(struct accounts_reader *reader, struct reader_stint *known,
		   const struct amount *now)
{
	const struct amount growth = amount_raise(&known->amount, now);

	if (!known->process)
		return;
	known->unwanted = known->process->unwanted;
	if (known->unwanted) {
		amount_add(&reader->unwanted, &growth);
		return;
	}
	amount_add(&known->process->total, &growth);
	amount_add(&known->cgroup->total, &growth);
}

static void read_thread(struct accounts_reader *reader, uint32_t place)
{
	const struct account *shared = &reader->places[place];
	struct reader_stint *known = &reader->known[place];
	struct account account;
	struct amount now;

	if (known->number && !known->process && load(&shared->number) == known->number)
		return; /* read to its end */
	if (!copy_place(shared, &account))
		return;
	if (account.number != known->number)
		meet_stint(reader, known, &account);
	else
		table_update(reader->table, known->process, &account);
	take_amount(&account, &now);
	charge(reader, known, &now);
	if (account.ended)
		forget_stint(known);
}

/* Reads a place of a CPU itself: idle time and the like. */
static void read_kind(struct accounts_reader *reader, uint32_t place)
{
	struct amount now;

	take_amount(&reader->places[place], &now);
	charge(reader, &reader->known[place], &now);
}

static void read_place(struct accounts_reader *reader, uint32_t place)
{
	if (place >= ACCOUNTS)
		return;
	if (place < first_of_threads(reader))
		read_kind(reader, place);
	else
		read_thread(reader, place);
}

/*
 * Adds the time that the thread on a CPU has not been charged for yet. Returns until when. A thread
 * of the kernel waits for the next event. A CPU goes offline in such a thread, and no hook sees the
 * last switch (tracepoints ask cpu_online()).
 */
static uint64_t charge_running(struct accounts_reader *reader, const struct account_cpu *cpu,
			       const struct account *account, uint64_t time)
{
	struct reader_stint *known;
	uint64_t until = cpu->since;
	struct amount now;

	if (cpu->place >= ACCOUNTS)
		return cpu->since - cpu->pending;
	known = &reader->known[cpu->place];
	if (known->number != account->number) /* a thread that the next turn meets, and its time */
		return cpu->since - cpu->pending;
	take_amount(account, &now);
	now.ns += cpu->pending;
	if (cpu->context == 0 && time > cpu->since && !cpu->kernel) {
		now.ns += time - cpu->since;
		until = time;
	}
	charge(reader, known, &now);
	return until;
}

/*
 * Reads a CPU, and all places that it has changed since `changes` was noted, as they are at one
 * moment. Returns false when the CPU had an event meanwhile, or more changes than it tells. last:
 * takes what is there even then.
 */
static bool read_cpu(struct accounts_reader *reader, uint32_t number, bool last)
{
	const struct account_cpu *cpu = &reader->cpus[number];
	struct account_cpu *seen = &reader->seen[number];
	struct account account = {0};
	uint64_t time;

	memcpy(seen, cpu, sizeof(*seen));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (seen->changes - reader->changes[number] > ACCOUNT_RECENT && !last)
		return false;
	for (uint64_t i = reader->changes[number];
	     i != seen->changes && seen->changes - i <= ACCOUNT_RECENT; i++)
		read_place(reader, seen->recent[i % ACCOUNT_RECENT]);
	if (seen->place < ACCOUNTS)
		memcpy(&account, &reader->places[seen->place], sizeof(account));
	time = reader->clock();
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* `pending` is 0 once it was charged, a moment before `changes` tells of that */
	if ((load(&cpu->since) != seen->since || load(&cpu->pending) != seen->pending ||
	     load(&cpu->changes) != seen->changes) &&
	    !last)
		return false;
	reader->changes[number] = seen->changes;
	reader->until[number] = 0;
	if (seen->since)
		reader->until[number] = charge_running(reader, seen, &account, time);
	return true;
}

static bool read_cpus(struct accounts_reader *reader, bool last)
{
	bool all = true;

	for (uint32_t i = 0; i < reader->cpu_count; i++) {
		bool done = false;

		for (int tries = 0; tries < CPU_TRIES && !done; tries++)
			done = read_cpu(reader, i, last && tries == CPU_TRIES - 1);
		all &= done;
	}
	return all;
}

/* CPUs go on while places are read, which takes time: what they change meanwhile is read again. */
void accounts_reader_turn(struct accounts_reader *reader)
{
	bool done = false;

	for (int tries = 1; tries <= TURN_TRIES && !done; tries++) {
		for (uint32_t i = 0; i < reader->cpu_count; i++)
			reader->changes[i] = load(&reader->cpus[i].changes);
		for (uint32_t place = 0; place < ACCOUNTS; place++)
			read_place(reader, place);
		done = read_cpus(reader, tries == TURN_TRIES);
	}
	leave_note(reader);
}

static void add_times(struct account_time *to, const struct account_time *more, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		to[i].ns += more[i].ns;
		to[i].count += more[i].count;
	}
}

static uint64_t sum_times(const struct account_time *times, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += times[i].ns;
	return sum;
}

static void add_cpu(const struct account_cpu *cpu, uint64_t until, struct accounts_sums *sums,
		    struct amount *gone)
{
	struct amount taken = {
		.ns = cpu->gone_ns, .switches = cpu->gone_switches, .softirqs = cpu->gone_softirqs};
	const uint64_t begin = cpu->begin;

	if (begin == 0)
		return;
	if (sums->begin == 0 || begin < sums->begin)
		sums->begin = begin;
	if (until > begin)
		sums->wall += until - begin;
	sums->counters &= cpu->counters;
	sums->cpus++;
	sums->lost_places += cpu->lost_places;
	sums->lost_tasks += cpu->lost_tasks;
	sums->skipped += cpu->skipped;
	sums->missed += cpu->missed;
	add_times(sums->softirqs, cpu->softirqs, ACCOUNT_SOFTIRQS);
	add_times(sums->hardirqs, cpu->hardirqs, ACCOUNT_HARDIRQS);
	for (size_t i = 0; i < FIGURES; i++)
		taken.figure[i] = cpu->gone[i];
	memcpy(taken.counter, cpu->gone_counter, sizeof(taken.counter));
	amount_add(gone, &taken);
}

/* Sums all that was read of threads. */
static struct amount sum_threads(const struct accounts_reader *reader)
{
	struct amount sum = reader->taken_over;

	for (uint32_t place = first_of_threads(reader); place < ACCOUNTS; place++)
		if (reader->known[place].number)
			amount_add(&sum, &reader->known[place].amount);
	return sum;
}

static void add_counters(struct amount *to, const struct amount *more)
{
	for (size_t i = 0; i < ACCOUNT_COUNTERS; i++)
		to->counter[i] += more->counter[i];
}

void accounts_reader_sum(const struct accounts_reader *reader, struct accounts_sums *ret_sums)
{
	struct accounts_sums sums = {.counters = UINT32_MAX};
	struct amount gone = {0}, threads = sum_threads(reader);

	for (uint32_t i = 0; i < reader->cpu_count; i++)
		add_cpu(&reader->seen[i], reader->until[i], &sums, &gone);
	if (sums.cpus == 0)
		sums.counters = 0;
	sums.unseen = amount_since(&gone, &reader->taken_over);
	amount_add(&threads, &sums.unseen);
	sums.threads = amount_since(&threads, &reader->unwanted);
	sums.charged = threads.ns + sum_times(sums.softirqs, ACCOUNT_SOFTIRQS) +
		       sum_times(sums.hardirqs, ACCOUNT_HARDIRQS);
	for (uint32_t place = 0; place < first_of_threads(reader); place++) {
		struct amount *kind = &sums.kind[place % ACCOUNT_CPU_KINDS + 1];

		amount_add(kind, &reader->known[place].amount);
		sums.charged += reader->known[place].amount.ns;
	}
	add_counters(&sums.counted, &threads);
	for (size_t i = 0; i < ACCOUNT_KINDS; i++)
		add_counters(&sums.counted, &sums.kind[i]);
	amount_add(&sums.kind[ACCOUNT_OTHERS], &reader->unwanted);
	*ret_sums = sums;
}
