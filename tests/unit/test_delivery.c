/* SPDX-License-Identifier: Apache-2.0 */
/* The clock is the test's own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/delivery/backoff.h"
#include "exporter/delivery/delivery.h"
#include "exporter/delivery/notices.h"
#include "ipc/time.h"
#include "tests/unit/build_request.h"
#include "tests/unit/request_sums.h"

#define SECOND NS_PER_SECOND

static const struct delivery_limits roomy = {64 << 20, 300 * SECOND, 3670016};

static const struct verdict delivered = {.outcome = OUTCOME_DELIVERED};
static const struct verdict later = {.outcome = OUTCOME_RETRY};
static const struct verdict too_large = {.outcome = OUTCOME_TOO_LARGE};
static const struct verdict refused = {.outcome = OUTCOME_REFUSED};

/* Adds a window of so many samples, each of one event. Returns its size. */
static size_t add(struct delivery *delivery, uint32_t samples, uint64_t now, int expected)
{
	const struct build_request how = {
		.resources = 1, .samples = samples, .timestamps = 1, .seed = samples};
	struct buffer window = build_request(&how);

	assert_int_equal(delivery_add(delivery, window.bytes, window.size, 0, now), expected);
	return window.size;
}

static struct delivery_part next(struct delivery *delivery, uint64_t now)
{
	struct delivery_part part = {0};

	assert_true(delivery_next(delivery, now, &part));
	return part;
}

static void assert_none(struct delivery *delivery, uint64_t now)
{
	struct delivery_part part;

	assert_false(delivery_next(delivery, now, &part));
}

/* Taken events are somewhere. */
static void check_counts(struct delivery *delivery)
{
	const struct delivery_counts *counts = delivery_counts(delivery);

	if (!delivery_is_empty(delivery))
		return;
	assert_int_equal(counts->events_taken,
			 counts->events_delivered + counts->events_overflowed +
				 counts->events_expired + counts->events_refused +
				 counts->events_too_large + counts->events_unkept);
	assert_int_equal(counts->queue_bytes, 0);
	assert_int_equal(counts->queue_windows, 0);
}

static void finish(struct delivery *delivery)
{
	delivery_abandon(delivery);
	check_counts(delivery);
	delivery_free(delivery);
}

static void test_delivery__one_after_another(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);
	size_t sizes[3];

	(void)state;
	assert_int_equal(delivery_due(delivery), DELIVERY_NEVER);
	assert_none(delivery, 0);
	for (uint32_t i = 0; i < 3; i++)
		sizes[i] = add(delivery, 10 + i, i, 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(delivery_due(delivery) <= 5);
		assert_int_equal(next(delivery, 5).size, sizes[i]);
		assert_none(delivery, 5); /* one at a time */
		assert_int_equal(delivery_due(delivery), DELIVERY_NEVER);
		delivery_judge(delivery, &delivered, 5);
	}
	assert_true(delivery_is_empty(delivery));
	assert_int_equal(delivery_counts(delivery)->events_delivered, 33);
	assert_int_equal(delivery_counts(delivery)->requests_delivered, 3);
	finish(delivery);
}

/* Waits grow from 1 s to 30 s, with jitter of a half. */
static void test_delivery__retries_with_growing_waits(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);
	uint64_t now = 1000 * SECOND, interval = SECOND, serial;

	(void)state;
	add(delivery, 10, now, 0);
	serial = next(delivery, now).serial;
	for (unsigned int i = 0; i < 12; i++) {
		uint64_t due;

		delivery_judge(delivery, &later, now);
		due = delivery_due(delivery);
		assert_in_range(due - now, interval / 2, interval + interval / 2);
		assert_none(delivery, due - 1);
		now = due;
		assert_int_equal(next(delivery, now).serial, serial);
		interval += interval / 2;
		if (interval > 30 * SECOND)
			interval = 30 * SECOND;
	}
	delivery_judge(delivery, &delivered, now);
	assert_int_equal(delivery_counts(delivery)->requests_failed, 12);
	/* The next failure waits briefly again. */
	add(delivery, 10, now, 0);
	next(delivery, now);
	delivery_judge(delivery, &later, now);
	assert_true(delivery_due(delivery) - now <= SECOND + SECOND / 2);
	finish(delivery);
}

static void test_delivery__waits_as_long_as_the_server_says(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);
	const struct verdict told = {.outcome = OUTCOME_RETRY, .wait_ns = 100 * SECOND};

	(void)state;
	add(delivery, 10, 0, 0);
	next(delivery, 0);
	delivery_judge(delivery, &told, 0);
	assert_none(delivery, 100 * SECOND - 1);
	assert_in_range(delivery_due(delivery), 100 * SECOND, 110 * SECOND + 1);
	/* Nothing else goes meanwhile. */
	add(delivery, 10, 50 * SECOND, 0);
	assert_none(delivery, 50 * SECOND);
	next(delivery, 110 * SECOND + 1);
	finish(delivery);
}

static void test_delivery__gives_up_by_age(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);
	const struct verdict told = {.outcome = OUTCOME_RETRY, .wait_ns = 3000 * SECOND};

	(void)state;
	add(delivery, 10, 0, 0);
	add(delivery, 20, 100 * SECOND, 0);
	next(delivery, 0);
	delivery_judge(delivery, &told, 0);
	assert_int_equal(delivery_due(delivery), 300 * SECOND); /* to be dropped */
	delivery_expire(delivery, 300 * SECOND);
	assert_int_equal(delivery_counts(delivery)->events_expired, 10);
	assert_none(delivery, 300 * SECOND);
	delivery_expire(delivery, 400 * SECOND);
	assert_true(delivery_is_empty(delivery));
	/* The server's time holds for later windows, too. */
	add(delivery, 5, 500 * SECOND, 0);
	assert_none(delivery, 500 * SECOND);
	finish(delivery);
}

static void test_delivery__drops_the_oldest(void **state)
{
	struct delivery *delivery;
	struct delivery_limits limits = roomy;
	struct buffer window = build_request(
		&(struct build_request){.resources = 1, .samples = 9, .timestamps = 1, .seed = 9});

	(void)state;
	limits.queue_bytes = 3 * window.size;
	buffer_release(&window);
	delivery = delivery_new(&limits, 1);
	for (unsigned int i = 0; i < 3; i++)
		add(delivery, 9, i, 0);
	add(delivery, 9, 3, 0);
	assert_int_equal(delivery_counts(delivery)->events_overflowed, 9);
	assert_int_equal(delivery_counts(delivery)->queue_windows, 3);
	/* The one that is under way stays. */
	next(delivery, 3);
	for (unsigned int i = 0; i < 4; i++)
		add(delivery, 9, 4 + i, 0);
	assert_int_equal(delivery_counts(delivery)->events_overflowed, 45);
	delivery_judge(delivery, &delivered, 9);
	assert_int_equal(delivery_counts(delivery)->events_delivered, 9);
	finish(delivery);
}

static void test_delivery__a_window_larger_than_the_queue(void **state)
{
	struct delivery_limits limits = roomy;
	struct delivery *delivery;

	(void)state;
	limits.queue_bytes = 100;
	delivery = delivery_new(&limits, 1);
	add(delivery, 9, 0, -ENOSPC);
	assert_int_equal(delivery_counts(delivery)->events_overflowed, 9);
	finish(delivery);
}

static uint8_t *copy(const char *text)
{
	return (uint8_t *)strdup(text);
}

static void test_delivery__windows_that_are_none(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);

	(void)state;
	assert_int_equal(delivery_add(delivery, copy("garbage"), 7, 0, 0), -EBADMSG);
	assert_int_equal(delivery_counts(delivery)->windows_malformed, 1);
	add(delivery, 0, 0, 0); /* nobody is sent a window without samples */
	assert_int_equal(delivery_counts(delivery)->windows_empty, 1);
	assert_true(delivery_is_empty(delivery));
	finish(delivery);
}

/* A window goes in parts below the limit, which together are the window. */
static void test_delivery__splits_before_the_limit(void **state)
{
	const struct build_request how = {
		.resources = 3, .samples = 300, .timestamps = 2, .seed = 8, .name_bytes = 100};
	struct delivery_limits limits = roomy;
	struct buffer window = build_request(&how);
	struct request_sums whole = {0}, parts = {0};
	struct delivery *delivery;
	struct delivery_part part;
	unsigned int count = 0;

	(void)state;
	assert_int_equal(request_sums_add(&whole, window.bytes, window.size), 0);
	limits.request_bytes = window.size / 3;
	delivery = delivery_new(&limits, 1);
	assert_int_equal(delivery_add(delivery, window.bytes, window.size, 0, 0), 0);
	for (; delivery_next(delivery, 0, &part); count++) {
		assert_true(part.size <= limits.request_bytes);
		assert_int_equal(request_sums_add(&parts, part.bytes, part.size), 0);
		delivery_judge(delivery, &delivered, 0);
	}
	assert_in_range(count, 4, 16);
	assert_int_equal(parts.count, whole.count);
	request_sums_sort(&whole);
	request_sums_sort(&parts);
	assert_memory_equal(whole.sums, parts.sums, whole.count * sizeof(*whole.sums));
	assert_int_equal(parts.unused, 0);
	assert_int_equal(delivery_counts(delivery)->events_delivered, 1800);
	request_sums_release(&whole);
	request_sums_release(&parts);
	finish(delivery);
}

/* Has a server refuse all requests above `limit`. Returns how many requests there were. */
static unsigned int send_to(struct delivery *delivery, size_t limit)
{
	struct delivery_part part;
	unsigned int count = 0;

	for (; delivery_next(delivery, 0, &part); count++)
		delivery_judge(delivery, part.size > limit ? &too_large : &delivered, 0);
	return count;
}

static void test_delivery__halves_what_is_too_large(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);
	size_t size = add(delivery, 60000, 0, 0);

	(void)state;
	assert_true(size > 1 << 20);
	send_to(delivery, size / 4);
	assert_int_equal(delivery_counts(delivery)->events_delivered, 60000);
	assert_in_range(delivery_counts(delivery)->requests_too_large, 2, 3);
	/* The next window begins with parts that fit. */
	add(delivery, 60000, 0, 0);
	send_to(delivery, size / 4);
	assert_int_equal(delivery_counts(delivery)->events_delivered, 120000);
	assert_true(delivery_counts(delivery)->requests_too_large <= 3);
	finish(delivery);
}

static void test_delivery__a_server_that_calls_all_too_large(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);

	(void)state;
	add(delivery, 5000, 0, 0);
	assert_int_equal(send_to(delivery, 0), DELIVERY_HALVES_MAX + 1);
	assert_int_equal(delivery_counts(delivery)->events_refused, 5000);
	assert_true(delivery_request_bytes(delivery) >= DELIVERY_PART_MIN);
	/* Windows of one sample are not halved. */
	add(delivery, 1, 0, 0);
	assert_int_equal(send_to(delivery, 0), 1);
	assert_int_equal(delivery_counts(delivery)->events_too_large, 1);
	finish(delivery);
}

static void test_delivery__a_sample_that_fits_no_request(void **state)
{
	const struct build_request how = {
		.resources = 1, .samples = 4, .timestamps = 20000, .seed = 1};
	struct delivery_limits limits = roomy;
	struct buffer window = build_request(&how);
	struct delivery *delivery;

	(void)state;
	limits.request_bytes = 100000;
	delivery = delivery_new(&limits, 1);
	assert_int_equal(delivery_add(delivery, window.bytes, window.size, 0, 0), 0);
	assert_int_equal(send_to(delivery, SIZE_MAX), 0);
	assert_int_equal(delivery_counts(delivery)->events_too_large, 80000);
	finish(delivery);
}

static void test_delivery__refused_for_good(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);

	(void)state;
	add(delivery, 7, 0, 0);
	add(delivery, 8, 0, 0);
	next(delivery, 0);
	delivery_judge(delivery, &refused, 0);
	assert_int_equal(delivery_counts(delivery)->events_refused, 7);
	next(delivery, 0); /* at once: the next window may fare better */
	finish(delivery);
}

/* References that lead nowhere show when a part is made. */
static void test_delivery__a_window_that_cannot_be_split(void **state)
{
	struct buffer window = build_request(
		&(struct build_request){.resources = 1, .samples = 5, .timestamps = 1, .seed = 1});
	struct delivery_limits limits = roomy;
	struct delivery *delivery;

	(void)state;
	build_text(&window, 1, "\x12\x06\x12\x04\x12\x02\x08\x7f"); /* a sample of stack 127 */
	limits.request_bytes = window.size - 1;
	delivery = delivery_new(&limits, 1);
	assert_int_equal(delivery_add(delivery, window.bytes, window.size, 0, 0), 0);
	assert_int_equal(send_to(delivery, SIZE_MAX), 0);
	assert_int_equal(delivery_counts(delivery)->windows_malformed, 1);
	finish(delivery);
}

static void test_delivery__no_connection(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);

	(void)state;
	add(delivery, 7, 0, 0);
	delivery_judge(delivery, &later, 0);
	assert_true(delivery_due(delivery) >= SECOND / 2);
	assert_int_equal(delivery_counts(delivery)->requests_failed, 0);
	delivery_hurry(delivery);
	next(delivery, 0);
	finish(delivery);
}

static void test_delivery__jitter_differs_by_seed(void **state)
{
	struct backoff one, other;

	(void)state;
	backoff_init(&one, 12345678901);
	backoff_init(&other, 98765432109);
	backoff_next(&one, 0);
	backoff_next(&other, 0);
	assert_int_not_equal(backoff_next(&one, 0), backoff_next(&other, 0));
	assert_in_range(backoff_next(&one, UINT64_MAX), BACKOFF_TOLD_MAX_NS,
			BACKOFF_TOLD_MAX_NS + BACKOFF_TOLD_MAX_NS / 10 + 1);
}

static void test_delivery__one_notice_a_minute(void **state)
{
	struct notices notices = {0};
	uint64_t left_out;

	(void)state;
	assert_true(notice_due(&notices, NOTICE_RETRY, 0, &left_out));
	assert_false(notice_due(&notices, NOTICE_RETRY, 59 * SECOND, &left_out));
	assert_true(notice_due(&notices, NOTICE_REFUSED, 59 * SECOND, &left_out));
	assert_true(notice_due(&notices, NOTICE_RETRY, 60 * SECOND, &left_out));
	assert_int_equal(left_out, 1);
	assert_false(notice_due(&notices, NOTICE_RETRY, 61 * SECOND, &left_out));
	notice_again(&notices, NOTICE_RETRY);
	assert_true(notice_due(&notices, NOTICE_RETRY, 62 * SECOND, &left_out));
}

/* ---- windows with a file on disk ---- */

static uint64_t forgotten[8];
static size_t forgotten_count;

static void note_forgotten(void *owner, uint64_t id)
{
	assert_null(owner);
	forgotten[forgotten_count++] = id;
}

static void add_named(struct delivery *delivery, uint64_t id, uint64_t now)
{
	const struct build_request how = {
		.resources = 1, .samples = 10, .timestamps = 1, .seed = 1};
	struct buffer window = build_request(&how);

	assert_int_equal(delivery_add(delivery, window.bytes, window.size, id, now), 0);
}

/* A file goes when the server has its window, or never takes it, and stays otherwise. */
static void test_delivery__windows_on_disk(void **state)
{
	struct delivery *delivery = delivery_new(&roomy, 1);
	const struct delivery_counts *counts = delivery_counts(delivery);

	(void)state;
	forgotten_count = 0;
	delivery_set_spool(delivery, note_forgotten, NULL);
	for (uint64_t id = 1; id <= 4; id++)
		add_named(delivery, id, id * SECOND);
	assert_int_equal(delivery_events_of(delivery, 4), 10);
	assert_int_equal(delivery_events_of(delivery, 5), 0);
	next(delivery, 5 * SECOND);
	delivery_judge(delivery, &delivered, 5 * SECOND);
	next(delivery, 5 * SECOND);
	delivery_judge(delivery, &refused, 5 * SECOND);
	assert_int_equal(forgotten_count, 2);
	assert_int_equal(forgotten[0], 1);
	assert_int_equal(forgotten[1], 2);
	delivery_expire(delivery, 303 * SECOND); /* the third */
	assert_int_equal(counts->events_spooled, 10);
	delivery_unname(delivery, 4);
	delivery_abandon(delivery);
	assert_int_equal(counts->events_expired, 10);
	add_named(delivery, 6, 304 * SECOND);
	delivery_abandon(delivery);
	assert_int_equal(counts->events_spooled, 20);
	assert_int_equal(forgotten_count, 2);
	delivery_free(delivery);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delivery__windows_on_disk),
		cmocka_unit_test(test_delivery__one_after_another),
		cmocka_unit_test(test_delivery__retries_with_growing_waits),
		cmocka_unit_test(test_delivery__waits_as_long_as_the_server_says),
		cmocka_unit_test(test_delivery__gives_up_by_age),
		cmocka_unit_test(test_delivery__drops_the_oldest),
		cmocka_unit_test(test_delivery__a_window_larger_than_the_queue),
		cmocka_unit_test(test_delivery__windows_that_are_none),
		cmocka_unit_test(test_delivery__splits_before_the_limit),
		cmocka_unit_test(test_delivery__halves_what_is_too_large),
		cmocka_unit_test(test_delivery__a_server_that_calls_all_too_large),
		cmocka_unit_test(test_delivery__a_sample_that_fits_no_request),
		cmocka_unit_test(test_delivery__refused_for_good),
		cmocka_unit_test(test_delivery__a_window_that_cannot_be_split),
		cmocka_unit_test(test_delivery__no_connection),
		cmocka_unit_test(test_delivery__jitter_differs_by_seed),
		cmocka_unit_test(test_delivery__one_notice_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
