/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/redact.h"
#include "ipc/messages.h"

_Static_assert((int)REDACT_COMM == NAMES_COMM && (int)REDACT_PATH == NAMES_PATH &&
		       (int)REDACT_THREAD == NAMES_THREAD &&
		       (int)REDACT_FUNCTION == NAMES_FUNCTION && (int)REDACT_DROP == NAMES_DROP &&
		       (int)REDACT_HASH == NAMES_HASH && (int)REDACT_KINDS == NAMES_KINDS,
	       "the worker's words are those of the message");

#define MODES(...) ((const uint8_t[NAMES_KINDS]){__VA_ARGS__})

static struct redact redact;
static char text[REDACT_BYTES];

static const char *name(enum redact_kind kind, const char *from)
{
	return redact_name(&redact, kind, from, text);
}

static void test_redact__keeps(void **state)
{
	const char *from = "/usr/bin/x";

	(void)state;
	assert_int_equal(redact_init(&redact, MODES(0)), 0);
	for (int kind = 0; kind < REDACT_KINDS; kind++)
		assert_ptr_equal(name((enum redact_kind)kind, from), from);
	assert_true(redact_keeps(&redact, REDACT_PATH));
}

static void test_redact__drops(void **state)
{
	(void)state;
	redact_init(&redact, MODES([NAMES_FUNCTION] = NAMES_DROP));
	assert_string_equal(name(REDACT_FUNCTION, "main"), REDACT_DROPPED);
	assert_string_equal(name(REDACT_COMM, "main"), "main");
	assert_string_equal(name(REDACT_FUNCTION, ""), "");
}

static void test_redact__hashes(void **state)
{
	char first[REDACT_BYTES];

	(void)state;
	redact_init(&redact, MODES([NAMES_PATH] = NAMES_HASH));
	snprintf(first, sizeof(first), "%s", name(REDACT_PATH, "/a"));
	assert_int_equal(strlen(first), 18);
	assert_null(strstr(first, "a/"));
	assert_string_equal(name(REDACT_PATH, "/a"), first);
	assert_string_not_equal(name(REDACT_PATH, "/b"), first);
	redact_init(&redact, MODES([NAMES_PATH] = NAMES_HASH));
	assert_string_not_equal(name(REDACT_PATH, "/a"), first);
}

static void test_redact__the_kernels_own_names_stay(void **state)
{
	(void)state;
	redact_init(&redact, MODES(255, 255, 255, 255));
	assert_string_equal(name(REDACT_PATH, "[vdso]"), "[vdso]");
	assert_string_equal(name(REDACT_PATH, "[anon:secret]"), REDACT_DROPPED);
	assert_string_equal(name(REDACT_PATH, "[anon_shmem:secret]"), REDACT_DROPPED);
	assert_string_equal(name(REDACT_FUNCTION, "[secret]"), REDACT_DROPPED);
}

static void test_redact__names_of_sources_are_never_the_kernels(void **state)
{
	char other[REDACT_BYTES];

	(void)state;
	redact_init(&redact, MODES([NAMES_PATH] = NAMES_DROP));
	assert_string_equal(redact_source(&redact, "[/secret", text), REDACT_DROPPED);
	assert_string_equal(redact_source(&redact, "[vdso]", text), REDACT_DROPPED);
	assert_string_equal(redact_source(&redact, "", text), "");
	redact_init(&redact, MODES([NAMES_PATH] = NAMES_HASH));
	assert_null(strstr(redact_source(&redact, "[/secret", text), "secret"));
	/* one path, one hash */
	assert_string_equal(redact_source(&redact, "/secret", text),
			    redact_name(&redact, REDACT_PATH, "/secret", other));
	redact_init(&redact, MODES(0));
	assert_string_equal(redact_source(&redact, "[/secret", text), "[/secret");
}

/* The main thread's name is the process's. */
static void test_redact__threads_follow_comm(void **state)
{
	(void)state;
	redact_init(&redact, MODES([NAMES_COMM] = NAMES_DROP));
	assert_string_equal(name(REDACT_THREAD, "x"), REDACT_DROPPED);
	redact_init(&redact, MODES([NAMES_COMM] = NAMES_HASH));
	assert_string_not_equal(name(REDACT_THREAD, "x"), "x");
	redact_init(&redact, MODES([NAMES_COMM] = NAMES_DROP, [NAMES_THREAD] = NAMES_HASH));
	assert_string_equal(name(REDACT_THREAD, "x"), REDACT_DROPPED);
	redact_init(&redact, MODES([NAMES_THREAD] = NAMES_HASH));
	assert_string_equal(name(REDACT_COMM, "x"), "x");
	assert_string_not_equal(name(REDACT_THREAD, "x"), "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_redact__keeps),
		cmocka_unit_test(test_redact__drops),
		cmocka_unit_test(test_redact__hashes),
		cmocka_unit_test(test_redact__the_kernels_own_names_stay),
		cmocka_unit_test(test_redact__names_of_sources_are_never_the_kernels),
		cmocka_unit_test(test_redact__threads_follow_comm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
