/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of Lua by version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "worker/runtime/lua_layout.h"

static void test_lua_layout__versions(void **state)
{
	static const uint32_t known[] = {LUA_VERSION(1, 5), LUA_VERSION(2, 4), LUA_VERSION(3, 3),
					 LUA_VERSION(3, 6), LUA_VERSION(4, 1), LUA_VERSION(4, 2),
					 LUA_VERSION(4, 3), LUA_VERSION(4, 9), LUA_VERSION(5, 0),
					 LUA_VERSION(5, 1)};
	struct lua_layout layout;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		assert_int_equal(lua_layout_find(known[i], &layout), 0);
		assert_int_equal(layout.version, known[i]);
	}
	lua_layout_find(LUA_VERSION(4, 2), &layout);
	assert_int_equal(layout.state_handler, 80);
	lua_layout_find(LUA_VERSION(4, 3), &layout);
	assert_int_equal(layout.state_handler, 88);
	lua_layout_find(LUA_VERSION(1, 5), &layout);
	assert_int_equal(layout.state_handler, 168);
	assert_int_equal(layout.frame_previous, LUA_NONE);
}

static void test_lua_layout__of_no_version(void **state)
{
	static const uint32_t unknown[] = {0,
					   LUA_VERSION(0, 3),
					   LUA_VERSION(1, 4),
					   LUA_VERSION(2, 3),
					   LUA_VERSION(3, 2),
					   LUA_VERSION(4, 0),
					   LUA_VERSION(5, 2),
					   LUA_VERSION(6, 0),
					   UINT32_MAX};
	struct lua_layout layout;

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_int_equal(lua_layout_find(unknown[i], &layout), -ENOTSUP);
}

static void test_lua_layout__texts(void **state)
{
	static const char *const wrong[] = {"",
					    "$LuaVersion: Lua 5.",
					    "$LuaVersion: Lua 5.4.",
					    "$LuaVersion: Lua 5.4.7",
					    "$LuaVersion: Lua 5.4.77 ",
					    "$LuaVersion: Lua 6.4.7 ",
					    "$Lua: LuaJIT 5.1.5 ",
					    "$LuaVersion: Lua 5.x.7 ",
					    "LuaVersion: Lua 5.4.7 "};
	uint32_t version;

	(void)state;
	assert_int_equal(lua_version_read("$LuaVersion: Lua 5.4.7  Copyright (C)", &version), 0);
	assert_int_equal(version, LUA_VERSION(4, 7));
	assert_int_equal(lua_version_read("$Lua: Lua 5.1.5 Copyright (C)", &version), 0);
	assert_int_equal(version, LUA_VERSION(1, 5));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(lua_version_read(wrong[i], &version), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lua_layout__versions),
		cmocka_unit_test(test_lua_layout__of_no_version),
		cmocka_unit_test(test_lua_layout__texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
