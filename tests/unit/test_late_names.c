/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/session_rig.h"
#include "worker/kernel/late_names.h"

static void assert_kept(const struct late_names *names, uint32_t id, const char *function,
			const char *module)
{
	uint32_t number;
	int place = late_names_find(names, id, &number);

	assert_true(place >= 0);
	assert_string_equal(late_names_function(names, (uint64_t)place), function);
	assert_string_equal(late_names_module(names, number), module);
}

static void test_late_names__function_and_module(void **state)
{
	struct late_names *names = late_names_new();
	uint32_t module;

	(void)state;
	late_names_add(names, 1, "crc_update [crc_late]");
	late_names_add(names, UINT32_MAX, "bpf_prog_0123456789abcdef_late [bpf]");
	late_names_add(names, 3, "of_the_kernel");
	late_names_add(names, 4, "crc_final [crc_late]");
	assert_kept(names, 1, "crc_update", "[crc_late]");
	assert_kept(names, UINT32_MAX, "bpf_prog_0123456789abcdef_late", "[bpf]");
	assert_kept(names, 3, "of_the_kernel", "[kernel]");
	assert_kept(names, 4, "crc_final", "[crc_late]");
	assert_int_equal(late_names_find(names, 2, &module), -ENOENT);
	assert_null(late_names_function(names, 4));
	assert_null(late_names_module(names, 3));
	late_names_free(names);
	late_names_free(NULL);
}

/* The person who loads a module or a program chooses its name. */
static void test_late_names__names_of_others(void **state)
{
	struct late_names *names = late_names_new();
	uint32_t module;

	(void)state;
	late_names_add(names, 1, "new\nline\x1b[31m\xff [mo\tdule]");
	late_names_add(names, 2, " [module]");
	late_names_add(names, 3, "function [cut");
	late_names_add(names, 5, "");
	late_names_add(names, 0, "nobody");
	late_names_add(names, 1ull << 32 | 6, "nobody");
	late_names_add(names, 1, "told [again]");
	assert_kept(names, 1, "new?line?[31m?", "[mo?dule]");
	assert_kept(names, 2, " [module]", "[kernel]");
	assert_kept(names, 3, "function [cut", "[kernel]");
	assert_int_equal(late_names_find(names, 5, &module), -ENOENT);
	assert_int_equal(late_names_find(names, 0, &module), -ENOENT);
	assert_int_equal(late_names_find(names, 6, &module), -ENOENT);
	late_names_free(names);
}

/* An event brings a name so: bpf_snprintf() ends a cut name with a NUL inside of its buffer. */
static void add_told(struct late_names *names, uint64_t id, const char *text)
{
	char name[sizeof(((struct event_name *)0)->name)];

	memset(name, 0, sizeof(name));
	memcpy(name, text, strnlen(text, sizeof(name) - 1));
	late_names_add(names, id, name);
}

static void test_late_names__cut_ones_are_of_no_known_module(void **state)
{
	static const struct {
		int length, kept;
		const char *module;
	} cases[] = {
		{86, 86, "[module]"},	      {87, 87, "[kernel unknown]"},
		{93, 93, "[kernel unknown]"}, {95, 95, "[kernel unknown]"},
		{99, 95, "[kernel unknown]"},
	};
	struct late_names *names = late_names_new();
	char name[100], text[110];

	(void)state;
	memset(name, 'x', sizeof(name));
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%.*s [module]", cases[i].length, name);
		add_told(names, i + 1, text);
		text[cases[i].kept] = '\0';
		assert_kept(names, i + 1, text, cases[i].module);
	}
	late_names_free(names);
}

static void test_late_names__are_bounded(void **state)
{
	struct late_names *names = late_names_new();
	uint32_t module;
	char text[64];

	(void)state;
	for (uint32_t i = 1; i <= 2 * LATE_MODULES_MAX; i++) {
		snprintf(text, sizeof(text), "function [module%u]", i);
		late_names_add(names, i, text);
	}
	assert_kept(names, LATE_MODULES_MAX, "function", "[module32]");
	assert_int_equal(late_names_find(names, LATE_MODULES_MAX + 1, &module), -ENOENT);
	for (uint32_t i = 1; i <= 2 * LATE_NAMES_MAX; i++)
		late_names_add(names, 1000 + i, "function [module1]");
	assert_kept(names, 1000 + LATE_NAMES_MAX - LATE_MODULES_MAX, "function", "[module1]");
	assert_int_equal(late_names_find(names, 1001 + LATE_NAMES_MAX - LATE_MODULES_MAX, &module),
			 -ENOENT);
	late_names_free(names);
}

static void test_late_names__frames_have_them(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {
		KERNEL_FRAME(KERNEL_RANGE_NAMED, 0x80000001), KERNEL_FRAME(KERNEL_RANGE_NAMED, 5),
		KERNEL_FRAME(KERNEL_RANGE_NAMED, 0x80000001), KERNEL_FRAME(KERNEL_RANGE_NAMED, 6)};
	struct message_summary summary;

	rig_name(rig, 0x80000001, "crc_update [crc_late]");
	rig_name(rig, 5, "bpf_prog_0123456789abcdef_late [bpf]");
	rig_name(rig, 5, "bpf_prog_0123456789abcdef_late [bpf]");
	rig_sample(rig, 9, 0, REASON_end_no_user, frames, 4, 0);
	rig_settle(rig);
	session_finish(rig->session);
	rig_check_stack(
		rig, 0,
		"crc_update;bpf_prog_0123456789abcdef_late;crc_update;[kernel unknown]+0x0");
	session_summary(rig->session, &summary);
	assert_int_equal(summary.limit[LIMIT_kernel_ranges], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_names__function_and_module),
		cmocka_unit_test(test_late_names__names_of_others),
		cmocka_unit_test(test_late_names__cut_ones_are_of_no_known_module),
		cmocka_unit_test(test_late_names__are_bounded),
		RIG_TEST(test_late_names__frames_have_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
