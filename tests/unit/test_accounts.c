/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up accounts of two CPUs, as BPF would write them, and the tables that come of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/redact.h"
#include "ipc/messages.h"
#include "ipc/time.h"
#include "tests/unit/json_check.h"
#include "worker/account/accounts.h"
#include "worker/account/reader.h"
#include "worker/account/reference.h"
#include "worker/account/table.h"

#define CPUS	 2
#define BEGIN	 (1000 * NS_PER_SECOND)
#define FIRST	 ACCOUNT_PLACE(CPUS, ACCOUNT_IDLE) /* place of a thread */
#define TEXT_MAX 65536

static struct account *places;
static struct account_cpu cpus[CPUS];
static uint64_t now, numbers;
static struct redact redact;
static struct table table;
static struct accounts_reader reader;
static char text[TEXT_MAX];

static uint64_t look(void)
{
	return now;
}

static const char *path_of(void *context, uint64_t cgroup)
{
	(void)context;
	if (cgroup == 7)
		return "/a \"b\"\n";
	return NULL;
}

static int setup(void **state)
{
	const uint8_t keep[REDACT_KINDS] = {0};

	(void)state;
	places = calloc(ACCOUNTS, sizeof(*places));
	if (!places)
		abort();
	memset(cpus, 0, sizeof(cpus));
	now = BEGIN;
	for (int i = 0; i < CPUS; i++) {
		cpus[i].begin = cpus[i].since = BEGIN;
		cpus[i].place = ACCOUNT_NO_PLACE;
	}
	assert_int_equal(redact_init(&redact, keep), 0);
	assert_int_equal(table_init(&table), 0);
	reader = (struct accounts_reader){
		.places = places, .cpus = cpus, .cpu_count = CPUS, .clock = look, .table = &table};
	assert_int_equal(accounts_reader_init(&reader), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	accounts_reader_release(&reader);
	table_release(&table);
	free(places);
	return 0;
}

static struct account *begin(uint32_t place, uint32_t pid, uint32_t thread, uint64_t cgroup,
			     const char *name)
{
	struct account *account = &places[FIRST + place];

	*account = (struct account){
		.number = ++numbers, .start = pid, .cgroup = cgroup, .pid = pid, .thread = thread};
	snprintf(account->name, sizeof(account->name), "%s", name);
	return account;
}

static const struct row *row_of(uint32_t pid)
{
	for (size_t i = 0; i < table.processes.count; i++)
		if (table.processes.items[i]->pid == pid)
			return table.processes.items[i];
	return NULL;
}

/* ---- reading ---- */

static void test_accounts__threads_are_their_processes(void **state)
{
	(void)state;
	begin(0, 50, 50, 7, "main")->ns = 100;
	begin(1, 50, 51, 7, "main")->ns = 20;
	begin(2, 60, 60, 8, "other")->ns = 5;
	accounts_reader_turn(&reader);
	assert_int_equal(row_of(50)->total.ns, 120);
	assert_int_equal(row_of(50)->stints, 2);
	assert_string_equal(row_of(50)->name, "main");
	assert_int_equal(row_of(60)->total.ns, 5);
	assert_int_equal(table_cgroup(&table, 7)->total.ns, 120);
	assert_int_equal(table_cgroup(&table, 8)->total.ns, 5);
}

static bool wants_main(void *context, const char name[ABI_COMM_BYTES])
{
	return context == &reader && !strcmp(name, "main");
}

/* The filter of names: what it leaves out is of others, and nothing is lost. */
static void test_accounts__names_that_are_not_wanted(void **state)
{
	struct account *account = begin(1, 60, 60, 8, "other");
	struct accounts_sums sums;

	(void)state;
	table.wants = wants_main;
	table.wants_context = &reader;
	begin(0, 50, 50, 8, "main")->ns = 100;
	account->ns = 5;
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(row_of(50)->total.ns, 100);
	assert_int_equal(row_of(60)->total.ns, 0);
	assert_int_equal(table_cgroup(&table, 8)->total.ns, 100);
	assert_int_equal(sums.threads.ns, 100);
	assert_int_equal(sums.kind[ACCOUNT_OTHERS].ns, 5);
	assert_int_equal(sums.charged, 105);
	/* from now on it has the name that is wanted */
	memcpy(account->name, "main", 5);
	account->ns = 9;
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(row_of(60)->total.ns, 4);
	assert_int_equal(sums.kind[ACCOUNT_OTHERS].ns, 5);
	assert_int_equal(sums.charged, 109);
}

static void test_accounts__rows_of_threads(void **state)
{
	struct account *first = begin(0, 50, 50, 7, "main"), *second = begin(1, 50, 51, 7, "main");

	(void)state;
	table.by_thread = true;
	snprintf(first->thread_name, sizeof(first->thread_name), "main");
	snprintf(second->thread_name, sizeof(second->thread_name), "helper");
	first->ns = 100;
	second->ns = 20;
	accounts_reader_turn(&reader);
	assert_int_equal(table.processes.count, 2);
	assert_string_equal(table.processes.items[1]->name, "helper");
	assert_int_equal(table.processes.items[1]->thread, 51);
	assert_int_equal(table.processes.items[1]->pid, 50);
	assert_int_equal(table.processes.items[1]->total.ns, 20);
	assert_int_equal(table_cgroup(&table, 7)->total.ns, 120);
}

static void test_accounts__turns_add_what_has_come(void **state)
{
	struct account *account = begin(0, 50, 50, 7, "old");

	(void)state;
	account->ns = 100;
	account->first[FIGURE_migrations] = 70;
	account->last[FIGURE_migrations] = 73;
	accounts_reader_turn(&reader);
	accounts_reader_turn(&reader);
	assert_int_equal(row_of(50)->total.ns, 100);
	assert_int_equal(row_of(50)->total.figure[FIGURE_migrations], 3);
	account->ns = 130;
	memcpy(account->name, "new", 4);
	accounts_reader_turn(&reader);
	assert_int_equal(row_of(50)->total.ns, 130);
	assert_string_equal(row_of(50)->name, "new");
}

static void test_accounts__ended_stint_is_read_to_its_end(void **state)
{
	struct account *account = begin(0, 50, 50, 7, "short");

	(void)state;
	account->ns = 100;
	accounts_reader_turn(&reader);
	account->ns = 150;
	account->ended = 1;
	accounts_reader_turn(&reader);
	assert_int_equal(row_of(50)->total.ns, 150);
	assert_int_equal(row_of(50)->stints, 0);
}

/* BPF adds a stint to the sums when another takes its place. */
static void replace(uint32_t place, uint32_t pid)
{
	cpus[0].gone_ns += places[FIRST + place].ns;
	begin(place, pid, pid, 7, "next")->ns = 1;
}

static void test_accounts__stints_that_nobody_read_are_a_sum(void **state)
{
	struct accounts_sums sums;

	(void)state;
	begin(0, 50, 50, 7, "seen")->ns = 100;
	accounts_reader_turn(&reader);
	places[FIRST].ns = 110; /* 10 are never read */
	replace(0, 51);
	places[FIRST].ns = 40; /* not read at all */
	replace(0, 52);
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(row_of(50)->total.ns, 100);
	assert_null(row_of(51));
	assert_int_equal(row_of(52)->total.ns, 1);
	assert_int_equal(sums.unseen.ns, 50);
	assert_int_equal(sums.charged, 151);
}

/* Another worker, which knows no stint and has no row. */
static void begin_worker(struct account_note *note)
{
	accounts_reader_release(&reader);
	table_release(&table);
	assert_int_equal(table_init(&table), 0);
	table.wants = wants_main;
	table.wants_context = &reader;
	reader = (struct accounts_reader){.places = places,
					  .cpus = cpus,
					  .cpu_count = CPUS,
					  .clock = look,
					  .table = &table,
					  .note = note};
	assert_int_equal(accounts_reader_init(&reader), 0);
}

/* Time that the filter leaves out stays so when the worker is replaced, and all is read once. */
static void test_accounts__next_worker_knows_what_was_not_wanted(void **state)
{
	struct account_note note = {0};
	struct accounts_sums before, sums;

	(void)state;
	begin_worker(&note);
	begin(0, 50, 50, 7, "main")->ns = 100;
	begin(1, 51, 51, 7, "main")->ns = 20;
	begin(2, 60, 60, 8, "other")->ns = 500;
	begin(3, 61, 61, 8, "other")->ns = 7;
	places[FIRST + 2].ended = 1;
	accounts_reader_turn(&reader);
	replace(1, 62);
	replace(2, 63);
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &before);
	assert_int_equal(before.threads.ns, 120);
	assert_int_equal(before.kind[ACCOUNT_OTHERS].ns, 509);
	begin_worker(&note);
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(sums.threads.ns, before.threads.ns);
	assert_int_equal(sums.kind[ACCOUNT_OTHERS].ns, before.kind[ACCOUNT_OTHERS].ns);
	assert_int_equal(sums.unseen.ns, 0);
	assert_int_equal(sums.charged, before.charged);
	/* and so does the worker after the next one */
	replace(3, 64);
	accounts_reader_turn(&reader);
	begin_worker(&note);
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(sums.threads.ns, 120);
	assert_int_equal(sums.kind[ACCOUNT_OTHERS].ns, 510);
	assert_int_equal(sums.unseen.ns, 0);
}

/* A note may say anything. */
static void test_accounts__note_of_a_hostile_worker(void **state)
{
	struct account_note note;
	struct accounts_sums sums;

	(void)state;
	memset(&note, 0xff, sizeof(note));
	begin_worker(&note);
	begin(0, 50, 50, 7, "main")->ns = 100;
	begin(1, 60, 60, 8, "other")->ns = 5;
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(row_of(50)->total.ns, 100);
	assert_int_equal(table_cgroup(&table, 7)->total.ns, 100);
}

static void test_accounts__place_in_the_making_waits(void **state)
{
	(void)state;
	begin(0, 50, 50, 7, "half")->ns = 100;
	places[FIRST].number = 0;
	accounts_reader_turn(&reader);
	assert_null(row_of(50));
	places[FIRST].number = ++numbers;
	accounts_reader_turn(&reader);
	assert_int_equal(row_of(50)->total.ns, 100);
}

/* ---- what CPUs change while places are read ---- */

static void (*meanwhile)(void); /* at the next look at the clock */

static uint64_t look_late(void)
{
	void (*change)(void) = meanwhile;

	meanwhile = NULL;
	if (change)
		change();
	return now;
}

static void charge_on(struct account_cpu *cpu, uint32_t place, uint64_t ns)
{
	places[place].ns += ns;
	cpu->recent[cpu->changes++ % ACCOUNT_RECENT] = place;
	cpu->since += ns;
	now = cpu->since;
}

/* Charges a place, as a switch of CPU 0 does. CPU 1 idles. */
static void charge_place(uint32_t place, uint64_t ns)
{
	charge_on(&cpus[0], place, ns);
	charge_on(&cpus[1], ACCOUNT_PLACE(1, ACCOUNT_IDLE), ns);
}

static void switch_once(void)
{
	charge_place(FIRST, 700);
}

/* More than CPU 0 tells. The first and the last are of threads that had been read. */
static void switch_often(void)
{
	charge_place(FIRST, 700);
	for (uint32_t i = 0; i < ACCOUNT_RECENT + 5; i++)
		charge_place(FIRST + 1, 10);
	charge_place(ACCOUNT_PLACE(0, ACCOUNT_IDLE), 5);
}

static void expect_nothing_unexplained(uint64_t first, uint64_t second)
{
	struct accounts_sums sums;

	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_null(meanwhile);
	assert_int_equal(row_of(50)->total.ns, first);
	assert_int_equal(row_of(60)->total.ns, second);
	assert_int_equal(sums.wall, 2 * (now - BEGIN));
	assert_int_equal(sums.charged, sums.wall);
}

static void test_accounts__switches_while_places_are_read(void **state)
{
	(void)state;
	reader.clock = look_late;
	begin(0, 50, 50, 7, "one");
	begin(1, 60, 60, 7, "two");
	charge_place(FIRST + 1, 300);
	meanwhile = switch_once;
	expect_nothing_unexplained(700, 300);
	meanwhile = switch_often;
	expect_nothing_unexplained(1400, 300 + 10 * (ACCOUNT_RECENT + 5));
}

/* The end of a stint whose place another one takes meanwhile is in one sum, not in two. */
static void take_over(void)
{
	cpus[0].gone_ns += places[FIRST].ns;
	begin(0, 70, 70, 7, "next");
	charge_place(FIRST, 40);
}

static void test_accounts__place_that_is_taken_while_places_are_read(void **state)
{
	struct accounts_sums sums;

	(void)state;
	reader.clock = look_late;
	begin(0, 50, 50, 7, "one");
	charge_place(FIRST, 300);
	places[FIRST].ended = 1;
	meanwhile = take_over;
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(row_of(50)->total.ns, 300);
	assert_int_equal(row_of(70)->total.ns, 40);
	assert_int_equal(sums.unseen.ns, 0);
	assert_int_equal(sums.charged, sums.wall);
}

/* ---- running threads ---- */

static void test_accounts__running_thread_is_charged_until_now(void **state)
{
	struct account *account = begin(0, 50, 50, 7, "runs");
	struct accounts_sums sums;

	(void)state;
	account->ns = 100;
	cpus[0].since = BEGIN + 1000;
	cpus[0].pending = 30;
	cpus[0].place = FIRST;
	now = BEGIN + 1500;
	accounts_reader_turn(&reader);
	assert_int_equal(row_of(50)->total.ns, 630);
	/* BPF gives the place the same time, and then some */
	account->ns = 640;
	cpus[0].since = BEGIN + 1510;
	cpus[0].pending = 0;
	cpus[0].place = ACCOUNT_PLACE(0, ACCOUNT_IDLE);
	now = BEGIN + 1600;
	accounts_reader_turn(&reader);
	assert_int_equal(row_of(50)->total.ns, 640);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(sums.kind[ACCOUNT_IDLE].ns, 90);
}

/* CPU 1 goes offline in a thread of the kernel. When it comes back, it says that it was idle. */
static void test_accounts__cpu_that_is_offline(void **state)
{
	struct account *stopper = begin(0, 20, 20, 1, "migration/1");
	struct accounts_sums sums;

	(void)state;
	cpus[1].kernel = 1;
	stopper->ns = 40;
	cpus[1].place = FIRST;
	cpus[1].since = BEGIN + 40;
	now = cpus[0].since = BEGIN + 1000;
	places[ACCOUNT_PLACE(0, ACCOUNT_IDLE)].ns = 1000;
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(row_of(20)->total.ns, 40);
	assert_int_equal(sums.wall, 1040);
	assert_int_equal(sums.charged, 1040);
	places[ACCOUNT_PLACE(1, ACCOUNT_IDLE)].ns = 960;
	cpus[1].since = BEGIN + 1000;
	cpus[1].place = ACCOUNT_PLACE(1, ACCOUNT_IDLE);
	cpus[1].kernel = 0;
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(row_of(20)->total.ns, 40);
	assert_int_equal(sums.wall, 2000);
	assert_int_equal(sums.charged, 2000);
}

static void test_accounts__interrupt_under_way_is_not_the_threads(void **state)
{
	(void)state;
	begin(0, 50, 50, 7, "runs")->ns = 100;
	cpus[1].since = BEGIN + 1000;
	cpus[1].pending = 30;
	cpus[1].place = FIRST;
	cpus[1].context = ACCOUNT_IN_SOFTIRQ;
	now = BEGIN + 5000;
	accounts_reader_turn(&reader);
	assert_int_equal(row_of(50)->total.ns, 130);
}

static void test_accounts__sums_are_the_wall_time(void **state)
{
	struct accounts_sums sums;

	(void)state;
	places[ACCOUNT_PLACE(0, ACCOUNT_IDLE)].ns = 500;
	places[ACCOUNT_PLACE(1, ACCOUNT_DENIED)].ns = 100;
	begin(0, 50, 50, 7, "runs")->ns = 150;
	cpus[0].softirqs[2] = (struct account_time){.ns = 40, .count = 2};
	cpus[1].hardirqs[9] = (struct account_time){.ns = 10, .count = 1};
	cpus[0].since = cpus[1].since = now = BEGIN + 400;
	accounts_reader_turn(&reader);
	accounts_reader_sum(&reader, &sums);
	assert_int_equal(sums.wall, 800);
	assert_int_equal(sums.charged, 800);
	assert_int_equal(sums.cpus, 2);
	assert_int_equal(sums.kind[ACCOUNT_IDLE].ns, 500);
	assert_int_equal(sums.kind[ACCOUNT_DENIED].ns, 100);
}

/* ---- bounds ---- */

static void test_accounts__ended_processes_become_rows_of_names(void **state)
{
	uint64_t sum = 0, processes = 0;

	(void)state;
	for (uint32_t pid = 1; pid <= 3 * TABLE_PROCESSES; pid++) {
		struct account *account = begin(pid % 8000, pid, pid, 7, pid & 1 ? "odd" : "even");

		account->ns = 10;
		account->ended = 1;
		if (pid % 4000 == 0)
			accounts_reader_turn(&reader);
	}
	accounts_reader_turn(&reader);
	assert_true(table.processes.count <= TABLE_PROCESSES);
	assert_int_equal(table.names.count, 2);
	for (size_t i = 0; i < table.names.count; i++) {
		sum += table.names.items[i]->total.ns;
		processes += table.names.items[i]->processes;
	}
	assert_int_equal(sum, processes * 10);
	for (size_t i = 0; i < table.processes.count; i++)
		sum += table.processes.items[i]->total.ns;
	assert_int_equal(sum, 3ull * TABLE_PROCESSES * 10);
}

static void test_accounts__crowded_processes_share_a_row(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < TABLE_PROCESSES + 5; i++)
		begin(i, i + 1, i + 1, 1000 + i, "all")->ns = 10;
	accounts_reader_turn(&reader);
	assert_int_equal(table.processes.count, TABLE_PROCESSES);
	assert_int_equal(table.crowded.total.ns, 50);
	assert_int_equal(table.cgroups.count, TABLE_CGROUPS);
	assert_int_equal(table.other_cgroups.total.ns, 50);
}

static void test_accounts__window_forgets_what_has_ended(void **state)
{
	(void)state;
	begin(0, 50, 50, 7, "lives")->ns = 10;
	begin(1, 60, 60, 7, "ended")->ns = 20;
	places[FIRST + 1].ended = 1;
	accounts_reader_turn(&reader);
	table_mark(&table, true);
	assert_null(row_of(60));
	assert_int_equal(row_of(50)->mark.ns, 10);
}

/* ---- tables ---- */

static struct accounts *make(uint32_t flags)
{
	const struct accounts_parts parts = {
		.places = places,
		.cpus = cpus,
		.cpu_count = CPUS,
		.flags = OPTIONS_STAT | flags,
		.clock = look,
		.redact = &redact,
		.path = path_of,
	};
	struct accounts *accounts = accounts_new(&parts);

	assert_non_null(accounts);
	return accounts;
}

static const char *render(struct accounts *accounts, bool goes_on)
{
	int fd = memfd_create("table", 0);
	ssize_t size;

	assert_true(fd >= 0);
	assert_int_equal(accounts_render(accounts, goes_on, fd), 0);
	size = pread(fd, text, sizeof(text) - 1, 0);
	assert_true(size >= 0);
	text[size] = '\0';
	close(fd);
	return text;
}

static void fill(void)
{
	struct account *account = begin(0, 50, 50, 7, "we\"ird\x1b[1m");

	account->ns = 3 * NS_PER_SECOND / 2;
	account->last[FIGURE_user] = 3000;
	account->last[FIGURE_system] = 1000;
	account->last[FIGURE_voluntary] = 12;
	begin(1, 60, 60, 8, "small")->ns = NS_PER_SECOND / 2;
	places[ACCOUNT_PLACE(0, ACCOUNT_IDLE)].ns = 2 * NS_PER_SECOND;
	now = cpus[0].since = cpus[1].since = BEGIN + 2 * NS_PER_SECOND;
}

static void test_accounts__text(void **state)
{
	struct accounts *accounts = make(0);

	(void)state;
	fill();
	render(accounts, false);
	assert_non_null(strstr(text, "2.000 s on 2 CPUs; 0.0000 % unexplained\n"));
	assert_non_null(strstr(text, "2.000000 s   50.00 %  idle\n"));
	assert_non_null(strstr(text, "   1.500000   75.0   56.2   18.8 "));
	assert_non_null(strstr(text, "     50 we\"ird?[1m\n"));
	assert_non_null(strstr(text, "   0.500000   25.0      -      - "));
	assert_null(strchr(text, '\x1b'));
	accounts_free(accounts);
}

static void test_accounts__json(void **state)
{
	struct accounts *accounts = make(OPTIONS_STAT_JSON);

	(void)state;
	fill();
	render(accounts, false);
	assert_null(json_check(text, strlen(text)));
	assert_non_null(strstr(text, "\"cpu_seconds\":1.5,"
				     "\"user_scaled_seconds\":1.125,"
				     "\"system_scaled_seconds\":0.375,"));
	assert_non_null(strstr(text, "\"cgroup\":\"id:8\",\"cpu_seconds\":0.5,"
				     "\"kernel_runtime_seconds\":"));
	assert_non_null(strstr(text, "\"error_ratio\":0"));
	accounts_free(accounts);
}

/* Returns how many commas each line has, which is the same in all of them. */
static int commas_of_lines(void)
{
	int commas = 0, first = 0;

	for (const char *at = text; *at; at++) {
		commas += *at == ',';
		if (*at != '\n')
			continue;
		if (!first)
			first = commas;
		assert_int_equal(commas, first);
		commas = 0;
	}
	return first;
}

static void test_accounts__csv(void **state)
{
	struct accounts *accounts = make(OPTIONS_STAT_CSV);

	(void)state;
	fill();
	render(accounts, true);
	assert_int_equal(strncmp(text, "time,elapsed_seconds,kind,pid,", 30), 0);
	assert_non_null(
		strstr(text, ",process,50,\"we\"\"ird?[1m\",0,\"/a \"\"b\"\"?\",1.500000000,"));
	assert_int_equal(commas_of_lines(), 16);
	now += NS_PER_SECOND;
	cpus[0].since = cpus[1].since = now;
	render(accounts, true);
	assert_null(strstr(text, "elapsed_seconds"));
	assert_null(strstr(text, ",process,"));
	accounts_free(accounts);
}

/* Three cycles by two reference cycles, at the rate of this machine's clock. */
static void test_accounts__frequency(void **state)
{
	const bool has_clock = reference_look(BEGIN).ticks > 0;
	struct accounts *accounts = make(OPTIONS_STAT_JSON);

	(void)state;
	fill();
	places[FIRST].counter[ACCOUNT_COUNTER_cycles] = 300;
	places[FIRST].counter[ACCOUNT_COUNTER_ref_cycles] = 200;
	cpus[0].counters = cpus[1].counters = 1u << ACCOUNT_COUNTER_cycles;
	render(accounts, true);
	assert_null(strstr(text, "frequency"));
	cpus[0].counters = cpus[1].counters |= 1u << ACCOUNT_COUNTER_ref_cycles;
	places[FIRST].counter[ACCOUNT_COUNTER_cycles] += 300;
	places[FIRST].counter[ACCOUNT_COUNTER_ref_cycles] += 200;
	places[FIRST].ns++;
	render(accounts, true);
	assert_null(json_check(text, strlen(text)));
	assert_int_equal(strstr(text, "\"average_frequency_hertz\":") != NULL, has_clock);
	accounts_free(accounts);
	assert_int_equal(reference_scale(2000, 300, 200), 3000);
	assert_int_equal(reference_scale(2000, 300, 0), 0);
}

static void test_accounts__cgroups(void **state)
{
	struct accounts *accounts = make(OPTIONS_BY_CGROUP);

	(void)state;
	fill();
	render(accounts, false);
	assert_non_null(strstr(text, " /a \"b\"?\n"));
	assert_non_null(strstr(text, " id:8\n"));
	assert_null(strstr(text, "small"));
	accounts_free(accounts);
}

static void test_accounts__policy_hides_names(void **state)
{
	const uint8_t drop[REDACT_KINDS] = {REDACT_DROP, REDACT_DROP, REDACT_DROP, REDACT_DROP};
	struct accounts *accounts = make(OPTIONS_STAT_JSON);

	(void)state;
	assert_int_equal(redact_init(&redact, drop), 0);
	fill();
	render(accounts, false);
	assert_null(strstr(text, "small"));
	assert_null(strstr(text, "/a"));
	assert_non_null(strstr(text, "\"name\":\"[dropped]\",\"cgroup\":\"[dropped]\""));
	accounts_free(accounts);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_accounts__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(threads_are_their_processes),
		TEST(names_that_are_not_wanted),
		TEST(rows_of_threads),
		TEST(turns_add_what_has_come),
		TEST(ended_stint_is_read_to_its_end),
		TEST(stints_that_nobody_read_are_a_sum),
		TEST(next_worker_knows_what_was_not_wanted),
		TEST(note_of_a_hostile_worker),
		TEST(place_in_the_making_waits),
		TEST(switches_while_places_are_read),
		TEST(place_that_is_taken_while_places_are_read),
		TEST(running_thread_is_charged_until_now),
		TEST(cpu_that_is_offline),
		TEST(interrupt_under_way_is_not_the_threads),
		TEST(sums_are_the_wall_time),
		TEST(ended_processes_become_rows_of_names),
		TEST(crowded_processes_share_a_row),
		TEST(window_forgets_what_has_ended),
		TEST(text),
		TEST(json),
		TEST(csv),
		TEST(frequency),
		TEST(cgroups),
		TEST(policy_hides_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
