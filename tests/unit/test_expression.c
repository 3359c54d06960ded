/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/expression.h"

static void test_expression__matches(void **state)
{
	static const struct {
		const char *expression, *text;
		bool matches;
	} cases[] = {
		{"", "anything", true},		{"^ng.*x$", "nginx", true},
		{"^(a|b)[0-9]+$", "b12", true}, {"^a{2,3}$", "aaa", true},
		{"^a{2,3}$", "aaaa", false},	{"^[]+)]$", ")", true},
		{"^[^]+)]$", ")", false},	{"^[[:digit:]]+$", "4711", true},
		{"\\(\\+\\{", "(+{", true},
	};
	regex_t regex;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_null(expression_problem(cases[i].expression));
		assert_int_equal(expression_compile(&regex, cases[i].expression, 0), 0);
		assert_int_equal(!regexec(&regex, cases[i].text, 0, NULL, 0), cases[i].matches);
		regfree(&regex);
	}
}

static void test_expression__any_case(void **state)
{
	regex_t regex;

	(void)state;
	assert_int_equal(expression_compile(&regex, "^NGINX$", REG_ICASE), 0);
	assert_int_equal(regexec(&regex, "nginx", 0, NULL, 0), 0);
	regfree(&regex);
}

static void refused(const char *expression, const char *part)
{
	const char *problem = expression_problem(expression);
	regex_t regex;

	if (!problem || !strstr(problem, part))
		fail_msg("%s: %s", expression, problem ? problem : "taken");
	assert_int_equal(expression_compile(&regex, expression, 0), -EINVAL);
}

static void taken(const char *expression)
{
	const char *problem = expression_problem(expression);

	if (problem)
		fail_msg("%s: %s", expression, problem);
}

static void test_expression__refuses(void **state)
{
	(void)state;
	refused("(", "(");
	refused(")", "without its (");
	refused("[a", "[");
	refused("(a)\\1", "references");
	refused("((((((((((((((((((a))))))))))))))))))", "groups");
}

/* Each would be a regular expression of over a thousand characters; some of gigabytes. */
static void test_expression__counts_copies(void **state)
{
	static const char *const large[] = {
		"a{1001}",
		"a{0,1001}",
		"a{1000,}",
		"a{99999999999999999999}",
		"a{99}{99}",
		"(a{99}b){99}",
		"(((a+b)+c+)+d{40}){9}",
		"[[:digit:]abc]{999}",
		"[]+]{999}",
		"(a|b|c|d|e|f|g|h|i|j){99}",
		"(((((((((((x+)+)+)+)+)+)+)+)+)+)+)+",
	};
	static const char *const small[] = {
		"a{499}",
		"(a{20}){20}",
		"a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v+w+x+y+z+",
		"[++++++++++++++++++++]",
		"\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++)
		refused(large[i], "too large");
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++)
		taken(small[i]);
}

static void test_expression__repeats_something(void **state)
{
	static const char *const nothing[] = {
		"a**",	   "a+?+", "(a?)+",	    "(|a)*",	     "(a|b*)?",	    "()+",
		"(a?b*)+", "^*",   "(^|a)+",	    "\\b*",	     "(\\<)+",	    "a|*b",
		"(*a)",	   "+",	   "x(){1,90}{3,}", "(a?){1,9}{9,}", "(a{0,2}){3}",
	};
	static const char *const something[] = {
		"(a*b)+",      "(a|b)*",   "(^a)+",    "(a+)+",	   "(\\bx)?",
		"((a|b)+c?)*", "^(a|b*)$", "\\w+\\.*", "x{1,90}+", "(x|y?z){1,30}{3,}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		refused(nothing[i], "nothing");
	for (size_t i = 0; i < sizeof(something) / sizeof(*something); i++)
		taken(something[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expression__matches),
		cmocka_unit_test(test_expression__any_case),
		cmocka_unit_test(test_expression__refuses),
		cmocka_unit_test(test_expression__counts_copies),
		cmocka_unit_test(test_expression__repeats_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
