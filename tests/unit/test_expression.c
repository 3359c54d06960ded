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
	refused("[a", "[");
	refused("(a)\\1", "references");
	refused("a**", "a repeat");
	refused("a{2}{3}", "a repeat");
	refused("(a)+?", "a repeat");
}

static void test_expression__limits_length_and_copies(void **state)
{
	char longest[EXPRESSION_BYTES_MAX + 2];
	static const char *const large[] = {
		"a{256}",
		"a{0,256}",
		"a{255,}",
		"a{99999999999999999999}",
		"(a){33}",
		"((a{9}){4,}){7}",
		"((((((x)+)+)+)+)+)+",
		"(a){0}((((((x)+)+)+)+)+)+",
		"((((((([[:alpha:]]|[[:digit:]]|.*|a*|b*|c*|d*)+)+)+)+)+)+)x",
	};
	static const char *const small[] = {
		"a{255}",
		"(a{20}){32}",
		"(a{1,3}\\.){3}a{1,3}",
		"a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v+w+x+y+z+",
		"[++++++++++++++++++++]",
		"\\+\\+\\+\\++\\+\\{+\\)+\\)+\\)+\\)+\\)+\\)+",
		"(a*b)+(c|d)*(^|::)x(y)?$",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++)
		refused(large[i], "repeats");
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++)
		taken(small[i]);
	memset(longest, 'x', sizeof(longest));
	longest[EXPRESSION_BYTES_MAX] = '\0';
	taken(longest);
	longest[EXPRESSION_BYTES_MAX] = 'x';
	longest[EXPRESSION_BYTES_MAX + 1] = '\0';
	refused(longest, "255 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expression__matches),
		cmocka_unit_test(test_expression__any_case),
		cmocka_unit_test(test_expression__refuses),
		cmocka_unit_test(test_expression__limits_length_and_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
