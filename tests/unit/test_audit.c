/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/tally.h"

static char folder[] = "/tmp/keyhole-audit-XXXXXX", path[64];
static char text[65536];

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static const char *read_file(const char *name)
{
	int fd = open(in_folder(name), O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[size > 0 ? size : 0] = '\0';
	return text;
}

static void begin(const char *name)
{
	unlink(in_folder(name));
	assert_int_equal(audit_open(path), 0);
}

/* Ids, names and fields are what readers of old streams rely on: rows are only ever added. */
static void test_audit__events_never_change(void **state)
{
	static const char *const rows[] = {
		"1 start 6 version uid user mode policy arguments",
		"2 confined 3 process pid without",
		"3 refused 3 process pid layer",
		"4 sampling 2 frequency source",
		"5 operations 8 operation pid major minor inode result count granted",
		"6 violation 2 process reason",
		"7 exited 3 process how number",
		"8 kill 3 process pid reason",
		"9 restart 3 process pid attempt",
		"10 policy 2 path hash",
		"11 incomplete 2 process reason",
		"12 end 3 status records lost",
	};
	const char *const *row = rows;
	int fields_left[64] = {0};
	char line[160];

	(void)state;
#define A(id, name, fields, names)                                             \
	snprintf(line, sizeof(line), "%d %s %d %s", id, #name, fields, names); \
	if (row < rows + sizeof(rows) / sizeof(*rows))                         \
		assert_string_equal(line, *row++);                             \
	else                                                                   \
		fail_msg("a new event: add \"%s\" here", line);                \
	for (const char *c = names; (c = strchr(c, ' ')); c++)                 \
		fields_left[id]--;                                             \
	assert_int_equal((fields) + fields_left[id], 1);
#include "loader/audit.def"
#undef A
	assert_ptr_equal(row, rows + sizeof(rows) / sizeof(*rows));
}

static void test_audit__without_a_stream(void **state)
{
	const struct message_audit good = {.count = 1};

	(void)state;
	assert_false(audit_is_open());
	audit_write(kill, AUDIT_TEXT("x"), AUDIT_NUMBER(1), AUDIT_TEXT("y"));
	assert_int_equal(audit_operations(&good), -EPROTO);
}

static void test_audit__key_value(void **state)
{
	const char *line;
	unsigned int id;

	(void)state;
	begin("a.log");
	audit_write(kill, AUDIT_TEXT("keyhole-broker"), AUDIT_NUMBER(77), AUDIT_TEXT("stuck"));
	line = read_file("a.log");
	assert_non_null(strstr(line, " process=\"keyhole-broker\" pid=77 reason=\"stuck\"\n"));
	assert_memory_equal(line, "seq=", 4);
	assert_int_equal(sscanf(strstr(line, " id="), " id=%u", &id), 1);
	assert_int_equal(id, AUDIT_kill);
	assert_non_null(strstr(line, " event=\"kill\""));
}

static void test_audit__json(void **state)
{
	(void)state;
	begin("a.json");
	audit_write(policy, AUDIT_TEXT("/etc/x"), AUDIT_TEXT(""));
	read_file("a.json");
	assert_memory_equal(text, "{\"seq\":", 7);
	assert_non_null(strstr(text, ",\"id\":10,\"event\":\"policy\",\"path\":\"/etc/x\","
				     "\"hash\":\"\"}\n"));
}

static void test_audit__escapes(void **state)
{
	static const char *const words[] = {"a b", "", "\033[2J\n", "\"=\\x", "\303\251\177", NULL};

	(void)state;
	begin("e.log");
	audit_write(start, AUDIT_TEXT("v"), AUDIT_NUMBER(1), AUDIT_TEXT("u"), AUDIT_TEXT("m"),
		    AUDIT_TEXT("p"), AUDIT_WORDS(words));
	assert_non_null(strstr(read_file("e.log"),
			       "arguments=\"a\\x20b  \\x1b[2J\\x0a \\x22=\\x5cx "
			       "\\xc3\\xa9\\x7f\"\n"));
	begin("e.json");
	audit_write(violation, AUDIT_TEXT("\033\"\\"), AUDIT_TEXT("\n"));
	assert_non_null(strstr(read_file("e.json"), "\"process\":\"\\\\x1b\\\\x22\\\\x5c\","
						    "\"reason\":\"\\\\x0a\"}\n"));
}

static void test_audit__writes_long_text(void **state)
{
	static char longest[5000];
	size_t length;

	(void)state;
	memset(longest, '\033', sizeof(longest) - 1);
	begin("l.json");
	audit_write(exited, AUDIT_TEXT(longest), AUDIT_TEXT(longest), AUDIT_NUMBER(UINT64_MAX));
	length = strlen(read_file("l.json"));
	assert_in_range(length, 10 * (sizeof(longest) - 1), 10 * sizeof(longest) + 300);
	assert_non_null(strstr(text, "\\\\x1b\",\"number\":18446744073709551615}\n"));
}

static void test_audit__refuses_files_of_others(void **state)
{
	(void)state;
	begin("mode");
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(audit_open(path), -EPERM);
	chmod(path, 0600);
	assert_int_equal(audit_open(path), 0);
	assert_int_equal(symlink("mode", in_folder("link")), 0);
	assert_int_equal(audit_open(path), -ELOOP);
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	assert_true(audit_open(path) < 0);
	in_folder("mode");
	{
		char other[80];

		snprintf(other, sizeof(other), "%s/second", folder);
		assert_int_equal(link(path, other), 0);
		assert_int_equal(audit_open(path), -EPERM);
	}
	assert_int_equal(audit_open("/dev/null"), -EPERM);
	assert_int_equal(audit_open(folder), -EISDIR);
}

static void test_audit__a_failed_write_is_a_gap(void **state)
{
	struct rlimit limit = {400, RLIM_INFINITY};
	unsigned int first, last, records = 0;
	const char *at;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	begin("gap.log");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 5; i++)
		audit_write(policy, AUDIT_TEXT("0123456789012345678901234567890"), AUDIT_TEXT(""));
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	audit_write(policy, AUDIT_TEXT("whole"), AUDIT_TEXT(""));
	audit_end(0);
	read_file("gap.log");
	assert_int_equal(sscanf(text, "seq=%u ", &first), 1);
	for (at = text; (at = strchr(at, '\n')) && at[1]; at++)
		records++;
	assert_true(records >= 3); /* with the torn one */
	at = strstr(text, " path=\"whole\" hash=\"\"\n");
	assert_non_null(at);
	while (at[-1] != '\n')
		at--;
	assert_int_equal(sscanf(at, "seq=%u ", &last), 1);
	assert_int_equal(last - first, 5);
	assert_non_null(strstr(text, " event=\"end\" status=0 "));
	assert_null(strstr(text, " lost=0\n"));
}

static void test_audit__operations(void **state)
{
	const struct message_audit good = {.device = 0x803,
					   .inode = 12,
					   .count = 3,
					   .granted = 2,
					   .pid = 5,
					   .operation = OPERATION_OBJECT};
	struct message_audit bad[] = {good, good, good, good, good};

	(void)state;
	begin("o.log");
	assert_int_equal(audit_operations(&good), 0);
	assert_non_null(strstr(read_file("o.log"), " operation=\"object\" pid=5 major=8 minor=3 "
						   "inode=12 result=\"done\" count=3 granted=2\n"));
	bad[0].operation = OPERATION_COUNT;
	bad[1].count = 0;
	bad[2].granted = 4;
	bad[3].error = -4000;
	bad[4].error = 2;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(audit_operations(&bad[i]), -EPROTO);
	bad[0] = good;
	bad[0].error = -EACCES;
	assert_int_equal(audit_operations(&bad[0]), 0);
	assert_non_null(strstr(read_file("o.log"), " result=\"EACCES\" "));
}

static void test_audit__a_flood_is_a_violation(void **state)
{
	const struct message_audit good = {.count = 1};
	int sent = 0;

	(void)state;
	begin("flood.log");
	while (sent < 2 * TALLY_AT_ONCE && audit_operations(&good) == 0)
		sent++;
	/* the tests before had some */
	assert_in_range(sent, TALLY_AT_ONCE - 16, TALLY_AT_ONCE + 60 * TALLY_RATE);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"a.log",  "a.json", "e.log",   "e.json",
					    "l.json", "mode",	"link",	   "fifo",
					    "second", "o.log",	"gap.log", "flood.log"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(in_folder(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit__events_never_change),
		cmocka_unit_test(test_audit__without_a_stream),
		cmocka_unit_test(test_audit__key_value),
		cmocka_unit_test(test_audit__json),
		cmocka_unit_test(test_audit__escapes),
		cmocka_unit_test(test_audit__writes_long_text),
		cmocka_unit_test(test_audit__refuses_files_of_others),
		cmocka_unit_test(test_audit__operations),
		cmocka_unit_test(test_audit__a_failed_write_is_a_gap),
		cmocka_unit_test(test_audit__a_flood_is_a_violation),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
