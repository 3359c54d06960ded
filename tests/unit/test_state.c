/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/process/state.h"

static enum process_state after(const enum process_event *events, size_t count)
{
	enum process_state state = PROCESS_UNLISTED;

	for (size_t i = 0; i < count; i++)
		state = process_state_after(state, events[i]);
	return state;
}

#define AFTER(...)                                       \
	after((const enum process_event[]){__VA_ARGS__}, \
	      sizeof((const enum process_event[]){__VA_ARGS__}) / sizeof(enum process_event))

static void test_state__listing_makes_ready(void **state)
{
	(void)state;
	assert_int_equal(AFTER(PROCESS_WAS_TOLD), PROCESS_READY);
	assert_int_equal(AFTER(PROCESS_WAS_ASKED, PROCESS_LISTED), PROCESS_READY);
	assert_int_equal(AFTER(PROCESS_WAS_ASKED, PROCESS_NOT_LISTED), PROCESS_UNLISTED);
	assert_int_equal(AFTER(PROCESS_WAS_ASKED, PROCESS_TOO_EARLY, PROCESS_WAS_ASKED),
			 PROCESS_LISTING);
}

static void test_state__ready_stays_ready(void **state)
{
	(void)state;
	assert_int_equal(AFTER(PROCESS_WAS_TOLD, PROCESS_WAS_ASKED, PROCESS_NOT_LISTED),
			 PROCESS_READY);
	assert_int_equal(AFTER(PROCESS_WAS_TOLD, PROCESS_WAS_ASKED, PROCESS_TOO_EARLY),
			 PROCESS_RELIST_AGAIN);
	assert_true(process_state_is_complete(PROCESS_RELIST_AGAIN));
	assert_true(process_state_is_complete(PROCESS_RELISTING));
}

/* Each state of a live process ends, and remembers whether the mappings became known. */
static void test_state__every_life_ends(void **state)
{
	(void)state;
	for (int i = PROCESS_UNLISTED; i < PROCESS_STATES; i++) {
		enum process_state ended;

		if (process_state_is_ended(i))
			continue;
		ended = process_state_after(i, PROCESS_EXITED);
		assert_true(process_state_is_ended(ended));
		assert_int_equal(process_state_is_complete(ended), process_state_is_complete(i));
		assert_false(process_state_is_asked(ended));
	}
}

/* A question is asked exactly where none is under way. */
static void test_state__one_question_at_a_time(void **state)
{
	(void)state;
	for (int i = PROCESS_UNLISTED; i < PROCESS_STATES; i++) {
		if (process_state_is_ended(i) || process_state_is_asked(i))
			continue;
		assert_true(process_state_is_asked(process_state_after(i, PROCESS_WAS_ASKED)));
	}
}

static bool aborts(enum process_state from, enum process_event event)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		process_state_after(from, event);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void test_state__impossible_events_abort(void **state)
{
	(void)state;
	assert_true(aborts(PROCESS_UNLISTED, PROCESS_LISTED));
	assert_true(aborts(PROCESS_LISTING, PROCESS_WAS_ASKED));
	for (int event = 0; event < PROCESS_EVENTS; event++) {
		assert_true(aborts(PROCESS_ENDED, event));
		assert_true(aborts(PROCESS_ENDED_UNLISTED, event));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state__listing_makes_ready),
		cmocka_unit_test(test_state__ready_stays_ready),
		cmocka_unit_test(test_state__every_life_ends),
		cmocka_unit_test(test_state__one_question_at_a_time),
		cmocka_unit_test(test_state__impossible_events_abort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
