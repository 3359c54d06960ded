/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/slots.h"

static void add(struct slots *slots, uint32_t hash, uint32_t id)
{
	struct slot *slot;

	assert_int_equal(slots_reserve(slots), 0);
	slot = slots_first(slots, hash);
	while (slot->id)
		slot = slots_next(slots, slot, hash);
	slots_fill(slots, slot, hash, id);
}

static void test_slots__ids_of_one_hash_come_in_their_order(void **state)
{
	struct slots slots = {0};
	struct slot *slot;

	(void)state;
	add(&slots, 7, 1);
	add(&slots, 8, 2);
	add(&slots, 7, 3);
	add(&slots, 7 + 64, 4); /* the same place, another hash */
	slot = slots_first(&slots, 7);
	assert_int_equal(slot->id, 1);
	slot = slots_next(&slots, slot, 7);
	assert_int_equal(slot->id, 3);
	assert_int_equal(slots_next(&slots, slot, 7)->id, 0);
	assert_int_equal(slots_first(&slots, 7 + 64)->id, 4);
	assert_int_equal(slots_first(&slots, 9)->id, 0);
	slots_release(&slots);
	assert_int_equal(slots_bytes(&slots), 0);
}

/* A search goes on at the first slot behind the last one. */
static void test_slots__the_end_is_followed_by_the_beginning(void **state)
{
	struct slots slots = {0};

	(void)state;
	for (uint32_t id = 1; id <= 40; id++)
		add(&slots, UINT32_MAX - id % 2, id);
	for (uint32_t id = 1; id <= 2; id++) {
		struct slot *slot = slots_first(&slots, UINT32_MAX - id % 2);
		uint32_t found = 0;

		for (; slot->id; slot = slots_next(&slots, slot, UINT32_MAX - id % 2))
			found++;
		assert_int_equal(found, 20);
	}
	slots_release(&slots);
}

static void test_slots__grow(void **state)
{
	struct slots slots = {0};

	(void)state;
	for (uint32_t id = 1; id <= 100000; id++)
		add(&slots, id * 2654435761u, id);
	for (uint32_t id = 1; id <= 100000; id++)
		assert_int_equal(slots_first(&slots, id * 2654435761u)->id, id);
	assert_true(slots_bytes(&slots) <= 100000 * 24);
	slots_release(&slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots__ids_of_one_hash_come_in_their_order),
		cmocka_unit_test(test_slots__the_end_is_followed_by_the_beginning),
		cmocka_unit_test(test_slots__grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
