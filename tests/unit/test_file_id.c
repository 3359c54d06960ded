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

#include "base/file_id.h"

/* Python made the ids: sha256(b[:4096] + b[-4096:] + struct.pack('>Q', len(b))).hexdigest()[:32] */
static const struct {
	size_t size;
	unsigned int step; /* byte i is i * step */
	const char *id;
} rows[] = {
	{0, 1, "af5570f5a1810b7af78caf4bc70a660f"},
	{4096, 1, "85cb3aa4a10dc6668d6bf0c5802e9150"},
	{10000, 7, "6e7a367790a0963a1dcd7ad1eaa9e8c3"},
};

static unsigned char *bytes_of(size_t size, unsigned int step)
{
	unsigned char *bytes = malloc(size + 1);

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(i * step);
	return bytes;
}

static void test_file_id__is_that_of_the_conventions(void **state)
{
	char id[FILE_ID_BYTES];

	(void)state;
	file_id_of_bytes("abc", 3, id);
	assert_string_equal(id, "a7e79e8a85da69bad5c3fea209342ac9");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned char *bytes = bytes_of(rows[i].size, rows[i].step);
		int fd = memfd_create("file", MFD_CLOEXEC);

		file_id_of_bytes(bytes, rows[i].size, id);
		assert_string_equal(id, rows[i].id);
		assert_int_equal(write(fd, bytes, rows[i].size), rows[i].size);
		assert_int_equal(file_id_of_file(fd, id), 0);
		assert_string_equal(id, rows[i].id);
		close(fd);
		free(bytes);
	}
}

static void test_file_id__of_other_descriptors(void **state)
{
	char id[FILE_ID_BYTES] = "x";
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(file_id_of_file(pipes[0], id), -EINVAL);
	assert_string_equal(id, "");
	assert_int_equal(file_id_of_file(-1, id), -EBADF);
	close(pipes[0]);
	close(pipes[1]);
}

static void test_file_id__texts_are_told_apart(void **state)
{
	static const char *const texts[][2] = {{"a", "bc"}, {"ab", "c"}, {"abc", ""}, {"", "abc"}};
	char ids[4][FILE_ID_BYTES];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		file_id_of_texts(texts[i], 2, ids[i]);
		assert_int_equal(strlen(ids[i]), FILE_ID_BYTES - 1);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(ids[i], ids[j]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_id__is_that_of_the_conventions),
		cmocka_unit_test(test_file_id__of_other_descriptors),
		cmocka_unit_test(test_file_id__texts_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
