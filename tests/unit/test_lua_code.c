/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of Lua, as events tell of them: names, files and lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/build_lua.h"
#include "worker/runtime/lua.h"
#include "worker/runtime/lua_layout.h"
#include "worker/runtime/told.h"

static struct runtime_setup setup_of;
static struct told told;

static const uint32_t versions[] = {LUA_VERSION(1, 5), LUA_VERSION(2, 4), LUA_VERSION(3, 6),
				    LUA_VERSION(4, 2), LUA_VERSION(4, 7), LUA_VERSION(5, 1)};
#define VERSIONS (sizeof(versions) / sizeof(*versions))

static void set_version(uint32_t version)
{
	setup_of = (struct runtime_setup){.handler = &lua_handler};
	assert_int_equal(lua_layout_find(version, &setup_of.layout.lua), 0);
}

static int tell(const struct build_lua *code)
{
	const struct event_code event = build_lua(&setup_of.layout.lua, code);

	memset(&told, 0xa5, sizeof(told));
	return told_read(&setup_of, NULL, &event, &told);
}

/* Behind so many instructions. */
static uint32_t line_behind(uint32_t count)
{
	return told.handler->find_line(&told.lines, 4 * count);
}

static void expect(const char *source, uint32_t first_line, const char *name, const char *file)
{
	const struct build_lua code = {.source = source, .first_line = first_line};

	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(versions[i]);
		assert_int_equal(tell(&code), 0);
		assert_string_equal(told.code.name, name);
		assert_string_equal(told.code.file, file);
		assert_int_equal(told.code.first_line, first_line);
		assert_int_equal(told.lines.first_line, first_line);
	}
}

static void test_lua_code__names(void **state)
{
	(void)state;
	expect("@/srv/app.lua", 12, "function <app.lua:12>", "/srv/app.lua");
	expect("@app.lua", 0, "main chunk", "app.lua");
	expect("=stdin", 3, "function <stdin:3>", "stdin");
	expect("=a/b", 3, "function <a/b:3>", "a/b");
	expect("return 1", 1, "function <[string \"return 1\"]:1>", "[string \"return 1\"]");
	expect("local a\nreturn a", 0, "main chunk", "[string \"local a...\"]");
	expect("", 1, "function <[string \"\"]:1>", "[string \"\"]");
	expect("@/srv/a_folder_of_a_long_name/and_another_one/and_a_file_of_a_long_name.lua", 12,
	       "function <and_a_file_of_a_long_name.lua:12>",
	       "/srv/a_folder_of_a_long_name/and_another_one/and_a_file_of_a_long_name.lua");
	expect("return '0123456789012345678901234567890123456789012345678901234567890123'", 1,
	       "function <[string \"return "
	       "'0123456789012345678901234567890123456789012345678901...\"]:1>",
	       "[string \"return '0123456789012345678901234567890123456789012345678901...\"]");
}

static void expect_called(const char *called, const char *name)
{
	const struct build_lua code = {.source = "@a", .first_line = 7, .called = called};
	const struct build_lua main = {.source = "@a", .called = called};

	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(versions[i]);
		assert_int_equal(tell(&code), 0);
		assert_string_equal(told.code.name, name);
		/* a file stays one, whoever calls it */
		assert_int_equal(tell(&main), 0);
		assert_string_equal(told.code.name, "main chunk");
	}
}

static void test_lua_code__names_of_callers(void **state)
{
	(void)state;
	expect_called("leaf", "leaf");
	expect_called("größe", "größe");
	expect_called("012345678901234567890123456789012345678",
		      "012345678901234567890123456789012345678");
	/* no names: Lua's own, texts that are keys of tables, and those that do not fit */
	expect_called("(for state)", "function <a:7>");
	expect_called("a key", "function <a:7>");
	expect_called("line\nfeed", "function <a:7>");
	expect_called("\033[31m", "function <a:7>");
	expect_called("", "function <a:7>");
	expect_called("0123456789012345678901234567890123456789", "function <a:7>");
}

/* Instructions, and status words of the caller's frame, of the headers of each version. */
static const struct {
	uint32_t version, called_by, called_in;
	const char *name;
} events[] = {
	{LUA_VERSION(1, 5), 33, 0, "(for generator)"},
	{LUA_VERSION(1, 5), 6, 0, "function <a:7>"}, /* GETTABLE */
	{LUA_VERSION(2, 4), 34 | 3u << 6, 0, "for iterator"},
	{LUA_VERSION(2, 4), 12, 0, "metamethod '__index'"},
	{LUA_VERSION(2, 4), 12, 1u << (16 + 1), "metamethod '__index'"}, /* CIST_HOOKED */
	{LUA_VERSION(3, 6), 24, 0, "metamethod '__shr'"},
	{LUA_VERSION(3, 6), 24, 1u << (16 + 2), "hook '?'"},
	{LUA_VERSION(3, 6), 24, 1u << (16 + 8), "metamethod '__shr'"}, /* CIST_FIN */
	{LUA_VERSION(4, 2), 58, 0, "metamethod 'order'"},
	{LUA_VERSION(4, 2), 64, 0, "function <a:7>"}, /* GTI */
	{LUA_VERSION(4, 6), 58, 0, "metamethod 'lt'"},
	{LUA_VERSION(4, 6), 64, 0, "metamethod 'lt'"},
	{LUA_VERSION(4, 6), 46 | 6u << 24, 0, "metamethod 'add'"},
	{LUA_VERSION(4, 6), 48 | 17u << 24, 0, "metamethod 'shr'"},
	{LUA_VERSION(4, 6), 48 | 18u << 24, 0, "function <a:7>"}, /* TM_UNM is no operator of two */
	{LUA_VERSION(4, 6), 48 | 5u << 24, 0, "function <a:7>"},
	{LUA_VERSION(4, 6), 0, 1u << (16 + 7), "metamethod '__gc'"},
	{LUA_VERSION(4, 6), 68, 1u << (16 + 3), "hook '?'"}, /* even at a call */
	{LUA_VERSION(4, 6), 68, 0, "leaf"},
	{LUA_VERSION(4, 6), 100, 0, "leaf"}, /* the caller's code says more than its instruction */
	{LUA_VERSION(5, 1), 76, 0, "for iterator"},
	{LUA_VERSION(5, 1), 14, 1u << 20, "hook '?'"},
	{LUA_VERSION(5, 1), 14, 1u << 24, "metamethod '__gc'"},
	{LUA_VERSION(5, 1), 70, 1u << 22, "metamethod 'close'"},
};

static void test_lua_code__names_of_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		struct build_lua code = {.source = "@a",
					 .first_line = 7,
					 .called_by = events[i].called_by,
					 .called_in = events[i].called_in};

		if (strcmp(events[i].name, "leaf") == 0)
			code.called = "leaf";
		set_version(events[i].version);
		assert_int_equal(tell(&code), 0);
		assert_string_equal(told.code.name, events[i].name);
		code.first_line = 0;
		assert_int_equal(tell(&code), 0);
		assert_string_equal(told.code.name, "main chunk");
	}
}

/* A source of any size is cut, and never runs into other memory. */
static void test_lua_code__long_names(void **state)
{
	char source[600] = "@";

	(void)state;
	memset(source + 1, 'f', sizeof(source) - 2);
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(versions[i]);
		assert_int_equal(tell(&(struct build_lua){.source = source, .first_line = 4294967}),
				 0);
		assert_in_range(strlen(told.code.file), 200, TOLD_FILE_BYTES - 1);
		assert_string_equal(told.code.name + strlen(told.code.name) - 9, ":4294967>");
	}
}

static void test_lua_code__lines_by_number(void **state)
{
	static const uint32_t lines[] = {10, 11, 12, 0x80000000};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		set_version(versions[i]);
		assert_int_equal(tell(&(struct build_lua){.source = "@a",
							  .first_line = 9,
							  .lines = lines,
							  .lines_bytes = sizeof(lines),
							  .lines_count = 4}),
				 0);
		assert_int_equal(line_behind(0), 9); /* it has not begun */
		assert_int_equal(line_behind(1), 10);
		assert_int_equal(line_behind(3), 12);
		assert_int_equal(line_behind(4), 0);
		assert_int_equal(line_behind(5), 0);
		assert_int_equal(line_behind(RUNTIME_OFFSET_NONE / 4), 0);
	}
}

static void test_lua_code__lines_by_differences(void **state)
{
	/* an anchor is at the third instruction */
	static const int8_t lines[] = {1, 2, -128, 1, -3};

	(void)state;
	for (size_t i = 3; i < VERSIONS; i++) {
		set_version(versions[i]);
		assert_int_equal(tell(&(struct build_lua){.source = "@a",
							  .first_line = 9,
							  .lines = lines,
							  .lines_bytes = sizeof(lines),
							  .lines_count = sizeof(lines),
							  .anchors = {{2, 500}},
							  .anchors_count = 1}),
				 0);
		assert_int_equal(line_behind(0), 9);
		assert_int_equal(line_behind(1), 10);
		assert_int_equal(line_behind(2), 12);
		assert_int_equal(line_behind(3), 500);
		assert_int_equal(line_behind(4), 501);
		assert_int_equal(line_behind(5), 498);
		assert_int_equal(line_behind(6), 0);
		assert_int_equal(line_behind(RUNTIME_OFFSET_NONE / 4), 0);
	}
}

/* Lines behind an anchor that the event lacks are not known. */
static void test_lua_code__many_anchors(void **state)
{
	struct build_lua code = {.source = "@a", .first_line = 1, .anchors_count = 49};
	int8_t lines[50];

	(void)state;
	memset(lines, -128, sizeof(lines));
	code.lines = lines;
	code.lines_bytes = code.lines_count = sizeof(lines);
	for (uint32_t i = 0; i < code.anchors_count; i++) {
		code.anchors[i][0] = i;
		code.anchors[i][1] = 100 + i;
	}
	set_version(LUA_VERSION(4, 7));
	assert_int_equal(tell(&code), 0);
	assert_int_equal(line_behind(1), 100);
	assert_int_equal(line_behind(48), 147);
	assert_int_equal(line_behind(49), 0);
}

/* A program without debug information: luac -s. */
static void test_lua_code__without_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(versions[i]);
		assert_int_equal(tell(&(struct build_lua){.source = "=?", .first_line = 7}), 0);
		assert_string_equal(told.code.name, "function <?:7>");
		assert_int_equal(line_behind(0), 7);
		assert_int_equal(line_behind(1), 0);
	}
}

static void test_lua_code__damage(void **state)
{
	const struct build_lua code = {.source = "@a", .first_line = 7, .lines_count = ~0u};
	struct event_code event;

	(void)state;
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(versions[i]);
		/* lines that are not there */
		assert_int_equal(tell(&code), 0);
		assert_int_equal(line_behind(1), 0);
		event = build_lua(&setup_of.layout.lua, &code);
		event.data[8]++; /* of another type */
		assert_int_equal(told_read(&setup_of, NULL, &event, &told), -EPROTO);
		event = build_lua(&setup_of.layout.lua, &code);
		event.bytes[1] = 24; /* a source without characters */
		assert_int_equal(told_read(&setup_of, NULL, &event, &told), -EFAULT);
		event.bytes[1] = ~0ull;
		assert_int_equal(told_read(&setup_of, NULL, &event, &told), -EFAULT);
		event.bytes[0] = 8;
		assert_int_equal(told_read(&setup_of, NULL, &event, &told), -EFAULT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lua_code__names),
		cmocka_unit_test(test_lua_code__names_of_callers),
		cmocka_unit_test(test_lua_code__names_of_events),
		cmocka_unit_test(test_lua_code__long_names),
		cmocka_unit_test(test_lua_code__lines_by_number),
		cmocka_unit_test(test_lua_code__lines_by_differences),
		cmocka_unit_test(test_lua_code__many_anchors),
		cmocka_unit_test(test_lua_code__without_lines),
		cmocka_unit_test(test_lua_code__damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
