/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "worker/sample/go_label.h"

static u64 words[GO_LABELS_WORDS];
static struct go_label labels[GO_LABELS_MAX];

static void put(size_t number, const char *key, const char *value, u64 flags)
{
	u64 *label = words + 1 + number * GO_LABEL_WORDS;

	memset(label, 0xa5, GO_LABEL_WORDS * sizeof(*label)); /* of an earlier record */
	label[0] = strlen(key) | strlen(value) << 8 | flags;
	memcpy(label + 1, key, strlen(key));
	memcpy(label + 1 + GO_LABEL_BYTES / 8, value, strlen(value));
}

static void test_go_label__texts(void **state)
{
	char full[GO_LABEL_BYTES + 1];
	u64 goroutine;

	(void)state;
	memset(full, 'x', GO_LABEL_BYTES);
	full[GO_LABEL_BYTES] = '\0';
	words[0] = 17;
	put(0, "key", "value", 0);
	put(1, full, full, GO_VALUE_CUT);
	put(2, "empty", "", 0);
	assert_int_equal(go_label_read(words, 1 + 3 * GO_LABEL_WORDS, labels, &goroutine), 3);
	assert_int_equal(goroutine, 17);
	assert_string_equal(labels[0].key, "key");
	assert_string_equal(labels[0].value, "value");
	assert_string_equal(labels[1].key, full);
	assert_memory_equal(labels[1].value, full, GO_LABEL_BYTES);
	assert_string_equal(labels[1].value + GO_LABEL_BYTES, GO_CUT_MARK);
	assert_string_equal(labels[2].value, "");
}

static void test_go_label__words_of_nonsense(void **state)
{
	u64 goroutine;

	(void)state;
	assert_int_equal(go_label_read(words, 0, labels, &goroutine), 0);
	assert_int_equal(goroutine, 0);
	assert_int_equal(go_label_read(words, 1, labels, &goroutine), 0);
	assert_int_equal(go_label_read(words, GO_LABEL_WORDS, labels, &goroutine), 0);
	put(0, "", "value", 0); /* a key that could not be read */
	put(1, "key", "value", 0);
	words[1 + GO_LABEL_WORDS] = 0xffff; /* longer than the place is */
	assert_int_equal(go_label_read(words, 1 + 2 * GO_LABEL_WORDS, labels, &goroutine), 1);
	assert_int_equal(strlen(labels[0].value), GO_LABEL_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_label__texts),
		cmocka_unit_test(test_go_label__words_of_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
