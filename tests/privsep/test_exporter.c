/* SPDX-License-Identifier: Apache-2.0 */
/* The real exporter; the test plays loader and worker. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/privsep/child.h"
#include "tests/privsep/privsep.h"

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

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

/* phase: the one of OUTPUT. */
static void start_in(struct child *child, int output, enum message_phase phase)
{
	const struct message_output message = {.phase = phase};

	child_start(child, ROLE_EXPORTER);
	assert_int_equal(
		channel_send(&child->loader, MESSAGE_OUTPUT, &message, sizeof(message), output), 0);
	child_give_peer(child, MESSAGE_PROFILE_PEER);
}

/* Tells the exporter of the end of sampling, as the loader does before STOP. */
static void finish(struct child *child)
{
	assert_int_equal(channel_send_bare(&child->loader, MESSAGE_FINISH, -1), 0);
	child->worker.phase = PHASE_FINISH;
}

static struct message_written export(int output, int memory, uint64_t bytes)
{
	const struct message_profile sent = {bytes};
	struct message message;
	struct child child;

	start_in(&child, output, PHASE_START);
	finish(&child);
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

/* A worker writes each profile into the same file, which may have bytes of an earlier profile. */
static void test_exporter__copies_no_more_than_the_worker_says(void **state)
{
	int memory = profile(1000, ALL_SEALS);
	int output = memfd_create("output", MFD_CLOEXEC);
	struct stat status;

	(void)state;
	assert_int_equal(export(output, memory, 999).error, 0);
	assert_int_equal(fstat(output, &status), 0);
	assert_int_equal(status.st_size, 999);
	close(memory);
	close(output);
}

static void test_exporter__gives_a_terminal_printable_text(void **state)
{
	static const char text[] = "main \x1b]0;title\x07\x9b"
				   "2J\xc3\xa9\n";
	static const char want[] = "main ?]0;title??2J\xc3\xa9\r\n";
	int memory = memfd_create("profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), output;
	char got[100] = "";

	(void)state;
	assert_int_equal(write(memory, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(fcntl(memory, F_ADD_SEALS, ALL_SEALS), 0);
	assert_int_equal(grantpt(terminal) | unlockpt(terminal), 0);
	output = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_true(output >= 0);
	assert_int_equal(export(output, memory, sizeof(text) - 1).error, 0);
	assert_int_equal(read(terminal, got, sizeof(got) - 1), sizeof(want) - 1);
	assert_string_equal(got, want);
	close(output);
	close(terminal);
	close(memory);
}

static void test_exporter__refuses_what_may_change(void **state)
{
	static const struct {
		int seals;
		uint64_t bytes;
		int error;
	} cases[] = {
		{0, 1000, -EPERM},
		{ALL_SEALS & ~F_SEAL_SHRINK, 1000, -EPERM},
		{ALL_SEALS & ~F_SEAL_GROW, 1000, -EPERM},
		{ALL_SEALS & ~F_SEAL_SEAL, 1000, -EPERM},
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

static void start_stream(struct child *child, int output)
{
	start_in(child, output, PHASE_RUN);
}

static void send_file(struct child *child, enum message_type type, uint64_t bytes)
{
	const struct message_profile sent = {bytes};
	int memory = profile(bytes, ALL_SEALS);

	assert_int_equal(channel_send(&child->worker, type, &sent, sizeof(sent), memory), 0);
	close(memory);
}

static void expect_window_written(struct child *child)
{
	struct message message;

	assert_int_equal(
		channel_expect(&child->worker, MESSAGE_WINDOW_WRITTEN, CHILD_WAIT_MS, &message), 0);
}

static struct message_written end_stream(struct child *child)
{
	struct message message;

	assert_int_equal(channel_expect(&child->loader, MESSAGE_WRITTEN, CHILD_WAIT_MS, &message),
			 0);
	child_stop(child);
	return message.WRITTEN;
}

/* The last window may be empty: nothing happened since. */
static void test_exporter__appends_windows(void **state)
{
	struct message_written written;
	unsigned char got[4000];
	struct child child;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	start_stream(&child, ends[1]);
	for (uint64_t bytes = 1000; bytes < 1003; bytes++) {
		send_file(&child, MESSAGE_WINDOW, bytes);
		expect_window_written(&child);
		assert_int_equal(read(ends[0], got, sizeof(got)), bytes);
	}
	finish(&child);
	send_file(&child, MESSAGE_PROFILE, 0);
	written = end_stream(&child);
	assert_int_equal(written.error, 0);
	assert_int_equal(written.bytes, 3003);
	close(ends[0]);
	close(ends[1]);
}

static void test_exporter__says_that_nobody_reads_any_more(void **state)
{
	unsigned char got[2000];
	struct child child;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	start_stream(&child, ends[1]);
	send_file(&child, MESSAGE_WINDOW, 1000);
	expect_window_written(&child);
	assert_int_equal(read(ends[0], got, sizeof(got)), 1000);
	close(ends[0]); /* the end is seen without a write */
	assert_int_equal(end_stream(&child).error, -EPIPE);
	close(ends[1]);
}

/* A sleeping process never makes a window. */
static void test_exporter__says_that_nobody_ever_reads(void **state)
{
	struct child child;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	start_stream(&child, ends[1]);
	close(ends[0]);
	assert_int_equal(end_stream(&child).error, -EPIPE);
	close(ends[1]);
}

static void test_exporter__refuses_a_window_that_may_change(void **state)
{
	const struct message_profile sent = {1000};
	int memory = profile(1000, 0), output = memfd_create("output", MFD_CLOEXEC);
	struct child child;
	struct stat status;

	(void)state;
	start_stream(&child, output);
	assert_int_equal(channel_send(&child.worker, MESSAGE_WINDOW, &sent, sizeof(sent), memory),
			 0);
	assert_int_equal(end_stream(&child).error, -EPERM);
	assert_int_equal(fstat(output, &status), 0);
	assert_int_equal(status.st_size, 0);
	close(memory);
	close(output);
}

/* A worker can send windows without end, whether or not windows were asked for. */
static void test_exporter__fills_no_disk(void **state)
{
	const uint64_t bytes = 1u << 30;
	const struct message_profile sent = {bytes};
	int memory = memfd_create("profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int output = memfd_create("output", MFD_CLOEXEC);
	struct child child;
	struct stat status;

	(void)state;
	assert_int_equal(ftruncate(memory, (off_t)bytes), 0);
	assert_int_equal(fcntl(memory, F_ADD_SEALS, ALL_SEALS), 0);
	start_stream(&child, output);
	send_file(&child, MESSAGE_WINDOW, 1);
	expect_window_written(&child);
	assert_int_equal(channel_send(&child.worker, MESSAGE_WINDOW, &sent, sizeof(sent), memory),
			 0);
	assert_int_equal(end_stream(&child).error, -EFBIG);
	assert_int_equal(fstat(output, &status), 0);
	assert_int_equal(status.st_size, 1);
	close(memory);
	close(output);
}

/* ---- drafts ---- */

/* Ends the worker. Returns what the exporter says about the output. */
static struct message_written end_worker(struct child *child)
{
	channel_release(&child->worker);
	return end_stream(child);
}

static void check_size(int output, off_t bytes)
{
	struct stat status;

	assert_int_equal(fstat(output, &status), 0);
	assert_int_equal(status.st_size, bytes);
	close(output);
}

static void test_exporter__writes_the_last_draft_of_a_worker_that_ends(void **state)
{
	int output = memfd_create("output", MFD_CLOEXEC);
	struct message_written written;
	struct child child;

	(void)state;
	start_stream(&child, output);
	finish(&child);
	send_file(&child, MESSAGE_DRAFT, 3000);
	send_file(&child, MESSAGE_DRAFT, 1000);
	send_file(&child, MESSAGE_DRAFT, 2000);
	written = end_worker(&child);
	assert_int_equal(written.error, 0);
	assert_int_equal(written.bytes, 2000);
	check_size(output, 2000);
}

static void test_exporter__writes_no_draft_beside_the_profile(void **state)
{
	int output = memfd_create("output", MFD_CLOEXEC);
	struct message_written written;
	struct child child;

	(void)state;
	start_stream(&child, output);
	finish(&child);
	send_file(&child, MESSAGE_DRAFT, 3000);
	send_file(&child, MESSAGE_PROFILE, 1000);
	written = end_worker(&child);
	assert_int_equal(written.error, 0);
	assert_int_equal(written.bytes, 1000);
	check_size(output, 1000);
}

static void test_exporter__appends_a_draft_to_a_stream(void **state)
{
	int output = memfd_create("output", MFD_CLOEXEC);
	struct message_written written;
	struct child child;

	(void)state;
	start_stream(&child, output);
	send_file(&child, MESSAGE_WINDOW, 1000);
	expect_window_written(&child);
	finish(&child);
	send_file(&child, MESSAGE_DRAFT, 500);
	written = end_worker(&child);
	assert_int_equal(written.error, 0);
	assert_int_equal(written.bytes, 1500);
	check_size(output, 1500);
}

static void test_exporter__refuses_a_draft_that_may_change(void **state)
{
	const struct message_profile sent = {1000};
	int memory = profile(1000, 0), output = memfd_create("output", MFD_CLOEXEC);
	struct child child;

	(void)state;
	start_stream(&child, output);
	finish(&child);
	assert_int_equal(channel_send(&child.worker, MESSAGE_DRAFT, &sent, sizeof(sent), memory),
			 0);
	assert_int_equal(end_worker(&child).error, -EPERM);
	check_size(output, 0);
	close(memory);
}

static void test_exporter__ends_with_a_worker_that_made_no_draft(void **state)
{
	int output = memfd_create("output", MFD_CLOEXEC);
	struct child child;

	(void)state;
	start_stream(&child, output);
	channel_release(&child.worker);
	assert_int_equal(child_wait_exit(&child), 0);
	child_stop(&child);
	check_size(output, 0);
}

/* Sends what the protocol does not allow yet. Returns the status of the exporter's end. */
static int violate(enum message_phase phase, enum message_type type)
{
	int output = memfd_create("output", MFD_CLOEXEC), status;
	struct child child;

	start_in(&child, output, phase);
	child.worker.phase = PHASE_FINISH;
	send_file(&child, type, 1000);
	channel_release(&child.worker);
	status = child_wait_exit(&child);
	child_stop(&child);
	check_size(output, 0);
	return status;
}

/* The next worker gets the same output: the output must have nothing of a worker taken over. */
static void test_exporter__writes_nothing_before_the_end_of_sampling(void **state)
{
	(void)state;
	assert_int_equal(violate(PHASE_START, MESSAGE_DRAFT), 1 << 8);
	assert_int_equal(violate(PHASE_START, MESSAGE_PROFILE), 1 << 8);
	assert_int_equal(violate(PHASE_START, MESSAGE_WINDOW), 1 << 8);
	assert_int_equal(violate(PHASE_RUN, MESSAGE_DRAFT), 1 << 8);
	assert_int_equal(violate(PHASE_RUN, MESSAGE_PROFILE), 1 << 8);
}

/* The exporter sees FINISH before what the worker sends after STOP. */
static void test_exporter__takes_a_draft_right_after_the_end_of_sampling(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		int output = memfd_create("output", MFD_CLOEXEC);
		struct message_written written;
		struct child child;

		start_in(&child, output, PHASE_START);
		finish(&child);
		send_file(&child, MESSAGE_DRAFT, 100);
		written = end_worker(&child);
		assert_int_equal(written.error, 0);
		check_size(output, 100);
	}
}

/* An exporter that follows another one after STOP. */
static void test_exporter__takes_a_profile_at_once(void **state)
{
	int output = memfd_create("output", MFD_CLOEXEC);
	struct child child;

	(void)state;
	start_in(&child, output, PHASE_FINISH);
	child.worker.phase = PHASE_FINISH;
	send_file(&child, MESSAGE_PROFILE, 1000);
	assert_int_equal(end_worker(&child).error, 0);
	check_size(output, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exporter__copies_a_sealed_profile),
		cmocka_unit_test(test_exporter__copies_no_more_than_the_worker_says),
		cmocka_unit_test(test_exporter__gives_a_terminal_printable_text),
		cmocka_unit_test(test_exporter__refuses_what_may_change),
		cmocka_unit_test(test_exporter__reports_a_broken_pipe),
		cmocka_unit_test(test_exporter__writes_into_a_pipe),
		cmocka_unit_test(test_exporter__appends_windows),
		cmocka_unit_test(test_exporter__says_that_nobody_reads_any_more),
		cmocka_unit_test(test_exporter__says_that_nobody_ever_reads),
		cmocka_unit_test(test_exporter__refuses_a_window_that_may_change),
		cmocka_unit_test(test_exporter__fills_no_disk),
		cmocka_unit_test(test_exporter__writes_the_last_draft_of_a_worker_that_ends),
		cmocka_unit_test(test_exporter__writes_no_draft_beside_the_profile),
		cmocka_unit_test(test_exporter__appends_a_draft_to_a_stream),
		cmocka_unit_test(test_exporter__refuses_a_draft_that_may_change),
		cmocka_unit_test(test_exporter__ends_with_a_worker_that_made_no_draft),
		cmocka_unit_test(test_exporter__writes_nothing_before_the_end_of_sampling),
		cmocka_unit_test(test_exporter__takes_a_draft_right_after_the_end_of_sampling),
		cmocka_unit_test(test_exporter__takes_a_profile_at_once),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}
