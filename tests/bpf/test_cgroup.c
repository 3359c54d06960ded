/* SPDX-License-Identifier: Apache-2.0 */
/* The paths of cgroups: what BPF tells of them, when, and how often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The loader's constants are read before they are set here: the host has them as variables. */
#define const
#include "bpf/config.bpf.h"
#undef const
#include "tests/bpf/sampler.h"

#define PID   77u
#define DEPTH (CGROUP_LEVELS + 2) /* with the root */

static struct mm_struct memory;
static struct kernfs_node nodes[DEPTH]; /* each below the last one */
static char names[DEPTH][CGROUP_NAME_BYTES + 1];
static struct cgroup group;
static struct css_set css = {.dfl_cgrp = &group};

static void enter(u32 depth)
{
	group.kn = &nodes[depth];
}

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	worker_epoch = 0;
	deny_kinds = 0;
	filter_mode = FILTER_ALL;
	for (u32 i = 0; i < DEPTH; i++) {
		snprintf(names[i], sizeof(names[i]), "level %u", i);
		nodes[i] = (struct kernfs_node){.id = 100 + i, .name = names[i]};
		if (i > 0)
			nodes[i].parent = &nodes[i - 1];
	}
	names[0][0] = '\0';
	enter(2);
	sampler.id = (u64)PID << 32 | PID;
	sampler.task =
		(struct task_struct){.mm = &memory, .pid = PID, .tgid = PID, .cgroups = &css};
	sampler.regs[PT_CS] = 0x33;
	sampler.regs[PT_RIP] = 0x400000;
	return 0;
}

static void take_sample(void)
{
	assert_int_equal(on_sample(sampler.regs), 0);
}

static void check_names(u32 levels, u32 innermost)
{
	assert_int_equal(sampler.path.levels, levels);
	for (u32 i = 0; i < levels; i++)
		assert_string_equal(sampler.path.name[i], names[innermost - i]);
}

static void test_cgroup__a_path_is_told_once(void **state)
{
	(void)state;
	take_sample();
	assert_int_equal(sampler.paths, 1);
	assert_int_equal(sampler.path.event.kind, EVENT_CGROUP);
	assert_int_equal(sampler.path.event.cgroup, 102);
	assert_int_equal(sampler.path.cut, 0);
	check_names(2, 2);
	take_sample();
	sampler.generation.number = 0; /* another process there */
	take_sample();
	assert_int_equal(sampler.paths, 1);
}

static void test_cgroup__the_root_has_no_name(void **state)
{
	(void)state;
	enter(0);
	take_sample();
	assert_int_equal(sampler.paths, 1);
	assert_int_equal(sampler.path.event.cgroup, 100);
	assert_int_equal(sampler.path.levels, 0);
	assert_int_equal(sampler.path.cut, 0);
}

static void test_cgroup__depth_and_names_are_bounded(void **state)
{
	(void)state;
	enter(CGROUP_LEVELS);
	take_sample();
	assert_int_equal(sampler.path.cut, 0);
	check_names(CGROUP_LEVELS, CGROUP_LEVELS);
	setup(state);
	enter(CGROUP_LEVELS + 1);
	memset(names[5], 'x', CGROUP_NAME_BYTES);
	take_sample();
	assert_int_equal(sampler.path.cut, 1);
	names[5][CGROUP_NAME_BYTES - 1] = '\0';
	check_names(CGROUP_LEVELS, CGROUP_LEVELS + 1);
}

/* The worker takes an empty name as one that was not read. */
static void test_cgroup__a_name_that_cannot_be_read_is_empty(void **state)
{
	(void)state;
	nodes[1].name = NULL;
	memset(&sampler.path, 'x', sizeof(sampler.path)); /* of an earlier record */
	take_sample();
	assert_string_equal(sampler.path.name[0], names[2]);
	assert_string_equal(sampler.path.name[1], "");
}

static void test_cgroup__another_worker_is_told_again(void **state)
{
	(void)state;
	take_sample();
	worker_epoch = 1;
	sampler.tails.tail[0] = RING_START(1);
	take_sample();
	assert_int_equal(sampler.paths, 2);
	take_sample();
	assert_int_equal(sampler.paths, 2);
}

static void test_cgroup__a_path_waits_for_room(void **state)
{
	u32 before;

	(void)state;
	sampler.events_waiting = EVENT_RING_BYTES / 2 + 1;
	take_sample();
	before = sampler.events;
	assert_int_equal(sampler.paths, 0);
	sampler.events_waiting = 0;
	sampler.events_full = true;
	take_sample();
	assert_int_equal(sampler.paths, 0);
	sampler.events_full = false;
	take_sample();
	assert_int_equal(sampler.paths, 1);
	assert_int_equal(sampler.events, before);
}

static void check_outer(u32 first, u32 second, u32 third)
{
	assert_int_equal(sampler.event.outer[0], first);
	assert_int_equal(sampler.event.outer[1], second);
	assert_int_equal(sampler.event.outer[2], third);
}

static void test_cgroup__those_around_a_process_are_told(void **state)
{
	(void)state;
	take_sample();
	assert_int_equal(sampler.event.kind, EVENT_SEEN);
	check_outer(1001, 1002, 0);
	assert_int_equal(sampler.event.cgroup, 1002);
}

/* A session tells owners apart where no cgroup does. */
static void test_cgroup__session_of_a_process_in_the_root(void **state)
{
	static struct pid session = {.numbers[0].nr = 77};
	static struct signal_struct signal = {.pids[PIDTYPE_SID] = &session};

	(void)state;
	sampler.task.signal = &signal;
	sampler.in_root = true;
	take_sample();
	assert_int_equal(sampler.event.kind, EVENT_SEEN);
	assert_int_equal(sampler.event.cgroup, CGROUP_ROOT);
	assert_int_equal(sampler.event.session, 77);
	check_outer(0, 0, 0);
}

/* The reader of the iterator is in a cgroup of its own. */
static void test_cgroup__those_around_a_process_that_was_found(void **state)
{
	struct bpf_iter_meta meta = {.seq_num = 0};
	struct bpf_iter__task row = {.meta = &meta, .task = &sampler.task};

	(void)state;
	memset((void *)sample_filter.uid, 0xff, sizeof(sample_filter.uid));
	group.level = 2;
	for (u32 i = 0; i <= CGROUP_OUTER; i++)
		group.ancestor_ids[i] = 0x700000000 + 100 + i;
	on_task(&row);
	assert_int_equal(sampler.event.kind, EVENT_FOUND);
	assert_int_equal(sampler.event.cgroup, 102);
	check_outer(101, 102, 0);
	assert_int_equal(sampler.event.outer[3], 0);
}

/* The task that moves a process is in a cgroup of its own. */
static void test_cgroup__a_move_is_told(void **state)
{
	static struct kernfs_node other = {.id = 200, .name = "other", .parent = &nodes[0]};
	static struct cgroup there = {.kn = &other};
	static struct css_set moved = {.dfl_cgrp = &there};
	struct task_struct task;
	u64 number;

	(void)state;
	take_sample();
	number = sampler.generation.number;
	task = sampler.task;
	task.cgroups = &moved;
	on_move(&there, "/other", &task);
	assert_int_equal(sampler.event.kind, EVENT_MOVED);
	assert_int_equal(sampler.event.cgroup, 200);
	assert_int_equal(sampler.event.pid, PID);
	assert_int_equal(sampler.event.generation, number);
	assert_int_equal(sampler.paths, 1);
	sampler.task.cgroups = &moved;
	take_sample();
	assert_int_equal(sampler.paths, 2);
	assert_int_equal(sampler.path.event.cgroup, 200);
	assert_string_equal(sampler.path.name[0], "other");
	assert_int_equal(sampler.path.levels, 1);
}

static void test_cgroup__moves_of_others_are_not_told(void **state)
{
	struct task_struct task = {.mm = &memory, .pid = PID, .tgid = PID, .cgroups = &css};

	(void)state;
	on_move(&group, "", &task); /* not known */
	assert_int_equal(sampler.events, 0);
	take_sample();
	task.pid = PID + 1; /* a thread */
	on_move(&group, "", &task);
	task.pid = PID;
	sampler.generation.denied = 1;
	on_move(&group, "", &task);
	assert_int_equal(sampler.events, 1);
	sampler.generation.denied = 0;
	sampler.events_full = true;
	on_move(&group, "", &task);
	assert_int_equal(sampler.counters.events_lost, 1);
}

#define TEST(name) cmocka_unit_test_setup(test_cgroup__##name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_path_is_told_once),
		TEST(the_root_has_no_name),
		TEST(depth_and_names_are_bounded),
		TEST(a_name_that_cannot_be_read_is_empty),
		TEST(another_worker_is_told_again),
		TEST(a_path_waits_for_room),
		TEST(those_around_a_process_are_told),
		TEST(session_of_a_process_in_the_root),
		TEST(those_around_a_process_that_was_found),
		TEST(a_move_is_told),
		TEST(moves_of_others_are_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
