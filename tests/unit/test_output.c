/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/format/output.h"

struct rig {
	int fd;
	struct output output;
	struct internal_state *state; /* of the stream, while the stream has none */
};

/* deflate() refuses a stream without a state: Z_STREAM_ERROR. */
static void break_stream(struct rig *rig)
{
	rig->fd = memfd_create("output", MFD_CLOEXEC);
	assert_true(rig->fd >= 0);
	assert_int_equal(output_init(&rig->output, rig->fd, true), 0);
	rig->state = rig->output.stream.state;
	rig->output.stream.state = NULL;
}

static void release(struct rig *rig)
{
	rig->output.stream.state = rig->state;
	output_release(&rig->output);
	close(rig->fd);
}

static void test_output__an_error_of_zlib_fails_the_end(void **state)
{
	struct rig rig;

	(void)state;
	break_stream(&rig);
	assert_int_equal(output_finish(&rig.output), -EIO);
	release(&rig);
}

static void test_output__an_error_of_zlib_fails_a_write(void **state)
{
	struct rig rig;

	(void)state;
	break_stream(&rig);
	alarm(5); /* ends an endless loop */
	output_write(&rig.output, "text", 4);
	alarm(0);
	assert_int_equal(output_finish(&rig.output), -EIO);
	release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output__an_error_of_zlib_fails_the_end),
		cmocka_unit_test(test_output__an_error_of_zlib_fails_a_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
