/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/session_rig.h"
#include "profile/profile.h"
#include "worker/sample/samples.h"

#define TEXT "10000000-10004000 r-xp 00000000 08:01 65536 /bin/program\n"

static void start(struct rig *rig, uint32_t pid, uint64_t generation)
{
	rig_seen(rig, pid, generation, TEXT, "/dev/null");
}

static size_t resolved(const struct rig *rig)
{
	return profile_samples(session_profile(rig->session));
}

static void test_samples__wait_for_the_next_side_band(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x20000010 | FRAME_EXACT};

	start(rig, 5, 100);
	rig_settle(rig);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_turn(rig);
	assert_int_equal(resolved(rig), 0);
	/* The record of the mapping comes late, but its time is before the sample. */
	build_mmap(&rig->build, rig->now - 20 * 1000 * 1000, 5, 0x20000000, 0x1000, 0, 0, PROT_EXEC,
		   "//anon");
	rig_turn(rig);
	assert_int_equal(rig->fake.requests[0].kind, TARGET_CODE);
	fake_target_answer(&rig->fake);
	rig_turn(rig);
	assert_int_equal(resolved(rig), 1);
	session_finish(rig->session);
	rig_check_stack(rig, 0, "[anon]");
}

/* The summary is about the profile, which has no record that is held. */
static void test_samples__held_records_are_not_in_the_summary(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x20000010 | FRAME_EXACT};
	struct message_summary summary;

	start(rig, 5, 100);
	rig_settle(rig);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_turn(rig);
	assert_int_equal(resolved(rig), 0);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.reason[REASON_end_root], 0);
	session_finish(rig->session);
	assert_int_equal(resolved(rig), 1);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.reason[REASON_end_root], 1);
}

static void test_samples__return_addresses_are_one_less(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT, 0x10000200, 0x10004000};

	start(rig, 5, 100);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 3);
	rig_settle(rig);
	assert_int_equal(resolved(rig), 1);
	session_finish(rig->session);
	rig_check_stack(rig, 0, "program+0x100;program+0x1ff;program+0x3fff");
}

static void test_samples__kernel_comes_first_and_cuts_last(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {KERNEL_FRAME(0, 0x500), KERNEL_FRAME(0, 0x600),
			      KERNEL_FRAME(KERNEL_RANGE_UNKNOWN, 0), 0x10000100 | FRAME_EXACT,
			      0x99999999};

	start(rig, 5, 100);
	rig_sample(rig, 5, 100, REASON_cut_stack_order, frames, 3, 2);
	rig_settle(rig);
	session_finish(rig->session);
	rig_check_stack(rig, 0,
			"[kernel]+0x500;[kernel]+0x5ff;[kernel unknown]+0x0;program+0x100;"
			"[unknown];[cut: stack_order]");
}

/* One marker, before the first frame to which the walk guessed the way. */
static void test_samples__guesses_are_marked(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT, 0x10000200 | FRAME_GUESSED, 0x10000300,
			      0x10000400 | FRAME_GUESSED};

	start(rig, 5, 100);
	rig_sample(rig, 5, 100, REASON_guess_root, frames, 0, 4);
	rig_settle(rig);
	session_finish(rig->session);
	rig_check_stack(rig, 0,
			"program+0x100;[guessed];program+0x1ff;program+0x2ff;program+0x3ff");
}

/* Samples that were cut for another cause would be cut with a table as well. */
static void test_samples__cut_for_want_of_a_table(void **state)
{
	static const struct {
		unsigned int reason, more;
	} cases[] = {
		{REASON_cut_depth, 0},	    {REASON_cut_budget, 0},    {REASON_cut_read, 0},
		{REASON_cut_exec, 0},	    {REASON_cut_not_ready, 0}, {REASON_cut_no_slot, 0},
		{REASON_cut_no_room, 0},    {REASON_end_root, 0},      {REASON_cut_no_rule, 1},
		{REASON_cut_not_a_call, 1},
	};
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT, 0x10000200};
	struct message_summary summary;
	uint64_t wanted = 0;

	start(rig, 5, 100);
	rig_settle(rig);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		rig_sample(rig, 5, 100, cases[i].reason, frames, 0, 2);
		rig_settle(rig);
		wanted += cases[i].more;
		session_summary(rig->session, &summary);
		assert_int_equal(summary.object[0].samples, wanted);
	}
	assert_string_equal(summary.object[0].name, "program");
	assert_int_equal(resolved(rig), sizeof(cases) / sizeof(*cases));
}

static void test_samples__what_the_kernel_part_lacks_is_counted(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {KERNEL_FRAME(0, 0x500), KERNEL_FRAME(KERNEL_RANGE_UNKNOWN, 0)};
	struct message_summary summary;

	start(rig, 5, 100);
	rig_sample(rig, 5, 100, REASON_end_no_user, frames, 2, 0)->flags = RECORD_FLAG_KERNEL_CUT;
	rig_sample(rig, 5, 100, REASON_end_no_user, frames, 1, 0);
	rig_settle(rig);
	session_finish(rig->session);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.limit[LIMIT_kernel_stack], 1);
	assert_int_equal(summary.limit[LIMIT_kernel_ranges], 1);
	assert_int_equal(summary.limit[LIMIT_slots], 0);
	assert_int_equal(summary.unkept, 0);
}

static void test_samples__names_of_process_and_thread(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};
	const struct profile *profile = session_profile(rig->session);
	size_t count;

	start(rig, 5, 100);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->tid = 6;
	rig_settle(rig);
	memcpy(rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->comm, "main", 5);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->tid = 6;
	rig_sample(rig, 9, 0, REASON_end_no_user, frames, 0, 0);
	rig_settle(rig);
	count = profile_samples(profile);
	assert_int_equal(count, 4);
	assert_string_equal(
		profile_string_get(profile, profile_sample_get(profile, 0).process_name),
		"program");
	assert_string_equal(profile_string_get(profile, profile_sample_get(profile, 0).thread_name),
			    "thread");
	assert_string_equal(
		profile_string_get(profile, profile_sample_get(profile, 1).process_name), "main");
	assert_string_equal(
		profile_string_get(profile, profile_sample_get(profile, 2).process_name), "main");
	assert_string_equal(profile_string_get(profile, profile_sample_get(profile, 2).thread_name),
			    "thread");
	assert_string_equal(
		profile_string_get(profile, profile_sample_get(profile, 3).process_name), "thread");
	assert_int_equal(profile_sample_get(profile, 0).cgroup, 4711);
}

static const char *cgroup_of(const struct profile *profile, size_t sample)
{
	const size_t count = profile_samples(profile);

	assert_true(sample < count);
	return profile_string_get(
		profile,
		profile_cgroup_get(profile, profile_sample_get(profile, sample).cgroup).path);
}

static const char *program_of(const struct profile *profile, size_t sample)
{
	return profile_string_get(
		profile, profile_process_get(profile, profile_sample_get(profile, sample).process)
				 .executable);
}

static uint64_t created(const struct profile *profile, size_t sample)
{
	return profile_process_get(profile, profile_sample_get(profile, sample).process).created;
}

/* OTLP wants to know of the CPU and the program. A program that follows another one is as old. */
static void test_samples__details(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};
	const struct profile *profile;
	uint64_t forked;

	rig->parts.config.format = FORMAT_otlp;
	rig_restart(rig, 1);
	profile = session_profile(rig->session);
	start(rig, 5, 100);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->cpu = 3;
	rig_settle(rig);
	assert_int_equal(profile_sample_get(profile, 0).cpu, 4);
	assert_string_equal(program_of(profile, 0), "/bin/program");
	assert_int_equal(created(profile, 0), 0);
	forked = rig->now;
	rig_event(rig, EVENT_FORK, 6, 101, 5, 100);
	rig_sample(rig, 6, 101, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	rig_event(rig, EVENT_EXEC, 6, 102, 0, 0);
	rig_sample(rig, 6, 102, REASON_end_root, frames, 0, 0);
	rig_settle(rig);
	session_finish(rig->session);
	assert_int_equal(profile_moments(profile), 3);
	assert_string_equal(program_of(profile, 1), "/bin/program");
	assert_true(created(profile, 1) > forked);
	assert_int_equal(created(profile, 2), created(profile, 1));
	assert_int_equal(profile_sample_get(profile, 2).pid, 6);
}

#define CONTEXT_MAPS                                                      \
	"10000000-10004000 r-xp 00001000 08:01 65536 /bin/program\n"      \
	"20000000-20001000 r--p 00000000 00:01 2057                     " \
	"/memfd:OTEL_CTX (deleted)\n"
/* service.name=late, and service.name=next, as ProcessContext */
#define LATE "\x0a\x18\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04late"
#define NEXT "\x0a\x18\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04next"

static const char *attributes_of(const struct profile *profile, size_t sample)
{
	const uint32_t process = profile_sample_get(profile, sample).process;

	return profile_string_get(profile, profile_process_get(profile, process).attributes);
}

static void sample_later(struct rig *rig, const u64 *frames)
{
	rig->now += 5 * NS_PER_SECOND;
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
}

/* A sample from before the context has its attributes as well. */
static void test_samples__late_contexts(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};
	const struct profile *profile;

	rig->parts.config.format = FORMAT_otlp;
	rig_restart(rig, 1);
	profile = session_profile(rig->session);
	start(rig, 5, 100);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_string_equal(attributes_of(profile, 0), "");
	rig->fake.maps = CONTEXT_MAPS;
	rig->fake.context = LATE;
	rig->fake.context_size = sizeof(LATE) - 1;
	sample_later(rig, frames); /* the process is listed anew */
	sample_later(rig, frames);
	assert_string_equal(attributes_of(profile, 0), "service.name=late\n");
	rig->fake.context = NEXT;
	for (int i = 0; i < 3; i++)
		sample_later(rig, frames);
	assert_string_equal(attributes_of(profile, 0), "service.name=next\n");
}

/* Other formats have no resources, and nobody asks. */
static void test_samples__contexts_of_other_formats(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};
	size_t listings;

	rig->parts.config.format = FORMAT_pprof;
	rig_restart(rig, 1);
	start(rig, 5, 100);
	rig_settle(rig);
	rig->fake.maps = CONTEXT_MAPS;
	listings = rig->fake.asked[TARGET_MAPS];
	for (int i = 0; i < 10; i++)
		sample_later(rig, frames);
	assert_int_equal(rig->fake.asked[TARGET_CONTEXT], 0);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], listings);
}

/* The span of a thread is behind all other words, in whichever order these are. */
static void test_samples__links(void **state)
{
	struct rig *rig = *state;
	const u64 list[] = {RUNTIME_WORD_FRAME | 0x5000, 0};
	u64 words[] = {0x10000100 | FRAME_EXACT, list[0], list[1], 1, 2, 3};
	const u64 first[] = {list[0], list[1], 0x10000100 | FRAME_EXACT, 4, 5, 6};
	struct profile_link link;
	struct session_totals totals;
	const struct profile *profile;

	rig->parts.config.format = FORMAT_otlp;
	rig_restart(rig, 1);
	profile = session_profile(rig->session);
	start(rig, 5, 100);
	rig_sample_context(rig, 5, 100, words, 1, 2, 0);
	rig_sample_context(rig, 5, 100, first, 1, 2, RECORD_FLAG_LIST_FIRST);
	rig_sample(rig, 5, 100, REASON_end_root, words, 0, 1);
	rig_settle(rig);
	session_finish(rig->session);
	link = profile_link_get(profile, profile_sample_get(profile, 0).link);
	assert_memory_equal(&link, words + 3, sizeof(link));
	link = profile_link_get(profile, profile_sample_get(profile, 1).link);
	assert_memory_equal(&link, first + 3, sizeof(link));
	assert_int_equal(profile_sample_get(profile, 2).link, 0);
	session_totals(rig->session, &totals);
	assert_int_equal(totals.contexts[CONTEXT_TAKEN], 2);
	assert_int_equal(totals.contexts[CONTEXT_NOT_PUBLISHED], 1);
	assert_int_equal(totals.links_lost, 0);
}

/* Formats that show no links have equal samples where only the spans differ. */
static void test_samples__no_links_for_other_formats(void **state)
{
	struct rig *rig = *state;
	u64 words[] = {0x10000100 | FRAME_EXACT, 1, 2, 3};

	start(rig, 5, 100);
	for (; words[3] < 6; words[3]++)
		rig_sample_context(rig, 5, 100, words, 1, 0, 0);
	rig_settle(rig);
	session_finish(rig->session);
	assert_int_equal(resolved(rig), 1);
	assert_int_equal(profile_sample_get(session_profile(rig->session), 0).count, 3);
}

static void test_samples__dropped_paths_of_programs(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};
	const struct profile *profile;

	rig->parts.config.format = FORMAT_otlp;
	rig_restart(rig, 1);
	profile = session_profile(rig->session);
	start(rig, 5, 100);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_string_equal(program_of(profile, 0), "");
	assert_int_equal(profile_sample_get(profile, 0).process, 1);
}

/* A path may come later than the first sample. A sample is in the cgroup of its time. */
static void test_samples__paths_of_cgroups(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};
	const struct profile *profile = session_profile(rig->session);

	start(rig, 5, 100);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_string_equal(cgroup_of(profile, 0), "");
	rig_cgroup(rig, 4711, "here");
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->tid = 6;
	rig->cgroup = 815;
	rig_event(rig, EVENT_MOVED, 5, 100, 0, 0);
	rig_cgroup(rig, 815, "there");
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->tid = 7;
	rig_settle(rig);
	assert_string_equal(cgroup_of(profile, 0), "/here");
	assert_string_equal(cgroup_of(profile, 1), "/here");
	assert_string_equal(cgroup_of(profile, 2), "/there");
}

/* A process that exits belongs to its cgroup until its memory is given back. */
static void test_samples__cgroup_of_a_process_that_exits(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {KERNEL_FRAME(0, 0x100)};
	const struct profile *profile = session_profile(rig->session);

	start(rig, 5, 100);
	rig_cgroup(rig, 4711, "here");
	rig_sample(rig, 5, 0, REASON_end_no_user, frames, 1, 0)->tid = 6; /* before the event */
	rig_event(rig, EVENT_EXIT, 5, 100, 0, 0);
	rig_sample(rig, 5, 0, REASON_end_no_user, frames, 1, 0)->tid = 7;
	rig_sample(rig, 9, 0, REASON_end_no_user, frames, 1, 0)->tid = 8; /* kernel thread */
	rig_settle(rig);
	assert_int_equal(profile_samples(profile), 3);
	assert_string_equal(cgroup_of(profile, 0), "/here");
	assert_string_equal(cgroup_of(profile, 1), "/here");
	assert_int_equal(profile_sample_get(profile, 2).cgroup, 0);
}

static const uint8_t drop_paths[NAMES_KINDS] = {[NAMES_PATH] = NAMES_DROP};

static void test_samples__dropped_paths_of_cgroups(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};
	const struct profile *profile = session_profile(rig->session);

	start(rig, 5, 100);
	rig_cgroup(rig, 4711, "secret");
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	assert_string_equal(cgroup_of(profile, 0), "[dropped]");
	for (uint32_t id = 0; id < profile_strings(profile); id++)
		assert_null(strstr(profile_string_get(profile, id), "secret"));
}

/* No sample gets the mappings of the wrong program, before or after an exec. */
static void test_samples__exec_is_a_boundary(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};

	start(rig, 5, 100);
	rig_settle(rig);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1);
	build_comm(&rig->build, ++rig->now, 5, 5, "fresh", 1);
	build_mmap(&rig->build, ++rig->now, 5, 0x10000000, 0x4000, 0x7000, 0x30000, PROT_EXEC,
		   "/bin/fresh");
	rig_event(rig, EVENT_EXEC, 5, 200, 0, 0);
	rig_sample(rig, 5, 200, REASON_end_root, frames, 0, 1);
	rig->fake.identity.inode = 0x30000;
	rig_settle(rig);
	session_finish(rig->session);
	rig_check_stack(rig, 0, "program+0x100");
	rig_check_stack(rig, 1, "fresh+0x7100");
}

/* An answer between an exec and the look at its event belongs to the new program. */
static void test_samples__answer_after_exec_is_not_the_old_program(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};

	start(rig, 5, 100);
	rig_turn(rig);
	rig_sample(rig, 5, 100, REASON_cut_not_ready, frames, 0, 1);
	build_comm(&rig->build, ++rig->now, 5, 5, "fresh", 1);
	fake_target_answer(&rig->fake);
	rig_event(rig, EVENT_EXEC, 5, 200, 0, 0);
	rig_settle(rig);
	session_finish(rig->session);
	rig_check_stack(rig, 0, "[unknown];[cut: not_ready]");
}

static void test_samples__name_of_the_next_program_is_not_taken(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};
	size_t count;

	start(rig, 5, 100);
	rig_settle(rig);
	memcpy(rig_sample(rig, 5, 100, REASON_cut_exec, frames, 0, 0)->comm, "next", 5);
	memcpy(rig_sample(rig, 5, 100, REASON_end_exec, frames, 0, 0)->comm, "next", 5);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->tid = 6;
	rig_settle(rig);
	count = profile_samples(session_profile(rig->session));
	assert_int_equal(count, 3);
	assert_string_equal(
		profile_string_get(
			session_profile(rig->session),
			profile_sample_get(session_profile(rig->session), 2).process_name),
		"program");
}

static void test_samples__unknown_generation_is_listed(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};

	start(rig, 5, 100);
	rig_settle(rig);
	rig_sample(rig, 5, 300, REASON_cut_not_ready, frames, 0, 1);
	rig_settle(rig);
	assert_int_equal(rig->fake.asked[TARGET_MAPS], 2);
	session_finish(rig->session);
	rig_check_stack(rig, 0, "program+0x100;[cut: not_ready]");
}

static void test_samples__held_bytes_are_bounded(void **state)
{
	struct rig *rig = *state;
	u64 frames[1000];
	struct message_progress progress;
	struct message_summary summary;
	size_t total = 0, count;

	for (size_t i = 0; i < 1000; i++)
		frames[i] = 0x10000000 + 16 * i;
	start(rig, 5, 100);
	/* Nobody answers. */
	for (int i = 0; i < 3000; i++) {
		if (rig->head % RING_BYTES_MIN + RECORD_BYTES_MAX > RING_BYTES_MIN)
			rig->head = (rig->head / RING_BYTES_MIN + 1) * RING_BYTES_MIN;
		rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1000);
		session_turn(rig->session);
		rig->now -= 1;
	}
	session_finish(rig->session);
	session_progress(rig->session, &progress);
	assert_int_equal(progress.samples, 3000);
	count = profile_samples(session_profile(rig->session));
	for (size_t i = 0; i < count; i++)
		total += profile_sample_get(session_profile(rig->session), i).count;
	assert_int_equal(total, 3000);
	session_summary(rig->session, &summary);
	assert_true(summary.limit[LIMIT_held] > 0 && summary.limit[LIMIT_early] > 0);
	assert_int_equal(summary.limit[LIMIT_held] + summary.limit[LIMIT_early], 3000);
}

/* A record that has its answers is not early, whatever the reason for its end. */
static void test_samples__room_is_made_by_those_that_wait_for_nothing(void **state)
{
	struct rig *rig = *state;
	u64 frames[1000];
	struct message_summary summary;

	for (size_t i = 0; i < 1000; i++)
		frames[i] = 0x10000000 + 8 * i + 1;
	start(rig, 5, 100);
	rig_settle(rig);
	for (int i = 0; i < 3000; i++) {
		if (rig->head % RING_BYTES_MIN + RECORD_BYTES_MAX > RING_BYTES_MIN)
			rig->head = (rig->head / RING_BYTES_MIN + 1) * RING_BYTES_MIN;
		rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1000);
		rig_turn(rig);
	}
	session_finish(rig->session);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.limit[LIMIT_held], 0);
	assert_int_equal(summary.limit[LIMIT_early], 0);
}

/* The object of a mapping is still unknown when the time is over. */
static void test_samples__answer_that_does_not_come_is_not_waited_for(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x20000010 | FRAME_EXACT};
	struct message_summary summary;

	start(rig, 5, 100);
	rig_settle(rig);
	build_mmap(&rig->build, ++rig->now, 5, 0x20000000, 0x1000, 0, 0x20000, PROT_EXEC, "/lib/x");
	rig_turn(rig);
	rig_sample(rig, 5, 100, REASON_cut_not_ready, frames, 0, 1);
	rig_turn(rig);
	rig_turn(rig);
	assert_int_equal(resolved(rig), 0);
	rig->now += SAMPLES_HELD_FOR;
	rig_turn(rig);
	assert_int_equal(resolved(rig), 1);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.limit[LIMIT_early], 1);
	assert_int_equal(summary.limit[LIMIT_held], 0);
}

/* A session with these parts on the same memory. */
static int again(struct rig *rig, const char *expression)
{
	memset(rig->parts.config.comm, 0, sizeof(rig->parts.config.comm));
	memcpy(rig->parts.config.comm, expression, strlen(expression));
	session_free(rig->session);
	rig->session = NULL;
	rig->segment = fake_segment();
	rig->head = RING_START(++rig->parts.config.epoch);
	return session_new(&rig->parts, &rig->session)
		       ?: session_attach_segment(rig->session, rig->segment);
}

/*
 * Samples match by the thread's name at that moment, or by the process's name. Others are left out.
 */
static void test_samples__by_name(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {0x10000100 | FRAME_EXACT};
	struct message_progress progress;
	struct message_summary summary;

	assert_int_equal(again(rig, "^(wanted|mai.)$"), 0);
	start(rig, 5, 100);
	rig_settle(rig);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1); /* "thread" of "program" */
	rig_settle(rig);
	assert_int_equal(resolved(rig), 0);
	memcpy(rig_sample(rig, 5, 100, REASON_cut_read, frames, 0, 1)->comm, "wanted", 7);
	rig_settle(rig);
	assert_int_equal(resolved(rig), 1);
	memcpy(rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->comm, "main", 5);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->tid = 6; /* of "main" now */
	rig_sample(rig, 9, 0, REASON_end_no_user, frames, 0, 0);
	rig_settle(rig);
	assert_int_equal(resolved(rig), 3);
	session_finish(rig->session);
	session_progress(rig->session, &progress);
	assert_int_equal(progress.samples, 3);
	assert_int_equal(progress.complete, 2);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.filtered, 2);
	assert_int_equal(summary.reason[REASON_end_root], 2);
	assert_int_equal(summary.reason[REASON_cut_read], 1);
	assert_int_equal(summary.reason[REASON_end_no_user], 0);
	assert_int_equal(summary.unkept + summary.discarded, 0);
}

static void test_samples__expression_that_is_none(void **state)
{
	struct rig *rig = *state;
	char long_one[OPTIONS_COMM_BYTES + 1] = "";

	assert_int_equal(again(rig, "("), -EINVAL);
	assert_int_equal(again(rig, memset(long_one, 'x', OPTIONS_COMM_BYTES)), -EINVAL);
	assert_int_equal(again(rig, "x"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_samples__wait_for_the_next_side_band),
		RIG_TEST(test_samples__held_records_are_not_in_the_summary),
		RIG_TEST(test_samples__return_addresses_are_one_less),
		RIG_TEST(test_samples__kernel_comes_first_and_cuts_last),
		RIG_TEST(test_samples__guesses_are_marked),
		RIG_TEST(test_samples__cut_for_want_of_a_table),
		RIG_TEST(test_samples__what_the_kernel_part_lacks_is_counted),
		RIG_TEST(test_samples__names_of_process_and_thread),
		RIG_TEST(test_samples__details),
		RIG_TEST(test_samples__late_contexts),
		RIG_TEST(test_samples__contexts_of_other_formats),
		RIG_TEST(test_samples__links),
		RIG_TEST(test_samples__no_links_for_other_formats),
		RIG_TEST(test_samples__paths_of_cgroups),
		RIG_TEST(test_samples__cgroup_of_a_process_that_exits),
		RIG_TEST_NAMES(test_samples__dropped_paths_of_programs, drop_paths),
		RIG_TEST_NAMES(test_samples__dropped_paths_of_cgroups, drop_paths),
		RIG_TEST(test_samples__exec_is_a_boundary),
		RIG_TEST(test_samples__answer_after_exec_is_not_the_old_program),
		RIG_TEST(test_samples__name_of_the_next_program_is_not_taken),
		RIG_TEST(test_samples__unknown_generation_is_listed),
		RIG_TEST(test_samples__held_bytes_are_bounded),
		RIG_TEST(test_samples__room_is_made_by_those_that_wait_for_nothing),
		RIG_TEST(test_samples__answer_that_does_not_come_is_not_waited_for),
		RIG_TEST(test_samples__by_name),
		RIG_TEST(test_samples__expression_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
