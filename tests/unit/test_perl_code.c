/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of Perl, as events tell of them: names and files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/build_perl.h"
#include "worker/runtime/perl.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

static struct runtime_setup setup_of = {.handler = &perl_handler};
static struct told told;

static int tell_event(const struct event_code *event)
{
	memset(&told, 0xa5, sizeof(told));
	return told_read(&setup_of, NULL, event, &told);
}

static int tell(const struct build_perl *code)
{
	const struct event_code event = build_perl(code);

	return tell_event(&event);
}

static void expect(enum runtime_scope_kind kind, const char *package, const char *name,
		   const char *want)
{
	const struct build_perl code = {kind, name, package, "/srv/app.pl", 0};

	assert_int_equal(tell(&code), 0);
	assert_string_equal(told.code.name, want);
	assert_string_equal(told.code.file, "/srv/app.pl");
	assert_int_equal(told.code.first_line, 0);
	assert_false(told.is_start);
}

static void test_perl_code__names(void **state)
{
	(void)state;
	expect(SCOPE_OF_FUNCTION, "Work::Shape", "area", "Work::Shape::area");
	expect(SCOPE_OF_FUNCTION, "main", "größe", "main::größe");
	expect(SCOPE_OF_FUNCTION, NULL, "lost", "__ANON__::lost");
	expect(SCOPE_OF_LEXICAL, "main", "inner", "inner");
	expect(SCOPE_OF_NAMELESS, "main", NULL, "(unknown)");
	expect(SCOPE_OF_EVAL, NULL, NULL, "(eval)");
	expect(SCOPE_OF_MAIN, NULL, NULL, "(main)");
}

/* Without threads, a statement has its file as a variable, which has two characters before. */
static void test_perl_code__files_of_variables(void **state)
{
	struct build_perl code = {.kind = SCOPE_OF_EVAL, .file = "_</srv/app.pl"};

	(void)state;
	assert_int_equal(tell(&code), 0);
	assert_string_equal(told.code.file, "_</srv/app.pl");
	setup_of.config.flags = RUNTIME_FILE_NAMED;
	assert_int_equal(tell(&code), 0);
	assert_string_equal(told.code.file, "/srv/app.pl");
	code.kind = SCOPE_OF_MAIN;
	assert_int_equal(tell(&code), 0);
	assert_string_equal(told.code.file, "/srv/app.pl");
	code.file = "_";
	assert_int_equal(tell(&code), 0);
	assert_string_equal(told.code.file, "_");
	/* a function has the name itself */
	code = (struct build_perl){SCOPE_OF_FUNCTION, "f", "main", "_<odd", 0};
	assert_int_equal(tell(&code), 0);
	assert_string_equal(told.code.file, "_<odd");
	setup_of.config.flags = 0;
}

/* Perl keeps a name in Latin-1 where that is possible, and says so. Others are bytes. */
static void test_perl_code__letters(void **state)
{
	struct build_perl code = {SCOPE_OF_FUNCTION,
				  "gr\xf6\xdf"
				  "e",
				  "Gr\xf6", "a", 2};
	char text[200];

	(void)state;
	assert_int_equal(tell(&code), 0);
	assert_string_equal(told.code.name, "Grö::größe");
	code.flags = 0;
	assert_int_equal(tell(&code), 0);
	assert_string_equal(told.code.name, "Gr\xf6::gr\xf6\xdf"
					    "e");
	memset(text, 0xe4, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	code = (struct build_perl){SCOPE_OF_LEXICAL, text, NULL, "a", 2};
	assert_int_equal(tell(&code), 0);
	assert_true(strlen(told.code.name) > 250);
	assert_int_equal(strspn(told.code.name, "\xc3\xa4"), strlen(told.code.name));
}

static void test_perl_code__without_a_file(void **state)
{
	struct build_perl code = {SCOPE_OF_FUNCTION, "f", "main", NULL, 0};
	struct event_code event;

	(void)state;
	assert_int_equal(tell(&code), 0);
	assert_string_equal(told.code.file, "");
	code.file = "/srv/app.pl";
	event = build_perl(&code);
	event.bytes[2] = 0; /* out of memory */
	assert_int_equal(tell_event(&event), 0);
	assert_string_equal(told.code.file, "");
}

static void test_perl_code__long_names(void **state)
{
	char text[700];
	const struct build_perl code = {SCOPE_OF_FUNCTION, text, text, text, 0};

	(void)state;
	memset(text, 'n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(tell(&code), 0);
	assert_int_equal(strlen(told.code.name), sizeof(told.code.name) - 1);
	assert_int_equal(strlen(told.code.file), CODE_PART_3 - CODE_PART_2);
}

static void test_perl_code__lines(void **state)
{
	const struct build_perl code = {SCOPE_OF_MAIN, NULL, NULL, "a", 0};

	(void)state;
	assert_int_equal(tell(&code), 0);
	assert_int_equal(told.handler->find_line(&told.lines, 12), 12);
	assert_int_equal(told.handler->find_line(&told.lines, RUNTIME_OFFSET_NONE), 0);
	assert_int_equal(told.handler->find_line(&told.lines, UINT32_MAX), 0);
}

static void test_perl_code__what_cannot_be(void **state)
{
	struct build_perl code = {SCOPE_OF_NOTHING, "f", "main", "a", 0};
	struct event_code event;
	const int32_t length = -2; /* HEf_SVKEY */

	(void)state;
	assert_int_equal(tell(&code), -EPROTO);
	code.kind = SCOPE_OF_MAIN + 1;
	assert_int_equal(tell(&code), -EPROTO);
	code.kind = SCOPE_OF_FUNCTION;
	event = build_perl(&code);
	event.named |= 1ull << 32;
	assert_int_equal(tell_event(&event), -EPROTO);
	event = build_perl(&code);
	memcpy(event.data + 4, &length, sizeof(length));
	assert_int_equal(tell_event(&event), -EBADMSG);
	for (size_t i = 0; i < 2; i++) {
		event = build_perl(&code);
		event.bytes[i] = 0;
		assert_int_equal(tell_event(&event), -EFAULT);
		event.bytes[i] = 8; /* nothing behind the length */
		assert_int_equal(tell_event(&event), -EFAULT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perl_code__names),
		cmocka_unit_test(test_perl_code__files_of_variables),
		cmocka_unit_test(test_perl_code__letters),
		cmocka_unit_test(test_perl_code__without_a_file),
		cmocka_unit_test(test_perl_code__long_names),
		cmocka_unit_test(test_perl_code__lines),
		cmocka_unit_test(test_perl_code__what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
