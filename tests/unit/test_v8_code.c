/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of JavaScript, as events tell of them: names, files, and lines by newlines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "worker/runtime/functions.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"
#include "worker/runtime/v8.h"
#include "worker/runtime/v8_layout.h"

#define VERSION(major, minor) ((major) << 24 | (minor) << 16)
#define V8_11		      VERSION(11u, 3u)
#define V8_14		      VERSION(14u, 6u)

#define CODE	    0x7f0000001000ull
#define SCRIPT	    0x7f0000002000ull
#define TEXTS	    0x7f0000010000ull
#define SCRIPT_MARK 70u
#define FAMILY	    5u

static const size_t parts[] = {0, CODE_PART_1, CODE_PART_2, CODE_PART_3};
static struct runtime_setup setup_of;
static struct told told;
static struct functions *functions;
static const struct function_key key = {.family = FAMILY, .code = CODE, .fingerprint = 1};

static int setup(void **state)
{
	(void)state;
	setup_of = (struct runtime_setup){.handler = &v8_handler};
	functions = functions_new();
	return functions ? v8_layout_of_version(V8_11, &setup_of.layout.v8) : -1;
}

static int teardown(void **state)
{
	(void)state;
	functions_free(functions);
	return 0;
}

static void put(struct event_code *event, size_t part, const void *bytes, size_t size)
{
	event->address[part] = TEXTS + 4096 * part;
	event->bytes[part] = size;
	memcpy(event->data + parts[part], bytes, size);
}

/* The event about a function at a place of a script, whose first line has a number. */
static struct event_code build(const char *name, const char *file, uint32_t start, uint32_t line)
{
	struct event_code event = {.code = CODE, .fingerprint = 1, .name = SCRIPT};
	const uint64_t small = (uint64_t)line << 32;

	put(&event, 0, name, strlen(name));
	put(&event, 2, file, strlen(file));
	event.named = strlen(name) | strlen(file) << V8_FILE_SHIFT;
	event.called_by = start + 1;
	event.called_in = SCRIPT_MARK;
	memcpy(event.text + setup_of.layout.v8.script_line, &small, sizeof(small));
	return event;
}

static int tell(const struct event_code *event)
{
	memset(&told, 0xa5, sizeof(told));
	return told_read(&setup_of, NULL, event, &told);
}

/* Tells where a part of the script has newlines. */
static void tell_newlines(uint32_t part, const uint32_t *places, size_t count)
{
	const struct function_key script = {FAMILY, SCRIPT, SCRIPT_MARK + part};
	struct event_code event = {.code = SCRIPT, .fingerprint = script.fingerprint};

	event.address[0] = CODE_INLINED_AT;
	event.bytes[0] = CODE_PART_1;
	event.address[1] = CODE_INLINED_AT + CODE_PART_1;
	event.bytes[1] = CODE_PART_1;
	for (size_t i = 0; i < count; i++)
		event.data[places[i] / 8] |= (uint8_t)(1u << places[i] % 8);
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &script, &told, 1);
}

static uint32_t line_at(uint32_t instruction)
{
	const uint64_t place = functions_place(functions, &key, instruction, 1);

	return functions_line(functions, place);
}

static void test_v8_code__names(void **state)
{
	static const uint16_t wide[] = {'g', 'r', 0xf6, 0xdf, 'e', 0xd83d, 0xde00, 0xd800};
	static const uint16_t halves[] = {0xd800, 'a', 0xdc00, 0xd800, 0xd83d, 0xde00};
	struct event_code event = build("burn", "/srv/a.js", 0, 0);

	(void)state;
	assert_int_equal(tell(&event), 0);
	assert_string_equal(told.code.name, "burn");
	assert_string_equal(told.code.file, "/srv/a.js");
	/* what V8 has found to be before the name */
	put(&event, 1, "Module", 6);
	event.named |= 6ull << V8_PREFIX_SHIFT;
	assert_int_equal(tell(&event), 0);
	assert_string_equal(told.code.name, "Module.burn");
	/* one byte for a character is Latin-1; two are UTF-16, in which halves may be alone */
	event = build("gr\xf6\xdf"
		      "e",
		      "", 0, 0);
	assert_int_equal(tell(&event), 0);
	assert_string_equal(told.code.name, "größe");
	put(&event, 0, wide, sizeof(wide));
	event.named = sizeof(wide) / 2 | V8_NAME_IS_WIDE;
	assert_int_equal(tell(&event), 0);
	assert_string_equal(told.code.name, "größe\xf0\x9f\x98\x80\xef\xbf\xbd");
	/* a half without its other one takes no character along */
	put(&event, 0, halves, sizeof(halves));
	event.named = sizeof(halves) / 2 | V8_NAME_IS_WIDE;
	assert_int_equal(tell(&event), 0);
	assert_string_equal(told.code.name, "\xef\xbf\xbd"
					    "a\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80");
}

/* The event about function 7 of a module. `before` is joined with the file. */
static struct event_code build_wasm(const char *name, const char *before, const char *file)
{
	struct event_code event = build(name, file, 7, 0);

	put(&event, 1, before, strlen(before));
	event.named |= (uint64_t)strlen(before) << V8_PREFIX_SHIFT;
	event.address[3] = V8_TOLD_WASM;
	event.name = 0;
	return event;
}

static void expect_wasm(const struct event_code *event, const char *name, const char *file)
{
	assert_int_equal(tell(event), 0);
	assert_string_equal(told.code.name, name);
	assert_string_equal(told.code.file, file);
	assert_int_equal(told.script.address, 0);
	assert_int_equal(told.lines.size, 0);
}

static void test_v8_code__wasm(void **state)
{
	static const char name[] = "zweite_\xce\xbb", script[] = "wasm://wasm/sums-0096fc2e";
	struct event_code event = build_wasm(name, "", script);
	char text[TOLD_NAME_BYTES];

	(void)state;
	expect_wasm(&event, "sums.zweite_\xce\xbb", script);
	event = build_wasm(name, "sums", "-0096fc2e");
	expect_wasm(&event, "sums.zweite_\xce\xbb", script);
	event = build_wasm(name, "wasm://wasm/sums", "-0096fc2e");
	expect_wasm(&event, "sums.zweite_\xce\xbb", script);
	/* a module without a name, a function without one, and neither */
	event = build_wasm("f", "", "wasm://wasm/0096fc2e");
	expect_wasm(&event, "f", "wasm://wasm/0096fc2e");
	event = build_wasm("", "sums", "-0096fc2e");
	expect_wasm(&event, "wasm-function[7]", script);
	event = build_wasm("", "", "");
	expect_wasm(&event, "wasm-function[7]", "");
	/* scripts that are named otherwise; names that have no room for the module's */
	event = build_wasm("f", "", "https://a-b/c.wasm");
	expect_wasm(&event, "f", "https://a-b/c.wasm");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	event = build_wasm(text, "sums", "-0096fc2e");
	expect_wasm(&event, text, script);
	/* a name of which the event has some */
	event = build_wasm("cut", "", "");
	event.named += 400;
	expect_wasm(&event, "cut", "");
	event.bytes[0] = 0;
	expect_wasm(&event, "wasm-function[7]", "");
}

static void test_v8_code__no_name(void **state)
{
	struct event_code event = build("", "", 0, 0);

	(void)state;
	assert_int_equal(tell(&event), 0);
	assert_string_equal(told.code.name, "(anonymous)");
	assert_string_equal(told.code.file, "");
	/* a name that could not be read */
	event.address[0] = TEXTS;
	event.named = 4;
	assert_int_equal(tell(&event), -EFAULT);
}

/* Instructions 0 at 40, 3 at 45, and 5 at 5000. */
static const uint8_t old_table[] = {0x03, 0xa0, 0x01, 0x06, 0x14, 0x05, 0xec, 0x9a, 0x01};
static const uint8_t new_table[] = {0x06, 0xa0, 0x01, 0x0f, 0x14, 0x0a, 0xec, 0x9a, 0x01};

static void expect_lines(const uint8_t *table, size_t size)
{
	static const uint32_t first[] = {10, 20, 42, 4095}, second[] = {0, 4999 - 4096, 905};
	struct event_code event = build("burn", "/srv/a.js", 21, 0);
	struct function function;

	put(&event, 3, table, size);
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &key, &told, 1);
	/* before the script's newlines are told */
	assert_int_equal(line_at(0), 0);
	tell_newlines(0, first, 4);
	assert_int_equal(line_at(0), 3);
	assert_int_equal(line_at(2), 3);
	assert_int_equal(line_at(3), 4);
	assert_int_equal(line_at(5), 0);
	tell_newlines(1, second, 3);
	assert_int_equal(line_at(5), 7);
	assert_int_equal(line_at(RUNTIME_OFFSET_NONE), 0);
	assert_true(functions_get(functions, FUNCTION_OF(functions_place(functions, &key, 0, 1)),
				  &function));
	assert_int_equal(function.first_line, 3);
}

static void test_v8_code__lines(void **state)
{
	(void)state;
	expect_lines(old_table, sizeof(old_table));
}

static void test_v8_code__lines_of_14(void **state)
{
	(void)state;
	assert_int_equal(v8_layout_of_version(V8_14, &setup_of.layout.v8), 0);
	expect_lines(new_table, sizeof(new_table));
}

/* The event lacks the end of the table: later instructions have no line, and not that before. */
static void test_v8_code__cut_table(void **state)
{
	static const uint32_t newlines[] = {10, 20, 42};
	struct event_code event = build("burn", "/srv/a.js", 21, 0);

	(void)state;
	event.named |= sizeof(old_table) * 1ull << V8_TABLE_SHIFT;
	put(&event, 3, old_table, 6);
	assert_int_equal(tell(&event), 0);
	assert_true(told.lines.is_cut);
	functions_tell(functions, &key, &told, 1);
	tell_newlines(0, newlines, 3);
	assert_int_equal(line_at(2), 3);
	assert_int_equal(line_at(3), 0);
	assert_int_equal(line_at(400), 0);
	put(&event, 3, old_table, sizeof(old_table));
	assert_int_equal(tell(&event), 0);
	assert_false(told.lines.is_cut);
	functions_tell(functions, &key, &told, 1);
	assert_int_equal(line_at(3), 4);
}

static void test_v8_code__script_begins_later(void **state)
{
	static const uint32_t places[] = {0};
	struct event_code event = build("burn", "/srv/a.js", 1, 7);
	struct function function;

	(void)state;
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &key, &told, 1);
	tell_newlines(0, places, 1);
	assert_true(functions_get(functions, FUNCTION_OF(functions_place(functions, &key, 0, 1)),
				  &function));
	assert_int_equal(function.first_line, 9);
}

/* ---- code that Sparkplug has made ---- */

#define BASELINE      0x7f0000003000ull
#define BYTECODE      0x7f0000004000ull
#define BASELINE_MARK 80u

static const struct function_key compiled = {FAMILY, BASELINE, BASELINE_MARK};

/* LdaZero, Wide LdaSmi with two bytes, LdaSmi with one, Return. */
static const uint8_t instructions[] = {0x0c, 0x00, 0x0d, 0x01, 0x02, 0x0d, 0x07, 0xa9};
/* 24 bytes before the first piece; pieces of 3, 200 and 5 bytes */
static const uint8_t pieces[] = {24, 3, 0xc8, 0x01, 5};

static void tell_bytecode(const uint8_t *bytes, size_t size)
{
	const struct function_key of = {FAMILY, BYTECODE, key.fingerprint};
	struct event_code event = {.code = BYTECODE, .fingerprint = key.fingerprint};

	put(&event, 3, bytes, size);
	event.address[1] = V8_TOLD_BYTECODE;
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &of, &told, 1);
}

static void tell_baseline(const uint8_t *table, size_t size)
{
	struct event_code event = {.code = BASELINE, .fingerprint = BASELINE_MARK};

	put(&event, 3, table, size);
	event.address[0] = BYTECODE;
	event.address[1] = V8_TOLD_BASELINE;
	event.named = CODE;
	event.called_in = key.fingerprint;
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &compiled, &told, 1);
}

/* Returns the line of a place in the compiled code. */
static uint32_t line_in_code(uint32_t offset)
{
	const uint64_t place = functions_place(functions, &compiled, offset, 1);
	uint64_t found, none;

	assert_true(functions_inlined(functions, place, 0, &found));
	assert_false(functions_inlined(functions, place, 1, &none));
	assert_int_equal(FUNCTION_OF(found), FUNCTION_OF(functions_place(functions, &key, 0, 1)));
	return functions_line(functions, found);
}

static void tell_function(void)
{
	/* instructions 0 at 40, 1 at 45, and 5 at 50 */
	static const uint8_t table[] = {0x03, 0xa0, 0x01, 0x02, 0x14, 0x08, 0x14};
	static const uint32_t places[] = {10, 42, 47};
	struct event_code event = build("burn", "/srv/a.js", 21, 0);

	put(&event, 3, table, sizeof(table));
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &key, &told, 1);
	tell_newlines(0, places, 3);
}

static void test_v8_code__baseline(void **state)
{
	const uint64_t early = functions_place(functions, &compiled, 30, 1);
	uint64_t place;

	(void)state;
	setup_of.version = V8_11;
	assert_false(functions_inlined(functions, early, 0, &place));
	tell_baseline(pieces, sizeof(pieces));
	/* before all is told */
	assert_int_equal(line_in_code(30), 0);
	tell_bytecode(instructions, sizeof(instructions));
	tell_function();
	assert_int_equal(line_in_code(0), 2);
	assert_int_equal(line_in_code(26), 2);
	assert_int_equal(line_in_code(27), 3);
	assert_int_equal(line_in_code(226), 3);
	assert_int_equal(line_in_code(227), 4);
	assert_int_equal(line_in_code(231), 4);
	/* behind the last piece */
	assert_int_equal(line_in_code(232), 0);
	assert_true(functions_inlined(functions, early, 0, &place));
	assert_int_equal(functions_line(functions, place), 3);
}

static void test_v8_code__baseline_damaged(void **state)
{
	static const uint8_t unknown[] = {0xff, 0x01}, endless[] = {0xff, 0xff, 0xff, 0xff, 0xff};

	(void)state;
	setup_of.version = V8_11;
	tell_function();
	tell_baseline(pieces, sizeof(pieces));
	tell_bytecode(unknown, sizeof(unknown));
	assert_int_equal(line_in_code(30), 0);
	/* half an instruction, and then half a table */
	tell_bytecode(instructions, 1);
	assert_int_equal(line_in_code(30), 0);
	tell_bytecode(instructions, sizeof(instructions));
	tell_baseline(endless, sizeof(endless));
	assert_int_equal(line_in_code(30), 0);
	tell_baseline(pieces, sizeof(pieces));
	/* a version without sizes of instructions */
	setup_of.version = VERSION(12u, 5u);
	tell_bytecode(instructions, sizeof(instructions));
	assert_int_equal(line_in_code(30), 3);
	tell_bytecode(instructions, sizeof(instructions) - 1);
	assert_int_equal(line_in_code(30), 0);
}

/* ---- optimized code ---- */

#define RAW(script, number) ((uint64_t)(script) << 1 | (uint64_t)(number) << 31)

/* Numbers of what is put in: 1 is called at 45, 2 by that, 3 by itself, 4 beyond the table. */
static const uint64_t put_in[][2] = {
	{RAW(45, 0), 0}, {RAW(1, 1), 0}, {RAW(1, 3), 0}, {RAW(1, 99), 0}};

static size_t add_number(uint8_t *table, size_t size, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		table[size++] = (uint8_t)(number | 0x80);
	table[size++] = (uint8_t)number;
	return size;
}

/* Builds a table that has a raw place every 10 bytes. */
static size_t build_places(uint8_t *table)
{
	static const uint64_t places[] = {RAW(40, 0), RAW(7, 1), RAW(50, 0), RAW(9, 2),
					  RAW(9, 3),  RAW(9, 4), RAW(45, 0)};
	uint64_t last = 0;
	size_t size = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const int64_t distance = (int64_t)(places[i] - last);

		/* the first one is counted from the function's entry on, which is -1 */
		size = add_number(table, size, i == 0 ? 22 : 20);
		size = add_number(table, size,
				  (uint64_t)distance << 1 ^ (uint64_t)(distance >> 63));
		last = places[i];
	}
	return size;
}

static void tell_optimized(void)
{
	struct event_code event = {.code = BASELINE, .fingerprint = BASELINE_MARK};
	uint8_t table[128];

	put(&event, 2, put_in, sizeof(put_in));
	put(&event, 3, table, build_places(table));
	event.address[1] = V8_TOLD_OPTIMIZED;
	event.named = CODE;
	event.called_in = key.fingerprint;
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &compiled, &told, 1);
}

static void test_v8_code__optimized(void **state)
{
	(void)state;
	tell_optimized();
	/* before the function is told */
	assert_int_equal(line_in_code(10), 0);
	tell_function();
	assert_int_equal(line_in_code(9), 0);
	assert_int_equal(line_in_code(10), 2);
	assert_int_equal(line_in_code(19), 2);
	/* a function that is put in counts where it is called */
	assert_int_equal(line_in_code(20), 3);
	assert_int_equal(line_in_code(30), 4);
	assert_int_equal(line_in_code(40), 3);
	/* one that calls itself, and one that is not there */
	assert_int_equal(line_in_code(50), 0);
	assert_int_equal(line_in_code(60), 0);
	assert_int_equal(line_in_code(70), 3);
}

#define PUT_IN 0x7f0000005000ull

/* Tells of the functions that are put in, of which number 0 is one. */
static int tell_put_in(const struct told_frame *frames, size_t count)
{
	const struct function_key list = {FAMILY, BASELINE, BASELINE_MARK + 1};
	struct event_code event = {.code = BASELINE, .fingerprint = BASELINE_MARK + 1};
	int r;

	event.address[0] = CODE_INLINED_AT;
	event.bytes[0] = count * sizeof(*frames);
	memcpy(event.data, frames, count * sizeof(*frames));
	r = tell(&event);
	if (r == 0)
		functions_tell(functions, &list, &told, 1);
	return r;
}

static void tell_put_in_function(void)
{
	const struct function_key of = {FAMILY, PUT_IN, 9};
	struct event_code event = build("inner", "/srv/a.js", 1, 0);

	event.code = PUT_IN;
	event.fingerprint = 9;
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &of, &told, 1);
}

static void expect_frame(uint32_t offset, size_t index, const char *name, uint32_t line)
{
	const uint64_t place = functions_place(functions, &compiled, offset, 1);
	struct function function;
	uint64_t found;

	assert_true(functions_inlined(functions, place, index, &found));
	assert_true(functions_get(functions, FUNCTION_OF(found), &function));
	assert_string_equal(function.name, name);
	assert_int_equal(functions_line(functions, found), line);
}

static void expect_frames(uint32_t offset, size_t count)
{
	const uint64_t place = functions_place(functions, &compiled, offset, 1);
	uint64_t found;

	assert_true(functions_inlined(functions, place, count - 1, &found));
	assert_false(functions_inlined(functions, place, count, &found));
}

static void test_v8_code__put_in(void **state)
{
	const struct told_frame frames[] = {{PUT_IN, 9, 0}};

	(void)state;
	tell_optimized();
	tell_function();
	tell_put_in_function();
	expect_frames(20, 1);
	assert_int_equal(tell_put_in(frames, 1), 0);
	expect_frames(10, 1);
	expect_frame(10, 0, "burn", 2);
	expect_frames(20, 2);
	expect_frame(20, 0, "inner", 1);
	expect_frame(20, 1, "burn", 3);
	/* it calls itself */
	expect_frames(40, 3);
	expect_frame(40, 0, "inner", 1);
	expect_frame(40, 1, "inner", 1);
	expect_frame(40, 2, "burn", 3);
	/* one without an end, and one beyond the table */
	expect_frames(50, 1);
	expect_frames(60, 1);
	expect_frame(50, 0, "burn", 0);
}

/* Code that is put in is not known, or is no function: the function around it counts. */
static void test_v8_code__put_in_unknown(void **state)
{
	static const uint8_t table[] = {22, 0x80, 0x80, 0x80, 0x80, 0x10};
	static const uint64_t places[] = {RAW(45, 0), TOLD_PUT_IN_NONE, RAW(45, 0), 1};
	const struct told_frame frames[] = {{PUT_IN, 9, 0}, {0, 0, 0}};
	struct event_code event = {.code = BASELINE, .fingerprint = BASELINE_MARK};

	(void)state;
	event.address[1] = V8_TOLD_OPTIMIZED;
	event.named = CODE;
	event.called_in = key.fingerprint;
	put(&event, 2, places, sizeof(places));
	put(&event, 3, table, sizeof(table));
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &compiled, &told, 1);
	tell_function();
	assert_int_equal(tell_put_in(frames, 2), 0);
	/* number 1 */
	expect_frames(10, 1);
	expect_frame(10, 0, "burn", 3);
}

/* Entries have no instruction, and one of them is a function. */
static void test_v8_code__put_in_damaged(void **state)
{
	const struct told_frame frames[] = {{PUT_IN, 9, 0}, {PUT_IN, 9, 3}}, none[] = {{0}};

	(void)state;
	assert_int_equal(tell_put_in(frames, 2), -EPROTO);
	assert_int_equal(tell_put_in(none, 1), -EPROTO);
}

/* 24 places are in one part of the event, and the others in another one. */
static void test_v8_code__put_in_more(void **state)
{
	static uint64_t first[24][2], more[2][2] = {{RAW(45, 0), 0}, {RAW(1, 25), 0}};
	const struct told_frame frames[] = {{PUT_IN, 9, 0}};
	struct event_code event = {.code = BASELINE, .fingerprint = BASELINE_MARK};
	uint8_t table[16];
	size_t size = add_number(table, 0, 22);

	(void)state;
	size = add_number(table, size, RAW(7, 26) << 1);
	event.address[1] = V8_TOLD_OPTIMIZED;
	event.named = CODE;
	event.called_in = key.fingerprint;
	put(&event, 2, first, sizeof(first));
	put(&event, 0, more, sizeof(more));
	put(&event, 3, table, size);
	assert_int_equal(tell(&event), 0);
	assert_false(told.lines.is_cut);
	functions_tell(functions, &compiled, &told, 1);
	tell_function();
	tell_put_in_function();
	assert_int_equal(tell_put_in(frames, 1), 0);
	expect_frames(10, 3);
	expect_frame(10, 2, "burn", 3);
	/* the event says that the table has more */
	event.called_by = 1 + 400;
	assert_int_equal(tell(&event), 0);
	assert_true(told.lines.is_cut);
}

static void test_v8_code__optimized_without_table(void **state)
{
	struct event_code event = {.code = BASELINE, .fingerprint = BASELINE_MARK};

	(void)state;
	event.address[1] = V8_TOLD_OPTIMIZED;
	event.named = CODE;
	event.called_in = key.fingerprint;
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &compiled, &told, 1);
	tell_function();
	assert_int_equal(line_in_code(10), 0);
}

static void test_v8_code__damaged(void **state)
{
	static const uint8_t endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct event_code event = build("burn", "/srv/a.js", 1, 0);

	(void)state;
	put(&event, 3, endless, sizeof(endless));
	assert_int_equal(tell(&event), 0);
	functions_tell(functions, &key, &told, 1);
	assert_int_equal(line_at(3), 0);
	/* half of the newlines */
	event = (struct event_code){.code = SCRIPT};
	event.address[0] = CODE_INLINED_AT;
	event.bytes[0] = CODE_PART_1;
	assert_int_equal(tell(&event), -EPROTO);
}

static void test_v8_code__versions(void **state)
{
	struct v8_layout layout;

	(void)state;
	assert_int_equal(v8_layout_of_version(VERSION(12u, 4u), &layout), 0);
	assert_int_equal(layout.function_shared, 32);
	assert_int_equal(v8_layout_of_version(VERSION(12u, 5u), &layout), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_v8_code__names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__wasm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__no_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__lines_of_14, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__cut_table, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__script_begins_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__baseline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__baseline_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__optimized, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__optimized_without_table, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__put_in, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__put_in_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__put_in_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__put_in_more, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_v8_code__versions, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
