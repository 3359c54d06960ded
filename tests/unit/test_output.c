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

ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __real_write(int fd, const void *bytes, size_t size);

static bool write_takes_nothing;

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
	if (write_takes_nothing)
		return 0;
	return __real_write(fd, bytes, size);
}

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

static void test_output__a_write_of_nothing_fails(void **state)
{
	struct output output;

	(void)state;
	assert_int_equal(output_init(&output, STDOUT_FILENO, false), 0);
	output_write(&output, "text", 4);
	write_takes_nothing = true;
	alarm(5); /* ends an endless loop */
	assert_int_equal(output_finish(&output), -EIO);
	alarm(0);
	write_takes_nothing = false;
	output_release(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output__an_error_of_zlib_fails_the_end),
		cmocka_unit_test(test_output__an_error_of_zlib_fails_a_write),
		cmocka_unit_test(test_output__a_write_of_nothing_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
