/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of LuaJIT, as events tell of them: names, files and lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "worker/runtime/luajit.h"
#include "worker/runtime/luajit_layout.h"
#include "worker/runtime/told.h"

#define CODE   0x41000000ull
#define SOURCE 0x41001000ull
#define LINES  0x41002000ull
#define NAMES  0x41003000ull

#define TYPE_TEXT 4u
#define TYPE_CODE 7u

static const struct luajit_build builds[] = {
	{LUAJIT_BETA, 8, 232, 132, 0, 0, false},
	{LUAJIT_BETA, 16, 352, 192, 736, 88, true},
	{LUAJIT_BETA, 16, 352, 192, 744, 88, true},
	{1737090214, 16, 352, 192, 752, 88, true},
};
#define BUILDS (sizeof(builds) / sizeof(*builds))

static struct runtime_setup setup_of;
static struct event_code event;
static struct told told;

static const struct luajit_layout *layout(void)
{
	return &setup_of.layout.luajit;
}

static void put(size_t at, uint64_t number, size_t size)
{
	memcpy(event.data + at, &number, size);
}

/* Begins an event about a function with instructions and lines. */
static void begin(size_t build, const char *source, uint32_t first_line, uint32_t lines,
		  uint32_t count)
{
	setup_of = (struct runtime_setup){.handler = &luajit_handler};
	assert_int_equal(luajit_layout_find(&builds[build], &setup_of.layout.luajit), 0);
	memset(&event, 0, sizeof(event));
	event.code = event.address[0] = CODE;
	event.bytes[0] = CODE_PART_1;
	put(layout()->object_type, TYPE_CODE, 1);
	put(layout()->code_first_line, first_line, 4);
	put(layout()->code_lines_count, lines, 4);
	put(layout()->code_count, count, 4);
	put(layout()->code_source, SOURCE, layout()->reference_bytes);
	put(layout()->code_lines, LINES, layout()->reference_bytes);
	event.address[1] = SOURCE;
	event.bytes[1] = CODE_PART_2 - CODE_PART_1;
	put(CODE_PART_1 + layout()->object_type, TYPE_TEXT, 1);
	memcpy(event.data + CODE_PART_1 + layout()->text_bytes, source, strlen(source));
	event.address[3] = LINES;
}

static int tell(void)
{
	memset(&told, 0xa5, sizeof(told));
	return told_read(&setup_of, NULL, &event, &told);
}

static void put_lines(const void *bytes, size_t size)
{
	memcpy(event.data + CODE_PART_3, bytes, size);
	event.bytes[3] = size;
}

static uint32_t line_behind(uint32_t count)
{
	return told.handler->find_line(&told.lines, 4 * count);
}

static void test_luajit_code__names(void **state)
{
	(void)state;
	for (size_t i = 0; i < BUILDS; i++) {
		begin(i, "@/srv/app.lua", 12, 3, 0);
		assert_int_equal(tell(), 0);
		assert_string_equal(told.code.name, "function <app.lua:12>");
		assert_string_equal(told.code.file, "/srv/app.lua");
		assert_int_equal(told.lines.first_line, 12);
		begin(i, "=stdin", 0, 3, 0);
		assert_int_equal(tell(), 0);
		assert_string_equal(told.code.name, "main chunk");
	}
}

static void test_luajit_code__lines(void **state)
{
	static const uint8_t bytes[] = {0, 1, 1, 255};
	static const uint16_t words[] = {0, 1, 256, 65535};
	static const uint32_t numbers[] = {0, 1, 65536, 0x80000000u};

	(void)state;
	begin(0, "@a", 10, 255, 5);
	put_lines(bytes, sizeof(bytes));
	assert_int_equal(tell(), 0);
	assert_int_equal(line_behind(0), 10);
	assert_int_equal(line_behind(1), 10); /* the function's head */
	assert_int_equal(line_behind(2), 10);
	assert_int_equal(line_behind(3), 11);
	assert_int_equal(line_behind(5), 265);
	assert_int_equal(line_behind(6), 0);
	assert_int_equal(told.handler->find_line(&told.lines, RUNTIME_OFFSET_NONE), 0);
	assert_int_equal(told.handler->find_line(&told.lines, UINT32_MAX), 0);
	begin(1, "@a", 10, 65535, 5);
	put_lines(words, sizeof(words));
	assert_int_equal(tell(), 0);
	assert_int_equal(line_behind(4), 266);
	assert_int_equal(line_behind(5), 65545);
	begin(2, "@a", 10, 65536, 5);
	put_lines(numbers, sizeof(numbers));
	assert_int_equal(tell(), 0);
	assert_int_equal(line_behind(4), 65546);
	assert_int_equal(line_behind(5), 0); /* no line */
}

/* A table that is cut has the first lines. */
static void test_luajit_code__cut_lines(void **state)
{
	static const uint8_t bytes[] = {0, 1, 2};

	(void)state;
	begin(2, "@a", 10, 255, 100);
	put_lines(bytes, sizeof(bytes));
	assert_int_equal(tell(), 0);
	assert_true(told.lines.is_cut);
	assert_int_equal(line_behind(4), 12);
	assert_int_equal(line_behind(5), 0);
	/* stripped: there is no table */
	begin(2, "@a", 10, 255, 100);
	put(layout()->code_lines, 0, layout()->reference_bytes);
	assert_int_equal(tell(), 0);
	assert_int_equal(line_behind(4), 0);
	assert_int_equal(line_behind(1), 10);
}

static void put_text(const char *text, uint8_t type)
{
	event.name = NAMES;
	memset(event.text, 0, sizeof(event.text));
	event.text[layout()->object_type] = type;
	memcpy(event.text + layout()->text_bytes, text, strlen(text));
}

static void test_luajit_code__callers_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < BUILDS; i++) {
		begin(i, "@a", 7, 3, 0);
		put_text("render", TYPE_TEXT);
		assert_int_equal(tell(), 0);
		assert_string_equal(told.code.name, "render");
		begin(i, "@a", 7, 3, 0);
		put_text("render", TYPE_CODE);
		assert_int_equal(tell(), 0);
		assert_string_equal(told.code.name, "function <a:7>");
		begin(i, "@a", 0, 3, 0);
		put_text("render", TYPE_TEXT);
		assert_int_equal(tell(), 0);
		assert_string_equal(told.code.name, "main chunk");
		begin(i, "@a", 7, 3, 0);
		put_text("a text with spaces", TYPE_TEXT);
		assert_int_equal(tell(), 0);
		assert_string_equal(told.code.name, "function <a:7>");
	}
}

/* number: of the instruction that has the index */
static const char *packed(const void *bytes, size_t size, uint64_t source, uint64_t index,
			  uint32_t number)
{
	begin(2, "@a", 7, 3, 0);
	event.name = event.address[2] = NAMES;
	event.named = source << 56 | index << 32 | number;
	event.bytes[2] = size;
	memcpy(event.data + CODE_PART_2, bytes, size);
	memcpy(event.text, bytes, size < sizeof(event.text) ? size : sizeof(event.text));
	assert_int_equal(tell(), 0);
	return told.code.name;
}

static void test_luajit_code__packed_upvalues(void **state)
{
	static const char names[] = "first\0second\0third";

	(void)state;
#define UPVALUE(size, index) packed(names, size, RUNTIME_OF_PACKED_UPVALUES, index, 0)
	assert_string_equal(UPVALUE(sizeof(names), 0), "first");
	assert_string_equal(UPVALUE(sizeof(names), 2), "third");
	/* behind the last one, and one without its end */
	event.text[0] = 0;
	assert_string_equal(UPVALUE(CODE_PART_3 - CODE_PART_2 - 384 + sizeof(names), 200),
			    "function <a:7>");
#undef UPVALUE
}

static void test_luajit_code__packed_variables(void **state)
{
	/* a at [1, 11); the compiler's own at [3, 8); b at [5, 305); c at [9, 10) */
	static const unsigned char names[] = {'a', 0,	 1, 10,	 2, 2, 5, 'b', 0,
					      2,   0xac, 2, 'c', 0, 4, 1, 0};

	(void)state;
#define VARIABLE(slot, number) \
	packed(names, sizeof(names), RUNTIME_OF_PACKED_VARIABLES, slot, number)
	assert_string_equal(VARIABLE(0, 1), "a");
	assert_string_equal(VARIABLE(0, 10), "a");
	assert_string_equal(VARIABLE(0, 0), "function <a:7>");
	assert_string_equal(VARIABLE(1, 4), "function <a:7>");
	assert_string_equal(VARIABLE(2, 6), "b");
	assert_string_equal(VARIABLE(1, 8), "b");
	assert_string_equal(VARIABLE(2, 9), "c");
	assert_string_equal(VARIABLE(1, 11), "function <a:7>");
	assert_string_equal(VARIABLE(0, 304), "b");
	assert_string_equal(VARIABLE(0, 305), "function <a:7>");
	assert_string_equal(VARIABLE(250, 6), "function <a:7>");
#undef VARIABLE
}

static void test_luajit_code__that_is_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < BUILDS; i++) {
		begin(i, "@a", 7, 3, 0);
		put(layout()->object_type, TYPE_TEXT, 1);
		assert_int_equal(tell(), -EPROTO);
		begin(i, "@a", 7, 3, 0);
		put(CODE_PART_1 + layout()->object_type, TYPE_CODE, 1);
		assert_int_equal(tell(), -EPROTO);
		begin(i, "@a", 0x80000000u, 3, 0);
		assert_int_equal(tell(), -EPROTO);
		begin(i, "@a", 7, 3, 0);
		event.bytes[1] = 0;
		assert_int_equal(tell(), -EFAULT);
		event.bytes[0] = 4;
		assert_int_equal(tell(), -EFAULT);
	}
}

/* Opcodes of lj_bc.h */
static void test_luajit_code__events(void **state)
{
	static const struct {
		uint32_t instruction;
		const char *name;
	} calls[] = {
		{57 | 3 << 8, "metamethod '__index'"},
		{61, "metamethod '__newindex'"},
		{32, "metamethod '__add'"},
		{1, "metamethod '__lt'"},
		{4, "metamethod '__eq'"},
		{38, "metamethod '__concat'"},
		{51, "metamethod '__gc'"},
		{69, "(for generator)"},
		{66, "function <a:7>"},
		{255, "function <a:7>"},
		{0, "function <a:7>"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		begin(2, "@a", 7, 3, 0);
		event.called_by = calls[i].instruction;
		assert_int_equal(tell(), 0);
		assert_string_equal(told.code.name, calls[i].name);
		assert_int_equal(told.has_callers_name, calls[i].name[0] != 'f');
		begin(2, "@a", 0, 3, 0);
		event.called_by = calls[i].instruction;
		assert_int_equal(tell(), 0);
		assert_string_equal(told.code.name, "main chunk");
	}
}

#define VARIABLES 60u /* "name_00" and so on, each there from its number on, to the end */
#define BYTES_OF  10u /* of one */

static size_t fill_variables(unsigned char *bytes)
{
	for (uint32_t i = 0; i < VARIABLES; i++) {
		unsigned char *at = bytes + (size_t)BYTES_OF * i;

		snprintf((char *)at, 8, "name_%02u", i);
		at[8] = 1;
		at[9] = (unsigned char)(VARIABLES - i);
	}
	bytes[BYTES_OF * VARIABLES] = 0;
	return BYTES_OF * VARIABLES + 1;
}

/* Begins an event about a caller, with names of variables behind its lines. */
static size_t begin_caller(uint64_t *ret_address)
{
	static const uint8_t lines[] = {0, 1, 1, 2};
	size_t size;

	begin(2, "@a", 1, 3, sizeof(lines) + 1);
	put_lines(lines, sizeof(lines));
	size = fill_variables(event.data + CODE_PART_3 + sizeof(lines));
	event.bytes[3] += size;
	*ret_address = LINES + sizeof(lines);
	put(layout()->code_variables, *ret_address, 8);
	return size;
}

/* A name that the event lacks is in the event about the caller. */
static void test_luajit_code__names_behind_the_event(void **state)
{
	const uint64_t named = (uint64_t)RUNTIME_OF_PACKED_VARIABLES << 56 | 55ull << 32 | 59;
	unsigned char bytes[BYTES_OF * VARIABLES + 1];
	char name[TOLD_NAME_BYTES];
	struct told_late late;
	uint64_t address;
	size_t size;

	(void)state;
	fill_variables(bytes);
	assert_string_equal(packed(bytes, TOLD_PACKED_BYTES, RUNTIME_OF_PACKED_VARIABLES, 55, 59),
			    "function <a:7>");
	late = told.late;
	assert_int_equal(late.address, NAMES);
	assert_int_equal(late.named, named);
	size = begin_caller(&address);
	assert_int_equal(tell(), 0);
	assert_int_equal(told.packed.address[0], 0);
	assert_int_equal(told.packed.address[1], address);
	assert_int_equal(told.packed.first, address);
	assert_int_equal(told.packed.size, size);
	assert_int_equal(told.lines.size, 4);
	assert_int_equal(told_mark(told.packed.bytes), late.mark);
	assert_int_equal(luajit_handler.find_name(told.packed.bytes, size, named, name), 0);
	assert_string_equal(name, "name_55");
	/* names that fit in an event are not kept */
	event.bytes[3] = 4 + TOLD_PACKED_BYTES;
	assert_int_equal(tell(), 0);
	assert_int_equal(told.packed.size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_luajit_code__names),
		cmocka_unit_test(test_luajit_code__lines),
		cmocka_unit_test(test_luajit_code__cut_lines),
		cmocka_unit_test(test_luajit_code__callers_texts),
		cmocka_unit_test(test_luajit_code__packed_upvalues),
		cmocka_unit_test(test_luajit_code__packed_variables),
		cmocka_unit_test(test_luajit_code__events),
		cmocka_unit_test(test_luajit_code__names_behind_the_event),
		cmocka_unit_test(test_luajit_code__that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
