/* SPDX-License-Identifier: Apache-2.0 */
/* A worker after another one that wrote what it liked into all that the two share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/session_rig.h"
#include "worker/process/journal.h"
#include "worker/process/parser.h"
#include "profile/profile.h"

#define TEXT "10000000-10004000 r-xp 00000000 08:01 65536 /bin/program\n"

static const u64 frames[] = {0x10000100 | FRAME_EXACT};

static uint64_t read_samples(const struct rig *rig)
{
	struct message_progress progress;

	session_progress(rig->session, &progress);
	return progress.samples;
}

static void test_restart__nothing_is_believed(void **state)
{
	struct rig *rig = *state;

	rig_seen(rig, 5, 100, TEXT, "/dev/null");
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(read_samples(rig), 1);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_event(rig, EVENT_SEEN, 6, 101, 0, 0);
	memset(rig->slots, 0x5a, sizeof(*rig->slots));
	memset(&rig->tails, 0x5a, sizeof(rig->tails));
	rig->consumer = 0x5a5a5a5a5a5a5a5aull;
	rig_restart(rig, 1);
	for (size_t i = 0; i < PROCESS_SLOTS; i++)
		assert_int_equal(rig->slots->slot[i].key, 0);
	for (size_t i = 0; i < ABI_MAX_CPUS; i++)
		assert_int_equal(rig->tails.tail[i], RING_START(1));
	assert_int_equal(rig->tails.next_look, 0); /* each event wakes */
	/* neither the records nor the events of the one before */
	rig_settle(rig);
	assert_int_equal(read_samples(rig), 0);
	assert_int_equal(rig->tails.tail[0], RING_START(1));
	assert_int_equal(rig->consumer, *(uint64_t *)rig->producer);
	/* and on from there */
	rig_seen(rig, 5, 100, TEXT, "/dev/null");
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(read_samples(rig), 1);
	assert_non_null(rig_find(rig, 5, 100, 0x10000100));
	session_finish(rig->session);
	rig_check_stack(rig, 0, "program+0x100");
}

/* The first worker has to know the records that came before it. */
static void test_restart__first_one_reads_all(void **state)
{
	struct rig *rig = *state;

	rig_seen(rig, 5, 100, TEXT, "/dev/null");
	rig_restart(rig, 0);
	rig_settle(rig);
	assert_non_null(rig_find(rig, 5, 100, 0x10000100));
}

static void test_restart__what_was_parsed_is_quarantined(void **state)
{
	const struct target_identity bad = {1, 2, 3, 4}, good = {1, 2, 3, 5}, none = {0};
	struct journal journal = {0};

	(void)state;
	journal_begin(&journal, &bad);
	journal_end(&journal);
	journal_take_over(&journal);
	assert_false(journal_has(&journal, &bad));
	journal_begin(&journal, &bad);
	journal_take_over(&journal);
	assert_true(journal_has(&journal, &bad));
	assert_false(journal_has(&journal, &good));
	assert_false(journal_has(&journal, &none));
	/* kept by those that follow, the oldest of too many not */
	for (uint64_t i = 1; i < JOURNAL_QUARANTINED; i++) {
		const struct target_identity another = {9, i, 1, 1};

		journal_begin(&journal, &another);
		journal_take_over(&journal);
		assert_true(journal_has(&journal, &bad));
	}
	journal_begin(&journal, &good);
	journal_take_over(&journal);
	assert_false(journal_has(&journal, &bad));
	assert_true(journal_has(&journal, &good));
	/* no file: of ourselves, or nothing at all */
	journal_begin(&journal, &none);
	journal_take_over(&journal);
	assert_false(journal_has(&journal, &none));
	journal_begin(NULL, &bad);
	journal_end(NULL);
	journal_take_over(NULL);
	assert_false(journal_has(NULL, &bad));
}

static void test_restart__quarantined_is_not_parsed(void **state)
{
	const struct parser_job job = {.number = 1, .fd = 0, .identity = {1, 2, 3, 4}};
	struct journal journal = {.parsing = {1, 2, 3, 4}};
	struct rig *rig = *state;

	parser_keep_journal(rig->parser, &journal);
	assert_int_equal(parser_submit(rig->parser, &job), -EOWNERDEAD);
	assert_int_equal(journal.parsing.device, 0);
	parser_keep_journal(rig->parser, NULL);
}

/* In the place of the file there is an object without a table; samples in it go on. */
static void test_restart__process_with_a_quarantined_file(void **state)
{
	struct message_summary summary;
	struct rig *rig = *state;

	rig->fake.identity.inode = 65536;
	rig->tails.journal.parsing = (struct journal_object){0x801, 65536, 0, 0};
	rig_restart(rig, 1);
	rig_seen(rig, 5, 100, TEXT, "/dev/null");
	rig_sample(rig, 5, 100, REASON_cut_no_rule, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(rig_find(rig, 5, 100, 0x10000100)->flags, 0);
	session_finish(rig->session);
	rig_check_stack(rig, 0, "program+0x100;[cut: no_rule]");
	session_summary(rig->session, &summary);
	assert_int_equal(summary.object[0].samples, 1);
	assert_int_equal(summary.object[0].reason, -EOWNERDEAD);
	assert_string_equal(summary.object[0].name, "program");
	assert_int_equal(summary.object[1].samples, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_restart__nothing_is_believed),
		RIG_TEST(test_restart__first_one_reads_all),
		cmocka_unit_test(test_restart__what_was_parsed_is_quarantined),
		RIG_TEST(test_restart__quarantined_is_not_parsed),
		RIG_TEST(test_restart__process_with_a_quarantined_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
