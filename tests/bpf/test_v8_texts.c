/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions of a made-up V8, in all the forms that its texts have, and newlines. */
#include "tests/bpf/v8_heap.h"

#define MODULE	 3u
#define CLASS	 (1u << 10)
#define NAMED	 (1u << 12)
#define INFERRED (1u << 14)

/* ---- names ---- */

/* Expects that function 1 has its name at an address, or has none. */
static void expect_name(u64 address, u32 length, u32 is_wide)
{
	const struct told_event *event = told_of(1);

	assert_non_null(event);
	expect_text(event->part[0], event->named, address, length, is_wide);
	assert_int_equal(V8_NAME_LENGTH(event->named >> V8_PREFIX_SHIFT), 0);
}

static void test_v8_texts__forms(void **state)
{
	(void)state;
	put(SHARED(1) + 16, TAGGED(TEXT(15)));
	put_text(TEXT(15), "one byte");
	expect_name(TEXT(15) + 16, 8, 0);
	put_object(TEXT(15), TWO_BYTES);
	expect_name(TEXT(15) + 16, 8, 1);
	put_text(TEXT(16), "a text of forty or so bytes: forty");
	put_slice(TEXT(15), TEXT(16), 3, 20);
	expect_name(TEXT(16) + 16 + 3, 20, 0);
	put_object(TEXT(16), TWO_BYTES);
	expect_name(TEXT(16) + 16 + 6, 20, 1);
	put_object(TEXT(15), THIN);
	put(TEXT(15) + 8, SMALL(34));
	expect_name(TEXT(16) + 16, 34, 1);
	put_object(TEXT(15), OUTSIDE);
	put(TEXT(15) + 24, SOURCE);
	expect_name(SOURCE, 34, 0);
	put_object(TEXT(15), OUTSIDE_WIDE);
	expect_name(SOURCE, 34, 1);
	/* its characters are behind a pointer of C++ alone */
	put_object(TEXT(15), UNCACHED);
	expect_name(0, 0, 0);
	put_object(TEXT(15), NO_FORM);
	expect_name(0, 0, 0);
}

/* A joined text that V8 has written down: the second part is empty. */
static void test_v8_texts__joined(void **state)
{
	(void)state;
	put(SHARED(1) + 16, TAGGED(TEXT(15)));
	put_text(TEXT(16), "whole");
	put_text(TEXT(17), "");
	put_joined(TEXT(15), TEXT(16), TEXT(17), 5);
	expect_name(TEXT(16) + 16, 5, 0);
	/* the first part is shorter than the whole: nobody has written that down */
	put_joined(TEXT(15), TEXT(16), TEXT(17), 6);
	expect_name(0, 0, 0);
	/* no texts at all */
	put_joined(TEXT(15), MAP(OTHER), SHARED(1), 6);
	expect_name(0, 0, 0);
}

/* Names that V8 has found: what is before the last dot is a text of its own. */
static void test_v8_texts__prefix(void **state)
{
	const struct told_event *event;

	(void)state;
	put(SHARED(1) + 16, TAGGED(TEXT(15)));
	put_text(TEXT(16), "Module");
	put_text(TEXT(17), ".");
	put_joined(TEXT(18), TEXT(16), TEXT(17), 7);
	put_text(TEXT(19), "load");
	put_joined(TEXT(15), TEXT(18), TEXT(19), 11);
	event = told_of(1);
	assert_non_null(event);
	expect_text(event->part[0], event->named, TEXT(19) + 16, 4, 0);
	expect_text(event->part[1], event->named >> V8_PREFIX_SHIFT, TEXT(16) + 16, 6, 0);
	/* what is before is joined itself */
	put_joined(TEXT(16), TEXT(18), TEXT(19), 11);
	expect_name(TEXT(19) + 16, 4, 0);
	/* no dot is between */
	put_text(TEXT(16), "Module");
	put_text(TEXT(17), "->");
	expect_name(TEXT(19) + 16, 4, 0);
}

/* A slice that is longer than its parent would have bytes of what is behind. */
static void test_v8_texts__longer_than_they_are(void **state)
{
	(void)state;
	put(SHARED(1) + 16, TAGGED(TEXT(15)));
	put_text(TEXT(16), "parent");
	put_slice(TEXT(15), TEXT(16), 2, 4);
	expect_name(TEXT(16) + 16 + 2, 4, 0);
	put_slice(TEXT(15), TEXT(16), 2, 5);
	expect_name(0, 0, 0);
	put_slice(TEXT(15), TEXT(16), ~0u, 2);
	expect_name(0, 0, 0);
	put_object(TEXT(15), THIN);
	put(TEXT(15) + 8, SMALL(7));
	expect_name(0, 0, 0);
}

/* Texts that lead to themselves, to one another, or through many. */
static void test_v8_texts__cycles(void **state)
{
	(void)state;
	put(SHARED(1) + 16, TAGGED(TEXT(15)));
	put_slice(TEXT(15), TEXT(15), 0, 4);
	expect_name(0, 0, 0);
	put_slice(TEXT(15), TEXT(16), 0, 4);
	put_slice(TEXT(16), TEXT(15), 0, 4);
	expect_name(0, 0, 0);
	put_joined(TEXT(15), TEXT(15), TEXT(15), 4);
	expect_name(0, 0, 0);
	assert_true(host.walk.list.reads < 100);
	for (u32 i = 15; i < 15 + V8_LINKS; i++)
		put_slice(TEXT(i), TEXT(i + 1), 1, 4);
	put_text(TEXT(15 + V8_LINKS), "twelve bytes");
	expect_name(0, 0, 0);
	put(SHARED(1) + 16, TAGGED(TEXT(16)));
	expect_name(TEXT(15 + V8_LINKS) + 16 + V8_LINKS - 1, 4, 0);
}

/* Longer than the event can say. */
static void test_v8_texts__long(void **state)
{
	(void)state;
	put(SHARED(1) + 16, TAGGED(SOURCE_TEXT));
	put_source(OUTSIDE, SOURCE_BYTES);
	expect_name(SOURCE, V8_NAME_LENGTH(~0u), 0);
}

/* ---- scopes ---- */

static void expect_scope(u32 flags, u32 names, const u64 *words, u32 count, u64 text, u32 start)
{
	const struct told_event *event;

	put_scope(0, flags, names, words, count);
	event = told_of(1);
	assert_non_null(event);
	assert_int_equal(event->part[0], text);
	assert_int_equal(event->start, start + 1);
}

static void test_v8_texts__scopes(void **state)
{
	const u64 name = TAGGED(TEXT(15)), inferred = TAGGED(TEXT(16)), place = SMALL(70);
	const u64 none = TAGGED(TEXT(17)), other = SMALL(9);

	(void)state;
	put(SHARED(1) + 16, TAGGED(SCOPE(0)));
	put_text(TEXT(15), "named");
	put_text(TEXT(16), "Its.inferred");
	put_text(TEXT(17), "");
	expect_scope(NAMED, 0, (u64[]){name, other, place}, 3, TEXT(15) + 16, 70);
	expect_scope(NAMED, 20, (u64[]){name, other, place}, 3, TEXT(15) + 16, 70);
	/* so many names are in a table */
	expect_scope(NAMED, 75, (u64[]){name, other, place}, 3, TEXT(15) + 16, 70);
	expect_scope(NAMED | CLASS, 2, (u64[]){other, name, other, place}, 4, TEXT(15) + 16, 70);
	expect_scope(NAMED | MODULE, 2, (u64[]){other, name, other, place}, 4, TEXT(15) + 16, 70);
	expect_scope(NAMED | INFERRED, 1, (u64[]){name, other, inferred, place}, 4, TEXT(15) + 16,
		     70);
	expect_scope(NAMED | INFERRED, 1, (u64[]){none, other, inferred, place}, 4, TEXT(16) + 16,
		     70);
	expect_scope(INFERRED, 1, (u64[]){inferred, place}, 2, TEXT(16) + 16, 70);
	expect_scope(0, 1, (u64[]){place}, 1, 0, 70);
	expect_scope(NAMED, 0, (u64[]){other, other, place}, 3, 0, 70);
	/* no number of names can be so large */
	put(SCOPE(0) + 24, SMALL(V8_LENGTH_MAX + 1));
	assert_non_null(told_of(1));
	assert_int_equal(heap.event[0].part[0], 0);
}

/* V8 13: the place is in front of the names, and the flags are the whole of a word. */
/* V8 9.4 has a word for a receiver that is on the stack or in a context. */
static void test_v8_texts__scopes_with_a_receiver(void **state)
{
	const u64 word = SMALL(~0u), words[] = {word, TAGGED(TEXT(15)), 0};

	(void)state;
	put_text(TEXT(15), "method");
	put(SHARED(1) + 16, TAGGED(SCOPE(1)));
	heap.config.v8.scope_receiver = 7;
	for (u32 i = 1; i < 3; i++) {
		put_scope(1, NAMED | i << 7, 0, words, 3);
		expect_name(TEXT(15) + 16, 6, 0);
	}
	for (u32 i = 0; i < 4; i += 3) {
		put_scope(1, NAMED | i << 7, 0, words + 1, 2);
		expect_name(TEXT(15) + 16, 6, 0);
	}
	/* later versions have none */
	heap.config.v8.scope_receiver = 0;
	put_scope(1, NAMED | 1u << 7, 0, words + 1, 2);
	expect_name(TEXT(15) + 16, 6, 0);
}

static void test_v8_texts__newer_scopes(void **state)
{
	const u64 name = TAGGED(TEXT(15));
	const struct told_event *event;

	(void)state;
	heap.config.v8.scope_first = 5;
	heap.config.v8.scope_start = 3;
	heap.config.v8.scope_shift = 0;
	put(SHARED(1) + 16, TAGGED(SCOPE(0)));
	put_text(TEXT(15), "named");
	/* one name, and a word about it */
	put_scope(0, 0, 1, (u64[]){TAGGED(TEXT(16)), SMALL(1), name}, 3);
	put(SCOPE(0) + 8, NAMED);
	put(SCOPE(0) + 32, SMALL(70));
	event = told_of(1);
	assert_non_null(event);
	assert_int_equal(event->part[0], TEXT(15) + 16);
	assert_int_equal(event->start, 71);
}

/* ---- newlines ---- */

static void put_newlines(u32 step, u32 unit)
{
	memset(heap.source, 'x', sizeof(heap.source));
	if (unit == 2)
		for (u32 i = 1; i < SOURCE_BYTES; i += 2)
			heap.source[i] = 0;
	for (u32 i = 0; i < SOURCE_BYTES / unit; i += 1 + i % step) {
		heap.source[i * unit] = '\n';
		/* bytes that are near to one */
		if (i + 1 < SOURCE_BYTES / unit)
			heap.source[(i + 1) * unit] = i & 1 ? '\x8a' : '\x0b';
	}
}

static void expect_bits(const struct told_part *part, u32 number, u32 length, u32 unit)
{
	for (u32 i = 0; i < V8_CHUNK; i++) {
		const u32 at = number * V8_CHUNK + i;
		u16 c = 0;

		if (at < length)
			memcpy(&c, heap.source + at * unit, unit);
		assert_int_equal(part->bits[i / 64] >> i % 64 & 1, c == '\n');
	}
}

/* Tells of all of a script's newlines, in so many samples. */
static void expect_script(enum kind kind, u32 length, u32 unit, u32 samples)
{
	const u32 parts = (length + V8_CHUNK - 1) / V8_CHUNK;
	const struct told_event *event;
	u32 i;

	put_source(kind, length);
	put_newlines(37, unit);
	event = told_of(1);
	assert_non_null(event);
	for (i = 1; i < samples; i++) {
		assert_int_equal(heap.parts, i * V8_CHUNKS);
		assert_int_equal(walk_again(), 3);
	}
	assert_int_equal(heap.parts, parts + 1);
	for (i = 0; i < parts; i++) {
		assert_int_equal(heap.part[i].code, SCRIPT(0));
		assert_int_equal(heap.part[i].print, event->script_print + i);
		expect_bits(&heap.part[i], i, length, unit);
	}
	/* the last event says that there are no more parts */
	assert_int_equal(heap.part[i].print, event->script_print - 1);
	assert_int_equal(walk_again(), 3);
	assert_int_equal(heap.parts, parts + 1);
	assert_int_equal(heap.events, 1);
}

static void test_v8_texts__newlines(void **state)
{
	(void)state;
	expect_script(OUTSIDE, 1, 1, 1);
	expect_script(OUTSIDE, 100, 1, 1);
	expect_script(OUTSIDE, 256, 1, 1);
	expect_script(OUTSIDE, V8_CHUNK, 1, 1);
	expect_script(OUTSIDE, V8_CHUNK + 1, 1, 1);
	expect_script(OUTSIDE, 3 * V8_CHUNK, 1, 1);
	expect_script(OUTSIDE, 4 * V8_CHUNK, 1, 2);
	expect_script(OUTSIDE, 9 * V8_CHUNK + 777, 1, 3);
	expect_script(OUTSIDE_WIDE, 1, 2, 1);
	expect_script(OUTSIDE_WIDE, 131, 2, 1);
	expect_script(OUTSIDE_WIDE, 4 * V8_CHUNK + 131, 2, 2);
}

/* Events that have no room are sent by a later sample. */
static void test_v8_texts__refused(void **state)
{
	(void)state;
	put_source(OUTSIDE, 3 * V8_CHUNK);
	put_newlines(37, 1);
	heap.parts_refused = 1;
	assert_non_null(told_of(1));
	assert_int_equal(heap.parts, 0);
	heap.parts_refused = 1;
	walk_again();
	assert_int_equal(heap.parts, 0);
	walk_again();
	assert_int_equal(heap.parts, 4);
	for (u32 i = 0; i < 3; i++)
		expect_bits(&heap.part[i], i, 3 * V8_CHUNK, 1);
}

/* A text whose pages are away: no event says that the script has no more newlines. */
static void test_v8_texts__away(void **state)
{
	(void)state;
	put_source(OUTSIDE, 2 * V8_CHUNK);
	put_newlines(37, 1);
	host.region[4].bytes = V8_CHUNK + 100;
	assert_non_null(told_of(1));
	assert_int_equal(heap.parts, 1);
	expect_bits(&heap.part[0], 0, V8_CHUNK, 1);
	walk_again();
	assert_int_equal(heap.parts, 1);
	/* the text itself is away, or has no characters that can be found */
	put_object(SOURCE_TEXT, UNCACHED);
	assert_non_null(told_of(1));
	assert_int_equal(heap.parts, 0);
	put(SCRIPT(0) + 8, TAGGED(NOT_THERE));
	assert_non_null(told_of(1));
	assert_int_equal(heap.parts, 0);
}

/* The clock ends the look at newlines, and a later sample goes on. */
static void test_v8_texts__late(void **state)
{
	u32 samples = 1;

	(void)state;
	put_source(OUTSIDE, 9 * V8_CHUNK);
	put_newlines(37, 1);
	heap_publish();
	put_one(1);
	heap.events = heap.parts = 0;
	for (; samples < 100 && heap.parts < 10; samples++) {
		scene_walk();
		assert_int_equal(runtime_begin(), 0);
		host.clock_step = 20;
		for (u32 i = 0; i <= WALK_STEPS_MAX && !walk_step(); i++)
			;
		host.clock_step = 0;
		assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
		assert_int_equal(host.walk.list.words, 3);
	}
	assert_int_equal(heap.parts, 10);
	assert_true(samples > 3);
	for (u32 i = 0; i < 9; i++)
		expect_bits(&heap.part[i], i, 9 * V8_CHUNK, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_v8_texts__##name, heap_setup, scene_teardown)
		TEST(forms),	TEST(joined),  TEST(prefix), TEST(longer_than_they_are),
		TEST(cycles),	TEST(long),    TEST(scopes), TEST(scopes_with_a_receiver),
		TEST(cycles),	TEST(long),    TEST(scopes), TEST(newer_scopes),
		TEST(newlines), TEST(refused), TEST(away),   TEST(late),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
