/* SPDX-License-Identifier: Apache-2.0 */
/* The exporter as it runs; the test is loader and worker. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/privsep/child.h"
#include "tests/privsep/privsep.h"

#define ALL_SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int profile(size_t bytes, int seals)
{
	int fd = memfd_create("profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	static unsigned char content[300000];

	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (unsigned char)(i * 31 >> 3);
	assert_int_equal(write(fd, content, bytes), bytes);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static struct message_written export(int output, int memory, uint64_t bytes)
{
	const struct message_profile sent = {bytes};
	struct message message;
	struct child child;

	child_start(&child, ROLE_EXPORTER);
	child_give(&child, MESSAGE_OUTPUT, output);
	child_give_peer(&child, MESSAGE_PROFILE_PEER);
	assert_int_equal(channel_send(&child.worker, MESSAGE_PROFILE, &sent, sizeof(sent), memory),
			 0);
	assert_int_equal(channel_expect(&child.loader, MESSAGE_WRITTEN, CHILD_WAIT_MS, &message),
			 0);
	child_stop(&child);
	return message.WRITTEN;
}

static void test_exporter__copies_a_sealed_profile(void **state)
{
	static unsigned char got[300001], want[300000];
	int memory = profile(300000, ALL_SEALS);
	int output = memfd_create("output", MFD_CLOEXEC);
	struct message_written written = export(output, memory, 300000);

	(void)state;
	assert_int_equal(written.error, 0);
	assert_int_equal(written.bytes, 300000);
	assert_int_equal(pread(output, got, sizeof(got), 0), 300000);
	assert_int_equal(pread(memory, want, sizeof(want), 0), 300000);
	assert_memory_equal(got, want, sizeof(want));
	close(memory);
	close(output);
}

static void test_exporter__refuses_what_may_change(void **state)
{
	static const struct {
		int seals;
		uint64_t bytes;
		int error;
	} cases[] = {
		{0, 1000, -EPERM},
		{ALL_SEALS & ~F_SEAL_WRITE, 1000, -EPERM},
		{ALL_SEALS & ~F_SEAL_SHRINK, 1000, -EPERM},
		{ALL_SEALS & ~F_SEAL_GROW, 1000, -EPERM},
		{ALL_SEALS & ~F_SEAL_SEAL, 1000, -EPERM},
		{ALL_SEALS, 999, -EBADMSG},
		{ALL_SEALS, 1001, -EBADMSG},
		{ALL_SEALS, 0, -ENODATA},
		{ALL_SEALS, (1ull << 30) + 1, -EFBIG},
	};
	struct stat status;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int memory = profile(1000, cases[i].seals);
		int output = memfd_create("output", MFD_CLOEXEC);

		assert_int_equal(export(output, memory, cases[i].bytes).error, cases[i].error);
		assert_int_equal(fstat(output, &status), 0);
		assert_int_equal(status.st_size, 0);
		close(memory);
		close(output);
	}
}

static void test_exporter__reports_a_broken_pipe(void **state)
{
	int memory = profile(1000, ALL_SEALS), ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	assert_int_equal(export(ends[1], memory, 1000).error, -EPIPE);
	close(ends[1]);
	close(memory);
}

static void test_exporter__writes_into_a_pipe(void **state)
{
	int memory = profile(1000, ALL_SEALS), ends[2];
	unsigned char got[2000];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(export(ends[1], memory, 1000).error, 0);
	assert_int_equal(read(ends[0], got, sizeof(got)), 1000);
	close(ends[0]);
	close(ends[1]);
	close(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exporter__copies_a_sealed_profile),
		cmocka_unit_test(test_exporter__refuses_what_may_change),
		cmocka_unit_test(test_exporter__reports_a_broken_pipe),
		cmocka_unit_test(test_exporter__writes_into_a_pipe),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}
