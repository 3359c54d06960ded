/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "object/symbol/demangle.h"

static void assert_demangled(const char *name, const char *expected)
{
	char *text = demangle(name);

	if (expected) {
		assert_non_null(text);
		assert_string_equal(text, expected);
	} else {
		assert_null(text);
	}
	free(text);
}

static void test_demangle__cplusplus(void **state)
{
	(void)state;
	assert_demangled("_ZN3foo3barEv", "foo::bar");
	assert_demangled("_ZNSt6vectorIiSaIiEE9push_backERKi",
			 "std::vector<int, std::allocator<int> >::push_back");
	assert_demangled("_ZN5outerC1Ev", "outer::outer");
	assert_demangled("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()");
}

static void test_demangle__rust_legacy_loses_its_hash(void **state)
{
	(void)state;
	assert_demangled("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	assert_demangled("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$"
			 "GT$3bar17h930b740aa94f1d3aE",
			 "<Test + 'static as foo::Bar<Test>>::bar");
}

static void test_demangle__rust_v0(void **state)
{
	(void)state;
	assert_demangled("_RNvC6_123foo3bar", "123foo::bar");
	assert_demangled("_RNCC4main0", "main::{closure#0}");
	assert_demangled("_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example");
}

static void test_demangle__names_of_c_are_left_alone(void **state)
{
	(void)state;
	assert_demangled("", NULL);
	assert_demangled("main", NULL);
	assert_demangled("i", NULL); /* "int" if types were decoded */
	assert_demangled("_start", NULL);
	assert_demangled("_Z", NULL);
	assert_demangled("_R", NULL);
	assert_demangled("_ZNope", NULL);
	assert_demangled("_ZN3fo", NULL);
}

static void test_demangle__long_names_are_left_alone(void **state)
{
	char name[DEMANGLE_INPUT_MAX + 16] = "_Z4096";

	(void)state;
	memset(name + 6, 'a', 4096);
	assert_demangled(name, NULL);
	memcpy(name, "_Z4080", 6);
	name[6 + 4080] = '\0';
	assert_demangled(name, name + 6);
}

/* Appends LEVELS templates to a name, each with the one before it as both arguments. */
#define LEVELS 200u

static size_t double_up(char *name, size_t length, unsigned int first)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	unsigned int at = first;

	for (unsigned int i = 0; i < LEVELS; i++, at += 2) {
		char reference[] = {'S', digits[at / 36], digits[at % 36], '_', '\0'};

		if (at < 36)
			memmove(reference + 1, reference + 2, 3);
		length += (size_t)snprintf(name + length, DEMANGLE_INPUT_MAX - length, "1bI%s%sE",
					   reference, reference);
	}
	return length;
}

static void assert_refused_soon(const char *name)
{
	clock_t start = clock();

	assert_demangled(name, NULL);
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

static void test_demangle__expansion_is_bounded(void **state)
{
	static const char head[] = "_Z1fI1aIccE", tail[] = "EvT_";
	char name[DEMANGLE_INPUT_MAX + 1];
	size_t length = sizeof(head) - 1;

	(void)state;
	memcpy(name, head, length);
	length = double_up(name, length, 1);
	memcpy(name + length, tail, sizeof(tail));
	assert_refused_soon(name);
}

/* The base of an inherited constructor is not printed, but searched for a parameter pack. */
static void test_demangle__expansion_without_output_is_bounded(void **state)
{
	static const char head[] = "_ZN1aCI11zI1cIiiE", tail[] = "EIDpSB6_EEv";
	char name[DEMANGLE_INPUT_MAX + 1];
	size_t length = sizeof(head) - 1;

	(void)state;
	memcpy(name, head, length);
	length = double_up(name, length, 2);
	memcpy(name + length, tail, sizeof(tail));
	assert_refused_soon(name);
}

/* The first asks for a number of lifetimes near 2^64 in a path that is not printed. */
static void test_demangle__rust_v0_cannot_be_hostile(void **state)
{
	(void)state;
	assert_refused_soon("_RMMYFFFFGOABGOAB_DtM");
	assert_refused_soon("_RNvMC1aFGzzzzzzzz_Eu1c");
	assert_refused_soon("_RINvC1a1fB4_E");	    /* refers into an identifier */
	assert_refused_soon("_RINvC1a1fTB9_jEE");   /* refers forward */
	assert_refused_soon("_RINvC1a1fTB7_B7_EE"); /* refers to its own container */
	assert_refused_soon("_RNvC1au3_4c");	    /* Punycode */
	assert_demangled("_RNvMC1aFG_Eu1c", "<for<'a> fn()>::c");
	assert_demangled("_RINvC1a1fFG_RL0_eEuE", "a::f::<for<'a> fn(&'a str)>");
	assert_demangled("_RINvC1a1fTjB8_EE", "a::f::<(usize, usize)>");
	assert_demangled("_RINvC1a1fKj1f_Ahj3_E", "a::f::<31, [u8; 3]>");
	assert_demangled("_RINvC1a1fDNtC1a1Tp1OjEL_EC1b", "a::f::<dyn a::T<O = usize>>");
}

static void test_demangle__nesting_is_bounded(void **state)
{
	char name[DEMANGLE_INPUT_MAX + 1] = "_Z1f";

	(void)state;
	memset(name + 4, 'P', DEMANGLE_INPUT_MAX - 5);
	name[DEMANGLE_INPUT_MAX - 1] = 'i';
	free(demangle(name));
	memset(name + 2, 'N', DEMANGLE_INPUT_MAX - 2);
	free(demangle(name));
	memcpy(name, "_RNvC1a", 7);
	memset(name + 7, 'N', DEMANGLE_INPUT_MAX - 7);
	free(demangle(name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demangle__cplusplus),
		cmocka_unit_test(test_demangle__rust_legacy_loses_its_hash),
		cmocka_unit_test(test_demangle__rust_v0),
		cmocka_unit_test(test_demangle__names_of_c_are_left_alone),
		cmocka_unit_test(test_demangle__long_names_are_left_alone),
		cmocka_unit_test(test_demangle__expansion_is_bounded),
		cmocka_unit_test(test_demangle__expansion_without_output_is_bounded),
		cmocka_unit_test(test_demangle__rust_v0_cannot_be_hostile),
		cmocka_unit_test(test_demangle__nesting_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
