/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as their authors wrote them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "view/short_name.h"

static const struct {
	const char *name, *expected;
} cases[] = {
	{"hot", "hot"},
	{"hot.cold", "hot"},
	{"hot.cold.1", "hot"},
	{"hot(int) [clone .cold]", "hot"},
	{"hot.constprop.0", "hot"},
	/* C++ */
	{"hot::score_order", "score_order"},
	{"handle_batch<Order>", "handle_batch"},
	{"ns::Map<int, ns::V<char> >::find", "find"},
	{"(anonymous namespace)::spin", "spin"},
	{"ns::spin(int, char*)", "spin"},
	{"ns::Order::operator<<", "operator<<"},
	{"ns::Order::operator()", "operator()"},
	{"ns::Order::operator-><int>", "operator-><int>"},
	{"operators_of", "operators_of"},
	{"ns::f<&ns::P::operator->>::g", "g"},
	{"main::{lambda(int)#1}::operator()", "operator()"},
	{"ns::Order::~Order", "~Order"},
	/* Rust */
	{"<u64>::wrapping_mul", "wrapping_mul"},
	{"<hot::Order as core::fmt::Debug>::fmt", "fmt"},
	{"hot::main::{{closure}}", "{{closure}}"},
	{"core::ops::FnOnce::call_once{{vtable.shim}}", "call_once{{vtable.shim}}"},
	/* Go */
	{"main.scoreOrder", "scoreOrder"},
	{"main.(*Order).Score", "Score"},
	{"main.coldPath", "coldPath"},
	{"cache.coldStart", "coldStart"},
	{"cache.coldStart.cold", "coldStart"},
	{"example.com/shop/order.Score[go.shape.int]", "Score"},
	/* none */
	{"libc.so.6+0x1234", ""},
	{"[cut: no rule]", ""},
	{"ns::<<<", ""},
	{"(", ""},
	{"", ""},
};

static void test_short_name__of_each_language(void **state)
{
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		short_name(cases[i].name, text, sizeof(text));
		assert_string_equal(text, cases[i].expected);
	}
}

static void test_short_name__that_is_too_long_is_none(void **state)
{
	char text[4];

	(void)state;
	short_name("ns::abc", text, sizeof(text));
	assert_string_equal(text, "abc");
	short_name("ns::abcd", text, sizeof(text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_name__of_each_language),
		cmocka_unit_test(test_short_name__that_is_too_long_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
