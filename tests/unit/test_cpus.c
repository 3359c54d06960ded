/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory_file.h"
#include "loader/cpus.h"

#define WORDS (ABI_MAX_CPUS / 64)

static void test_cpus__lists_of_the_kernel(void **state)
{
	static const struct {
		const char *text;
		uint64_t first, last; /* words */
	} rows[] = {
		{"0\n", 1, 0},
		{"0-1\n", 3, 0},
		{"0,2-3\n", 13, 0},
		{"1,1023\n", 2, 1ull << 63},
		{"\n", 0, 0},
		{"", 0, 0},
		{"0-63\n", UINT64_MAX, 0},
		{"3-3,5", 1 << 3 | 1 << 5, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t online[WORDS];

		assert_int_equal(cpus_parse(rows[i].text, online), 0);
		assert_int_equal(online[0], rows[i].first);
		assert_int_equal(online[WORDS - 1], rows[i].last);
	}
}

static void test_cpus__what_is_no_list(void **state)
{
	static const char *const texts[] = {"x",      "0-",    "-1",
					    "0 1\n",  "2-1\n", "1024",
					    "0-1024", "0;1",   "99999999999999999999999"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint64_t online[WORDS];

		assert_int_equal(cpus_parse(texts[i], online), -EBADMSG);
	}
}

static void put(int fd, const char *text)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
}

static void test_cpus__each_that_appears_counts(void **state)
{
	struct cpus cpus = {.fd = memory_file("test"), .online = {1}};

	(void)state;
	put(cpus.fd, "0\n");
	assert_int_equal(cpus_look(&cpus), 0);
	put(cpus.fd, "0-2\n");
	assert_int_equal(cpus_look(&cpus), 2);
	assert_int_equal(cpus_look(&cpus), 0);
	put(cpus.fd, "0\n");
	assert_int_equal(cpus_look(&cpus), 0);
	/* the event of a CPU that was offline is gone */
	put(cpus.fd, "0-1\n");
	assert_int_equal(cpus_look(&cpus), 1);
	assert_int_equal(cpus.appeared, 3);
	put(cpus.fd, "no list\n");
	assert_int_equal(cpus_look(&cpus), 0);
	close(cpus.fd);
	cpus.fd = -1;
	assert_int_equal(cpus_look(&cpus), 0);
}

static void test_cpus__of_this_machine(void **state)
{
	struct cpus cpus;

	(void)state;
	assert_int_equal(cpus_open(&cpus), 0);
	assert_true(cpus.online[0] | cpus.online[1]);
	close(cpus.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpus__lists_of_the_kernel),
		cmocka_unit_test(test_cpus__what_is_no_list),
		cmocka_unit_test(test_cpus__each_that_appears_counts),
		cmocka_unit_test(test_cpus__of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
