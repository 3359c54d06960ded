/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code made at run time, from sample and perf-PID.map to the stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/languages.h"
#include "base/redact.h"
#include "base/runtimes.h"
#include "ipc/time.h"
#include "profile/profile.h"
#include "tests/unit/build_jitdump.h"
#include "tests/unit/session_rig.h"
#include "worker/made/names.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/tracker.h"

#define MAPS                                                      \
	"10000000-10004000 r-xp 00001000 08:01 65536 /bin/node\n" \
	"20000000-20100000 rwxp 00000000 00:00 0 \n"
#define MADE 0x20000000ull

static char path[] = "/tmp/keyhole-map-XXXXXX";
static int out = -1;

static int setup(void **state)
{
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	out = mkstemp(path);
	return out < 0 || rig_setup(state);
}

static int teardown(void **state)
{
	close(out);
	unlink(path);
	return rig_teardown(state);
}

static void put(const char *text)
{
	assert_int_equal(write(out, text, strlen(text)), strlen(text));
}

static void start(struct rig *rig, uint32_t pid, uint64_t generation)
{
	rig_seen(rig, pid, generation, MAPS, "/proc/self/exe");
	rig_settle(rig);
}

static void sample_of(struct rig *rig, uint32_t pid, uint64_t generation, uint64_t address)
{
	const u64 frames[] = {address | FRAME_EXACT};

	rig_sample(rig, pid, generation, REASON_end_root, frames, 0, 1);
	rig_turn(rig);
}

static void sample(struct rig *rig, uint64_t address)
{
	sample_of(rig, 5, 100, address);
}

static size_t asked(const struct rig *rig)
{
	return rig->fake.asked[TARGET_CODE];
}

static struct process *find(struct rig *rig, uint32_t pid, uint64_t generation)
{
	struct tracker *tracker = session_tracker(rig->session);

	return processes_find(tracker_processes(tracker), pid, generation);
}

static const struct profile_location *location_of(const struct rig *rig, size_t number)
{
	const struct profile *profile = session_profile(rig->session);
	const uint32_t *locations;

	assert_true(number < profile_samples(profile));
	assert_int_equal(
		profile_stack_get(profile, profile_sample_get(profile, number).stack, &locations),
		1);
	return profile_location_get(profile, locations[0]);
}

static const struct profile_function *function_of(const struct rig *rig, size_t number)
{
	return profile_function_get(session_profile(rig->session),
				    location_of(rig, number)->function);
}

static void check_function(const struct rig *rig, size_t number, const char *name, const char *file,
			   uint32_t line)
{
	const struct profile *profile = session_profile(rig->session);
	const struct profile_function *function = function_of(rig, number);

	assert_string_equal(profile_string_get(profile, function->name), name);
	assert_string_equal(profile_string_get(profile, function->file), file);
	assert_int_equal(function->line, line);
	assert_true(function->named);
}

static const char *object_of(const struct rig *rig, size_t number)
{
	const struct profile *profile = session_profile(rig->session);

	return profile_string_get(
		profile, profile_object_get(profile, function_of(rig, number)->object)->name);
}

static void test_made_names__sample_waits_for_its_name(void **state)
{
	struct rig *rig = *state;

	put("20000100 40 JS:*leaf /srv/app.js:12:7\n20000200 10 Stub\n");
	rig->fake.code = path;
	start(rig, 5, 100);
	find(rig, 5, 100)->mappings->open[0].object->runtime = RUNTIME_NODE;
	assert_int_equal(asked(rig), 0);
	sample(rig, MADE + 0x120);
	rig_turn(rig);
	assert_int_equal(asked(rig), 1);
	assert_int_equal(rig->fake.requests[0].generation, 100);
	assert_int_equal(rig->fake.requests[0].process.pid, 5);
	assert_true(session_waiting(rig->session));
	rig_settle(rig);
	sample(rig, MADE + 0x205);
	rig_settle(rig);
	put("20000100 40 JS:^leaf /srv/app.js:12:7\n20000300 10 late\n");
	sample(rig, MADE + 0x121); /* the same function, of another compiler */
	sample(rig, MADE + 0x300);
	rig_settle(rig);
	assert_int_equal(session_finish(rig->session), 0);
	assert_int_equal(asked(rig), 1);
	assert_int_equal(profile_samples(session_profile(rig->session)), 3);
	check_function(rig, 0, "JS:leaf", "/srv/app.js", 12);
	check_function(rig, 1, "Stub", "", 0);
	check_function(rig, 2, "late", "", 0);
	assert_string_equal(object_of(rig, 0), language_of_made(RUNTIME_NODE)->object);
	assert_int_equal(profile_sample_get(session_profile(rig->session), 0).count, 2);
}

static void test_made_names__none(void **state)
{
	struct rig *rig = *state;

	start(rig, 5, 100);
	sample(rig, 0x10000000);
	rig_settle(rig);
	assert_int_equal(asked(rig), 0); /* in the file alone */
	for (int i = 0; i < 4; i++) {
		sample(rig, MADE);
		rig_settle(rig);
	}
	assert_int_equal(asked(rig), 1); /* nobody asks again at once */
	rig->now += MADE_GAP_MAX;
	put("20000000 10 first\n");
	rig->fake.code = path;
	sample(rig, MADE + 1);
	rig_settle(rig);
	assert_int_equal(asked(rig), 2);
	assert_int_equal(session_finish(rig->session), 0);
	assert_string_equal(object_of(rig, 1), "[anon]");
	check_function(rig, 2, "first", "", 0);
	assert_string_equal(object_of(rig, 2), "[jit]");
}

static void test_made_names__forbidden(void **state)
{
	struct rig *rig = *state;

	rig->fake.code_error = -EPERM;
	start(rig, 5, 100);
	for (int i = 0; i < 10; i++) {
		sample(rig, MADE);
		rig_settle(rig);
		rig->now += MADE_GAP_MAX;
	}
	assert_int_equal(asked(rig), 1);
}

static void test_made_names__another_file(void **state)
{
	char other[] = "/tmp/keyhole-map-XXXXXX";
	const int fd = mkstemp(other);
	struct rig *rig = *state;

	put("20000000 10 old\n");
	rig->fake.code = path;
	start(rig, 5, 100);
	sample(rig, MADE);
	rig_settle(rig);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(write(fd, "20000000 10 new\n", 16), 16);
	rig->fake.code = other;
	rig->now += NS_PER_SECOND;
	sample(rig, MADE);
	rig_settle(rig);
	assert_int_equal(asked(rig), 2);
	assert_int_equal(session_finish(rig->session), 0);
	check_function(rig, 0, "old", "", 0);
	check_function(rig, 1, "new", "", 0);
	close(fd);
	unlink(other);
}

/* A fork has its parent's code, and no file of its own. */
static void test_made_names__forks(void **state)
{
	struct rig *rig = *state;

	put("20000000 10 f\n");
	rig->fake.code = path;
	start(rig, 5, 100);
	sample(rig, MADE);
	rig_settle(rig);
	rig->fake.code = NULL;
	rig_event(rig, EVENT_FORK, 6, 101, 5, 100);
	rig_settle(rig);
	sample_of(rig, 6, 101, MADE);
	rig_settle(rig);
	assert_int_equal(asked(rig), 2);
	assert_int_equal(session_finish(rig->session), 0);
	check_function(rig, 1, "f", "", 0);
}

/* An exec ends what was known: the next program asks for itself. */
static void test_made_names__execs(void **state)
{
	struct rig *rig = *state;

	put("20000000 10 f\n");
	rig->fake.code = path;
	start(rig, 5, 100);
	sample(rig, MADE);
	rig_settle(rig);
	rig->fake.code = NULL;
	start(rig, 5, 200);
	sample_of(rig, 5, 200, MADE);
	rig_settle(rig);
	assert_int_equal(asked(rig), 2);
	assert_int_equal(session_finish(rig->session), 0);
	assert_string_equal(object_of(rig, 1), "[anon]");
}

/* A program writes its dump late: after the sample, and after its end. */
static void test_made_names__late_in_a_dump(void **state)
{
	static struct build_jitdump dump;
	struct rig *rig = *state;

	build_jitdump_begin(&dump, 0);
	build_jitdump_load(&dump, 1, MADE, 16, "early");
	assert_int_equal(write(out, dump.bytes, dump.size), dump.size);
	rig->fake.code = path;
	start(rig, 5, 100);
	sample(rig, MADE);
	rig_settle(rig);
	sample(rig, MADE + 0x100);
	rig_settle(rig);
	sample(rig, MADE + 0x200);
	rig_settle(rig);
	rig_event(rig, EVENT_EXIT, 5, 100, 0, 0);
	rig->now += 10 * NS_PER_SECOND;
	rig_settle(rig);
	dump.size = 0;
	build_jitdump_load(&dump, 2, MADE + 0x100, 16, "late");
	assert_int_equal(write(out, dump.bytes, dump.size), dump.size);
	assert_int_equal(session_finish(rig->session), 0);
	check_function(rig, 0, "early", "", 0);
	check_function(rig, 1, "late", "", 0);
	assert_false(function_of(rig, 2)->named);
	assert_string_equal(
		profile_string_get(session_profile(rig->session), function_of(rig, 2)->name),
		"[anon]");
}

/* A function has one line for each address, and is one function all the same. */
static void test_made_names__lines_in_a_dump(void **state)
{
	const struct build_jitdump_line lines[] = {{MADE, 7, "/srv/f.c"}, {MADE + 8, 9, NULL}};
	static struct build_jitdump dump;
	struct rig *rig = *state;

	build_jitdump_begin(&dump, 0);
	build_jitdump_lines(&dump, 1, MADE, lines, 2);
	build_jitdump_load(&dump, 1, MADE, 16, "f");
	assert_int_equal(write(out, dump.bytes, dump.size), dump.size);
	rig->fake.code = path;
	start(rig, 5, 100);
	for (u64 i = 0; i < 3; i++) {
		sample(rig, MADE + 6 * i);
		rig_settle(rig);
	}
	assert_int_equal(session_finish(rig->session), 0);
	check_function(rig, 0, "f", "/srv/f.c", 0);
	assert_int_equal(profile_samples(session_profile(rig->session)), 2);
	assert_ptr_equal(function_of(rig, 1), function_of(rig, 0));
	assert_int_equal(location_of(rig, 0)->line, 7);
	assert_int_equal(location_of(rig, 1)->line, 9);
}

/* The mapping of a dump is what the target is asked for. */
static void test_made_names__asks_for_a_dump(void **state)
{
	struct rig *rig = *state;

	rig->fake.object_error = -EACCES; /* as of every dump, which is open for writing */
	rig_seen(rig, 5, 100,
		 MAPS "30000000-30001000 r-xp 00000000 08:01 131072 /srv/jit-17.dump\n",
		 "/proc/self/exe");
	rig_settle(rig);
	sample(rig, MADE);
	rig_turn(rig);
	assert_int_equal(asked(rig), 1);
	assert_int_equal(rig->fake.requests[0].start, 0x30000000);
	assert_int_equal(rig->fake.requests[0].end, 0x30001000);
}

struct guess {
	uint32_t runtime;
	u64 from, to;	 /* frames */
	uint32_t reason; /* that the stack has then */
};

/* V8's functions have a frame, except at their very begin and end, which BPF tells. */
static const struct guess guesses[] = {
	{RUNTIME_NODE, MADE | FRAME_EXACT, FRAME_GUESSED | FRAME_BY_POINTER, REASON_end_named},
	{RUNTIME_NODE, MADE | FRAME_EXACT, FRAME_GUESSED, REASON_guess_root},
	{RUNTIME_NODE, MADE + 8, FRAME_GUESSED | FRAME_BY_POINTER, REASON_end_named},
	/* a stub, which may have no frame before it calls */
	{RUNTIME_NODE, (MADE + 0x18) | FRAME_EXACT, FRAME_GUESSED | FRAME_BY_POINTER,
	 REASON_guess_root},
	{RUNTIME_NODE, MADE + 0x18, FRAME_GUESSED | FRAME_BY_POINTER, REASON_end_named},
	/* without a name */
	{RUNTIME_NODE, MADE + 0x1008, FRAME_GUESSED | FRAME_BY_POINTER, REASON_guess_root},
	{RUNTIME_ERLANG, MADE + 8, FRAME_GUESSED | FRAME_BY_POINTER, REASON_end_named},
	{RUNTIME_ERLANG, MADE | FRAME_EXACT, FRAME_GUESSED | FRAME_BY_POINTER, REASON_guess_root},
	/* compilers that use the frame pointer for other things */
	{RUNTIME_HOTSPOT, MADE + 8, FRAME_GUESSED | FRAME_BY_POINTER, REASON_guess_root},
	{RUNTIME_NONE, MADE + 8, FRAME_GUESSED | FRAME_BY_POINTER, REASON_guess_root},
};

static void test_made_names__prove_guesses(void **state)
{
	struct rig *rig = *state;
	struct message_summary summary;
	struct profile_sample last;

	put("20000000 10 JS:*f /a.js:1:1\n20000010 10 Builtin:x\n");
	rig->fake.code = path;
	start(rig, 5, 100);
	for (size_t i = 0; i < sizeof(guesses) / sizeof(*guesses); i++) {
		const struct guess *guess = &guesses[i];
		const u64 frames[] = {guess->from, guess->to | (0x10000100 + i)};

		find(rig, 5, 100)->mappings->open[0].object->runtime = guess->runtime;
		rig_sample(rig, 5, 100, REASON_guess_root, frames, 0, 2);
		rig_settle(rig);
		last = profile_sample_get(session_profile(rig->session), i);
		assert_int_equal(last.reason, guess->reason);
	}
	session_summary(rig->session, &summary);
	assert_int_equal(summary.reason[REASON_end_named], 4);
	assert_int_equal(summary.reason[REASON_guess_root], 6);
}

static void test_made_names__dropped(void **state)
{
	struct rig *rig = *state;

	put("20000000 10 JS:*secret /srv/secret.js:1:1\n");
	rig->fake.code = path;
	start(rig, 5, 100);
	sample(rig, MADE);
	rig_settle(rig);
	assert_int_equal(session_finish(rig->session), 0);
	assert_null(
		strstr(profile_string_get(session_profile(rig->session), function_of(rig, 0)->name),
		       "secret"));
	assert_string_equal(
		profile_string_get(session_profile(rig->session), function_of(rig, 0)->file),
		REDACT_DROPPED);
}

static const uint32_t drop = REDACT_DROP << 8 | REDACT_DROP << 24;

static int setup_dropping(void **state)
{
	*state = (void *)&drop;
	return setup(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_made_names__##name, setup, teardown)
		TEST(sample_waits_for_its_name),
		TEST(none),
		TEST(forbidden),
		TEST(another_file),
		TEST(forks),
		TEST(execs),
		TEST(prove_guesses),
		TEST(late_in_a_dump),
		TEST(lines_in_a_dump),
		TEST(asks_for_a_dump),
		cmocka_unit_test_setup_teardown(test_made_names__dropped, setup_dropping, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
