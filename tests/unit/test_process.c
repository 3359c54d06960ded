/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "ipc/time.h"
#include "tests/unit/session_rig.h"
#include "profile/profile.h"
#include "worker/process/lister.h"
#include "worker/process/process.h"
#include "worker/process/tracker.h"

#define TWO_MAPPINGS                                                     \
	"10000000-10004000 r-xp 00001000 08:01 65536 /bin/program\n"     \
	"7f0000000000-7f0000010000 r-xp 0 08:01 34091302912 /lib/l.so\n" \
	"ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]\n"

static void seen(struct rig *rig, uint32_t pid, uint64_t generation)
{
	rig_seen(rig, pid, generation, TWO_MAPPINGS, "/proc/self/exe");
}

static void test_process__seen_is_listed_and_published(void **state)
{
	struct rig *rig = *state;

	seen(rig, 5, 100);
	rig_turn(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 1);
	assert_null(rig_find(rig, 5, 100, 0x10000000));
	rig_settle(rig);
	assert_non_null(rig_find(rig, 5, 100, 0x10003fff));
	assert_non_null(rig_find(rig, 5, 100, 0x7f0000000000));
	assert_null(rig_find(rig, 5, 100, 0xffffffffff600000));
	assert_int_equal(rig->fake.asked[TARGET_OBJECT], 2);
}

static void test_process__fork_shares_at_once(void **state)
{
	struct rig *rig = *state;
	uint64_t asked;

	seen(rig, 5, 100);
	rig_settle(rig);
	asked = rig->fake.asked[TARGET_MAPS];
	rig_event(rig, EVENT_FORK, 6, 101, 5, 100);
	rig_turn(rig);
	assert_ptr_equal(rig_find(rig, 6, 101, 0x10000000), rig_find(rig, 5, 100, 0x10000000));
	assert_int_equal(rig->fake.asked[TARGET_MAPS], asked);
	/* The child's own mappings are not the parent's. */
	build_mmap(&rig->build, ++rig->now, 6, 0x20000000, 0x1000, 0, 0, PROT_EXEC, "//anon");
	rig_settle(rig);
	assert_non_null(rig_find(rig, 6, 101, 0x20000000));
	assert_null(rig_find(rig, 5, 100, 0x20000000));
}

static void test_process__exec_needs_no_listing(void **state)
{
	struct rig *rig = *state;
	uint64_t asked;

	seen(rig, 5, 100);
	rig_settle(rig);
	asked = rig->fake.asked[TARGET_MAPS];
	build_comm(&rig->build, ++rig->now, 5, 5, "fresh", 1);
	build_mmap(&rig->build, ++rig->now, 5, 0x30000000, 0x4000, 0x1000, 0x30000, PROT_EXEC,
		   "/bin/fresh");
	rig_turn(rig);
	assert_null(rig_find(rig, 5, 100, 0x30000000));
	rig_event(rig, EVENT_EXEC, 5, 200, 0, 0);
	rig_turn(rig);
	assert_int_equal(rig_find(rig, 5, 200, 0x30000000)->flags, MAPPING_PENDING);
	assert_null(rig_find(rig, 5, 200, 0x10000000));
	assert_null(rig_find(rig, 5, 100, 0x10000000));
	/* Mappings that the dynamic linker makes afterwards belong to the new program. */
	build_mmap(&rig->build, ++rig->now, 5, 0x40000000, 0x1000, 0, 0x40000, PROT_EXEC, "/lib/x");
	rig_settle(rig);
	assert_non_null(rig_find(rig, 5, 200, 0x40000000));
	assert_int_equal(rig->fake.asked[TARGET_MAPS], asked);
}

static void test_process__exec_without_side_band_is_listed(void **state)
{
	struct rig *rig = *state;

	rig->fake.maps = TWO_MAPPINGS;
	rig_event(rig, EVENT_EXEC, 5, 200, 0, 0);
	rig_turn(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 1);
	rig_settle(rig);
	assert_non_null(rig_find(rig, 5, 200, 0x10000000));
}

static void test_process__exit_frees_the_slot(void **state)
{
	struct rig *rig = *state;
	struct tracker *tracker = session_tracker(rig->session);

	seen(rig, 5, 100);
	rig_settle(rig);
	rig_event(rig, EVENT_EXIT, 5, 100, 0, 0);
	rig_turn(rig);
	assert_null(rig_find(rig, 5, 100, 0x10000000));
	assert_non_null(processes_find(tracker_processes(tracker), 5, 100));
	rig->now += 5 * NS_PER_SECOND;
	rig_turn(rig);
	assert_null(processes_find(tracker_processes(tracker), 5, 100));
}

/* Slots have run out, and one belongs to a process whose exit nobody reported. */
static void test_process__exit_that_was_lost_frees_the_slot(void **state)
{
	struct rig *rig = *state;

	seen(rig, 5, 100);
	rig_settle(rig);
	rig->now += 2 * NS_PER_SECOND;
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 1);
	for (size_t i = 0; i < PROCESS_SLOTS; i++)
		if (rig->slots->slot[i].key == 0)
			rig->slots->slot[i].key = process_slot_key(100000 + (u32)i, 1);
	seen(rig, 6, 101);
	rig_settle(rig);
	assert_null(rig_find(rig, 6, 101, 0x10000000));
	rig->now += 2 * NS_PER_SECOND;
	rig->fake.maps = NULL;
	rig->fake.maps_error = -ENOENT;
	rig_settle(rig);
	assert_null(rig_find(rig, 5, 100, 0x10000000));
}

static void test_process__exec_frees_the_slot_of_the_old_program(void **state)
{
	struct rig *rig = *state;

	seen(rig, 5, 100);
	rig_settle(rig);
	rig->fake.maps = NULL;
	rig_event(rig, EVENT_EXEC, 5, 200, 0, 0);
	rig_turn(rig);
	assert_null(rig_find(rig, 5, 100, 0x10000000));
	rig_event(rig, EVENT_EXIT, 5, 200, 0, 0);
	rig_settle(rig);
	for (size_t i = 0; i < PROCESS_SLOTS; i++)
		assert_int_equal(rig->slots->slot[i].key, 0);
}

/* /proc/PID/maps of a process whose main thread has exited is empty. */
static void test_process__failed_listing_is_tried_through_a_thread(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000000 | FRAME_EXACT};

	seen(rig, 5, 100);
	rig->fake.maps = "";
	rig_settle(rig);
	assert_null(rig_find(rig, 5, 100, 0x10000000));
	rig->now += NS_PER_SECOND;
	rig_sample(rig, 5, 100, REASON_cut_not_ready, frames, 0, 1)->tid = 7;
	rig_turn(rig);
	rig_turn(rig);
	assert_int_equal(rig->fake.count, 1);
	if (rig->fake.requests[0].process.thread == 5) {
		fake_target_answer(&rig->fake);
		rig->now += NS_PER_SECOND;
		rig_sample(rig, 5, 100, REASON_cut_not_ready, frames, 0, 1)->tid = 7;
		rig_turn(rig);
		rig_turn(rig);
	}
	assert_int_equal(rig->fake.requests[0].process.thread, 7);
	rig->fake.maps = TWO_MAPPINGS;
	rig_settle(rig);
	assert_non_null(rig_find(rig, 5, 100, 0x10000000));
}

static void test_process__file_rewritten_in_place_is_identified_again(void **state)
{
	struct rig *rig = *state;
	uint64_t version, asked;

	seen(rig, 5, 100);
	rig_settle(rig);
	version = rig_version(rig, 5, 100);
	asked = rig->fake.asked[TARGET_OBJECT];
	rig->now += 100 * NS_PER_MS;
	rig->fake.identity.change_time = 2;
	seen(rig, 6, 101);
	rig_settle(rig);
	assert_true(rig->fake.asked[TARGET_OBJECT] > asked);
	assert_int_not_equal(rig_version(rig, 5, 100), version);
	version = rig_version(rig, 6, 101);
	rig_settle(rig);
	assert_int_equal(rig_version(rig, 6, 101), version);
	assert_non_null(rig_find(rig, 6, 101, 0x10000000));
}

static void test_process__mapping_over_another_changes_the_version(void **state)
{
	struct rig *rig = *state;
	uint64_t version;

	seen(rig, 5, 100);
	rig_settle(rig);
	version = rig_version(rig, 5, 100);
	build_mmap(&rig->build, ++rig->now, 5, 0x50000000, 0x1000, 0, 0x50000, PROT_EXEC, "/lib/x");
	rig_settle(rig);
	assert_int_equal(rig_version(rig, 5, 100), version);
	build_mmap(&rig->build, ++rig->now, 5, 0x50000000, 0x1000, 0, 0x50000, PROT_EXEC, "/lib/x");
	rig_settle(rig);
	assert_int_equal(rig_version(rig, 5, 100), version);
	build_mmap(&rig->build, ++rig->now, 5, 0x50000000, 0x1000, 0, 0x50001, PROT_EXEC, "/lib/y");
	rig_settle(rig);
	assert_int_not_equal(rig_version(rig, 5, 100), version);
}

static void test_process__unknown_address_is_listed_with_growing_gaps(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x66660000 | FRAME_EXACT};
	struct session_totals totals;
	struct message_summary summary;

	seen(rig, 5, 100);
	rig_settle(rig);
	for (int i = 0; i < 300; i++) {
		rig_sample(rig, 5, 100, REASON_cut_no_mapping, frames, 0, 1);
		rig_turn(rig);
		fake_target_answer(&rig->fake);
	}
	session_totals(rig->session, &totals);
	assert_in_range(totals.relists, 4, 6);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.limit[LIMIT_listings], 0);
}

/*
 * Each waiting process counts once, however often somebody looks at it. The last ten wait to be
 * listed again. The gap of the others is over, and they wait to be listed once more.
 */
static void test_process__listings_put_off_are_counted_once(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x66660000 | FRAME_EXACT};
	const uint32_t processes = TRACKER_RELISTS_PER_SECOND + 10;
	struct message_summary summary;

	rig->now -= rig->now % NS_PER_SECOND;
	for (uint32_t i = 0; i < processes; i++) {
		seen(rig, 1000 + i, 100);
		rig_turn(rig);
		fake_target_answer(&rig->fake);
	}
	rig_settle(rig);
	rig->now += 2 * NS_PER_SECOND;
	rig->now -= rig->now % NS_PER_SECOND;
	for (int turn = 0; turn < 3; turn++) {
		for (uint32_t i = 0; i < processes; i++)
			rig_sample(rig, 1000 + i, 100, REASON_cut_no_mapping, frames, 0, 1);
		rig_turn(rig);
		rig_turn(rig);
		session_summary(rig->session, &summary);
		assert_int_equal(summary.limit[LIMIT_listings], turn == 0 ? 10 : processes);
		fake_target_answer(&rig->fake);
	}
}

static void test_process__losses_make_all_doubtful(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000000 | FRAME_EXACT};
	struct message_summary summary;

	seen(rig, 5, 100);
	rig_settle(rig);
	build_lost(&rig->build, ++rig->now, 10);
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 1);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 2);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 2);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.limit[LIMIT_sideband], 10);
}

/* A question without an answer mends nothing: the process stays in doubt and is asked for again. */
static void test_process__losses_are_mended_by_answers_alone(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000000 | FRAME_EXACT};
	const char *maps;
	size_t asked;

	seen(rig, 5, 100);
	maps = rig->fake.maps;
	rig_settle(rig);
	build_lost(&rig->build, ++rig->now, 10);
	rig_settle(rig);
	rig->fake.maps = NULL;
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	asked = rig->fake.asked[TARGET_MAPS];
	rig->fake.maps = maps;
	rig->now += 150 * NS_PER_MS;
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_true(rig->fake.asked[TARGET_MAPS] > asked);
	asked = rig->fake.asked[TARGET_MAPS];
	rig->now += 150 * NS_PER_MS;
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], asked);
}

/* The side-band's records about a denied program's start are not kept: an EXEC finds nothing. */
static void test_process__a_denied_start_leaves_nothing(void **state)
{
	struct rig *rig = *state;

	seen(rig, 5, 100);
	rig_settle(rig);
	rig_event(rig, EVENT_DENIED, 5, 100, 0, 0);
	build_comm(&rig->build, ++rig->now, 5, 5, "secret", 1);
	build_mmap(&rig->build, ++rig->now, 5, 0x1000, 0x1000, 0, 0x1, PROT_EXEC, "/secret");
	rig_settle(rig);
	assert_null(rig_find(rig, 5, 100, 0x1000));
	rig_event(rig, EVENT_EXIT, 5, 100, 0, 0);
	/* and now one that nobody denies */
	build_comm(&rig->build, ++rig->now, 5, 5, "x", 1);
	build_mmap(&rig->build, ++rig->now, 5, 0x3000, 0x1000, 0, 0x1, PROT_EXEC, "/x");
	rig_event(rig, EVENT_EXEC, 5, 101, 0, 0);
	rig_turn(rig);
	assert_non_null(rig_find(rig, 5, 101, 0x3000));
	assert_null(rig_find(rig, 5, 101, 0x1000));
}

/* A rule that holds only at the end of the exec denies the program, and its kept records go. */
static void test_process__denied_at_the_end_of_its_start(void **state)
{
	struct rig *rig = *state;

	build_comm(&rig->build, ++rig->now, 5, 5, "sudo", 1);
	build_mmap(&rig->build, ++rig->now, 5, 0x1000, 0x1000, 0, 0x1, PROT_EXEC, "/sudo");
	rig_event(rig, EVENT_EXIT, 5, 100, 0, 0);
	rig_turn(rig);
	rig_event(rig, EVENT_EXEC, 5, 101, 0, 0);
	rig_turn(rig);
	assert_null(rig_find(rig, 5, 101, 0x1000));
}

/* An event that another CPU has not finished may concern the process of a new listing. */
static void test_process__an_unfinished_event_holds_up_listings_and_samples(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000000 | FRAME_EXACT};
	uint32_t *unfinished;

	seen(rig, 5, 100);
	rig_turn(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 1);
	unfinished = rig_unfinished(rig);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 1);
	assert_null(rig_find(rig, 5, 100, 0x10000000));
	assert_true(session_waiting(rig->session));
	rig_finish(unfinished);
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 2);
	assert_non_null(rig_find(rig, 5, 100, 0x10000000));
	assert_false(session_waiting(rig->session));
}

static void tell_start(struct rig *rig, const char *path)
{
	build_comm(&rig->build, ++rig->now, 5, 5, "x", 1);
	build_mmap(&rig->build, ++rig->now, 5, 0x30000000, 0x4000, 0x1000, 0x30000, PROT_EXEC,
		   path);
}

/* The records belong to no process, so the next path names a file of the same number. */
static void test_process__a_start_that_came_to_nothing_leaves_no_path(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x30000000 | FRAME_EXACT};

	seen(rig, 7, 100);
	rig_settle(rig);
	tell_start(rig, "/old");
	rig_event(rig, EVENT_EXIT, 5, 100, 0, 0);
	rig_turn(rig);
	rig->now += 2 * NS_PER_SECOND;
	rig_turn(rig);
	tell_start(rig, "/new");
	rig_event(rig, EVENT_EXEC, 5, 101, 0, 0);
	rig_settle(rig);
	rig_sample(rig, 5, 101, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	session_finish(rig->session);
	rig_check_stack(rig, 0, "new+0x1000");
}

/* No start is kept for processes that are not followed. A followed process needs no listing. */
static void test_process__where_only_some_are_followed(void **state)
{
	struct rig *rig = *state;

	rig->parts.config.flags |= OPTIONS_SOME;
	rig_restart(rig, 0);
	seen(rig, 7, 99);
	rig_settle(rig);
	tell_start(rig, "/other");
	rig_event(rig, EVENT_EXEC, 5, 100, 0, 0);
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 2);
	assert_null(rig_find(rig, 5, 100, 0x30000000));
	tell_start(rig, "/followed");
	rig_event(rig, EVENT_EXEC, 5, 101, 0, 0);
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 2);
	assert_non_null(rig_find(rig, 5, 101, 0x30000000));
}

static void test_process__launches_are_bounded(void **state)
{
	struct rig *rig = *state;

	for (uint32_t pid = 1000; pid < 3000; pid++) {
		build_comm(&rig->build, ++rig->now, pid, pid, "x", 1);
		build_mmap(&rig->build, ++rig->now, pid, 0x1000, 0x1000, 0, 0x1, PROT_EXEC, "/x");
		rig_turn(rig);
	}
	rig_event(rig, EVENT_EXEC, 2999, 1, 0, 0);
	rig_event(rig, EVENT_EXEC, 1000, 2, 0, 0);
	rig_turn(rig);
	assert_non_null(rig_find(rig, 2999, 1, 0x1000));
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 1);
}

static void test_process__broker_gone_is_survived(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000000 | FRAME_EXACT};

	rig->fake.maps = NULL;
	rig_event(rig, EVENT_SEEN, 5, 100, 0, 0);
	rig_sample(rig, 5, 100, REASON_cut_not_ready, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(session_finish(rig->session), 0);
	assert_false(session_waiting(rig->session));
}

static void test_process__child_has_the_cgroup_of_its_parent(void **state)
{
	static const u64 frames[] = {0x10000100 | FRAME_EXACT};
	struct rig *rig = *state;

	rig->cgroup = 815;
	seen(rig, 5, 100);
	rig->cgroup = 0;
	rig_event(rig, EVENT_FORK, 6, 101, 5, 100);
	rig_sample(rig, 6, 101, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(session_finish(rig->session), 0);
	assert_int_equal(profile_sample_get(session_profile(rig->session), 0).cgroup, 815);
}

/* The first event about a named process has the cgroup of the reader of the iterator. */
static void test_process__seen_again_has_its_own_cgroup(void **state)
{
	static const u64 frames[] = {0x10000100 | FRAME_EXACT};
	struct rig *rig = *state;

	rig_seen(rig, 5, 100, "10000000-10004000 r-xp 00000000 08:01 65536 /bin/program\n",
		 "/dev/null");
	rig_settle(rig);
	rig->cgroup = 815;
	rig_event(rig, EVENT_SEEN, 5, 100, 0, 0);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(session_finish(rig->session), 0);
	assert_int_equal(profile_sample_get(session_profile(rig->session), 0).cgroup, 815);
	assert_int_equal(profile_samples(session_profile(rig->session)), 1);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 1);
}

/* ---- processes that were there before ---- */

static void found(struct rig *rig, uint32_t pid, uint64_t runtime)
{
	rig->fake.maps = TWO_MAPPINGS;
	rig->fake.object = "/proc/self/exe";
	rig->fake.identity.device = makedev(8, 1);
	rig_event(rig, EVENT_FOUND, pid, 1000 + pid, 0, runtime);
}

static bool is_asked_about(const struct rig *rig, uint32_t pid)
{
	for (size_t i = 0; i < rig->fake.count; i++)
		if (rig->fake.requests[i].process.pid == pid)
			return true;
	return false;
}

static void test_process__found_are_listed_by_runtime(void **state)
{
	struct rig *rig = *state;

	for (uint32_t i = 0; i < 3 * LISTINGS_AT_ONCE; i++)
		found(rig, 10 + i, 1000 * i);
	rig_turn(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], LISTINGS_AT_ONCE);
	assert_true(is_asked_about(rig, 10 + 3 * LISTINGS_AT_ONCE - 1));
	assert_true(is_asked_about(rig, 10 + 2 * LISTINGS_AT_ONCE));
	assert_false(is_asked_about(rig, 10 + 2 * LISTINGS_AT_ONCE - 1));
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 3 * LISTINGS_AT_ONCE);
	for (uint32_t i = 0; i < 3 * LISTINGS_AT_ONCE; i++)
		assert_non_null(rig_find(rig, 10 + i, 1010 + i, 0x10000000));
}

/* A sample asks for the listing of its process, whatever the others have used. */
static void test_process__found_and_sampled_is_listed_next(void **state)
{
	static const u64 frames[] = {0x10000100 | FRAME_EXACT};
	struct rig *rig = *state;

	for (uint32_t i = 0; i < 2 * LISTINGS_AT_ONCE; i++)
		found(rig, 10 + i, 1000 * i);
	rig_turn(rig);
	assert_false(is_asked_about(rig, 10));
	rig_sample(rig, 10, 1010, REASON_cut_not_ready, frames, 0, 1);
	rig_turn(rig);
	rig_turn(rig);
	assert_true(is_asked_about(rig, 10));
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 2 * LISTINGS_AT_ONCE);
}

static void test_process__found_may_end_before_its_turn(void **state)
{
	struct rig *rig = *state;

	for (uint32_t i = 0; i < 2 * LISTINGS_AT_ONCE; i++)
		found(rig, 10 + i, 1000 * i);
	rig_event(rig, EVENT_EXIT, 10, 1010, 0, 0);
	rig_event(rig, EVENT_EXEC, 11, 5000, 0, 0); /* listed at once */
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 2 * LISTINGS_AT_ONCE - 1);
	assert_null(rig_find(rig, 10, 1010, 0x10000000));
	assert_non_null(rig_find(rig, 11, 5000, 0x10000000));
}

/* ---- work ---- */

static size_t count_awake(const struct rig *rig)
{
	const struct process *process =
		processes_awake(tracker_processes(session_tracker(rig->session)));
	size_t count = 0;

	for (; process; process = process->awake_next)
		count++;
	return count;
}

static void test_process__rests_when_its_work_is_done(void **state)
{
	struct rig *rig = *state;

	seen(rig, 5, 100);
	rig_turn(rig);
	assert_int_equal(count_awake(rig), 0); /* its listing is under way */
	rig_settle(rig);
	assert_int_equal(count_awake(rig), 0);
	rig_event(rig, EVENT_FORK, 6, 101, 5, 100);
	rig_turn(rig);
	assert_int_equal(count_awake(rig), 0);
	build_mmap(&rig->build, ++rig->now, 6, 0x20000000, 0x1000, 0x1000, 0x30000, PROT_EXEC,
		   "/lib/y");
	rig_turn(rig);
	assert_int_equal(count_awake(rig), 1); /* for an object */
	rig_settle(rig);
	assert_int_equal(count_awake(rig), 0);
	rig_event(rig, EVENT_EXIT, 6, 101, 0, 0);
	rig_turn(rig);
	assert_int_equal(count_awake(rig), 0);
}

/* All of a family get the block in which the object's table is ready. */
static void test_process__family_is_published_together(void **state)
{
	struct rig *rig = *state;

	seen(rig, 5, 100);
	rig_turn(rig);
	fake_target_answer(&rig->fake);
	rig_event(rig, EVENT_FORK, 6, 101, 5, 100);
	rig_event(rig, EVENT_FORK, 7, 102, 6, 101);
	rig_settle(rig);
	assert_int_equal(rig_find(rig, 5, 100, 0x10000000)->flags & MAPPING_PENDING, 0);
	assert_ptr_equal(rig_find(rig, 6, 101, 0x10000000), rig_find(rig, 5, 100, 0x10000000));
	assert_ptr_equal(rig_find(rig, 7, 102, 0x10000000), rig_find(rig, 5, 100, 0x10000000));
	assert_int_equal(count_awake(rig), 0);
}

static void test_process__slot_that_gets_free_is_taken(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < PROCESS_SLOTS; i++)
		rig->slots->slot[i].key = process_slot_key(100000 + (u32)i, 1);
	seen(rig, 5, 100);
	rig_settle(rig);
	assert_null(rig_find(rig, 5, 100, 0x10000000));
	assert_int_equal(count_awake(rig), 0);
	memset(rig->slots, 0, sizeof(*rig->slots));
	rig->now += NS_PER_SECOND;
	rig_settle(rig);
	assert_non_null(rig_find(rig, 5, 100, 0x10000000));
}

/* A record that came late still finds the process and the mapping that ended before. */
static void test_process__ended_is_kept_for_records_that_wait(void **state)
{
	static const u64 frames[] = {0x7f0000000100 | FRAME_EXACT};
	struct rig *rig = *state;
	struct tracker *tracker = session_tracker(rig->session);

	seen(rig, 5, 100);
	rig_settle(rig);
	rig_sample(rig, 6, 600, REASON_cut_not_ready, frames, 0, 1); /* waits for its listing */
	rig_turn(rig);
	rig_event(rig, EVENT_EXIT, 5, 100, 0, 0);
	rig_turn(rig);
	rig->now += NS_PER_SECOND + 100 * NS_PER_MS;
	rig_turn(rig);
	assert_non_null(processes_find(tracker_processes(tracker), 5, 100));
	rig_settle(rig);
	rig->now += 2 * NS_PER_SECOND;
	rig_turn(rig);
	assert_null(processes_find(tracker_processes(tracker), 5, 100));
}

static void test_process__events_keep_the_session_busy(void **state)
{
	struct rig *rig = *state;

	rig_turn(rig);
	assert_false(session_is_busy(rig->session));
	seen(rig, 5, 100);
	rig_turn(rig);
	assert_true(session_is_busy(rig->session));
	rig_turn(rig);
	assert_false(session_is_busy(rig->session));
	build_comm(&rig->build, ++rig->now, 5, 5, "fresh", 1);
	rig_turn(rig);
	assert_true(session_is_busy(rig->session));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_process__seen_is_listed_and_published),
		RIG_TEST(test_process__fork_shares_at_once),
		RIG_TEST(test_process__exec_needs_no_listing),
		RIG_TEST(test_process__exec_without_side_band_is_listed),
		RIG_TEST(test_process__exit_frees_the_slot),
		RIG_TEST(test_process__exit_that_was_lost_frees_the_slot),
		RIG_TEST(test_process__exec_frees_the_slot_of_the_old_program),
		RIG_TEST(test_process__failed_listing_is_tried_through_a_thread),
		RIG_TEST(test_process__file_rewritten_in_place_is_identified_again),
		RIG_TEST(test_process__mapping_over_another_changes_the_version),
		RIG_TEST(test_process__unknown_address_is_listed_with_growing_gaps),
		RIG_TEST(test_process__listings_put_off_are_counted_once),
		RIG_TEST(test_process__losses_make_all_doubtful),
		RIG_TEST(test_process__losses_are_mended_by_answers_alone),
		RIG_TEST(test_process__a_denied_start_leaves_nothing),
		RIG_TEST(test_process__denied_at_the_end_of_its_start),
		RIG_TEST(test_process__an_unfinished_event_holds_up_listings_and_samples),
		RIG_TEST(test_process__a_start_that_came_to_nothing_leaves_no_path),
		RIG_TEST(test_process__where_only_some_are_followed),
		RIG_TEST(test_process__launches_are_bounded),
		RIG_TEST(test_process__broker_gone_is_survived),
		RIG_TEST(test_process__child_has_the_cgroup_of_its_parent),
		RIG_TEST(test_process__seen_again_has_its_own_cgroup),
		RIG_TEST(test_process__found_are_listed_by_runtime),
		RIG_TEST(test_process__found_and_sampled_is_listed_next),
		RIG_TEST(test_process__found_may_end_before_its_turn),
		RIG_TEST(test_process__rests_when_its_work_is_done),
		RIG_TEST(test_process__family_is_published_together),
		RIG_TEST(test_process__slot_that_gets_free_is_taken),
		RIG_TEST(test_process__ended_is_kept_for_records_that_wait),
		RIG_TEST(test_process__events_keep_the_session_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
