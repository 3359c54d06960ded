/* SPDX-License-Identifier: Apache-2.0 */
/* The audit stream: what keyhole-audit writes, and the file that the loader opens for it. */
#include "helper/audit/record.h"

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

#include "loader/audit.h"

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

static const char *const words[] = {"a b", "", "\033[2J\n", "\"=\\x", "\303\251\177", NULL};

static void begin(const char *name)
{
	unlink(in_folder(name));
	record_start(open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600),
		     strstr(name, ".json") != NULL, words);
}

static int event(enum audit_event id, const char *fields)
{
	struct message_audit_event message = {.event = id};

	snprintf(message.fields, sizeof(message.fields), "%s", fields);
	return record_event(&message);
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
#define A(id, name, types, names)                                                          \
	snprintf(line, sizeof(line), "%d %s %zu %s", id, #name, sizeof(types) - 1, names); \
	if (row < rows + sizeof(rows) / sizeof(*rows))                                     \
		assert_string_equal(line, *row++);                                         \
	else                                                                               \
		fail_msg("a new event: add \"%s\" here", line);                            \
	for (const char *c = names; (c = strchr(c, ' ')); c++)                             \
		fields_left[id]--;                                                         \
	assert_int_equal((int)sizeof(types) - 1 + fields_left[id], 1);
#include "ipc/audit.def"
#undef A
	assert_ptr_equal(row, rows + sizeof(rows) / sizeof(*rows));
}

static void test_audit__without_a_stream(void **state)
{
	struct channel broker = {.fd = -1};

	(void)state;
	audit_write(AUDIT_kill, "x\n1\ny");
	assert_int_equal(audit_connect(&broker), 0);
	audit_end(0);
	assert_false(audit_lost());
}

static void test_audit__key_value(void **state)
{
	const char *line;
	unsigned int id;

	(void)state;
	begin("a.log");
	assert_int_equal(event(AUDIT_kill, "keyhole-broker\n77\nstuck"), 0);
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
	assert_int_equal(event(AUDIT_policy, "/etc/x\n"), 0);
	read_file("a.json");
	assert_memory_equal(text, "{\"seq\":", 7);
	assert_non_null(strstr(text, ",\"id\":10,\"event\":\"policy\",\"path\":\"/etc/x\","
				     "\"hash\":\"\"}\n"));
}

static void test_audit__escapes(void **state)
{
	(void)state;
	begin("e.log");
	assert_int_equal(event(AUDIT_start, "v\n1\nu\nm\np"), 0);
	assert_non_null(strstr(read_file("e.log"),
			       "arguments=\"a\\x20b  \\x1b[2J\\x0a \\x22=\\x5cx "
			       "\\xc3\\xa9\\x7f\"\n"));
	begin("e.json");
	assert_int_equal(event(AUDIT_violation, "\033\"\\\n\177"), 0);
	assert_non_null(strstr(read_file("e.json"), "\"process\":\"\\\\x1b\\\\x22\\\\x5c\","
						    "\"reason\":\"\\\\x7f\"}\n"));
}

static void test_audit__layers(void **state)
{
	(void)state;
	begin("a.log");
	assert_int_equal(event(AUDIT_confined, "keyhole-worker\n7\n0"), 0);
	assert_int_equal(event(AUDIT_confined, "keyhole-worker\n7\n5"), 0);
	read_file("a.log");
	assert_non_null(strstr(text, " pid=7 without=\"\"\n"));
	assert_non_null(strstr(text, " pid=7 without=\"namespaces root\"\n"));
}

static void test_audit__writes_long_text(void **state)
{
	static char longest[5000];
	const char *const arguments[] = {longest, longest, NULL};
	size_t length;

	(void)state;
	memset(longest, '\033', sizeof(longest) - 1);
	begin("l.json");
	record_start(open(path, O_WRONLY | O_APPEND | O_CLOEXEC), true, arguments);
	assert_int_equal(event(AUDIT_start, "v\n18446744073709551615\nu\nm\np"), 0);
	length = strlen(read_file("l.json"));
	assert_in_range(length, 10 * (sizeof(longest) - 1), 10 * sizeof(longest) + 300);
	assert_non_null(strstr(text, "\\\\x1b\"}\n"));
	assert_non_null(strstr(text, ",\"uid\":18446744073709551615,"));
}

/* Fields that are too few, too many, no numbers; events that the loader has no say in. */
static void test_audit__refuses_what_is_not_well_formed(void **state)
{
	struct message_audit_event whole = {.event = AUDIT_policy};

	(void)state;
	begin("bad.log");
	assert_int_equal(event(AUDIT_kill, "x\n1"), -EPROTO);
	assert_int_equal(event(AUDIT_kill, "x\n1\ny\nz"), -EPROTO);
	assert_int_equal(event(AUDIT_kill, "x\n-1\ny"), -EPROTO);
	assert_int_equal(event(AUDIT_kill, "x\n1a\ny"), -EPROTO);
	assert_int_equal(event(AUDIT_kill, "x\n\ny"), -EPROTO);
	assert_int_equal(event((enum audit_event)0, ""), -EPROTO);
	assert_int_equal(event((enum audit_event)(AUDIT_end + 1), ""), -EPROTO);
	assert_int_equal(event(AUDIT_operations, "maps\n1\n0\n0\n0\ndone\n1\n1"), -EPROTO);
	memset(whole.fields, 'x', sizeof(whole.fields));
	assert_int_equal(record_event(&whole), -EPROTO);
	assert_string_equal(read_file("bad.log"), "");
}

static void test_audit__refuses_files_of_others(void **state)
{
	(void)state;
	begin("mode");
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(audit_open(path, words), -EPERM);
	chmod(path, 0600);
	assert_int_equal(symlink("mode", in_folder("link")), 0);
	assert_int_equal(audit_open(path, words), -ELOOP);
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	assert_true(audit_open(path, words) < 0);
	in_folder("mode");
	{
		char other[80];

		snprintf(other, sizeof(other), "%s/second", folder);
		assert_int_equal(link(path, other), 0);
		assert_int_equal(audit_open(path, words), -EPERM);
	}
	assert_int_equal(audit_open("/dev/null", words), -EPERM);
	assert_int_equal(audit_open(folder, words), -EISDIR);
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
		event(AUDIT_policy, "0123456789012345678901234567890\n");
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	event(AUDIT_policy, "whole\n");
	record_end(0);
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
	struct operations operations = {.device = 0x803,
					.inode = 12,
					.count = 3,
					.granted = 2,
					.pid = 5,
					.operation = OPERATION_OBJECT};

	(void)state;
	begin("o.log");
	record_operations(&operations);
	assert_non_null(strstr(read_file("o.log"), " operation=\"object\" pid=5 major=8 minor=3 "
						   "inode=12 result=\"done\" count=3 granted=2\n"));
	operations.error = -EACCES;
	record_operations(&operations);
	assert_non_null(strstr(read_file("o.log"), " result=\"EACCES\" "));
	operations.error = TALLY_SEVERAL;
	record_operations(&operations);
	assert_non_null(strstr(read_file("o.log"), " result=\"several\" "));
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
					    "second", "o.log",	"gap.log", "bad.log"};

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
		cmocka_unit_test(test_audit__layers),
		cmocka_unit_test(test_audit__writes_long_text),
		cmocka_unit_test(test_audit__refuses_what_is_not_well_formed),
		cmocka_unit_test(test_audit__refuses_files_of_others),
		cmocka_unit_test(test_audit__operations),
		cmocka_unit_test(test_audit__a_failed_write_is_a_gap),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
