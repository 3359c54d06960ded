/* SPDX-License-Identifier: Apache-2.0 */
/* Denied processes: by which rule, from when on. Hooks and sampler are compiled for the host. */
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

#define PID    77u
#define DEVICE 0x800001u
#define INODE  4711u

static struct super_block super_block = {.s_dev = DEVICE};
static struct inode inode = {.i_sb = &super_block, .i_ino = INODE};
static struct file file = {.f_inode = &inode};
static struct mm_struct memory = {.exe_file = &file}, other_memory;
static struct cred cred;
static struct kernfs_node nodes[DENY_CGROUP_DEPTH + 2];
static struct cgroup groups[DENY_CGROUP_DEPTH + 2]; /* each below the last one */
static struct css_set css;
static struct signal_struct signals = {.live = {1}};

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	deny_kinds = 0;
	memset((void *)&sample_filter, 0, sizeof(sample_filter));
	memset((void *)sample_filter.uid, 0xff, sizeof(sample_filter.uid));
	filter_mode = FILTER_ALL;
	inode.i_ino = INODE;
	cred = (struct cred){{1000}, {1000}};
	for (u32 i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		nodes[i].id = 100 + i;
		groups[i].kn = &nodes[i];
		groups[i].self.parent = i ? &groups[i - 1].self : NULL;
	}
	css.dfl_cgrp = &groups[3];
	other_memory.exe_file = &file;
	signals.live.counter = 1;
	sampler.id = (u64)PID << 32 | PID;
	sampler.task = (struct task_struct){.mm = &memory,
					    .pid = PID,
					    .tgid = PID,
					    .real_cred = &cred,
					    .cgroups = &css,
					    .signal = &signals,
					    .comm = "backup-7"};
	sampler.regs[PT_CS] = 0x33;
	sampler.regs[PT_RIP] = 0x400000;
	return 0;
}

static void rule(enum deny_kind kind, u64 first, u64 second)
{
	sampler.rule[sampler.rules++] = (struct deny_key){kind, first, second};
	deny_kinds |= DENY_BIT(kind);
}

static void rule_comm(const char *prefix)
{
	u64 words[2] = {0, 0};

	memcpy(words, prefix, strlen(prefix));
	rule(DENY_COMM, words[0], words[1]);
}

/* Takes one sample and returns whether it was denied. A denied sample leaves nothing behind. */
static bool denied(void)
{
	u64 before = sampler.counters.denied, head = sampler.scratch.head;
	u64 samples = sampler.counters.samples;

	on_sample(sampler.regs);
	if (sampler.counters.denied == before) {
		assert_int_equal(sampler.counters.samples, samples + 1);
		return false;
	}
	assert_int_equal(sampler.scratch.head, head);
	assert_int_equal(sampler.counters.samples, samples);
	return true;
}

static void test_deny__nobody_without_rules(void **state)
{
	(void)state;
	assert_false(denied());
	on_rename(&sampler.task, "x");
	on_exec(&sampler.task);
	assert_false(denied());
}

static void test_deny__by_uid(void **state)
{
	(void)state;
	rule(DENY_UID, 1000, 0);
	assert_true(denied());
	cred.uid.val = 0;
	/* the effective id still counts, and a denied process stays denied */
	assert_true(denied());
	cred.euid.val = 0;
	assert_true(denied());
	on_exec(&sampler.task);
	assert_false(denied());
	cred.euid.val = 1000; /* setuid() has no hook */
	assert_true(denied());
	assert_int_equal(sampler.event.kind, EVENT_EXIT);
	assert_int_equal(sampler.event.cgroup, 0);
}

static void test_deny__by_cgroup_above(void **state)
{
	(void)state;
	rule(DENY_CGROUP, 101, 0);
	assert_true(denied());
	setup(NULL);
	rule(DENY_CGROUP, 104, 0); /* one below it */
	assert_false(denied());
	css.dfl_cgrp = &groups[4];
	assert_false(denied());
	on_move(&groups[4], "", &sampler.task);
	assert_true(denied());
}

static void test_deny__deeper_than_anybody_looks(void **state)
{
	(void)state;
	rule(DENY_CGROUP, 1, 0);
	css.dfl_cgrp = &groups[DENY_CGROUP_DEPTH - 1];
	assert_false(denied());
	setup(NULL);
	rule(DENY_CGROUP, 1, 0);
	css.dfl_cgrp = &groups[DENY_CGROUP_DEPTH];
	assert_true(denied());
}

/* A rule about memory is about lists alone. */
static void test_deny__memory_by_cgroup(void **state)
{
	(void)state;
	assert_false(denies_memory());
	rule(DENY_MEMORY_CGROUP, 101, 0);
	assert_false(denied());
	assert_true(denies_memory());
	setup(NULL);
	rule(DENY_CGROUP, 1000, 0);
	rule(DENY_MEMORY_CGROUP, 104, 0); /* one below it */
	assert_false(denies_memory());
	css.dfl_cgrp = &groups[4];
	assert_true(denies_memory());
	setup(NULL);
	rule(DENY_MEMORY_CGROUP, 1000, 0);
	css.dfl_cgrp = &groups[DENY_CGROUP_DEPTH];
	assert_true(denies_memory());
}

static void test_deny__by_prefix_of_comm(void **state)
{
	static const struct {
		const char *prefix, *comm;
		bool denied;
	} cases[] = {
		{"b", "backup-7", true},
		{"backup", "backup-7", true},
		{"backup-7", "backup-7", true},
		{"backup-7x", "backup-7", false},
		{"ackup", "backup-7", false},
		{"backup", "backu", false},
		{"twelve-bytes", "twelve-bytes-15", true},
		{"fifteen-bytes-x", "fifteen-bytes-x", true},
		{"fifteen-bytes-x", "fifteen-bytes-y", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup(NULL);
		rule_comm(cases[i].prefix);
		memset(sampler.task.comm, 0, sizeof(sampler.task.comm));
		memcpy(sampler.task.comm, cases[i].comm, strlen(cases[i].comm));
		assert_int_equal(denied(), cases[i].denied);
	}
}

static void test_deny__by_executable(void **state)
{
	(void)state;
	rule(DENY_EXECUTABLE, DEVICE, INODE);
	assert_true(denied());
	inode.i_ino++;
	assert_true(denied());
	on_exec(&sampler.task);
	assert_false(denied());
	inode.i_ino = INODE;
	on_exec(&sampler.task);
	assert_true(denied());
	setup(NULL);
	rule(DENY_EXECUTABLE, DEVICE + 1, INODE);
	assert_false(denied());
}

static void test_deny__by_a_new_name(void **state)
{
	(void)state;
	rule_comm("secret");
	assert_false(denied());
	assert_int_equal(sampler.event.kind, EVENT_SEEN);
	on_rename(&sampler.task, "secret-3");
	assert_int_equal(sampler.event.kind, EVENT_EXIT);
	assert_int_equal(sampler.event.generation, sampler.generation.number);
	assert_true(denied());
	on_rename(&sampler.task, "innocent"); /* it is the same program */
	assert_true(denied());
}

/* The event comes before the records of mappings, and holds the process id alone. */
static void test_deny__a_program_that_is_starting(void **state)
{
	u64 number;

	(void)state;
	rule_comm("secret");
	assert_false(denied());
	number = sampler.generation.number;
	sampler.task.mm = &other_memory;
	on_rename(&sampler.task, "secret");
	assert_int_equal(sampler.event.kind, EVENT_DENIED);
	assert_int_equal(sampler.event.pid, PID);
	assert_int_equal(sampler.event.cgroup, 0);
	assert_int_equal(sampler.event.parent_pid, 0);
	assert_true(denied());
	memcpy(sampler.task.comm, "secret", sizeof("secret"));
	on_exec(&sampler.task);
	assert_int_equal(sampler.event.kind, EVENT_EXIT);
	assert_int_equal(sampler.event.generation, number);
	assert_true(denied());
}

/* Without a rule as well: the broker must not take the new program's mappings for the old one's. */
static void test_deny__an_exec_leaves_its_mark(void **state)
{
	u64 mm, number;

	(void)state;
	assert_false(denied());
	mm = sampler.generation.mm;
	number = sampler.generation.number;
	on_rename(&sampler.task, "another");
	assert_int_equal(sampler.generation.mm, mm);
	sampler.task.mm = &other_memory;
	on_rename(&sampler.task, "python3");
	assert_int_equal(sampler.generation.mm, MM_OF_EXEC);
	assert_int_equal(sampler.generation.number, number);
	on_exec(&sampler.task);
	assert_int_equal(sampler.generation.mm, (u64)(uintptr_t)&other_memory);
	assert_int_not_equal(sampler.generation.number, number);
}

static void test_deny__children(void **state)
{
	struct task_struct child;

	(void)state;
	rule_comm("secret");
	on_rename(&sampler.task, "secret"); /* never seen before */
	assert_true(denied());
	child = sampler.task;
	child.tgid = child.pid = PID + 1;
	sampler.events = 0;
	on_fork(&sampler.task, &child);
	assert_int_equal(sampler.events, 0);
	assert_int_equal(sampler.generation_pid, PID + 1);
	assert_int_equal(sampler.generation.denied, 1);
}

static void test_deny__until_the_very_end(void **state)
{
	(void)state;
	rule(DENY_EXECUTABLE, DEVICE, INODE);
	assert_true(denied());
	signals.live.counter = 0;
	sampler.events = 0;
	on_exit(&sampler.task);
	assert_int_equal(sampler.events, 0);
	assert_int_equal(sampler.runtimes.exited[0] + sampler.runtimes.exited[1], 0);
	sampler.task.mm = NULL; /* nobody knows its executable any more */
	sampler.task.flags = PF_EXITING;
	assert_true(denied());
	sampler.exited++; /* of another process that had the id */
	assert_false(denied());
}

static void test_deny__kernel_threads_are_nobodys(void **state)
{
	(void)state;
	rule(DENY_UID, 1000, 0);
	sampler.task.flags = PF_KTHREAD;
	sampler.task.mm = NULL;
	assert_false(denied());
}

static void test_deny__where_there_is_no_room(void **state)
{
	(void)state;
	rule(DENY_UID, 1000, 0);
	sampler.no_room = true;
	assert_true(denied());
	assert_true(denied());
	assert_int_equal(sampler.events, 0);
}

/* ---- what the command line excludes ---------------------------------------------------------- */

static void exclude(u32 pid)
{
	sampler.target[0].pid = pid;
	sampler.target[0].role = TARGET_EXCLUDED;
	deny_kinds |= DENY_BIT(DENY_PROCESS);
}

/* The pid of the current task and of its hooks. */
static void become(u32 pid)
{
	sampler.id = (u64)pid << 32 | pid;
	sampler.task.tgid = sampler.task.pid = (int)pid;
}

static void test_deny__excluded_process_and_its_threads(void **state)
{
	(void)state;
	exclude(PID);
	assert_true(denied());
	sampler.id++; /* a thread */
	assert_true(denied());
	on_exec(&sampler.task);
	assert_true(denied());
	become(PID + 1);
	assert_false(denied());
}

static void test_deny__children_of_an_excluded_process(void **state)
{
	struct task_struct child;

	(void)state;
	exclude(PID);
	assert_true(denied());
	child = sampler.task;
	child.tgid = child.pid = PID + 1;
	on_fork(&sampler.task, &child);
	assert_int_equal(sampler.generation_pid, PID + 1);
	become(PID + 1);
	assert_true(denied());
	on_exec(&sampler.task); /* a rule of the policy would end here */
	assert_true(denied());
	on_exec(&sampler.task);
	assert_true(denied());
}

/* In a recorded cgroup no process is judged before its first sample. */
static void test_deny__children_of_an_excluded_process_never_sampled(void **state)
{
	struct task_struct child;

	(void)state;
	filter_mode = FILTER_CGROUP;
	sampler.in_cgroup = true;
	exclude(PID);
	child = sampler.task;
	child.tgid = child.pid = PID + 1;
	on_fork(&sampler.task, &child);
	become(PID + 1);
	assert_true(denied());
}

static void test_deny__excluded_is_not_who_has_the_id_next(void **state)
{
	(void)state;
	exclude(PID);
	assert_true(denied());
	signals.live.counter = 0;
	on_exit(&sampler.task);
	sampler.exited++;
	assert_false(denied());
}

/* An excluded process is no target, though it was asked for as well. */
static void test_deny__excluded_target(void **state)
{
	(void)state;
	filter_mode = FILTER_TARGETS;
	exclude(PID);
	sampler.target[1].pid = PID + 1;
	sampler.target[1].role = TARGET_SAMPLED;
	on_sample(sampler.regs);
	assert_int_equal(sampler.counters.samples + sampler.counters.denied, 0);
	become(PID + 1);
	assert_false(denied());
	assert_int_equal(sampler.counters.samples, 1);
}

static void test_deny__excluded_cgroup_and_all_below(void **state)
{
	(void)state;
	deny_kinds = DENY_BIT(DENY_CGROUP);
	sample_filter.excluded_cgroup[0] = 77;
	sample_filter.excluded_cgroup[FILTER_PLACES - 1] = 104;
	assert_false(denied());
	css.dfl_cgrp = &groups[5];
	on_move(&groups[5], "", &sampler.task);
	assert_true(denied());
	setup(NULL);
	deny_kinds = DENY_BIT(DENY_CGROUP);
	sample_filter.excluded_cgroup[0] = 101;
	assert_true(denied());
	assert_int_equal(sampler.generation.denied, DENIED_OTHERWISE);
	assert_int_equal(sampler.denied[0], 1);
}

/* Each denied sample counts for the rule that denied the process first. */
static void test_deny__counts_by_rule(void **state)
{
	(void)state;
	rule(DENY_UID, 4, 0);
	rule_comm("backup");
	rule(DENY_EXECUTABLE, DEVICE, INODE);
	rule(DENY_CGROUP, 102, 0);
	assert_true(denied());
	assert_true(denied());
	assert_int_equal(sampler.denied[2], 2);
	memcpy(sampler.task.comm, "other", 6);
	on_rename(&sampler.task, "other"); /* the file denies it now, but it was denied before */
	assert_true(denied());
	assert_int_equal(sampler.denied[2], 3);
	on_exec(&sampler.task);
	assert_true(denied());
	assert_int_equal(sampler.denied[3], 1);
	inode.i_ino++;
	on_exec(&sampler.task);
	assert_true(denied());
	assert_int_equal(sampler.denied[4], 1);
	css.dfl_cgrp = &groups[0];
	on_exec(&sampler.task);
	assert_false(denied());
	cred.euid.val = 4;
	assert_true(denied());
	assert_int_equal(sampler.denied[1], 1);
	assert_int_equal(sampler.denied[0], 0);
}

#define TEST(name) cmocka_unit_test_setup(test_deny__##name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_without_rules),
		TEST(counts_by_rule),
		TEST(by_uid),
		TEST(by_cgroup_above),
		TEST(deeper_than_anybody_looks),
		TEST(memory_by_cgroup),
		TEST(by_prefix_of_comm),
		TEST(by_executable),
		TEST(by_a_new_name),
		TEST(a_program_that_is_starting),
		TEST(an_exec_leaves_its_mark),
		TEST(children),
		TEST(until_the_very_end),
		TEST(kernel_threads_are_nobodys),
		TEST(where_there_is_no_room),
		TEST(excluded_process_and_its_threads),
		TEST(children_of_an_excluded_process),
		TEST(children_of_an_excluded_process_never_sampled),
		TEST(excluded_is_not_who_has_the_id_next),
		TEST(excluded_target),
		TEST(excluded_cgroup_and_all_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
