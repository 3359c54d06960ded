/* SPDX-License-Identifier: Apache-2.0 */
/* The input of keyhole top: keys, streams, words of the recording, the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_profile.h"
#include "view/top/members.h"
#include "view/top/messages.h"
#include "view/top/options.h"
#include "view/top/ui.h"
#include "profile/format/format.h"
#include "profile/profile.h"

static void test_top_input__keys_of_terminals(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		int key;
	} cases[] = {
		{"\033[A", 3, KEY_UP},
		{"\033OB", 3, KEY_DOWN},
		{"\033[5~x", 4, KEY_PAGE_UP},
		{"\033", 1, KEY_ESCAPE},
		{"\033q", 1, KEY_ESCAPE},
		{"\033[1;5Aq", 6, KEY_NONE},
		{"\033[200~", 6, KEY_NONE},
		{"\033[", 2, KEY_NONE},
		{"\n", 1, KEY_ENTER},
		{"\b", 1, KEY_BACKSPACE},
		{"\x7f", 1, KEY_BACKSPACE},
		{"q", 1, 'q'},
		{"\033[H", 3, KEY_HOME},
		{"\033[4~", 4, KEY_END},
		{"", 0, KEY_NONE},
	};
	int found;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(ui_decode(cases[i].bytes, strlen(cases[i].bytes), &found),
				 cases[i].length);
		assert_int_equal(found, cases[i].key);
	}
}

static int count_and_stop(void *count, const unsigned char *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return ++*(int *)count == 3 ? -ECANCELED : 0;
}

static void test_top_input__streams(void **state)
{
	struct members *members = members_new();
	size_t size;
	struct profile *profile = build_profile();
	unsigned char *bytes = build_profile_render(&format_pprof, profile, false, &size);
	unsigned char *four = malloc(4 * size);
	struct history history;
	int count = 0;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		memcpy(four + i * size, bytes, size);
	assert_int_equal(members_feed(members, four, 4 * size, count_and_stop, &count), -ECANCELED);
	assert_int_equal(count, 3);
	members_free(members);
	members = members_new();
	assert_int_equal(members_feed(members, (const unsigned char *)"no gzip at all", 14,
				      count_and_stop, &count),
			 -EBADMSG);
	members_free(members);
	/* the unpacked bytes are no profile */
	assert_int_equal(history_init(&history), 0);
	assert_true(history_add(&history, "\377\377\377", 3) < 0);
	assert_int_equal(history.count, 0);
	history_release(&history);
	profile_free(profile);
	free(four);
	free(bytes);
}

static void feed_line(struct messages *messages, const char *line)
{
	messages_feed(messages, line, strlen(line));
	messages_feed(messages, "\n", 1);
}

static void test_top_input__what_record_says(void **state)
{
	static struct messages messages;
	char text[600];

	(void)state;
	memset(text, 'x', sizeof(text));
	messages_feed(&messages, "5 s: 5 samples, 3 lost, 100 % complete", 38);
	assert_int_equal(messages.lost, 0);
	messages_feed(&messages, "\nkeyhole: bad \033[31mthing\n", 25);
	assert_int_equal(messages.lost, 3);
	assert_non_null(messages_line(&messages, 0));
	assert_null(strchr(messages_line(&messages, 0), '\033'));
	assert_int_equal(strncmp(messages_line(&messages, 0), "keyhole: bad ", 13), 0);
	messages_feed(&messages, text, sizeof(text));
	messages_feed(&messages, "\n", 1);
	assert_int_equal(strlen(messages_line(&messages, 1)), MESSAGES_BYTES - 1);
	for (int i = 0; i < 20; i++)
		messages_feed(&messages, "line\n", 5);
	assert_string_equal(messages_line(&messages, 0), "line");
	assert_null(messages_line(&messages, MESSAGES_KEPT));
	feed_line(&messages, "keyhole: record: --nope: unknown option; see: keyhole record --help");
	assert_string_equal(messages_line(&messages, MESSAGES_KEPT - 1),
			    "keyhole: top: --nope: unknown option; see: keyhole top --help");
	feed_line(&messages, "keyhole: record: --pdi: unknown option; did you mean --pid?");
	assert_string_equal(messages_line(&messages, MESSAGES_KEPT - 1),
			    "keyhole: top: --pdi: unknown option; did you mean --pid?");
	feed_line(&messages, "keyhole: record: foo: unexpected; a command goes after --");
	assert_string_equal(messages_line(&messages, MESSAGES_KEPT - 1),
			    "keyhole: top: foo: unexpected; see: keyhole top --help");
	feed_line(&messages, "keyhole: record: ");
	assert_string_equal(messages_line(&messages, MESSAGES_KEPT - 1), "keyhole: top: ");
	feed_line(&messages, "keyhole: worker: ended; keyhole record --help");
	assert_string_equal(messages_line(&messages, MESSAGES_KEPT - 1),
			    "keyhole: worker: ended; keyhole record --help");
}

static int parse(struct top_options *options, ...)
{
	char *argv[16] = {(char *)"top"};
	va_list words;
	int argc = 1, r;

	va_start(words, options);
	while ((argv[argc] = va_arg(words, char *)))
		argc++;
	va_end(words);
	r = top_options_parse(argc, argv, options);
	if (r)
		free(options->record);
	return r;
}

static void test_top_input__options(void **state)
{
	static const char *const wanted[] = {"keyhole", "record", "-p",	     "5", "--cgroup=x",
					     "-d",	"9",	  "--every", "1", "-f",
					     "pprof",	"-o",	  "-"};
	struct top_options options;

	(void)state;
	assert_int_equal(parse(&options, "-p", "5", "-n", "3", "--cgroup=x", "--batch", "-w15",
			       "-d", "9", NULL),
			 0);
	assert_int_equal(options.updates, 3);
	assert_int_equal(options.window, 15);
	assert_true(options.batch);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_string_equal(options.record[i], wanted[i]);
	assert_null(options.record[sizeof(wanted) / sizeof(wanted[0])]);
	free(options.record);
	assert_int_equal(parse(&options, "--updates=7", "--window", "60", NULL), 0);
	assert_int_equal(options.updates, 7);
	free(options.record);
	assert_int_equal(parse(&options, "-o", "x", NULL), -EINVAL);
	assert_int_equal(parse(&options, "-f", "svg", NULL), -EINVAL);
	assert_int_equal(parse(&options, "--every=3", NULL), -EINVAL);
	assert_int_equal(parse(&options, "--", "true", NULL), -EINVAL);
	assert_int_equal(parse(&options, "-w", "2", NULL), -EINVAL);
	assert_int_equal(parse(&options, "-n", "0", NULL), -EINVAL);
	assert_int_equal(parse(&options, "-n", NULL), -EINVAL);
	assert_int_equal(parse(&options, "-q", NULL), -EINVAL);
	assert_int_equal(parse(&options, "-aq", NULL), -EINVAL);
	assert_int_equal(parse(&options, "--qui", NULL), -EINVAL);
	assert_int_equal(parse(&options, "-aox", NULL), -EINVAL);
	assert_int_equal(parse(&options, "--outp=x", NULL), -EINVAL);
}

/* The test writes the text that `keyhole record` would write into the pipe. */
static void test_top_input__help(void **state)
{
	static const char *const helps[] = {"-h", "-ah", "-vah", "--help", "--hel"};
	static const char *const others[] = {"-ph", "-dh", "--comm=h", "-a", "--debug-dir=-h"};
	struct top_options options;

	(void)state;
	for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++) {
		assert_int_equal(parse(&options, helps[i], NULL), 0);
		assert_true(options.help);
		free(options.record);
		assert_int_equal(parse(&options, others[i], NULL), 0);
		assert_false(options.help);
		free(options.record);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_input__keys_of_terminals),
		cmocka_unit_test(test_top_input__streams),
		cmocka_unit_test(test_top_input__what_record_says),
		cmocka_unit_test(test_top_input__options),
		cmocka_unit_test(test_top_input__help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
