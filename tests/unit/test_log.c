/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/channel.h"
#include "ipc/log_limit.h"

/* Standard error goes into a pipe while a test runs. */
static int capture[2], saved;

static int set_up(void **state)
{
	(void)state;
	saved = dup(STDERR_FILENO);
	assert_int_equal(pipe2(capture, O_NONBLOCK), 0);
	dup2(capture[1], STDERR_FILENO);
	log_init("keyhole", LOG_LEVEL_INFO);
	log_to(NULL, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(capture[0]);
	close(capture[1]);
	log_to(NULL, NULL);
	return 0;
}

static const char *captured(void)
{
	static char text[4096];
	ssize_t size = read(capture[0], text, sizeof(text) - 1);

	text[size > 0 ? size : 0] = '\0';
	return text;
}

static void test_log__writes_one_line(void **state)
{
	(void)state;
	log_error("open: %s: %s", "file", "gone");
	assert_string_equal(captured(), "keyhole: open: file: gone\n");
}

static void test_log__drops_levels_above_the_limit(void **state)
{
	(void)state;
	log_debug("a");
	assert_string_equal(captured(), "");
	log_init("keyhole-worker", LOG_LEVEL_DEBUG);
	log_debug("a");
	log_warning("b");
	assert_string_equal(captured(), "keyhole-worker: a\nkeyhole-worker: b\n");
}

static void test_log__control_characters_become_question_marks(void **state)
{
	(void)state;
	log_info("%s", "a\033[2Jb\nc\x7f\xc3\xa4");
	assert_string_equal(captured(), "keyhole: a?[2Jb?c?\xc3\xa4\n");
}

static void test_log__long_lines_are_cut(void **state)
{
	static char text[3000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	log_info("%s", text);
	assert_int_equal(strlen(captured()), strlen("keyhole: ") + 1023 + 1);
}

static void test_log__channel_gets_a_clean_cut_line(void **state)
{
	struct channel worker, loader;
	struct message message;
	char text[400];
	int fds[2];

	(void)state;
	assert_int_equal(channel_pair(fds), 0);
	channel_init(&worker, fds[0], PARTY_WORKER, PARTY_LOADER);
	channel_init(&loader, fds[1], PARTY_LOADER, PARTY_WORKER);
	channel_carry_log(&worker);
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[1] = '\n';
	text[2] = '\xe4';
	log_warning("%s", text);
	log_warning("%s", "");
	assert_int_equal(channel_receive(&loader, &message), 1);
	assert_int_equal(message.LOG.level, LOG_LEVEL_WARNING);
	assert_int_equal(message.LOG.length, LOG_TEXT_BYTES);
	assert_memory_equal(message.LOG.text, "y??y", 4);
	assert_int_equal(log_from_message("keyhole-worker", &message.LOG), 0);
	assert_memory_equal(captured(), "keyhole-worker: y??y", 20);
	assert_int_equal(channel_receive(&loader, &message), 0);
	channel_release(&worker);
	channel_release(&loader);
}

static void test_log__messages_are_checked(void **state)
{
	const struct message_log good = {.level = LOG_LEVEL_INFO, .length = 3, .text = "abc"};
	struct message_log bad;

	(void)state;
	assert_int_equal(log_from_message("p", &good), 0);
	assert_string_equal(captured(), "p: abc\n");
	bad = good;
	bad.level = LOG_LEVEL_DEBUG + 1;
	assert_int_equal(log_from_message("p", &bad), -EPROTO);
	bad = good;
	bad.length = 0;
	assert_int_equal(log_from_message("p", &bad), -EPROTO);
	bad.length = LOG_TEXT_BYTES + 1;
	assert_int_equal(log_from_message("p", &bad), -EPROTO);
	bad.length = 2; /* a byte behind the text */
	assert_int_equal(log_from_message("p", &bad), -EPROTO);
	for (int byte = 0; byte < 256; byte++) {
		bad = good;
		bad.text[1] = (char)byte;
		assert_int_equal(log_from_message("p", &bad),
				 byte >= ' ' && byte <= '~' ? 0 : -EPROTO);
		captured();
	}
}

/* ---- forms ---- */

static void test_log__journal_has_priorities(void **state)
{
	const struct message_log line = {.level = LOG_LEVEL_WARNING, .length = 1, .text = "w"};

	(void)state;
	log_choose(LOG_JOURNAL);
	log_error("e");
	log_info("i");
	assert_int_equal(log_from_message("keyhole-worker", &line), 0);
	assert_string_equal(captured(), "<3>keyhole: e\n<6>keyhole: i\n<4>keyhole-worker: w\n");
	/* a program that this one starts finds the form */
	log_init("keyhole-audit", LOG_LEVEL_INFO);
	log_error("e");
	assert_string_equal(captured(), "<3>keyhole-audit: e\n");
	log_choose(LOG_TEXT);
}

static void test_log__json_is_quoted(void **state)
{
	const char *line;

	(void)state;
	log_choose(LOG_JSON);
	log_error("a \"b\" \\c\x01\xff");
	line = captured();
	assert_memory_equal(line, "{\"time\":", 8);
	assert_non_null(strstr(line, ",\"level\":\"error\",\"process\":\"keyhole\","
				     "\"message\":\"a \\\"b\\\" \\\\c??\",\"left_out\":0}\n"));
	log_choose(LOG_TEXT);
}

static void test_log__finds_the_journal(void **state)
{
	struct stat status;
	char stream[64];

	(void)state;
	assert_int_equal(fstat(STDERR_FILENO, &status), 0);
	setenv("JOURNAL_STREAM", "1:2", 1);
	log_find_journal();
	assert_int_equal(log_chosen(), LOG_TEXT);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)status.st_dev,
		 (uintmax_t)status.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_find_journal();
	assert_int_equal(log_chosen(), LOG_JOURNAL);
	unsetenv("JOURNAL_STREAM");
	log_choose(LOG_TEXT);
}

/* ---- what repeats ---- */

static void test_log__equal_lines_are_counted(void **state)
{
	struct log_left_out left_out;
	static struct log_limit limit;

	(void)state;
	for (unsigned int i = 0; i < 5; i++)
		assert_true(log_limit_take(&limit, "p", "same", i, &left_out));
	for (unsigned int i = 0; i < 7; i++)
		assert_false(log_limit_take(&limit, "p", "same", 10, &left_out));
	assert_true(log_limit_take(&limit, "q", "same", 10, &left_out));
	assert_true(log_limit_take(&limit, "p", "other", 10, &left_out));
	assert_int_equal(left_out.equal, 0);
	assert_true(log_limit_take(&limit, "p", "same", LOG_LIMIT_EQUAL_NS, &left_out));
	assert_int_equal(left_out.equal, 7);
	assert_int_equal(left_out.others, 0);
}

static void test_log__a_process_has_a_budget(void **state)
{
	static struct log_limit limit;
	struct log_left_out left_out;
	unsigned int written = 0;
	char text[16];

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "%u", i);
		written += log_limit_take(&limit, "p", text, i, &left_out);
	}
	assert_int_equal(written, LOG_LIMIT_LINES);
	assert_true(log_limit_take(&limit, "q", "x", 1000, &left_out));
	assert_true(log_limit_take(&limit, "p", "x", LOG_LIMIT_LINES_NS, &left_out));
	assert_int_equal(left_out.others, 800);
}

static void test_log__says_how_many_more(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		log_warning("again");
	assert_string_equal(captured(), "keyhole: again\nkeyhole: again\nkeyhole: again\n"
					"keyhole: again\nkeyhole: again\n");
}

#define log_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		log_test(test_log__writes_one_line),
		log_test(test_log__drops_levels_above_the_limit),
		log_test(test_log__control_characters_become_question_marks),
		log_test(test_log__long_lines_are_cut),
		log_test(test_log__channel_gets_a_clean_cut_line),
		log_test(test_log__messages_are_checked),
		log_test(test_log__journal_has_priorities),
		log_test(test_log__json_is_quoted),
		log_test(test_log__finds_the_journal),
		log_test(test_log__equal_lines_are_counted),
		log_test(test_log__a_process_has_a_budget),
		log_test(test_log__says_how_many_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
