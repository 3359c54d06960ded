/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "object/dwarf/answer.h"

#define ADDRESSES 3
#define BYTES_MAX 65536

static size_t file_of(const struct answer *answer, unsigned char *ret_bytes)
{
	int fd = memfd_create("answer", MFD_CLOEXEC);
	ssize_t size;

	assert_int_equal(answer_write(answer, fd), 0);
	size = pread(fd, ret_bytes, BYTES_MAX, 0);
	close(fd);
	assert_true(size > 0 && size < BYTES_MAX);
	return (size_t)size;
}

static struct answer *make(void)
{
	struct answer *answer = answer_new(ADDRESSES);
	struct answer_function function = {.line = 7};
	struct answer_frame frames[2];

	assert_non_null(answer);
	function.system_name = answer_string(answer, "_Z5innerv");
	function.name = answer_string(answer, "inner");
	function.file = answer_string(answer, "/src/a.cc");
	frames[0] = (struct answer_frame){answer_function_add(answer, &function), 9};
	function.name = function.system_name = answer_string(answer, "outer");
	frames[1] = (struct answer_frame){answer_function_add(answer, &function), 11};
	/* twice; the last one counts */
	assert_int_equal(answer_set(answer, 2, frames, 1), 0);
	assert_int_equal(answer_set(answer, 2, frames, 2), 0);
	assert_int_equal(answer_set(answer, 0, frames + 1, 1), 0);
	answer_summary(answer)->split = 5;
	memcpy(answer_summary(answer)->alt_name, "alternate", sizeof("alternate"));
	return answer;
}

static void test_answer__survives_its_file(void **state)
{
	struct answer *answer = make(), *read;
	const struct answer_function *function;
	const struct answer_frame *frames;
	unsigned char bytes[BYTES_MAX];
	size_t size = file_of(answer, bytes);

	(void)state;
	assert_int_equal(answer_read(bytes, size, ADDRESSES, &read), 0);
	assert_int_equal(answer_get(read, 0, &frames), 1);
	assert_int_equal(answer_get(read, 1, &frames), 0);
	assert_int_equal(answer_get(read, 2, &frames), 2);
	assert_int_equal(frames[0].line, 9);
	assert_int_equal(frames[1].line, 11);
	function = answer_function_get(read, frames[0].function);
	assert_string_equal(answer_string_get(read, function->name), "inner");
	assert_string_equal(answer_string_get(read, function->system_name), "_Z5innerv");
	assert_string_equal(answer_string_get(read, function->file), "/src/a.cc");
	assert_int_equal(function->line, 7);
	assert_int_equal(answer_summary(read)->split, 5);
	assert_string_equal(answer_summary(read)->alt_name, "alternate");
	answer_free(read);
	answer_free(answer);
}

static void test_answer__of_other_addresses_is_refused(void **state)
{
	struct answer *answer = make(), *read;
	unsigned char bytes[BYTES_MAX];
	size_t size = file_of(answer, bytes);

	(void)state;
	assert_int_equal(answer_read(bytes, size, ADDRESSES + 1, &read), -EBADMSG);
	assert_int_equal(answer_read(bytes, size, ADDRESSES - 1, &read), -EBADMSG);
	answer_free(answer);
}

static void test_answer__cut_anywhere_is_refused(void **state)
{
	struct answer *answer = make(), *read;
	unsigned char bytes[BYTES_MAX];
	size_t size = file_of(answer, bytes);

	(void)state;
	for (size_t i = 0; i < size; i++)
		assert_int_equal(answer_read(bytes, i, ADDRESSES, &read), -EBADMSG);
	bytes[size] = 0;
	assert_int_equal(answer_read(bytes, size + 1, ADDRESSES, &read), -EBADMSG);
	answer_free(answer);
}

/* With any byte changed, an answer is refused, or each of its references stays inside. */
static void test_answer__changed_anywhere_stays_within(void **state)
{
	struct answer *answer = make(), *read;
	unsigned char bytes[BYTES_MAX];
	size_t size = file_of(answer, bytes);

	(void)state;
	for (size_t i = 0; i < size; i++) {
		const struct answer_frame *frames;

		bytes[i] ^= 0x81;
		read = NULL;
		answer_read(bytes, size, ADDRESSES, &read);
		for (size_t address = 0; read && address < ADDRESSES; address++)
			for (size_t n = answer_get(read, address, &frames); n > 0; n--)
				assert_in_range(frames[n - 1].function, 1, answer_functions(read));
		answer_free(read);
		bytes[i] ^= 0x81;
	}
	answer_free(answer);
}

static void test_answer__cuts_long_strings(void **state)
{
	struct answer *answer = answer_new(0);
	char text[2 * ANSWER_STRING_MAX];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(strlen(answer_string_get(answer, answer_string(answer, text))),
			 ANSWER_STRING_MAX - 1);
	assert_int_equal(answer_summary(answer)->cut, 1);
	answer_free(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer__survives_its_file),
		cmocka_unit_test(test_answer__of_other_addresses_is_refused),
		cmocka_unit_test(test_answer__cut_anywhere_is_refused),
		cmocka_unit_test(test_answer__changed_anywhere_stays_within),
		cmocka_unit_test(test_answer__cuts_long_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
