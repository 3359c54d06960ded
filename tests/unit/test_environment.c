/* SPDX-License-Identifier: Apache-2.0 */
/* The broker cuts the variables that the policy names out of an environment in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "loader/broker/environment.h"

#define TEXT(text) text, sizeof(text) - 1 /* with its inner NULs */
#define ROOM	   8192u

static struct environment_names names;

static int add(const char *name)
{
	char padded[GRANT_NAME_BYTES] = "";

	strncpy(padded, name, sizeof(padded));
	return environment_add_name(&names, padded);
}

static int setup(void **state)
{
	(void)state;
	names = (struct environment_names){.count = 0};
	return add("SERVICE") || add("B");
}

/* Cuts in pieces of so many bytes, into so much room, and wants exactly these bytes. */
static void check_in(const char *text, size_t size, size_t piece, size_t room_size,
		     const char *expected, size_t expected_size)
{
	char room[ROOM + 1];
	struct environment_cut cut = {.names = &names, .room = room, .size = room_size};

	memset(room, '#', sizeof(room));
	for (size_t at = 0; at < size; at += piece)
		environment_cut(&cut, text + at, size - at < piece ? size - at : piece);
	assert_int_equal(environment_size(&cut), expected_size);
	assert_memory_equal(room, expected, expected_size);
	assert_int_equal(room[room_size], '#');
}

static void check(const char *text, size_t size, const char *expected, size_t expected_size)
{
	for (size_t piece = 1; piece <= size + 1; piece++)
		check_in(text, size, piece, ROOM, expected, expected_size);
}

static void test_environment__named_variables_alone(void **state)
{
	(void)state;
	check(TEXT("PASSWORD=x\0SERVICE=checkout\0HOME=/\0B=\0"), TEXT("SERVICE=checkout\0B=\0"));
	check(TEXT("SERVICE=a=b\0"), TEXT("SERVICE=a=b\0"));
	check(TEXT("SERVICE=1\0SERVICE=2\0"), TEXT("SERVICE=1\0SERVICE=2\0"));
	check(TEXT("A=1\0"), TEXT(""));
	check(TEXT(""), TEXT(""));
}

static void test_environment__other_names(void **state)
{
	(void)state;
	check(TEXT("SERVICE2=x\0SERVIC=x\0XSERVICE=x\0service=x\0 SERVICE=x\0"), TEXT(""));
	check(TEXT("SERVICE\0=x\0\0\0=SERVICE=x\0"), TEXT(""));
	check(TEXT("PASSWORD=SERVICE=x\0C=\nSERVICE=x\0"), TEXT(""));
	check(TEXT("0123456789012345678901234567890=x\0"
		   "01234567890123456789012345678901=x\0"
		   "012345678901234567890123456789012=x\0B=1\0"),
	      TEXT("B=1\0"));
}

static void test_environment__the_longest_name(void **state)
{
	(void)state;
	assert_int_equal(add("0123456789012345678901234567890"), 0);
	check(TEXT("0123456789012345678901234567890=x\0"),
	      TEXT("0123456789012345678901234567890=x\0"));
	check(TEXT("01234567890123456789012345678901=x\0"), TEXT(""));
}

/* A program may have written anything over its environment. */
static void test_environment__without_an_end(void **state)
{
	(void)state;
	check(TEXT("B=1\0SERVICE=half"), TEXT("B=1\0"));
	check(TEXT("SERVICE"), TEXT(""));
	check(TEXT("\xff\x80=\1\0B=\xff\0"), TEXT("B=\xff\0"));
}

static void test_environment__long_values(void **state)
{
	(void)state;
	for (size_t length = ENVIRONMENT_VALUE_MAX - 1; length <= ENVIRONMENT_VALUE_MAX + 1;
	     length++) {
		char text[ROOM] = "B=";
		size_t size = 2;

		memset(text + size, 'x', length);
		size += length + 1; /* and a NUL */
		memcpy(text + size, TEXT("SERVICE=1\0"));
		size += sizeof("SERVICE=1");
		if (length <= ENVIRONMENT_VALUE_MAX)
			check_in(text, size, 100, ROOM, text, size);
		else
			check_in(text, size, 100, ROOM, TEXT("SERVICE=1\0"));
	}
}

/* A variable without room is left out whole, and a later one may have room. */
static void test_environment__no_room(void **state)
{
	static const char text[] = "SERVICE=checkout\0B=1"; /* and a NUL */

	(void)state;
	for (size_t room = 0; room <= sizeof(text); room++) {
		if (room == sizeof(text))
			check_in(text, sizeof(text), 3, room, text, sizeof(text));
		else if (room >= sizeof("SERVICE=checkout"))
			check_in(text, sizeof(text), 3, room, text, sizeof("SERVICE=checkout"));
		else if (room >= sizeof("B=1"))
			check_in(text, sizeof(text), 3, room, TEXT("B=1\0"));
		else
			check_in(text, sizeof(text), 3, room, TEXT(""));
	}
}

static void test_environment__rules(void **state)
{
	char endless[GRANT_NAME_BYTES];

	(void)state;
	memset(endless, 'x', sizeof(endless));
	assert_int_equal(environment_add_name(&names, endless), -EPROTO);
	assert_int_equal(add(""), -EPROTO);
	while (names.count < GRANT_VARIABLES_MAX)
		assert_int_equal(add("X"), 0);
	assert_int_equal(add("X"), -EPROTO);
}

#define TEST(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_environment__named_variables_alone),
		TEST(test_environment__other_names),
		TEST(test_environment__the_longest_name),
		TEST(test_environment__without_an_end),
		TEST(test_environment__long_values),
		TEST(test_environment__no_room),
		TEST(test_environment__rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
