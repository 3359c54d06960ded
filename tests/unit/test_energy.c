/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up energy zones, and the shares of what they count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/time.h"
#include "worker/account/energy.h"
#include "worker/account/reader.h"
#include "worker/account/table.h"

#define RANGE "262143328850\n"

static struct energy energy;
static uint64_t now;
static int counters[ZONES_MAX]; /* of each zone in its order */

static int setup(void **state)
{
	(void)state;
	energy_init(&energy, 0);
	now = 1000 * NS_PER_SECOND;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	energy_release(&energy);
	return 0;
}

static int make_file(const char *text)
{
	int fd = memfd_create("zone", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
	return fd;
}

/* Gives all files of a zone, and keeps its counter to be changed. */
static struct zone *give(uint32_t top, uint32_t member, const char *name, const char *range,
			 const char *value)
{
	const uint32_t number = ZONE_NUMBER(top, member);
	const char *const texts[ZONE_FILES] = {name, range, value};

	for (uint32_t i = 0; i < ZONE_FILES; i++) {
		int fd = make_file(texts[i]);

		if (i == ZONE_FILE_ENERGY)
			counters[energy.count - 1] = dup(fd);
		assert_int_equal(energy_add(&energy, ZONE_INDEX(number, i), fd), 0);
	}
	return &energy.zones[energy.count - 1];
}

static void set(const struct zone *zone, const char *text)
{
	const int fd = counters[zone - energy.zones];

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
}

static void set_number(const struct zone *zone, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)value);
	set(zone, text);
}

static void read_all(void)
{
	now += NS_PER_SECOND / 4;
	energy_read(&energy, now);
}

/* ---- texts ---- */

static void test_energy__numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t number;
		bool is_one;
	} cases[] = {
		{"0\n", 0, true},
		{"0017", 17, true},
		{"18446744073709551615\n", UINT64_MAX, true},
		{"18446744073709551616\n", 0, false},
		{"99999999999999999999999999\n", 0, false},
		{"", 0, false},
		{"\n", 0, false},
		{"-1\n", 0, false},
		{"+1\n", 0, false},
		{" 1\n", 0, false},
		{"1 \n", 0, false},
		{"1\n\n", 0, false},
		{"1\n2\n", 0, false},
		{"0x10\n", 0, false},
		{"1e6\n", 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = cases[i].text;
		uint64_t number = 0;

		assert_int_equal(zone_parse_number(text, strlen(text), &number), cases[i].is_one);
		assert_int_equal(number, cases[i].number);
	}
	assert_false(zone_parse_number("1\0", 2, &now));
}

static void test_energy__names(void **state)
{
	static const struct {
		const char *text;
		int kind; /* -1: none */
	} cases[] = {
		{"package-0\n", ZONE_PACKAGE},
		{"package-12-die-1\n", ZONE_PACKAGE},
		{"dram\n", ZONE_DRAM},
		{"core\n", ZONE_CORE},
		{"uncore\n", ZONE_UNCORE},
		{"psys\n", ZONE_PSYS},
		{"package-\n", -1},
		{"package-x\n", -1},
		{"package-0-die-\n", -1},
		{"package-00000000000000000000000\n", -1},
		{"cores\n", -1},
		{"core\x1b[2J\n", -1},
		{"core\ncore\n", -1},
		{"", -1},
		{"\n", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = cases[i].text;
		struct zone zone = {.kind = ZONE_KINDS};

		assert_int_equal(zone_parse_name(&zone, text, strlen(text)), cases[i].kind >= 0);
		if (cases[i].kind < 0)
			continue;
		assert_int_equal(zone.kind, cases[i].kind);
		assert_int_equal(strncmp(zone.name, text, strlen(zone.name)), 0);
		assert_int_equal(strlen(zone.name), strlen(text) - 1);
	}
}

/* ---- zones ---- */

static void test_energy__counter_goes_round(void **state)
{
	struct zone *zone = give(0, 0, "package-0\n", RANGE, "262143328000\n");

	(void)state;
	read_all();
	assert_int_equal(zone->total, 0);
	set_number(zone, 150);
	read_all();
	assert_int_equal(zone->total, 1000);
	set_number(zone, 151);
	read_all();
	assert_int_equal(zone->total, 1001);
	assert_int_equal(energy.summed, 1001);
	assert_null(zone->reason);
}

static void test_energy__only_packages_and_memory_are_summed(void **state)
{
	struct zone *zones[] = {
		give(0, 0, "package-0\n", RANGE, "0\n"), give(0, 1, "core\n", RANGE, "0\n"),
		give(0, 2, "uncore\n", RANGE, "0\n"),	 give(0, 3, "dram\n", RANGE, "0\n"),
		give(1, 0, "package-1\n", RANGE, "0\n"), give(1, 1, "dram\n", RANGE, "0\n"),
		give(2, 0, "psys\n", RANGE, "0\n"),
	};
	char label[ENERGY_LABEL_BYTES];

	(void)state;
	read_all();
	for (uint64_t i = 0; i < 7; i++)
		set_number(zones[i], 1ull << (4 * i));
	read_all();
	assert_int_equal(energy.summed, 0x111001);
	energy_label(&energy, zones[5], label);
	assert_string_equal(label, "package-1/dram");
	energy_label(&energy, zones[6], label);
	assert_string_equal(label, "psys");
	assert_null(energy_absence(&energy));
}

static void test_energy__zones_that_make_no_sense_are_left_out(void **state)
{
	const struct zone *bad[] = {
		give(0, 0, "package-0\x1b[2J", RANGE, "0\n"),
		give(1, 0, "package-1\n", "0\n", "0\n"),
		give(2, 0, "package-2\n", "many\n", "0\n"),
		give(3, 0, "dram\n", RANGE, "0\n"),
		give(4, 0, "package-4\n", RANGE, "0\n"),
		give(4, 1, "package-5\n", RANGE, "0\n"),
		give(4, 2, "dram\n", RANGE, "0\n"),
		give(4, 3, "dram\n", RANGE, "0\n"),
		give(5, 0, "package-4\n", RANGE, "0\n"),
		give(6, 1, "dram\n", RANGE, "0\n"),
	};
	char label[ENERGY_LABEL_BYTES];

	(void)state;
	read_all();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set_number(bad[i], 10);
		if (i == 4 || i == 6)
			assert_null(bad[i]->reason);
		else
			assert_non_null(bad[i]->reason);
	}
	read_all();
	assert_int_equal(energy.summed, 20);
	energy_label(&energy, bad[0], label);
	assert_string_equal(label, "intel-rapl:0");
	energy_label(&energy, bad[7], label);
	assert_string_equal(label, "intel-rapl:4:2");
}

static void test_energy__readings_that_make_no_sense(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"-5\n",
		"99999999999999999999999\n",
		"262143328851\n",
		"900000\n",
		"\x1b[2J1000000\n",
		"1000000000000000000000000000000000000000000000000000000000000000000000000000000\n",
	};
	struct zone *zones[8];

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		char name[16];

		snprintf(name, sizeof(name), "package-%u\n", i);
		zones[i] = give(i, 0, name, RANGE, "1000000\n");
	}
	read_all();
	for (int i = 0; i < 8; i++)
		set_number(zones[i], 1000007);
	read_all();
	for (int i = 0; i < 8; i++)
		set(zones[i], texts[i]);
	read_all();
	for (int i = 0; i < 8; i++) {
		assert_non_null(zones[i]->reason);
		assert_int_equal(zones[i]->fd, -1);
		set_number(zones[i], 1000008);
	}
	read_all(); /* it stays out, with what it had counted by then */
	assert_int_equal(energy.summed, 8 * 7);
}

static void test_energy__files_come_in_order(void **state)
{
	(void)state;
	assert_int_equal(energy_add(&energy, ZONE_FILE_RANGE, make_file(RANGE)), -EINVAL);
	assert_int_equal(energy_add(&energy, ZONE_INDEX_MAX + 1, make_file(RANGE)), -EINVAL);
	assert_int_equal(energy_add(&energy, UINT32_MAX, make_file(RANGE)), -EINVAL);
	give(0, 0, "package-0\n", RANGE, "0\n");
	assert_int_equal(energy_add(&energy, ZONE_FILE_NAME, make_file("package-0")), -EINVAL);
	assert_int_equal(energy_add(&energy, ZONE_INDEX(1, ZONE_FILE_NAME), make_file("core")), 0);
	assert_int_equal(energy_add(&energy, ZONE_INDEX(2, ZONE_FILE_NAME), make_file("core")),
			 -EINVAL);
	assert_int_equal(energy_add(&energy, ZONE_INDEX(1, ZONE_FILE_ENERGY), make_file("1")),
			 -EINVAL);
	assert_int_equal(energy.count, 2);
}

static void test_energy__no_more_than_there_is_room_for(void **state)
{
	uint32_t number = 0;

	(void)state;
	for (; number < ZONES_MAX; number++)
		give(number / ZONE_FAMILY, number % ZONE_FAMILY, "core\n", RANGE, "0\n");
	for (uint32_t i = 0; i < ZONES_MAX; i++)
		close(counters[i]);
	assert_int_equal(energy_add(&energy, ZONE_INDEX(number, 0), make_file("core\n")), -ENOSPC);
}

static void test_energy__absence(void **state)
{
	(void)state;
	energy_init(&energy, -ENOENT);
	assert_string_equal(energy_absence(&energy), "this machine has no energy zones");
	energy_init(&energy, -EACCES);
	assert_string_equal(energy_absence(&energy), "Permission denied");
}

/* ---- shares ---- */

static uint64_t random_of(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 20;
}

static uint64_t sum_parts(const struct energy_totals *totals)
{
	uint64_t sum = 0;

	for (int i = 0; i < ENERGY_PARTS; i++)
		sum += totals->part[i];
	return sum;
}

/* As much as is measured is given out, each time, whatever the weights are. */
static void test_energy__all_is_shared_out(void **state)
{
	struct row rows[50] = {0}, *list[50];
	uint64_t seed = 17, given = 0;

	(void)state;
	for (int i = 0; i < 50; i++)
		list[i] = &rows[i];
	for (int turn = 0; turn < 2000; turn++) {
		struct accounts_sums sums = {.counters = turn % 3 ? UINT32_MAX : 0};
		const uint64_t before = energy.totals.part[ENERGY_ROWS];
		uint64_t rows_energy = 0;

		for (int i = 0; i < 50 && turn % 7; i++) {
			rows[i].mark = rows[i].total;
			rows[i].total.ns += random_of(&seed) >> random_of(&seed) % 44;
			rows[i].total.counter[ACCOUNT_COUNTER_cycles] += random_of(&seed) >> 8;
		}
		for (int i = 1; i < ACCOUNT_KINDS && turn % 5; i++)
			sums.kind[i].ns = random_of(&seed);
		sums.unseen.ns = random_of(&seed);
		sums.hardirqs[3].ns = turn % 11;
		energy.summed = random_of(&seed) >> random_of(&seed) % 44;
		given += energy.summed;
		energy_charge(&energy, &sums, list, 50);
		assert_int_equal(energy.totals.measured, given);
		assert_int_equal(sum_parts(&energy.totals), given);
		for (int i = 0; i < 50; i++)
			rows_energy += rows[i].total.energy - rows[i].mark.energy;
		if (turn % 7)
			assert_int_equal(rows_energy, energy.totals.part[ENERGY_ROWS] - before);
		else
			for (int i = 0; i < 50; i++)
				rows[i].mark = rows[i].total;
	}
}

static void test_energy__shares_are_those_of_the_time(void **state)
{
	struct row rows[] = {{.total.ns = 300}, {.total.ns = 100}}, *list[] = {&rows[0], &rows[1]};
	struct accounts_sums sums = {0};

	(void)state;
	sums.kind[ACCOUNT_IDLE].ns = 500;
	sums.softirqs[1].ns = 60;
	sums.hardirqs[9].ns = 40;
	energy.summed = 1000;
	energy_charge(&energy, &sums, list, 2);
	assert_int_equal(rows[0].total.energy, 300);
	assert_int_equal(rows[1].total.energy, 100);
	assert_int_equal(energy.totals.part[ENERGY_IDLE], 500);
	assert_int_equal(energy.totals.part[ENERGY_SOFTIRQS], 60);
	assert_int_equal(energy.totals.part[ENERGY_HARDIRQS], 40);
	assert_false(energy.by_cycles);
}

/* Cycles change what threads have of their part, and nothing else. */
static void test_energy__cycles_where_all_cpus_count_them(void **state)
{
	struct row rows[] = {{.total.ns = 300}, {.total.ns = 100}}, *list[] = {&rows[0], &rows[1]};
	struct accounts_sums sums = {.counters = 1u << ACCOUNT_COUNTER_cycles};

	(void)state;
	sums.kind[ACCOUNT_IDLE].ns = 500;
	sums.kind[ACCOUNT_OTHERS].ns = 100;
	sums.kind[ACCOUNT_OTHERS].counter[ACCOUNT_COUNTER_cycles] = 10;
	rows[0].total.counter[ACCOUNT_COUNTER_cycles] = 10;
	rows[1].total.counter[ACCOUNT_COUNTER_cycles] = 30;
	energy.summed = 1000;
	energy_charge(&energy, &sums, list, 2);
	assert_true(energy.by_cycles);
	assert_int_equal(energy.totals.part[ENERGY_IDLE], 500);
	assert_int_equal(energy.totals.part[ENERGY_OTHERS], 100);
	assert_int_equal(rows[0].total.energy, 100);
	assert_int_equal(rows[1].total.energy, 300);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_energy__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers),
		TEST(names),
		TEST(counter_goes_round),
		TEST(only_packages_and_memory_are_summed),
		TEST(zones_that_make_no_sense_are_left_out),
		TEST(readings_that_make_no_sense),
		TEST(files_come_in_order),
		TEST(no_more_than_there_is_room_for),
		TEST(absence),
		TEST(all_is_shared_out),
		TEST(shares_are_those_of_the_time),
		TEST(cycles_where_all_cpus_count_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
