/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a Python program from event and record to stack, name and line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "tests/unit/build_code.h"
#include "tests/unit/session_rig.h"
#include "worker/process/object.h"
#include "worker/runtime/cpython.h"
#include "worker/runtime/cpython_layout.h"
#include "worker/runtime/cpython_types.h"

#define ALONE	  "10000000-10004000 r-xp 00000000 08:01 65536 /usr/bin/python3.11\n"
#define MAPS	  ALONE "20000000-20004000 r-xp 00000000 08:01 131072 /usr/lib/_speed.so\n"
#define LOOP	  BUILD_CODE_MARKED
#define BOTH	  MAPS "30000000-30004000 r-xp 00000000 08:01 196608 /usr/lib/libpython3.9.so.1.0\n"
#define SECOND	  0x30000100ull /* in the other interpreter */
#define EXTENSION 0x20000100ull
#define CODE	  0x7f0000010000ull

static const struct build_code work = {
	.address = CODE,
	.fingerprint = 7,
	.name = "Work.run",
	.file = "/srv/work.py",
	.first_line = 40,
	.table = {0x80, 0x12, 0x80 | 11 << 3, 1, 2},
	.table_size = 5,
};
static const struct build_code module = {
	.address = CODE + 0x100000,
	.fingerprint = 9,
	.name = "<module>",
	.file = "/srv/work.py",
	.first_line = 1,
	.table = {0x80, 0x12},
	.table_size = 2,
};

static struct object *find_object(const struct rig *rig, const char *name)
{
	struct object *object;
	size_t cursor = 0;

	while ((object = objects_next(session_objects(rig->session), &cursor)) != NULL)
		if (strcmp(object->name, name) == 0)
			return object;
	fail();
	return NULL;
}

static void set_segment(struct object *object)
{
	assert_int_equal(object->segment_count, 0);
	object->segments = calloc(1, sizeof(*object->segments));
	assert_non_null(object->segments);
	object->segment_count = 1;
	object->segments[0] = (struct image_segment){
		.file_size = 0x4000, .memory_size = 0x4000, .executable = true};
}

/* Makes an object an interpreter, as the parse thread does. */
static void set_python(const struct rig *rig, const char *name)
{
	struct object *object = find_object(rig, name);

	object->runtime = RUNTIME_CPYTHON;
	object->setup = calloc(1, sizeof(*object->setup));
	assert_non_null(object->setup);
	object->setup->handler = &cpython_handler;
	assert_int_equal(
		cpython_layout_find(CPYTHON_VERSION(3, 11), &object->setup->layout.cpython), 0);
	object->setup->types = cpython_types_at(&build_code_types, -BUILD_CODE_IMAGE);
	set_segment(object);
}

static void start_with(struct rig *rig, const char *maps)
{
	rig_seen(rig, 5, 100, maps, "/dev/null");
	rig_settle(rig);
	set_python(rig, "/usr/bin/python3.11");
}

static void start(struct rig *rig)
{
	start_with(rig, MAPS);
}

static void tell(struct rig *rig, uint32_t pid, uint64_t generation, const struct build_code *code)
{
	struct event_code event = build_code(pid, generation, 100, code);

	rig_code(rig, &event);
}

static void check(struct rig *rig, const char *wanted)
{
	rig_settle(rig);
	session_finish(rig->session);
	rig_check_stack(rig, 0, wanted);
}

static const struct profile_location *location_at(const struct rig *rig, size_t place)
{
	const struct profile *profile = session_profile(rig->session);
	const uint32_t *locations;
	size_t depth = profile_stack_get(profile, profile_sample_get(profile, 0).stack, &locations);

	assert_true(place < depth);
	return profile_location_get(profile, locations[place]);
}

/* An extension calls back; the interpreter's own frames give way to the functions. */
static void test_scripts__stand_for_the_interpreter(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {EXTENSION | FRAME_EXACT,
			      LOOP,
			      LOOP + 0x10,
			      EXTENSION + 0x10,
			      LOOP + 0x20,
			      LOOP + 0x30,
			      BUILD_FRAME(CODE, 7, 2),
			      BUILD_FRAME(CODE, 7, 0),
			      BUILD_BORDER(1),
			      BUILD_FRAME(CODE + 0x100000, 9, 0),
			      BUILD_BORDER(4)};
	const struct profile *profile = session_profile(rig->session);
	const struct profile_function *function;

	start(rig);
	tell(rig, 5, 100, &work);
	tell(rig, 5, 100, &module);
	rig_sample_scripts(rig, 5, 100, frames, 6, 8);
	check(rig, "_speed.so+0x100;Work.run;Work.run;_speed.so+0x10f;<module>");
	assert_int_equal(location_at(rig, 1)->line, 41);
	assert_int_equal(location_at(rig, 2)->line, 40);
	function = profile_function_get(profile, location_at(rig, 1)->function);
	assert_string_equal(profile_string_get(profile, function->file), "/srv/work.py");
	assert_int_equal(function->line, 40);
	assert_true(function->named);
	assert_int_equal(profile_object_get(profile, function->object)->kind, KIND_SCRIPT);
	assert_int_equal(profile_object_get(profile, function->object)->runtime, RUNTIME_CPYTHON);
	assert_int_equal(naming_failed(profile), 0);
}

/* The list is that of the innermost interpreter, and no frame of the other one gives way. */
static void test_scripts__of_two_interpreters(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {EXTENSION | FRAME_EXACT, LOOP,	       SECOND, LOOP + 0x10,
			      BUILD_FRAME(CODE, 7, 0), BUILD_BORDER(1)};
	struct event_code event = build_code(5, 100, 100, &work);

	start_with(rig, BOTH);
	set_python(rig, "/usr/lib/libpython3.9.so.1.0");
	rig_code(rig, &event);
	rig_sample_scripts(rig, 5, 100, frames, 4, 3);
	check(rig, "_speed.so+0x100;Work.run;libpython3.9.so.1.0+0xff");
}

static void test_scripts__beside_native_frames(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {LOOP | FRAME_EXACT, LOOP + 0x10, BUILD_FRAME(CODE, 7, 2),
			      BUILD_BORDER(0)};

	rig->parts.config.flags |= OPTIONS_NATIVE_FRAMES;
	rig_restart(rig, 1);
	start(rig);
	tell(rig, 5, 100, &work);
	rig_sample_scripts(rig, 5, 100, frames, 2, 3);
	check(rig, "python3.11+0x100;Work.run;python3.11+0x10f");
}

static void test_scripts__before_the_stack(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {BUILD_FRAME(CODE, 7, 2), BUILD_BORDER(1), EXTENSION | FRAME_EXACT,
			      LOOP, EXTENSION + 0x20};
	struct record *record;

	start(rig);
	tell(rig, 5, 100, &work);
	record = rig_sample_scripts(rig, 5, 100, frames, 3, 3);
	record->flags = RECORD_FLAG_LIST_FIRST;
	check(rig, "_speed.so+0x100;Work.run;_speed.so+0x11f");
}

/* The list ended before the border of the second activation. */
static void test_scripts__of_a_list_that_is_cut(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {LOOP | FRAME_EXACT, EXTENSION + 0x10,
			      LOOP + 0x10,	  LOOP + 0x20,
			      EXTENSION + 0x20,	  BUILD_FRAME(CODE, 7, 2),
			      BUILD_BORDER(0),	  BUILD_FRAME(CODE + 0x100000, 9, 0)};
	struct record *record;

	start(rig);
	tell(rig, 5, 100, &work);
	tell(rig, 5, 100, &module);
	record = rig_sample_scripts(rig, 5, 100, frames, 5, 5);
	record->runtime = RUNTIME_CUT_BUDGET;
	check(rig, "Work.run;_speed.so+0x10f;<module>;[cut: functions];_speed.so+0x11f");
}

/* Without functions of its program a stack keeps the frames of the interpreter. */
static void test_scripts__none(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {LOOP | FRAME_EXACT, BUILD_BORDER(0)};

	start(rig);
	rig_sample_scripts(rig, 5, 100, frames, 1, 1);
	check(rig, "python3.11+0x100");
}

/* Frames of no loop, and frames that a border names too early, come where the walk is by then. */
static void test_scripts__of_no_border(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {EXTENSION | FRAME_EXACT,
			      EXTENSION + 0x10,
			      BUILD_FRAME(CODE, 7, 2),
			      BUILD_BORDER(1),
			      BUILD_FRAME(CODE, 7, 0),
			      BUILD_BORDER(0),
			      BUILD_FRAME(CODE + 0x100000, 9, 0),
			      BUILD_BORDER(RUNTIME_BORDER_NOWHERE),
			      BUILD_FRAME(CODE, 7, 2)};
	struct record *record;

	start(rig);
	tell(rig, 5, 100, &work);
	tell(rig, 5, 100, &module);
	record = rig_sample_scripts(rig, 5, 100, frames, 2, 11);
	record->reason = REASON_cut_depth;
	check(rig, "_speed.so+0x100;_speed.so+0x10f;Work.run;Work.run;<module>;Work.run;"
		   "[cut: depth]");
}

/* ---- functions that the frames of a loop have one by one ---- */

#define OTHER (LOOP + 0x1000) /* in the interpreter, not in the loop */

/* Three frames of the loop, and one of another function. Then come functions of a list. */
static void of_loop(struct rig *rig, unsigned int functions, unsigned int reason, u8 result,
		    const char *wanted)
{
	u64 frames[] = {LOOP | FRAME_EXACT,
			OTHER,
			LOOP + 0x10,
			LOOP + 0x20,
			BUILD_FRAME(CODE, 7, 2),
			BUILD_FRAME(CODE, 7, 0),
			BUILD_FRAME(CODE + 0x100000, 9, 0),
			BUILD_FRAME(CODE + 0x100000, 9, 0)};
	struct record *record;

	rig->parts.config.flags |= OPTIONS_NATIVE_FRAMES;
	rig_restart(rig, 1);
	start(rig);
	find_object(rig, "/usr/bin/python3.11")->setup->loop[0] =
		(struct runtime_range){.start = 0x100, .end = 0x140};
	tell(rig, 5, 100, &work);
	tell(rig, 5, 100, &module);
	record = rig_sample_scripts(rig, 5, 100, frames, 4, (uint16_t)(2 * functions));
	record->reason = (u8)reason;
	record->runtime = result;
	check(rig, wanted);
}

static void test_scripts__of_loop(void **state)
{
	of_loop(*state, 3, REASON_end_root, RUNTIME_WHOLE,
		"python3.11+0x100;Work.run;python3.11+0x10ff;python3.11+0x10f;Work.run;"
		"python3.11+0x11f;<module>");
}

/* The innermost frame of the loop has just begun, or is about to end. */
static void test_scripts__of_loop_bare(void **state)
{
	of_loop(*state, 2, REASON_end_root, RUNTIME_WHOLE,
		"python3.11+0x100;python3.11+0x10ff;python3.11+0x10f;Work.run;"
		"python3.11+0x11f;Work.run");
}

static void test_scripts__of_loop_early(void **state)
{
	of_loop(*state, 4, REASON_end_root, RUNTIME_WHOLE,
		"python3.11+0x100;Work.run;Work.run;python3.11+0x10ff;python3.11+0x10f;<module>;"
		"python3.11+0x11f;<module>");
}

/* The outermost frames or functions lack: only the innermost ones can be tied. */
static void test_scripts__of_loop_cut(void **state)
{
	of_loop(*state, 2, REASON_end_root, RUNTIME_CUT_READ,
		"python3.11+0x100;Work.run;python3.11+0x10ff;python3.11+0x10f;Work.run;"
		"[cut: functions];python3.11+0x11f");
}

static void test_scripts__of_loop_cut_stack(void **state)
{
	of_loop(*state, 4, REASON_cut_depth, RUNTIME_WHOLE,
		"python3.11+0x100;Work.run;python3.11+0x10ff;python3.11+0x10f;Work.run;"
		"python3.11+0x11f;<module>;<module>;[cut: depth]");
}

/* An activation that called the loop again has one group: `again` has the code that did so. */
static void test_scripts__of_loop_again(void **state)
{
	const u64 frames[] = {LOOP | FRAME_EXACT,
			      OTHER,
			      LOOP + 0x10,
			      EXTENSION,
			      LOOP + 0x20,
			      BUILD_FRAME(CODE, 7, 2),
			      BUILD_BORDER(RUNTIME_BORDER_NOWHERE),
			      BUILD_FRAME(CODE, 8, 2),
			      BUILD_BORDER(RUNTIME_BORDER_NOWHERE)};
	struct runtime_setup *setup;
	struct rig *rig = *state;

	start(rig);
	setup = find_object(rig, "/usr/bin/python3.11")->setup;
	setup->loop[0] = (struct runtime_range){.start = 0x100, .end = 0x140};
	setup->again = (struct runtime_range){.start = 0x1000, .end = 0x1200};
	setup->has_groups = true;
	setup->config.flags = RUNTIME_SCOPES;
	rig_sample_scripts(rig, 5, 100, frames, 5, 6);
	tell(rig, 5, 100, &work);
	check(rig, "Work.run;_speed.so+0xff;[function, name not read]");
	assert_int_equal(location_at(rig, 0)->line, 41);
}

/* A server that has an interpreter linked in has functions of its own: the loop alone gives way. */
static void test_scripts__of_loop_in_a_server(void **state)
{
	const u64 frames[] = {EXTENSION | FRAME_EXACT, EXTENSION + OTHER - LOOP, EXTENSION + 0x10,
			      BUILD_FRAME(CODE, 7, 2), BUILD_FRAME(CODE, 7, 0)};
	struct rig *rig = *state;

	start(rig);
	set_python(rig, "/usr/lib/_speed.so");
	find_object(rig, "/usr/lib/_speed.so")->setup->loop[0] =
		(struct runtime_range){.start = 0x100, .end = 0x140};
	tell(rig, 5, 100, &work);
	rig_sample_scripts(rig, 5, 100, frames, 3, 4);
	check(rig, "Work.run;_speed.so+0x10ff;Work.run");
}

/* The event may be in another ring, or be lost. */
static void test_scripts__told_late_or_never(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {LOOP | FRAME_EXACT, BUILD_FRAME(CODE, 7, 2), BUILD_FRAME(CODE, 8, 2),
			      BUILD_BORDER(0)};

	start(rig);
	rig_sample_scripts(rig, 5, 100, frames, 1, 5);
	rig_settle(rig);
	tell(rig, 5, 100, &work);
	check(rig, "Work.run;[function, name not read]");
	assert_int_equal(location_at(rig, 0)->line, 41);
}

/* Each reason for which functions are not there counts. */
static void test_scripts__counts(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {LOOP | FRAME_EXACT, BUILD_FRAME(CODE, 7, 2), 0};
	struct message_summary summary;

	start(rig);
	for (u8 result = RUNTIME_NONE_MET; result <= RUNTIME_CUT_BUDGET + 1; result++)
		rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 1)->runtime = result;
	rig_sample_scripts(rig, 5, 100, frames, 1, 3);
	rig_settle(rig);
	session_finish(rig->session);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.limit[LIMIT_grants], 3);
	assert_int_equal(summary.limit[LIMIT_lists], 5);
	assert_int_equal(summary.limit[LIMIT_functions], 1);
}

/* A child has its parent's functions until it starts a program of its own. */
static void test_scripts__of_families(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {LOOP | FRAME_EXACT, BUILD_FRAME(CODE, 7, 2), BUILD_BORDER(0)};

	start_with(rig, ALONE);
	tell(rig, 5, 100, &work);
	/* the record may come before the event */
	rig_sample_scripts(rig, 6, 101, frames, 1, 3);
	rig_event(rig, EVENT_FORK, 6, 101, 5, 100);
	rig_event(rig, EVENT_FORK, 7, 102, 6, 101);
	rig_sample_scripts(rig, 7, 102, frames, 1, 3);
	rig_settle(rig);
	rig_event(rig, EVENT_EXEC, 7, 103, 0, 0);
	rig_sample_scripts(rig, 7, 103, frames, 1, 3);
	rig_settle(rig);
	session_finish(rig->session);
	rig_check_stack(rig, 0, "Work.run");
	rig_check_stack(rig, 1, "Work.run");
	rig_check_stack(rig, 2, "[function, name not read]");
}

/* A new worker did not see the fork. */
static void test_scripts__of_a_family_that_is_told(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {LOOP | FRAME_EXACT, BUILD_FRAME(CODE, 7, 2),
			      BUILD_FRAME(CODE + 0x100000, 9, 0), BUILD_BORDER(0)};

	start(rig);
	tell(rig, 5, 100, &work);
	rig_seen(rig, 6, 101, MAPS, "/dev/null");
	rig_settle(rig);
	tell(rig, 6, 101, &module);
	rig_sample_scripts(rig, 6, 101, frames, 1, 5);
	check(rig, "Work.run;<module>");
}

/* A target makes BPF write what it likes, and the event of a target is no better. */
static void test_scripts__of_hostile_targets(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {EXTENSION | FRAME_EXACT, BUILD_FRAME(CODE, 7, 2), 0x1234,
			      BUILD_BORDER(0)};
	struct event_code event = build_code(5, 100, 100, &work);

	start(rig);
	memset(event.bytes, 0xff, sizeof(event.bytes));
	rig_code(rig, &event);
	event = build_code(9, 1, 100, &work); /* of an unknown process */
	rig_code(rig, &event);
	rig_sample_scripts(rig, 5, 100, frames, 1, 4);
	check(rig, "_speed.so+0x100;[function, name not read]");
}

/* The process maps the interpreter elsewhere, or its code is no object of the interpreter. */
static void test_scripts__that_are_unverified(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {EXTENSION | FRAME_EXACT, BUILD_FRAME(CODE, 7, 2),
			      BUILD_FRAME(CODE + 0x100000, 9, 0), BUILD_BORDER(0)};
	struct event_code event = build_code(5, 100, 100, &work);
	struct message_summary summary;

	start(rig);
	rig_sample_scripts(rig, 5, 100, frames, 1, 5);
	rig_settle(rig);
	tell(rig, 5, 100, &module);
	event.data[8]++;
	rig_code(rig, &event);
	rig_sample_scripts(rig, 5, 100, frames, 1, 5);
	check(rig, "_speed.so+0x100;[function, not verified];<module>");
	session_summary(rig->session, &summary);
	assert_int_equal(summary.limit[LIMIT_unverified], 2);
	assert_int_equal(summary.limit[LIMIT_functions], 0);
}

static void test_scripts__of_an_interpreter_at_another_base(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {EXTENSION | FRAME_EXACT, BUILD_FRAME(CODE, 7, 2), BUILD_BORDER(0)};
	struct event_code event = build_code(5, 100, 100, &work);

	start_with(rig, "10004000-10008000 r-xp 00000000 08:01 65540 /usr/bin/python3.11\n"
			"20000000-20004000 r-xp 00000000 08:01 131072 /usr/lib/_speed.so\n");
	event.marked += 0x4000;
	rig_code(rig, &event);
	rig_sample_scripts(rig, 5, 100, frames, 1, 3);
	check(rig, "_speed.so+0x100;[function, not verified]");
}

/* The dynamic linker has put one of the types, or all of them, into the program. */
static void test_scripts__of_copied_types(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {EXTENSION | FRAME_EXACT, BUILD_FRAME(CODE, 7, 2),
			      BUILD_FRAME(CODE + 0x100000, 9, 0), BUILD_BORDER(0)};
	struct object *program;
	struct runtime_setup *setup;

	start(rig);
	setup = find_object(rig, "/usr/bin/python3.11")->setup;
	program = find_object(rig, "/usr/lib/_speed.so");
	set_segment(program);
	setup->types.text += 8;
	program->copies.text = BUILD_TEXT_TYPE - 0x20000000;
	tell(rig, 5, 100, &work);
	setup->types = (struct cpython_types){1, 2, 3};
	program->copies = cpython_types_at(&build_code_types, -0x20000000ull);
	tell(rig, 5, 100, &module);
	rig_sample_scripts(rig, 5, 100, frames, 1, 5);
	check(rig, "_speed.so+0x100;Work.run;<module>");
}

static const uint8_t dropped[NAMES_KINDS] = {[NAMES_FUNCTION] = NAMES_DROP};

static void test_scripts__with_dropped_names(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {LOOP | FRAME_EXACT, BUILD_FRAME(CODE, 7, 2),
			      BUILD_FRAME(CODE + 0x100000, 9, 0), BUILD_BORDER(0)};

	start(rig);
	tell(rig, 5, 100, &work);
	tell(rig, 5, 100, &module);
	rig_sample_scripts(rig, 5, 100, frames, 1, 5);
	check(rig, "[python]+0x1;[python]+0x2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_scripts__stand_for_the_interpreter),
		RIG_TEST(test_scripts__of_two_interpreters),
		RIG_TEST(test_scripts__beside_native_frames),
		RIG_TEST(test_scripts__before_the_stack),
		RIG_TEST(test_scripts__of_a_list_that_is_cut),
		RIG_TEST(test_scripts__none),
		RIG_TEST(test_scripts__of_no_border),
		RIG_TEST(test_scripts__of_loop),
		RIG_TEST(test_scripts__of_loop_bare),
		RIG_TEST(test_scripts__of_loop_early),
		RIG_TEST(test_scripts__of_loop_cut),
		RIG_TEST(test_scripts__of_loop_cut_stack),
		RIG_TEST(test_scripts__of_loop_again),
		RIG_TEST(test_scripts__of_loop_in_a_server),
		RIG_TEST(test_scripts__told_late_or_never),
		RIG_TEST(test_scripts__counts),
		RIG_TEST(test_scripts__of_families),
		RIG_TEST(test_scripts__of_a_family_that_is_told),
		RIG_TEST(test_scripts__of_hostile_targets),
		RIG_TEST(test_scripts__that_are_unverified),
		RIG_TEST(test_scripts__of_an_interpreter_at_another_base),
		RIG_TEST(test_scripts__of_copied_types),
		RIG_TEST_NAMES(test_scripts__with_dropped_names, dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
