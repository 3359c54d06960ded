/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/channel.h"

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
