/* SPDX-License-Identifier: Apache-2.0 */
/* When the worker asks what processes say of themselves, and what it does with the answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake_target.h"
#include "worker/context/attributes.h"
#include "worker/context/contexts.h"
#include "worker/process/process.h"

#define START	   0x7f0000000000ull
#define TEXT(text) text, sizeof(text) - 1 /* with its inner NULs */

/* A ProcessContext with one attribute, service.name, of eight letters. */
#define CONTEXT(name) "\x0a\x1c\x0a\x1a\x0a\x0cservice.name\x12\x0a\x0a\x08" name

struct stage {
	struct fake_target fake;
	struct processes *processes;
	struct contexts *contexts;
	struct process *process; /* pid 5, generation 100 */
	unsigned int told;	 /* times */
	uint64_t now;
};

static void on_told(void *context, const struct process *process)
{
	struct stage *stage = context;

	assert_ptr_equal(process, stage->process);
	stage->told++;
}

static int setup(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	struct contexts_parts parts;

	if (!stage)
		return -1;
	fake_target_init(&stage->fake);
	stage->now = 1000 * NS_PER_SECOND;
	stage->processes = processes_new();
	parts = (struct contexts_parts){.target = &stage->fake.target,
					.processes = stage->processes};
	stage->contexts = contexts_new(&parts);
	if (!stage->processes || !stage->contexts)
		return -1;
	contexts_tell(stage->contexts, on_told, stage);
	stage->process = processes_add(stage->processes, 5, 100, 0);
	if (!stage->process)
		return -1;
	process_step(stage->process, PROCESS_WAS_TOLD);
	stage->process->context.has_asked_cgroups = true;
	*state = stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	processes_free(stage->processes);
	contexts_free(stage->contexts);
	free(stage);
	return 0;
}

static bool want(struct stage *stage)
{
	return contexts_want(stage->contexts, stage->process, stage->now);
}

static size_t asked(const struct stage *stage)
{
	return stage->fake.asked[TARGET_CONTEXT];
}

static const char *text_of(const struct stage *stage)
{
	static char text[CONTEXTS_TEXT_MAX];

	if (!contexts_text(stage->process, text))
		return "";
	return text;
}

/* The process has a mapping of a context, and the policy names no variables. */
static void publish(struct stage *stage, const char *bytes, size_t size)
{
	stage->process->context.start = START;
	stage->process->context.end = START + 4096;
	stage->fake.context = bytes;
	stage->fake.context_size = size;
}

static struct contexts_counts counts_of(const struct stage *stage)
{
	struct contexts_counts counts;

	contexts_counts(stage->contexts, &counts);
	return counts;
}

/* ---- questions ---- */

static void test_contexts__first_question(void **state)
{
	struct stage *stage = *state;
	const struct target_request *request = &stage->fake.requests[0];

	publish(stage, TEXT(CONTEXT("checkout")));
	assert_false(want(stage));
	assert_int_equal(asked(stage), 2); /* variables, and the context */
	assert_int_equal(request[0].start, 0);
	assert_int_equal(request[0].end, 0);
	assert_int_equal(request[1].kind, TARGET_CONTEXT);
	assert_int_equal(request[1].start, START);
	assert_int_equal(request[1].end, START + 4096);
	assert_int_equal(request[1].generation, 100);
	assert_int_equal(request[1].process.pid, 5);
	fake_target_answer(&stage->fake);
	assert_string_equal(text_of(stage), "service.name=checkout\n");
	assert_int_equal(stage->told, 1);
	assert_int_equal(counts_of(stage).contexts, 1);
}

static void test_contexts__not_while_an_answer_is_under_way(void **state)
{
	struct stage *stage = *state;

	publish(stage, TEXT(CONTEXT("checkout")));
	want(stage);
	stage->now += 1000 * NS_PER_SECOND;
	want(stage);
	assert_int_equal(asked(stage), 2);
	fake_target_answer(&stage->fake);
	want(stage);
	assert_int_equal(asked(stage), 3);
}

static void test_contexts__gaps_grow(void **state)
{
	struct stage *stage = *state;
	uint64_t gap = CONTEXTS_GAP_FIRST, count;

	publish(stage, TEXT(CONTEXT("checkout")));
	for (int i = 0; i < 12; i++) {
		want(stage);
		fake_target_answer(&stage->fake);
		count = asked(stage);
		stage->now += gap - 1;
		want(stage);
		assert_int_equal(asked(stage), count);
		stage->now++;
		want(stage);
		assert_int_equal(asked(stage), count + 1);
		fake_target_answer(&stage->fake);
		gap = 2 * gap < CONTEXTS_GAP_MAX ? 2 * gap : CONTEXTS_GAP_MAX;
	}
	assert_int_equal(gap, CONTEXTS_GAP_MAX);
	assert_int_equal(stage->told, 1); /* the text stayed the same */
}

/* Without a mapping of a context, another listing may have one. */
static void test_contexts__listings(void **state)
{
	struct stage *stage = *state;
	unsigned int listings = 0;

	assert_false(want(stage));
	for (int i = 0; i < 3600; i++) {
		stage->now += NS_PER_SECOND;
		listings += want(stage);
	}
	assert_in_range(listings, 7 + 10, 7 + 12); /* 2, 4, ... 256 s, and then every 300 s */
	fake_target_answer(&stage->fake);
	assert_int_equal(asked(stage), 1); /* about variables */
}

static void test_contexts__few_listings_a_second(void **state)
{
	struct stage *stage = *state;
	struct process *process[200];
	unsigned int listings = 0, second;

	stage->now = 1000 * NS_PER_SECOND;
	for (unsigned int i = 0; i < 200; i++) {
		process[i] = processes_add(stage->processes, 1000 + i, 200 + i, 0);
		assert_non_null(process[i]);
		process_step(process[i], PROCESS_WAS_TOLD);
		contexts_want(stage->contexts, process[i], stage->now);
	}
	for (second = 3; second < 13; second++) {
		unsigned int before = listings;

		stage->now = (1000 + second) * NS_PER_SECOND;
		for (unsigned int turn = 0; turn < 10; turn++)
			for (unsigned int i = 0; i < 200; i++)
				listings += contexts_want(stage->contexts, process[i],
							  stage->now + turn);
		assert_in_range(listings - before, 1, CONTEXTS_LISTINGS_PER_SECOND);
	}
	assert_int_equal(listings, 10 * CONTEXTS_LISTINGS_PER_SECOND);
}

static void test_contexts__not_of_all_processes(void **state)
{
	struct stage *stage = *state;
	struct process *young = processes_add(stage->processes, 6, 101, 0);

	assert_non_null(young);
	assert_false(contexts_want(stage->contexts, young, stage->now)); /* not listed yet */
	processes_end(stage->processes, stage->process, stage->now);
	assert_false(want(stage));
	assert_int_equal(asked(stage), 0);
}

/* ---- answers ---- */

static void test_contexts__a_context_that_changes(void **state)
{
	struct stage *stage = *state;

	publish(stage, TEXT(CONTEXT("checkout")));
	want(stage);
	fake_target_answer(&stage->fake);
	publish(stage, TEXT(CONTEXT("checkin!")));
	stage->now += CONTEXTS_GAP_FIRST;
	want(stage);
	fake_target_answer(&stage->fake);
	assert_string_equal(text_of(stage), "service.name=checkin!\n");
	assert_int_equal(stage->told, 2);
	publish(stage, TEXT("\x0a\x00"));
	stage->now += 2 * CONTEXTS_GAP_FIRST;
	want(stage);
	fake_target_answer(&stage->fake);
	assert_string_equal(text_of(stage), "");
}

static void test_contexts__malformed(void **state)
{
	struct stage *stage = *state;

	publish(stage, TEXT("\xff\xff"));
	want(stage);
	fake_target_answer(&stage->fake);
	assert_string_equal(text_of(stage), "");
	assert_int_equal(counts_of(stage).malformed, 1);
	assert_int_equal(stage->told, 0);
}

static void refuse(struct stage *stage, int error)
{
	publish(stage, TEXT(CONTEXT("checkout")));
	stage->fake.context_error = error;
	stage->process->context.after = 0;
	want(stage);
	fake_target_answer(&stage->fake);
	assert_false(stage->process->context.asked);
	assert_string_equal(text_of(stage), "");
}

static void test_contexts__refusals(void **state)
{
	static const int forget[] = {-ENOENT, -EOPNOTSUPP, -EIO},
			 again[] = {-EBUSY, -ENODATA, -EINVAL};
	static const int never[] = {-EPERM, -EACCES};
	struct stage *stage = *state;

	for (size_t i = 0; i < 3; i++) {
		refuse(stage, forget[i]);
		assert_int_equal(stage->process->context.start, 0);
	}
	for (size_t i = 0; i < 3; i++) {
		refuse(stage, again[i]);
		assert_int_equal(stage->process->context.start, START);
		assert_in_range(stage->process->context.after, stage->now + 1,
				stage->now + CONTEXTS_GAP_MAX);
	}
	for (size_t i = 0; i < 2; i++) {
		refuse(stage, never[i]);
		assert_true(stage->process->context.after == UINT64_MAX);
	}
	assert_int_equal(stage->told, 0);
}

static void test_contexts__a_process_that_ends_first(void **state)
{
	struct stage *stage = *state;

	publish(stage, TEXT(CONTEXT("checkout")));
	stage->fake.variables = "A=1";
	stage->fake.variables_size = 4;
	want(stage);
	processes_end(stage->processes, stage->process, stage->now);
	processes_remove(stage->processes, stage->process);
	fake_target_answer(&stage->fake);
	assert_int_equal(stage->told, 0);
	assert_int_equal(counts_of(stage).contexts, 0);
	assert_int_equal(counts_of(stage).environments, 0);
}

/* ---- variables ---- */

static void test_contexts__variables(void **state)
{
	struct stage *stage = *state;

	stage->fake.variables = "OTEL_SERVICE_NAME=from\0OTEL_RESOURCE_ATTRIBUTES=a=1";
	stage->fake.variables_size = sizeof("OTEL_SERVICE_NAME=from\0OTEL_RESOURCE_ATTRIBUTES=a=1");
	publish(stage, TEXT(CONTEXT("checkout")));
	want(stage);
	fake_target_answer(&stage->fake);
	assert_string_equal(text_of(stage), "service.name=checkout\nservice.name=from\na=1\n");
	assert_int_equal(stage->told, 2);
	stage->now += 1000 * NS_PER_SECOND;
	want(stage);
	assert_int_equal(asked(stage), 3); /* an environment is read once */
}

/* After one such answer nobody asks about the variables of any process. */
/* The value of a control group stays: the process did not choose it. */
static void test_contexts__cgroups(void **state)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct stage *stage = *state;
	char text[128], expected[128];

	snprintf(text, sizeof(text), "4:memory:/docker/%s\n0::/\n", id);
	snprintf(expected, sizeof(expected), "container.id=%s\n", id);
	stage->process->context.has_asked_cgroups = false;
	stage->fake.cgroups = text;
	want(stage);
	fake_target_answer(&stage->fake);
	assert_string_equal(text_of(stage), expected);
	assert_int_equal(stage->told, 1);
	want(stage);
	assert_int_equal(stage->fake.asked[TARGET_CGROUPS], 1);
}

/* A host with control groups of version 2 alone is asked about one process. */
static void test_contexts__a_host_without_old_cgroups(void **state)
{
	struct stage *stage = *state;
	struct process *other = processes_add(stage->processes, 6, 101, 0);

	assert_non_null(other);
	process_step(other, PROCESS_WAS_TOLD);
	stage->process->context.has_asked_cgroups = false;
	want(stage);
	fake_target_answer(&stage->fake);
	contexts_want(stage->contexts, other, stage->now);
	assert_int_equal(stage->fake.asked[TARGET_CGROUPS], 1);
	assert_string_equal(text_of(stage), "");
}

static void test_contexts__a_policy_without_variables(void **state)
{
	struct stage *stage = *state;
	struct process *other = processes_add(stage->processes, 6, 101, 0);

	assert_non_null(other);
	process_step(other, PROCESS_WAS_TOLD);
	want(stage);
	assert_int_equal(asked(stage), 1);
	fake_target_answer(&stage->fake);
	contexts_want(stage->contexts, other, stage->now);
	assert_int_equal(asked(stage), 1);
}

/* ---- memory ---- */

/* Many processes that say much. The texts of ended ones are no more. */
static void test_contexts__memory_is_bounded(void **state)
{
	static char variables[6 * 1001];
	const size_t most = CONTEXTS_BYTES_MAX / sizeof(variables);
	struct stage *stage = *state;
	struct process *last = NULL;
	size_t bytes = 0;

	contexts_tell(stage->contexts, NULL, NULL);
	for (size_t i = 0; i < 6; i++) {
		char *at = variables + i * 1001;

		memset(at, 'x', 1000);
		at[1000] = '\0';
		at[0] = (char)('A' + i);
		at[1] = '=';
	}
	stage->fake.variables = variables;
	stage->fake.variables_size = sizeof(variables);
	for (uint32_t i = 0; i < most + 20; i++) {
		last = processes_add(stage->processes, 1000 + i, 200 + i, 0);
		assert_non_null(last);
		process_step(last, PROCESS_WAS_TOLD);
		contexts_want(stage->contexts, last, stage->now);
		fake_target_answer(&stage->fake);
		if (last->context.variables)
			bytes += strlen(last->context.variables) + 1;
	}
	assert_in_range(bytes, CONTEXTS_BYTES_MAX / 2, CONTEXTS_BYTES_MAX);
	assert_null(last->context.variables);
	assert_true(counts_of(stage).left_out > 0);
	for (uint32_t i = 0; i < 10; i++) {
		struct process *process = processes_find(stage->processes, 1000 + i, 200 + i);

		processes_end(stage->processes, process, stage->now);
		processes_remove(stage->processes, process);
	}
	last->context.has_asked_variables = false;
	contexts_want(stage->contexts, last, stage->now);
	fake_target_answer(&stage->fake);
	assert_non_null(last->context.variables);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_contexts__first_question),
		TEST(test_contexts__not_while_an_answer_is_under_way),
		TEST(test_contexts__gaps_grow),
		TEST(test_contexts__listings),
		TEST(test_contexts__few_listings_a_second),
		TEST(test_contexts__not_of_all_processes),
		TEST(test_contexts__a_context_that_changes),
		TEST(test_contexts__malformed),
		TEST(test_contexts__refusals),
		TEST(test_contexts__a_process_that_ends_first),
		TEST(test_contexts__variables),
		TEST(test_contexts__cgroups),
		TEST(test_contexts__a_host_without_old_cgroups),
		TEST(test_contexts__a_policy_without_variables),
		TEST(test_contexts__memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
