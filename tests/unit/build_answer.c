/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

int build_answer(int fd, const char *name, enum answer_status status, bool wants)
{
	struct answer *answer = answer_new(1);
	const struct answer_function function = {.name = answer_string(answer, name)};
	const struct answer_frame frame = {answer_function_add(answer, &function), 0};
	struct answer_summary *summary = answer_summary(answer);
	int r;

	summary->status = status;
	if (wants) {
		summary->alt_id_size = 2;
		memcpy(summary->alt_id, "\xab\xcd", 2);
	}
	r = answer_set(answer, 0, &frame, 1);
	r = r ? r : answer_write(answer, fd);
	answer_free(answer);
	return r;
}

void build_answer_check(int fd, const char *function)
{
	unsigned char bytes[4096];
	const struct answer_frame *frames;
	struct answer *answer;
	ssize_t size = pread(fd, bytes, sizeof(bytes), 0);

	assert_true(size > 0);
	assert_int_equal(answer_read(bytes, (size_t)size, 1, &answer), 0);
	assert_int_equal(answer_get(answer, 0, &frames), 1);
	assert_string_equal(
		answer_string_get(answer, answer_function_get(answer, frames[0].function)->name),
		function);
	answer_free(answer);
}
