/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of LuaJIT by time and by offsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "worker/runtime/luajit_layout.h"

static void test_luajit_layout__builds(void **state)
{
	const struct luajit_build v2017 = {LUAJIT_BETA, 8, 232, 132, 0, 0, false};
	const struct luajit_build v2022 = {LUAJIT_BETA, 16, 352, 192, 736, 88, true};
	const struct luajit_build v2023 = {LUAJIT_BETA, 16, 352, 192, 744, 88, true};
	const struct luajit_build v2025 = {1761786044, 16, 352, 192, 752, 88, true};
	struct luajit_layout layout;

	(void)state;
	assert_int_equal(luajit_layout_find(&v2017, &layout), 0);
	assert_int_equal(layout.reference_bytes, 4);
	assert_int_equal(layout.frame_slots, 1);
	assert_int_equal(layout.snapshot_code, LUAJIT_NONE);
	assert_int_equal(luajit_layout_find(&v2022, &layout), 0);
	assert_int_equal(layout.shared_traces, 1112);
	assert_int_equal(luajit_layout_find(&v2023, &layout), 0);
	assert_int_equal(layout.shared_traces, 1120);
	assert_int_equal(luajit_layout_find(&v2025, &layout), 0);
	assert_int_equal(layout.reference_bytes, 8);
	assert_int_equal(layout.shared_traces, 1128);
}

static void test_luajit_layout__of_no_build(void **state)
{
	static const struct luajit_build unknown[] = {
		{LUAJIT_BETA, 8, 232, 128, 0, 0, false}, /* 2017 without Debian's patches */
		{LUAJIT_BETA, 16, 360, 192, 736, 88, true},
		{1737090213, 16, 352, 192, 752, 88, true},
		{1761786045, 16, 352, 192, 752, 88, true},
		{1737090214, 8, 352, 192, 752, 88, true},
		{1737090214, 16, 352, 200, 752, 88, true},
		/* luajit2 of 2020: its snapshots have no code */
		{LUAJIT_BETA, 16, 352, 192, 744, 88, false},
		{LUAJIT_BETA, 16, 352, 192, 752, 88, true}, /* the time of another layout */
		{1737090214, 16, 352, 192, 744, 88, true},
		{LUAJIT_BETA, 16, 352, 192, 744, 96, true},
		{LUAJIT_BETA, 16, 352, 192, 0, 0, true}, /* without a compiler */
	};
	struct luajit_layout layout = {.state_base = 77};

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_int_equal(luajit_layout_find(&unknown[i], &layout), -ENOTSUP);
	assert_int_equal(layout.state_base, 77);
}

static void test_luajit_layout__times(void **state)
{
	static const char *const wrong[] = {"",
					    "LuaJIT 2.1.",
					    "LuaJIT 2.0.5",
					    "LuaJIT 2.1.0-beta2",
					    "LuaJIT 2.1.0-beta3 -- Copyright",
					    "LuaJIT 2.1.173709021",
					    "LuaJIT 2.1.17370902144",
					    "LuaJIT 2.1.1737090214 ",
					    "LuaJIT 2.1.9999999999"};
	uint32_t time = 1;

	(void)state;
	assert_int_equal(luajit_time_read("LuaJIT 2.1.0-beta3", &time), 0);
	assert_int_equal(time, LUAJIT_BETA);
	assert_int_equal(luajit_time_read("LuaJIT 2.1.1737090214", &time), 0);
	assert_int_equal(time, 1737090214);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(luajit_time_read(wrong[i], &time), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_luajit_layout__builds),
		cmocka_unit_test(test_luajit_layout__of_no_build),
		cmocka_unit_test(test_luajit_layout__times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
