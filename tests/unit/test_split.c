/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/otlp/split.h"
#include "tests/unit/build_request.h"
#include "tests/unit/request_sums.h"

#define NO_LIMIT (1u << 30)

static struct split *open_split(const struct buffer *request)
{
	struct split *split = NULL;

	assert_int_equal(split_new(request->bytes, request->size, &split), 0);
	return split;
}

/* Adds the sums of the part. Returns the part's size. */
static size_t add_part(struct split *split, uint32_t first, uint32_t end, struct request_sums *sums)
{
	struct buffer part = {0};
	struct split *again;
	size_t size;

	buffer_reset(&part, NO_LIMIT);
	assert_int_equal(split_write(split, first, end, &part), 0);
	assert_int_equal(request_sums_add(sums, part.bytes, part.size), 0);
	again = open_split(&part);
	assert_int_equal(split_samples(again), end - first);
	split_free(again);
	size = part.size;
	buffer_release(&part);
	return size;
}

static void assert_same(struct request_sums *one, struct request_sums *other)
{
	request_sums_sort(one);
	request_sums_sort(other);
	assert_int_equal(one->count, other->count);
	assert_memory_equal(one->sums, other->sums, one->count * sizeof(*one->sums));
}

static void check_union(const struct build_request *how, uint32_t step)
{
	struct buffer request = build_request(how);
	struct request_sums whole = {0}, parts = {0};
	struct split *split = open_split(&request);
	uint32_t samples = split_samples(split);

	assert_int_equal(samples, how->resources * how->samples);
	assert_int_equal(request_sums_add(&whole, request.bytes, request.size), 0);
	for (uint32_t first = 0; first < samples; first += step) {
		uint32_t end = first + step > samples ? samples : first + step;

		add_part(split, first, end, &parts);
	}
	assert_same(&whole, &parts);
	assert_int_equal(parts.unused, 0);
	split_free(split);
	request_sums_release(&whole);
	request_sums_release(&parts);
	buffer_release(&request);
}

static void test_split__parts_together_are_the_whole(void **state)
{
	const struct build_request ways[] = {
		{.resources = 1, .samples = 1, .timestamps = 1, .seed = 1},
		{.resources = 3, .samples = 40, .timestamps = 5, .seed = 2},
		{.resources = 7, .samples = 11, .timestamps = 0, .seed = 3, .unused = 9},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		for (uint32_t step = 1; step < 50; step += 6)
			check_union(&ways[i], step);
}

static void test_split__a_part_has_no_orphans_and_fewer_elements(void **state)
{
	const struct build_request how = {
		.resources = 2, .samples = 100, .timestamps = 1, .seed = 4, .unused = 20};
	struct buffer request = build_request(&how);
	struct request_sums whole = {0}, part = {0};
	struct split *split = open_split(&request);

	(void)state;
	assert_int_equal(request_sums_add(&whole, request.bytes, request.size), 0);
	assert_true(whole.unused > 20);
	assert_true(add_part(split, 7, 8, &part) < request.size / 4);
	assert_int_equal(part.unused, 0);
	assert_true(part.elements < whole.elements / 2);
	split_free(split);
	request_sums_release(&whole);
	request_sums_release(&part);
	buffer_release(&request);
}

/* A part of a part is what it was: nothing depends on the order of tables. */
static void test_split__a_part_of_all_is_its_own_part(void **state)
{
	const struct build_request how = {
		.resources = 2, .samples = 30, .timestamps = 2, .seed = 5, .unused = 5};
	struct buffer request = build_request(&how), once = {0}, twice = {0};
	struct split *split = open_split(&request);

	(void)state;
	buffer_reset(&once, NO_LIMIT);
	buffer_reset(&twice, NO_LIMIT);
	assert_int_equal(split_write(split, 0, UINT32_MAX, &once), 0);
	split_free(split);
	split = open_split(&once);
	assert_int_equal(split_write(split, 0, UINT32_MAX, &twice), 0);
	assert_int_equal(once.size, twice.size);
	assert_memory_equal(once.bytes, twice.bytes, once.size);
	split_free(split);
	buffer_release(&request);
	buffer_release(&once);
	buffer_release(&twice);
}

static void test_split__counts_events(void **state)
{
	const struct build_request stamped = {.resources = 2, .samples = 10, .timestamps = 4};
	const struct build_request valued = {.resources = 2, .samples = 10};
	struct buffer request = build_request(&stamped);
	struct split *split = open_split(&request);

	(void)state;
	assert_int_equal(split_events(split, 0, 20), 80);
	assert_int_equal(split_events(split, 3, 5), 8);
	assert_int_equal(split_events(split, 15, UINT32_MAX), 20);
	split_free(split);
	buffer_release(&request);
	request = build_request(&valued);
	split = open_split(&request);
	assert_int_equal(split_events(split, 0, 20), 60);
	split_free(split);
	buffer_release(&request);
}

static void test_split__stops_at_the_limit(void **state)
{
	const struct build_request how = {.resources = 1, .samples = 50, .timestamps = 1};
	struct buffer request = build_request(&how), part = {0};
	struct split *split = open_split(&request);
	size_t size;

	(void)state;
	buffer_reset(&part, NO_LIMIT);
	assert_int_equal(split_write(split, 0, 50, &part), 0);
	size = part.size;
	buffer_reset(&part, size);
	assert_int_equal(split_write(split, 0, 50, &part), 0);
	buffer_reset(&part, size - 1);
	assert_int_equal(split_write(split, 0, 50, &part), -EFBIG);
	split_free(split);
	buffer_release(&request);
	buffer_release(&part);
}

/* ---- odd and hostile requests ---- */

static int try(const void *bytes, size_t size)
{
	struct buffer part = {0};
	struct split *split = NULL;
	int r = split_new(bytes, size, &split);

	if (r < 0)
		return r;
	buffer_reset(&part, NO_LIMIT);
	r = split_write(split, 0, UINT32_MAX, &part);
	split_free(split);
	buffer_release(&part);
	return r;
}

/* A request of one sample with this field, and tables with the null element alone. */
static int try_sample(const void *field, size_t size)
{
	struct buffer request = {0};
	size_t resource, scope, profile, dictionary;
	int r;

	buffer_reset(&request, NO_LIMIT);
	resource = buffer_open(&request, 1);
	scope = buffer_open(&request, 2);
	profile = buffer_open(&request, 2);
	build_bytes(&request, 2, field, size);
	buffer_close(&request, profile);
	buffer_close(&request, scope);
	buffer_close(&request, resource);
	dictionary = buffer_open(&request, 2);
	for (uint32_t table = 1; table <= 7; table++)
		build_bytes(&request, table, "", 0);
	buffer_close(&request, dictionary);
	r = try(request.bytes, request.size);
	buffer_release(&request);
	return r;
}

static void test_split__refuses_what_is_no_request(void **state)
{
	static const char *const bad[] = {
		"\x0a\x05",		/* ends early */
		"\x0b",			/* a group */
		"\x08\x01",		/* a resource that is a number */
		"\x12\x02\x08\x01",	/* a table that is a number */
		"\x0a\x02\x10\x01",	/* a scope that is a number */
		"\x0a\x03\x12\x01\x12", /* a profile that ends early */
	};

	(void)state;
	assert_int_equal(try("", 0), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(try(bad[i], strlen(bad[i])), -EBADMSG);
}

static void test_split__refuses_indices_that_lead_nowhere(void **state)
{
	(void)state;
	assert_int_equal(try_sample("\x08\x00", 2), 0);
	assert_int_equal(try_sample("\x08\x01", 2), -EBADMSG);		   /* stack 1 */
	assert_int_equal(try_sample("\x12\x02\x00\x09", 4), -EBADMSG);	   /* attribute 9 */
	assert_int_equal(try_sample("\x10\x05", 2), -EBADMSG);		   /* not packed */
	assert_int_equal(try_sample("\x12\x01\x80", 3), -EBADMSG);	   /* ends early */
	assert_int_equal(try_sample("\x15\x01\x01\x01\x01", 5), -EBADMSG); /* fixed */
	assert_int_equal(try_sample("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), -EBADMSG);
}

/* Later versions of the protocol add fields. */
static void test_split__keeps_fields_that_it_does_not_know(void **state)
{
	static const char request[] = "\x0a\x0d\x12\x0b\x12\x09\x12\x07\xa2\x06\x04kept";
	struct buffer part = {0};
	struct split *split = NULL;

	(void)state;
	assert_int_equal(split_new(request, sizeof(request) - 1, &split), 0);
	buffer_reset(&part, NO_LIMIT);
	assert_int_equal(split_write(split, 0, 1, &part), 0);
	assert_non_null(memmem(part.bytes, part.size, "kept", 4));
	split_free(split);
	buffer_release(&part);
}

static void test_split__refuses_values_in_values_without_end(void **state)
{
	struct buffer request = {0};
	size_t start[200], resource, scope, profile, pair, attributes;

	(void)state;
	buffer_reset(&request, NO_LIMIT);
	resource = buffer_open(&request, 1);
	attributes = buffer_open(&request, 1);
	pair = buffer_open(&request, 1);
	for (unsigned int i = 0; i < 200; i += 2) {
		start[i] = buffer_open(&request, i == 0 ? 2 : 1);
		start[i + 1] = buffer_open(&request, 5);
	}
	for (unsigned int i = 200; i > 0; i--)
		buffer_close(&request, start[i - 1]);
	buffer_close(&request, pair);
	buffer_close(&request, attributes);
	scope = buffer_open(&request, 2);
	profile = buffer_open(&request, 2);
	build_bytes(&request, 2, "\x08\x00", 2);
	buffer_close(&request, profile);
	buffer_close(&request, scope);
	buffer_close(&request, resource);
	assert_int_equal(try(request.bytes, request.size), -EBADMSG);
	buffer_release(&request);
}

static void test_split__bounds_its_memory(void **state)
{
	size_t count = SPLIT_ITEMS_MAX + 1, size = 2 * count;
	struct buffer request = {0};
	uint8_t *bytes = calloc(count, 2);

	(void)state;
	for (size_t i = 0; i < count; i++)
		bytes[2 * i] = 0x2a; /* an empty string */
	buffer_reset(&request, NO_LIMIT);
	build_bytes(&request, 2, bytes, size);
	assert_int_equal(try(request.bytes, request.size), -E2BIG);
	buffer_release(&request);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split__parts_together_are_the_whole),
		cmocka_unit_test(test_split__a_part_has_no_orphans_and_fewer_elements),
		cmocka_unit_test(test_split__a_part_of_all_is_its_own_part),
		cmocka_unit_test(test_split__counts_events),
		cmocka_unit_test(test_split__stops_at_the_limit),
		cmocka_unit_test(test_split__refuses_what_is_no_request),
		cmocka_unit_test(test_split__refuses_indices_that_lead_nowhere),
		cmocka_unit_test(test_split__keeps_fields_that_it_does_not_know),
		cmocka_unit_test(test_split__refuses_values_in_values_without_end),
		cmocka_unit_test(test_split__bounds_its_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
