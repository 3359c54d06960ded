/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF walks the frames of Lua: configs of images that were built for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_lua.h"
#include "worker/runtime/lua_layout.h"
#include "worker/runtime/runtime.h"

#define LARGE 3100u

static struct runtime_setup setup;

static int configure(const char *ident, const char *caller, size_t size)
{
	struct image *image = build_lua_image(ident, caller, size);
	int r;

	assert_int_equal(runtime_recognise(image), RUNTIME_LUA);
	memset(&setup, 0, sizeof(setup));
	r = runtime_configure(RUNTIME_LUA, image, &setup);
	image_close(image);
	return r;
}

static void test_lua_config__5_4(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure("$LuaVersion: Lua 5.4.7  Copyright", "lua_callk", LARGE), 0);
	assert_int_equal(setup.version, LUA_VERSION(4, 7));
	assert_true(setup.has_groups);
	assert_int_equal(setup.loop[0].end - setup.loop[0].start, LARGE);
	assert_int_equal(setup.loop[1].end, 0);
	assert_int_equal(config->root[0].start, RUNTIME_AT_SCAN);
	assert_int_equal(config->state.bytes, 96);
	assert_int_equal(config->state.handler, 88);
	assert_int_equal(config->flags,
			 RUNTIME_POINTED | RUNTIME_OBJECT | RUNTIME_BORDER_SHOW | RUNTIME_NAMES);
	assert_int_equal(config->names.call, 68);
	assert_int_equal(config->names.tail, 60);
	assert_int_equal(config->names.tail_mask, 1u << 21);
	/* callstatus is a u16 at 62: CIST_C is clear, and CIST_FRESH set */
	assert_int_equal(config->shown, 60);
	assert_int_equal(config->shown_mask, 1u << 17);
	assert_int_equal(config->shown_value, 0);
	assert_int_equal(config->border, 60);
	assert_int_equal(config->border_mask, 1u << 18);
	assert_int_equal(config->border_value, 1u << 18);
	assert_int_equal(config->last_unit, 1);
}

static void test_lua_config__5_1(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure("$Lua: Lua 5.1.5 Copyright", "lua_call", LARGE), 0);
	assert_int_equal(config->flags, RUNTIME_POINTED | RUNTIME_OBJECT | RUNTIME_BORDER_SHOW |
						RUNTIME_ARRAY | RUNTIME_BORDER_CALLER |
						RUNTIME_NAMES);
	assert_int_equal(config->names.call, 28);
	assert_int_equal(config->names.tail, 36);
	assert_int_equal(config->names.tail_mask, ~0u);
	assert_int_equal(config->node_bytes, 40);
	assert_int_equal(config->shown_mask, 0);
	assert_int_equal(config->border_mask & config->border_value, 0);
	assert_int_not_equal(config->border_value, 0);
	/* tt, marked, isC, nupvalues */
	assert_int_equal(config->object_mask, 0x00ff00ff);
	assert_int_equal(config->object_value, 6);
	assert_int_equal(config->last_unit, 4);
}

static void test_lua_config__other_versions(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure("$LuaVersion: Lua 5.2.4  C", "lua_callk", LARGE), 0);
	assert_int_equal(config->border_value, 0); /* CIST_REENTRY is clear */
	assert_int_equal(config->border_mask, 1u << 18);
	assert_int_equal(configure("$LuaVersion: Lua 5.3.6  C", "lua_callk", LARGE), 0);
	assert_int_equal(config->shown_value, 1u << 17);
	assert_int_equal(config->border_mask, 1u << 19);
	assert_int_equal(configure("$LuaVersion: Lua 5.5.1  C", "lua_callk", LARGE), 0);
	assert_int_equal(config->shown_mask, 1u << 15);
	assert_true(config->flags & RUNTIME_MAIN_WITHIN);
	assert_int_equal(config->state.main, 1416);
}

static void test_lua_config__unknown(void **state)
{
	(void)state;
	assert_int_equal(configure("$LuaVersion: Lua 5.4.0  C", "lua_callk", LARGE), -ENOTSUP);
	assert_int_equal(configure("$LuaVersion: Lua 5.6.0  C", "lua_callk", LARGE), -ENOTSUP);
	assert_int_equal(configure("LuaJIT", "lua_callk", LARGE), -ENOTSUP);
	assert_int_equal(configure(NULL, "lua_callk", LARGE), -ENOTSUP);
	/* without the loop nothing ties functions to the stack */
	assert_int_equal(configure("$LuaVersion: Lua 5.4.7  C", "lua_callk", 2900), -ENOTSUP);
	assert_int_equal(configure("$LuaVersion: Lua 5.4.7  C", "lua_call", LARGE), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lua_config__5_4),
		cmocka_unit_test(test_lua_config__5_1),
		cmocka_unit_test(test_lua_config__other_versions),
		cmocka_unit_test(test_lua_config__unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
