/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/unit/build_code.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/php.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"
#include "worker/sample/coroutines.h"

#define FAMILY	     7u
#define START	     BUILD_FRAME(0x2000, 5, 0)
#define OTHER(n)     BUILD_FRAME(0x1000 * (n), 1, 0)
#define COUNT(words) (sizeof(words) / sizeof(*(words)))

static struct functions *functions;

static int set_up(void **state)
{
	static struct told told = {.handler = &php_handler, .is_start = true};
	const struct function_key key = {.family = FAMILY, .code = 0x2000, .fingerprint = 5};

	(void)state;
	functions = functions_new();
	functions_tell(functions, &key, &told, 1);
	return functions == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	functions_free(functions);
	return 0;
}

static void check(const u64 *from, size_t count, uint64_t family, const u64 *to, size_t to_count)
{
	u64 words[16];

	if (count > 0)
		memcpy(words, from, count * sizeof(*words));
	assert_int_equal(coroutines_split(words, count, 9, functions, family, 2), to_count);
	if (to_count > 0)
		assert_memory_equal(words, to, to_count * sizeof(*words));
}

static void test_coroutines__starts_are_borders(void **state)
{
	const u64 from[] = {OTHER(1), BUILD_BORDER(RUNTIME_BORDER_NOWHERE), START, OTHER(3), START};
	const u64 to[] = {OTHER(1), BUILD_BORDER(RUNTIME_BORDER_NOWHERE), BUILD_BORDER(9), OTHER(3),
			  BUILD_BORDER(9)};

	(void)state;
	check(from, COUNT(from), FAMILY, to, COUNT(to));
	/* of another family, or with another fingerprint */
	check(from, COUNT(from), FAMILY + 1, from, COUNT(from));
}

static void test_coroutines__damaged_lists(void **state)
{
	const u64 from[] = {0x77, START, RUNTIME_WORD_FRAME | 0x2000};
	const u64 to[] = {0x77, BUILD_BORDER(9), RUNTIME_WORD_FRAME | 0x2000};

	(void)state;
	check(from, COUNT(from), FAMILY, to, COUNT(to));
	check(NULL, 0, FAMILY, NULL, 0);
}

/* A start that samples meet is not forgotten. */
static void test_coroutines__starts_are_used(void **state)
{
	const u64 from[] = {START}, to[] = {BUILD_BORDER(9)};

	(void)state;
	check(from, COUNT(from), FAMILY, to, COUNT(to));
	functions_forget(functions, 2);
	assert_int_equal(functions_count(functions), 1);
	functions_forget(functions, 3);
	check(from, COUNT(from), FAMILY, from, COUNT(from));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_coroutines__starts_are_borders, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_coroutines__damaged_lists, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_coroutines__starts_are_used, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
