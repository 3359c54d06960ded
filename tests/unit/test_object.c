/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/time.h"
#include "tests/unit/fake_target.h"
#include "worker/process/file.h"
#include "worker/process/object.h"
#include "worker/process/openings.h"
#include "worker/process/budget.h"
#include "worker/process/parser.h"
#include "worker/process/segments.h"
#include "worker/process/table.h"

#define DEVICE 2049u
#define START  0x40000000ull
#define END    0x40004000ull

static struct fake_target fake;
static struct segments *segments;
static struct tables *tables;
static struct parser *parser;
static struct objects *objects;
static struct files *files;
static struct budget *budget; /* the parser's */
static uint64_t now;

static int setup(void **state)
{
	(void)state;
	fake_target_init(&fake);
	fake.object = "/proc/self/exe";
	fake.identity = (struct target_identity){DEVICE, 0, 1000, 1};
	now = 100 * NS_PER_SECOND;
	segments = segments_new(&fake.target, 64);
	segments_attach(segments, fake_segment());
	tables = tables_new(segments);
	budget = budget_new();
	assert_int_equal(parser_new(budget, &parser), 0);
	objects = objects_new(tables, segments, parser, 4);
	files = files_new(objects, &fake.target);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	parser_free(parser);
	files_free(files);
	objects_free(objects);
	tables_free(tables);
	segments_free(segments);
	return 0;
}

/* The file whose inode the fake target answers for a mapping at this start. */
static struct file *file_at(uint64_t start)
{
	return files_get(files, DEVICE, start >> 12, 77, "/bin/program");
}

static struct target_process in(uint32_t pid)
{
	return (struct target_process){.pid = pid, .thread = pid};
}

static struct object *identify(uint64_t start)
{
	struct object *object =
		files_object(files, file_at(start), in(5), start, start + 0x1000, now);

	if (object)
		return object;
	fake_target_answer(&fake);
	return files_object(files, file_at(start), in(5), start, start + 0x1000, now);
}

static bool all_parsed(void)
{
	const struct object *object;
	size_t cursor = 0;

	while ((object = objects_next(objects, &cursor)) != NULL)
		if (object->state < OBJECT_READY)
			return false;
	return true;
}

static void parse(void)
{
	struct pollfd fd = {.fd = parser_fd(parser), .events = POLLIN};

	while (!all_parsed()) {
		poll(&fd, 1, 100);
		objects_turn(objects, now);
		fake_target_answer(&fake);
	}
}

static void test_object__is_opened_parsed_and_stored(void **state)
{
	struct object *object = identify(START);
	uint64_t bytes, rows;

	(void)state;
	assert_int_equal(object->state, OBJECT_PARSING);
	assert_string_equal(object->name, "/bin/program");
	parse();
	assert_int_equal(object->state, OBJECT_READY);
	assert_non_null(object->table);
	assert_true(object->segment_count > 0);
	tables_totals(tables, &bytes, &rows);
	assert_true(rows > 0 && bytes > rows);
	assert_ptr_equal(objects_find(objects, &object->identity), object);
}

/* There are more requests than may wait. They are asked again, not given up. */
static void test_object__is_asked_for_again_when_there_is_room(void **state)
{
	struct object *object;

	(void)state;
	fake.count = FAKE_REQUESTS;
	assert_null(files_object(files, file_at(START), in(5), START, END, now));
	fake.count = 0;
	object = identify(START);
	assert_int_equal(object->state, OBJECT_PARSING);
	now += FILE_TRUSTED_FOR / 2;
	fake.count = FAKE_REQUESTS;
	assert_ptr_equal(files_object(files, file_at(START), in(5), START, END, now), object);
	fake.count = 0;
	assert_ptr_equal(files_object(files, file_at(START), in(5), START, END, now), object);
	assert_int_equal(fake.count, 1);
}

static void test_object__known_one_is_verified_after_a_while(void **state)
{
	struct object *object = identify(START);

	(void)state;
	now += FILE_VERIFIED_FOR / 2;
	assert_ptr_equal(files_object(files, file_at(START), in(6), START, END, now), object);
	assert_int_equal(fake.asked[TARGET_OBJECT], 1);
	/* then in the background, */
	now += FILE_VERIFIED_FOR;
	assert_ptr_equal(files_object(files, file_at(START), in(6), START, END, now), object);
	assert_ptr_equal(files_object(files, file_at(START), in(7), START, END, now), object);
	assert_int_equal(fake.count, 1);
	assert_false(fake.requests[0].want_fd);
	fake_target_answer(&fake);
	assert_int_equal(files_replaced(files), 0);
	/* and after a long time before the next use */
	now += FILE_TRUSTED_FOR;
	assert_null(files_object(files, file_at(START), in(6), START, END, now));
	assert_false(fake.requests[0].want_fd);
	fake_target_answer(&fake);
	assert_ptr_equal(files_object(files, file_at(START), in(6), START, END, now), object);
	assert_int_equal(fake.asked[TARGET_OBJECT], 3);
}

/* The broker may end with another file. This file was known, and stays known. */
static void test_object__known_one_stays_when_its_broker_is_lost(void **state)
{
	struct object *object = identify(START);

	(void)state;
	fake.object_error = -EPIPE;
	now += 2 * FILE_VERIFIED_FOR;
	assert_ptr_equal(files_object(files, file_at(START), in(6), START, END, now), object);
	fake_target_answer(&fake);
	assert_int_equal(fake.asked[TARGET_OBJECT], 2);
	now += 2 * FILE_TRUSTED_FOR;
	assert_ptr_equal(files_object(files, file_at(START), in(6), START, END, now), object);
	assert_int_equal(fake.asked[TARGET_OBJECT], 2);
	/* an unknown file stays unknown */
	object = identify(START + 0x100000);
	assert_int_equal(object->state, OBJECT_FAILED);
	now += 2 * FILE_TRUSTED_FOR;
	assert_ptr_equal(identify(START + 0x100000), object);
	assert_int_equal(fake.asked[TARGET_OBJECT], 3);
}

/* Returns the mapping's object for a process that may be asked, or NULL without a usable answer. */
static struct object *ask_through(uint32_t pid, uint64_t start)
{
	struct target_process process = in(pid);
	struct file *file = file_at(START);
	struct object *object = files_object(files, file, process, start, start + 0x1000, now);

	if (object)
		return object;
	fake_target_answer(&fake);
	return files_object(files, file, process, start, start + 0x1000, now);
}

/* A process that hung a broker says nothing about a file, which others map as well. */
static void test_object__a_process_that_hangs_takes_no_file_from_others(void **state)
{
	struct object *object;

	(void)state;
	fake.object_error = -ETIMEDOUT;
	object = ask_through(5, START);
	assert_int_equal(object->state, OBJECT_FAILED);
	fake.object_error = 0;
	fake.identity.inode = START >> 12;
	object = ask_through(6, 0x60000000);
	assert_int_equal(object->state, OBJECT_PARSING);
	/* nor does the process take a file that is known */
	now += 2 * FILE_TRUSTED_FOR;
	fake.object_error = -ETIMEDOUT;
	assert_ptr_equal(ask_through(5, START), object);
	fake.object_error = 0;
	assert_ptr_equal(ask_through(6, 0x60000000), object);
	assert_int_equal(fake.asked[TARGET_OBJECT], 4);
}

static bool is_fifth_slow(const struct target *target, const struct target_process *process)
{
	return target->slowed > 0 && process->pid == 5;
}

/* The question about a process that waits apart is asked another process, whatever comes of it. */
static void test_object__nobody_waits_for_a_slow_process(void **state)
{
	struct file *file = file_at(START);
	struct target_request late;
	struct target_reply reply = {.error = -ETIMEDOUT, .fd = -1};
	struct object *object;

	(void)state;
	fake.target.is_slow = is_fifth_slow;
	assert_null(files_object(files, file, in(5), START, END, now));
	assert_null(files_object(files, file, in(6), START, END, now));
	assert_int_equal(fake.count, 1);
	late = fake.requests[0];
	fake.count = 0;
	fake.target.slowed++;
	assert_null(files_object(files, file, in(7), START, END, now));
	assert_int_equal(fake.count, 1);
	assert_int_equal(fake.requests[0].process.pid, 7);
	/* the late answer is nobody's */
	late.done(late.context, late.key, &reply);
	assert_null(files_object(files, file, in(6), START, END, now));
	fake.identity.inode = START >> 12;
	fake_target_answer(&fake);
	object = files_object(files, file, in(6), START, END, now);
	assert_int_equal(object->state, OBJECT_PARSING);
	/* a slow process waits for the one that was asked */
	now += 2 * FILE_TRUSTED_FOR;
	files_object(files, file, in(7), START, END, now);
	files_object(files, file, in(5), START, END, now);
	assert_int_equal(fake.count, 1);
}

#define SLOW_FIRST 1000u /* pid */

static bool is_late_pid_slow(const struct target *target, const struct target_process *process)
{
	return target->slowed > 0 && process->pid >= SLOW_FIRST;
}

/* Asks for another file each time. Returns whether the question was asked, which stays open. */
static bool opens_another(struct target_process process)
{
	static uint64_t start = START;

	start += 0x1000;
	fake.count = 0;
	files_object(files, file_at(start), process, start, start + 0x1000, now);
	return fake.count == 1;
}

/* Returns how many questions so many processes get asked, which nobody answers. */
static unsigned int ask_as_many(uint32_t pid, unsigned int processes, uint64_t cgroup)
{
	unsigned int asked = 0;

	for (uint32_t end = pid + processes; pid < end; pid++) {
		const struct target_process process = {pid, pid, {cgroup, 0, 0, {0}}};

		while (opens_another(process))
			asked++;
	}
	return asked;
}

/* The questions about a group that hangs brokers wait for long. Others find places all the same,
 * also when the questions were asked before the group became slow. */
static void test_object__slow_processes_take_no_place_from_others(void **state)
{
	(void)state;
	fake.target.is_slow = is_late_pid_slow;
	for (uint64_t i = 0; i < 30; i++) /* whatever one of them leaves to others */
		ask_as_many(SLOW_FIRST + 2000 * (uint32_t)i, 1100, 1000 + i);
	assert_false(opens_another(in(5)));
	fake.target.slowed++;
	assert_true(opens_another(in(5)));
	assert_int_equal(ask_as_many(100000, 10, 2000), 0);
	assert_true(opens_another(in(6)));
}

static void test_object__slow_processes_have_places_of_their_own(void **state)
{
	(void)state;
	fake.target.is_slow = is_late_pid_slow;
	fake.target.slowed++;
	/* one group leaves to others as many places as it has */
	assert_int_equal(ask_as_many(SLOW_FIRST, 1000, 7777), OPENINGS_APART_MAX / 2);
	assert_int_equal(ask_as_many(3000, 1000, 8888), OPENINGS_APART_MAX / 4);
	assert_int_equal(ask_as_many(5, 100, 0), 200);
}

static void test_object__rewritten_in_place_is_told(void **state)
{
	struct object *object = identify(START), *other;
	uint64_t before = now - 1, then;

	(void)state;
	then = now += 2 * FILE_VERIFIED_FOR;
	fake.identity.change_time = 2;
	assert_ptr_equal(files_object(files, file_at(START), in(6), START, END, now), object);
	fake_target_answer(&fake);
	assert_int_equal(files_replaced(files), 1);
	assert_true(file_replaces(file_at(START), object, then));
	assert_false(file_replaces(file_at(START), object, before));
	other = files_object(files, file_at(START), in(6), START, END, now);
	assert_non_null(other);
	assert_ptr_not_equal(other, object);
	assert_false(file_replaces(file_at(START), other, then));
}

static void test_object__replaced_content_is_another(void **state)
{
	struct object *object = identify(START), *other;

	(void)state;
	now += 2 * NS_PER_SECOND;
	fake.identity.change_time = 2;
	other = identify(START);
	assert_non_null(other);
	assert_ptr_not_equal(other, object);
	assert_int_equal(fake.asked[TARGET_OBJECT], 3);
}

static void test_object__other_generation_is_another_file(void **state)
{
	(void)state;
	assert_ptr_equal(files_get(files, DEVICE, 9, 0, "/x"),
			 files_get(files, DEVICE, 9, 1, "/x"));
	assert_ptr_not_equal(files_get(files, DEVICE, 9, 1, "/x"),
			     files_get(files, DEVICE, 9, 2, "/y"));
}

static void test_object__mapping_replaced_meanwhile_is_refused(void **state)
{
	struct object *object;

	(void)state;
	identify(START);
	fake.identity.inode = 4711;
	assert_null(identify(0x50000000));
	/* the answer says nothing about the file, which another process may map */
	fake.identity.inode = 0;
	object = files_object(files, file_at(0x50000000), in(6), 0x50000000, 0x50001000, now);
	assert_null(object);
	fake_target_answer(&fake);
	object = files_object(files, file_at(0x50000000), in(6), 0x50000000, 0x50001000, now);
	assert_int_equal(object->state, OBJECT_PARSING);
	/* but not for ever */
	fake.identity.inode = 4711;
	for (int i = 0; i < 3; i++) {
		now += 2 * NS_PER_SECOND;
		object = identify(0x60000000);
	}
	assert_int_equal(object->state, OBJECT_FAILED);
	assert_int_equal(object->reason, -ESTALE);
	/* this device may not answer another device's listing */
	object = files_object(files, files_get(files, 99, 4711, 1, "/o"), in(5), 1, 2, now);
	fake_target_answer(&fake);
	object = files_object(files, files_get(files, 99, 4711, 1, "/o"), in(5), 1, 2, now);
	assert_null(object);
	assert_true(file_is_gone(files_get(files, 99, 4711, 1, "/o"), in(5), 1, 2));
}

/* Each of these answers tells of the process, which may have ended or started another program. */
static void test_object__a_process_that_is_gone_takes_no_file_from_others(void **state)
{
	static const int passing[] = {-ESRCH, -ENOENT, -ESTALE, -EMFILE, -ENFILE};

	(void)state;
	for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++) {
		fake.object_error = passing[i];
		files_retry(files);
		assert_null(ask_through(5, START));
		assert_int_equal(files_last_object(files, file_at(START), now)->reason, -ESTALE);
	}
	files_retry(files);
	fake.object_error = 0;
	fake.identity.inode = START >> 12;
	assert_int_equal(ask_through(6, 0x60000000)->state, OBJECT_PARSING);
}

static const int momentary[] = {-EAGAIN, -EINTR, -EMFILE, -ENFILE, -ENOMEM};

/* A broker without descriptors tells neither that the mapping is gone nor that the file is the same
 * as before. */
static void test_object__a_broker_in_need_vouches_for_no_file(void **state)
{
	struct object *object = identify(START), *other;

	(void)state;
	for (size_t i = 0; i < sizeof(momentary) / sizeof(*momentary); i++) {
		now += FILE_VERIFIED_FOR * 2;
		fake.object_error = momentary[i];
		assert_ptr_equal(files_object(files, file_at(START), in(6), START, END, now),
				 object);
		fake_target_answer(&fake);
		assert_int_equal(fake.asked[TARGET_OBJECT], 2 + i);
		assert_false(file_is_gone(file_at(START), in(6), START, END));
		/* the same round asks no second time, and trusts no longer than usual */
		assert_ptr_equal(files_object(files, file_at(START), in(7), START, END, now),
				 object);
		assert_int_equal(fake.count, 0);
		assert_null(files_object(files, file_at(START), in(7), START, END,
					 now + FILE_TRUSTED_FOR));
		files_retry(files);
	}
	fake.object_error = 0;
	fake.identity.change_time = 2;
	assert_ptr_equal(files_object(files, file_at(START), in(6), START, END, now), object);
	fake_target_answer(&fake);
	assert_int_equal(files_replaced(files), 1);
	other = files_object(files, file_at(START), in(6), START, END, now);
	assert_non_null(other);
	assert_ptr_not_equal(other, object);
}

static void test_object__a_broker_in_need_is_asked_again_each_round(void **state)
{
	uint64_t changes;

	(void)state;
	for (size_t i = 0; i < sizeof(momentary) / sizeof(*momentary); i++) {
		fake.object_error = momentary[i];
		assert_null(ask_through(5, START));
		assert_null(ask_through(6, 0x60000000));
		assert_int_equal(fake.asked[TARGET_OBJECT], 1 + i);
		assert_false(file_is_gone(file_at(START), in(5), START, START + 0x1000));
		changes = files_changes(files);
		files_retry(files);
		assert_int_equal(files_changes(files), changes + 1);
	}
	fake.object_error = 0;
	assert_int_equal(ask_through(5, START)->state, OBJECT_PARSING);
	changes = files_changes(files);
	files_retry(files);
	assert_int_equal(files_changes(files), changes);
}

/* The lists of mounts of a process may take long. Others ask about the same file meanwhile. */
static void test_object__a_process_that_has_to_wait_holds_nobody(void **state)
{
	const uint64_t other = 0x50000000;

	(void)state;
	fake.object_error = -EBUSY;
	assert_null(ask_through(5, START));
	assert_null(ask_through(5, START));
	assert_null(files_object(files, file_at(other), in(5), other, other + 0x1000, now));
	assert_int_equal(fake.asked[TARGET_OBJECT], 1);
	assert_false(file_is_gone(file_at(START), in(5), START, START + 0x1000));
	fake.object_error = 0;
	fake.identity.inode = START >> 12;
	assert_int_equal(ask_through(6, 0x60000000)->state, OBJECT_PARSING);
	fake.identity.inode = 0;
	files_retry(files);
	assert_null(files_object(files, file_at(other), in(5), other, other + 0x1000, now));
	fake_target_answer(&fake);
	assert_int_equal(fake.asked[TARGET_OBJECT], 3);
	assert_non_null(files_object(files, file_at(other), in(5), other, other + 0x1000, now));
}

static void test_object__a_process_that_waits_asks_once_a_round(void **state)
{
	(void)state;
	fake.object_error = -EBUSY;
	for (size_t i = 0; i < 5; i++) {
		uint64_t changes;

		for (uint64_t at = START; at < START + 0x40000; at += 0x1000)
			assert_null(ask_through(5, at));
		assert_int_equal(fake.asked[TARGET_OBJECT], 1 + i);
		changes = files_changes(files);
		files_retry(files);
		assert_int_equal(files_changes(files), changes + 1);
	}
}

/* The questions about other files of the process have taken all places. */
static void test_object__a_failed_one_waits_for_a_place(void **state)
{
	const uint64_t others[] = {0x50000000, 0x60000000};

	(void)state;
	assert_int_equal(files_last_object(files, file_at(START), now)->state, OBJECT_FAILED);
	for (int i = 0; i < 2; i++)
		assert_null(files_object(files, file_at(others[i]), in(6), others[i],
					 others[i] + 0x1000, now));
	assert_null(files_object(files, file_at(START), in(6), START, END, now));
	assert_int_equal(fake.count, 2);
	fake_target_answer(&fake);
	assert_int_equal(ask_through(6, START)->state, OBJECT_PARSING);
}

/* A denied process, or one that the target mistakes for denied, speaks for itself alone. */
static void test_object__a_refusal_is_the_mapping_s(void **state)
{
	struct object *refused;
	size_t asked;

	(void)state;
	fake.object_error = -EACCES;
	refused = ask_through(5, START);
	assert_int_equal(refused->reason, -EACCES);
	asked = fake.asked[TARGET_OBJECT];
	assert_ptr_equal(ask_through(5, START), refused);
	assert_int_equal(fake.asked[TARGET_OBJECT], asked);
	/* the next program of the same process */
	fake.object_error = 0;
	fake.identity.inode = START >> 12;
	assert_int_equal(ask_through(5, 0x70000000)->state, OBJECT_PARSING);
}

/* An always changing process is asked three times; then its mapping fails, and no other's. */
static void test_object__stale_answers_are_the_process_s(void **state)
{
	struct object *object = NULL;

	(void)state;
	fake.object_error = -ESTALE;
	for (int i = 0; i < 3; i++) {
		now += 2 * FILE_RETRY_AFTER;
		object = ask_through(5, START);
	}
	assert_int_equal(object->reason, -ESTALE);
	assert_null(ask_through(6, START));
	fake.object_error = 0;
	fake.identity.inode = START >> 12;
	assert_int_equal(ask_through(7, START)->state, OBJECT_PARSING);
}

/* A process that swaps mappings between listing and answer takes no file from others. */
static void test_object__what_came_instead_is_kept(void **state)
{
	const uint64_t other = 0x50000000;
	struct object *object;

	(void)state;
	identify(0x70000000); /* the device answers as it lists */
	fake.identity.inode = other >> 12;
	assert_null(identify(START));
	fake.identity.inode = 0;
	fake.opened = true;
	object = identify(other);
	assert_non_null(object);
	assert_true(object->fd >= 0);
	assert_string_equal(object->name, "/bin/program");
}

static void test_object__opened_and_forgotten_comes_back(void **state)
{
	struct object *object;

	(void)state;
	fake.opened = true;
	assert_null(identify(START));
	assert_int_equal(fake.asked[TARGET_OBJECT], 1);
	assert_false(file_is_gone(file_at(START), in(5), START, START + 0x1000));
	fake.opened = false;
	files_retry(files);
	object = identify(START);
	assert_non_null(object);
	assert_int_equal(object->state, OBJECT_PARSING);
}

static void test_object__stacked_file_systems_answer_others(void **state)
{
	struct object *object, *other;

	(void)state;
	fake.identity.device = 55;
	fake.identity.inode = 1;
	object = identify(START);
	assert_int_equal(object->state, OBJECT_PARSING);
	/* and another file of another stack to another process */
	assert_ptr_equal(files_object(files, file_at(START), in(5), START, END, now), object);
	fake.identity.inode = 2;
	assert_null(files_object(files, file_at(START), in(6), START, END, now));
	fake_target_answer(&fake);
	other = files_object(files, file_at(START), in(6), START, END, now);
	assert_non_null(other);
	assert_ptr_not_equal(other, object);
}

static void test_object__no_program_fails(void **state)
{
	struct objects_counts counts;
	struct object *object;

	(void)state;
	fake.object = "/dev/null";
	object = identify(START);
	parse();
	assert_int_equal(object->state, OBJECT_FAILED);
	assert_int_equal(object->fd, -1);
	objects_counts(objects, &counts);
	assert_int_equal(counts.failed, 1);
}

static void test_object__equal_tables_are_shared(void **state)
{
	struct object *a = identify(START), *b;

	(void)state;
	b = identify(0x50000000);
	assert_ptr_not_equal(a, b);
	parse();
	assert_ptr_equal(a->table, b->table);
	assert_int_equal(a->table->references, 2);
}

static void test_object__table_waits_for_a_segment(void **state)
{
	struct object *object;
	uint32_t word;

	(void)state;
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS - 1024, &word), 0);
	object = identify(START);
	parse();
	assert_int_equal(object->state, OBJECT_READY);
	assert_non_null(object->table);
	assert_true(fake.asked[TARGET_SEGMENT] > 0);
}

static void test_object__idle_descriptors_are_closed(void **state)
{
	struct object *list[8];
	struct objects_counts counts;
	size_t open_count = 0;

	(void)state;
	for (uint64_t i = 0; i < 8; i++) {
		list[i] = identify(START + (i << 20));
		if (i < 2)
			list[i]->sampled = now;
		parse();
	}
	for (size_t i = 0; i < 8; i++)
		open_count += list[i]->fd >= 0;
	assert_int_equal(open_count, 4);
	assert_true(list[0]->fd >= 0 && list[1]->fd >= 0);
	objects_counts(objects, &counts);
	assert_int_equal(counts.descriptors_closed, 4);
}

static void test_object__sweep_keeps_what_is_named_or_marked(void **state)
{
	struct object *sampled = identify(START), *marked, *unused;
	size_t before;

	(void)state;
	marked = identify(START + 0x100000);
	unused = identify(START + 0x200000);
	parse();
	before = objects_count(objects);
	sampled->sampled = now;
	file_mark(file_at(START + 0x100000));
	files_sweep(files);
	objects_sweep(objects, now, true);
	assert_int_equal(objects_count(objects), before - 1);
	assert_ptr_equal(objects_find(objects, &marked->identity), marked);
	assert_null(objects_find(objects, &sampled->identity));
	assert_null(sampled->table);
	(void)unused;
}

static const char *name_at(uint64_t start, const char *path)
{
	files_get(files, DEVICE, start >> 12, 77, path);
	return identify(start)->name;
}

/* A path that no process maps and nobody asked for is not kept. The next one is another file's. */
static void test_object__what_was_never_asked_for_is_swept(void **state)
{
	const uint64_t asked = START, kept = START + 0x100000, stray = START + 0x200000;

	(void)state;
	identify(asked);
	file_keep(file_at(kept));
	file_at(stray);
	files_sweep_unasked(files);
	assert_string_equal(name_at(asked, "/new"), "/bin/program");
	assert_string_equal(name_at(kept, "/new"), "/bin/program");
	assert_string_equal(name_at(stray, "/new"), "/new");
}

#define CGROUP 7777u
#define OTHER  8888u

static struct object *object_in(uint32_t pid, uint64_t cgroup)
{
	const struct target_process process = {pid, pid, {cgroup, 0, 0, {0}}};

	return files_object(files, file_at(START), process, START, START + 0x1000, now);
}

/* The cgroup that asked first has no CPU time left. */
static struct object *identify_overdrawn(void)
{
	budget_charge(budget, CGROUP, 1000 * NS_PER_SECOND, time_now());
	assert_null(object_in(5, CGROUP));
	fake_target_answer(&fake);
	return object_in(5, CGROUP);
}

static void test_object__another_cgroup_pays_for_the_parsing(void **state)
{
	struct object *object = identify_overdrawn();

	(void)state;
	assert_int_equal(object->state, OBJECT_PARSING);
	assert_ptr_equal(object_in(6, OTHER), object);
	parse();
	assert_int_equal(object->state, OBJECT_READY);
	assert_non_null(object->table);
}

/* Files that rest for long have places of their own. */
static void test_object__takes_no_place_while_it_rests(void **state)
{
	struct object *object = identify_overdrawn();

	(void)state;
	assert_int_equal(object->state, OBJECT_PARSING);
	assert_int_equal(objects_waiting_for(objects, CGROUP), 1);
	assert_int_equal(objects_parsing(objects), 0);
	parser_cancel(parser);
	objects_turn(objects, now);
	assert_int_equal(objects_parsing(objects), 0);
}

/* A cgroup makes processes at will. */
static void test_object__places_of_a_cgroup_are_bounded(void **state)
{
	(void)state;
	assert_int_equal(ask_as_many(10, 1000, CGROUP), PARSER_RESTING_MAX);
	assert_int_equal(ask_as_many(2000, 10, OTHER), 20);
	assert_true(opens_another(in(5)));
}

static void test_object__fifth_cgroup_pays_for_four_that_cannot(void **state)
{
	struct object *object = identify_overdrawn();

	(void)state;
	for (uint64_t cgroup = 1000; cgroup < 1000 + 2 * OBJECT_PAYERS; cgroup++) {
		budget_charge(budget, cgroup, 1000 * NS_PER_SECOND, time_now());
		assert_ptr_equal(object_in(6, cgroup), object);
	}
	assert_ptr_equal(object_in(7, OTHER), object);
	parse();
	assert_int_equal(object->state, OBJECT_READY);
	assert_non_null(object->table);
}

/* Takes all places that an overdrawn cgroup has to rest. */
static void fill_places_to_rest(void)
{
	struct parser_job job = {.number = 1000000, .payer = CGROUP, .fd = -1, .size = 1};

	budget_charge(budget, CGROUP, 1000 * NS_PER_SECOND, time_now());
	while (parser_submit(parser, &job) == 0)
		job.number++;
}

/* Returns an object that the parser refused, because its cgroup has no place to rest left. */
static struct object *identify_refused(void)
{
	const struct target_process process = {5, 5, {CGROUP, 0, 0, {0}}};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct target_identity identity = fake.identity;
	struct object *object;

	fill_places_to_rest();
	identity.inode = START >> 12;
	object = objects_add(objects, &identity, "/bin/program", fd, process);
	assert_int_equal(object->state, OBJECT_FAILED);
	assert_int_equal(object->reason, -EDQUOT);
	return object;
}

/* A file that an overdrawn cgroup asked for first has a table for all others. */
static void test_object__refused_one_is_parsed_for_another_cgroup(void **state)
{
	struct object *object = identify_refused();
	struct objects_counts counts;

	(void)state;
	objects_ask(objects, object, (struct target_process){5, 5, {CGROUP, 0, 0, {0}}});
	assert_int_equal(object->state, OBJECT_FAILED);
	assert_null(object_in(6, OTHER));
	fake_target_answer(&fake);
	assert_ptr_equal(object_in(6, OTHER), object);
	assert_int_equal(object->state, OBJECT_PARSING);
	parse();
	assert_int_equal(object->state, OBJECT_READY);
	assert_non_null(object->table);
	objects_counts(objects, &counts);
	assert_int_equal(counts.failed, 0);
}

/* The descriptor was closed to make room. The file is opened again. */
static void test_object__refused_one_is_opened_again(void **state)
{
	struct object *object = identify_refused();

	(void)state;
	for (uint64_t i = 1; i < 10; i++)
		assert_non_null(identify(START + i * 0x100000));
	parse();
	assert_true(object_lacks_file(object));
	assert_null(object_in(6, OTHER));
	fake_target_answer(&fake);
	assert_int_equal(object->state, OBJECT_PARSING);
	assert_ptr_equal(object_in(6, OTHER), object);
	parse();
	assert_non_null(object->table);
}

/* A file may be known before its descriptor is closed. The check of the file opens it again. */
static void test_object__check_of_a_refused_one_opens_it_again(void **state)
{
	struct object *object = identify_refused();

	(void)state;
	budget_charge(budget, OTHER + 1, 1000 * NS_PER_SECOND, time_now());
	assert_null(object_in(5, OTHER + 1));
	fake_target_answer(&fake);
	assert_ptr_equal(object_in(5, OTHER + 1), object);
	for (uint64_t i = 1; i < 10; i++)
		assert_non_null(identify(START + i * 0x100000));
	parse();
	assert_true(object_lacks_file(object));
	now += 2 * FILE_VERIFIED_FOR;
	assert_ptr_equal(object_in(6, OTHER), object);
	fake_target_answer(&fake);
	assert_int_equal(object->state, OBJECT_PARSING);
}

static void test_object__rests_and_is_counted(void **state)
{
	struct object *object = identify_overdrawn();
	struct objects_counts counts = {0};

	(void)state;
	while (counts.parsing_late == 0) /* until the thread has looked */
		objects_counts(objects, &counts);
	assert_int_equal(object->state, OBJECT_PARSING);
	parser_cancel(parser);
	objects_turn(objects, now);
	assert_int_equal(object->state, OBJECT_READY);
	assert_int_equal(object->rules_error, -EDQUOT);
	objects_counts(objects, &counts);
	assert_int_equal(counts.parsing_late, 1);
	assert_int_equal(counts.no_rules, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_object__##name, setup, teardown)
		TEST(is_opened_parsed_and_stored),
		TEST(is_asked_for_again_when_there_is_room),
		TEST(rewritten_in_place_is_told),
		TEST(known_one_is_verified_after_a_while),
		TEST(known_one_stays_when_its_broker_is_lost),
		TEST(a_process_that_hangs_takes_no_file_from_others),
		TEST(nobody_waits_for_a_slow_process),
		TEST(slow_processes_take_no_place_from_others),
		TEST(slow_processes_have_places_of_their_own),
		TEST(replaced_content_is_another),
		TEST(other_generation_is_another_file),
		TEST(mapping_replaced_meanwhile_is_refused),
		TEST(a_process_that_is_gone_takes_no_file_from_others),
		TEST(a_broker_in_need_vouches_for_no_file),
		TEST(a_broker_in_need_is_asked_again_each_round),
		TEST(a_process_that_has_to_wait_holds_nobody),
		TEST(a_process_that_waits_asks_once_a_round),
		TEST(a_failed_one_waits_for_a_place),
		TEST(a_refusal_is_the_mapping_s),
		TEST(stale_answers_are_the_process_s),
		TEST(what_came_instead_is_kept),
		TEST(opened_and_forgotten_comes_back),
		TEST(stacked_file_systems_answer_others),
		TEST(no_program_fails),
		TEST(equal_tables_are_shared),
		TEST(table_waits_for_a_segment),
		TEST(idle_descriptors_are_closed),
		TEST(sweep_keeps_what_is_named_or_marked),
		TEST(what_was_never_asked_for_is_swept),
		TEST(another_cgroup_pays_for_the_parsing),
		TEST(takes_no_place_while_it_rests),
		TEST(places_of_a_cgroup_are_bounded),
		TEST(fifth_cgroup_pays_for_four_that_cannot),
		TEST(refused_one_is_parsed_for_another_cgroup),
		TEST(refused_one_is_opened_again),
		TEST(check_of_a_refused_one_opens_it_again),
		TEST(rests_and_is_counted),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
