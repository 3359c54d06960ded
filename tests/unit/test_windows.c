/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of a session: what has been told by their end, and what comes later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#include "ipc/messages.h"
#include "ipc/time.h"
#include "tests/unit/session_rig.h"
#include "worker/session.h"

#define TEXT  "10000000-10004000 r-xp 00000000 08:01 65536 /bin/program\n"
#define FRAME (0x10000100ull | FRAME_EXACT)

/* Begins a session. A thread leaves its CPU, and the worker reads that. Returns when it left. */
static uint64_t begin(struct rig *rig)
{
	uint64_t left;

	rig->parts.config.flags = OPTIONS_OFF_CPU;
	rig->parts.config.every = 1;
	rig->parts.config.format = FORMAT_pprof;
	rig_restart(rig, 0);
	rig_seen(rig, 5, 100, TEXT, "/dev/null");
	rig_settle(rig);
	left = rig_leaves(rig, 100, FRAME);
	rig_settle(rig);
	return left;
}

/* Renders a window, and returns for how long threads were off their CPU so far. */
static uint64_t render(const struct rig *rig)
{
	int fd = memfd_create("window", MFD_CLOEXEC);
	struct message_summary summary;

	assert_int_equal(session_render_window(rig->session, fd), 0);
	close(fd);
	session_summary(rig->session, &summary);
	return summary.off_cpu.ns;
}

/* The worker reads its rings 10 times a second: a window may end long after the last time. */
static void test_windows__wait_that_is_over_ends_before_the_window(void **state)
{
	struct rig *rig = *state;
	const uint64_t left = begin(rig);
	uint64_t ran, again;

	rig->now += 7 * NS_PER_MS;
	ran = rig_runs_again(rig, left);
	again = rig_leaves(rig, 100, FRAME);
	rig->now += 30 * NS_PER_MS;
	assert_int_equal(render(rig), ran - left);
	rig->now += 5 * NS_PER_MS;
	ran = ran - left + rig_runs_again(rig, again) - again;
	rig_settle(rig);
	assert_int_equal(render(rig), ran);
}

static void test_windows__wait_that_goes_on_is_in_both(void **state)
{
	struct rig *rig = *state;
	const uint64_t left = begin(rig);
	uint64_t first, ran;

	rig->now += 70 * NS_PER_MS;
	first = rig->now - left;
	assert_int_equal(render(rig), first);
	rig->now += 5 * NS_PER_MS;
	ran = rig_runs_again(rig, left);
	rig->now += 5 * NS_PER_MS;
	assert_int_equal(render(rig), ran - left);
}

/* A CPU has not finished an event, behind which others may be: the last look counts. */
static void test_windows__events_that_are_not_finished(void **state)
{
	struct rig *rig = *state;
	const uint64_t left = begin(rig), looked = rig->now;
	uint32_t *unfinished;
	uint64_t ran;

	unfinished = rig_unfinished(rig);
	rig->now += 3 * NS_PER_MS;
	ran = rig_runs_again(rig, left);
	rig->now += 3 * NS_PER_MS;
	assert_int_equal(render(rig), looked - left);
	rig_finish(unfinished);
	assert_int_equal(render(rig), ran - left);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_windows__wait_that_is_over_ends_before_the_window),
		RIG_TEST(test_windows__wait_that_goes_on_is_in_both),
		RIG_TEST(test_windows__events_that_are_not_finished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
