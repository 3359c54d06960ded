/* SPDX-License-Identifier: Apache-2.0 */
/* The audit stream: the records that keyhole-audit makes of numbers. */
#include "helper/audit/event.h"

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
#include <unistd.h>

#include <cmocka.h>

#include "helper/audit/record.h"

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

enum {
#define L(name, help) LAYER_##name,
#include "policy/layers.def"
#undef L
	LAYERS
};

static const char *const words[] = {"a b", "", "\033[2J\n", "\"=\\x", "\303\251\177", NULL};

static void begin(const char *name)
{
	unlink(in_folder(name));
	record_start(open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600),
		     strstr(name, ".json") != NULL, words);
}

static int event(enum audit_event id, enum message_party party, uint64_t first, uint64_t second)
{
	const struct message_audit_event message = {
		.event = id, .party = party, .value = {first, second}};

	return event_record(&message);
}

static void write_texts(enum audit_event id, const char *first, const char *second)
{
	record_write(id, (const struct record_value[]){{.text = first}, {.text = second}});
}

/* Readers of old streams rely on ids, names and fields. New rows are fine, changed rows are not. */
static void test_audit__events_never_change(void **state)
{
	static const char *const rows[] = {
		"1 start 6 version uid user mode policy arguments",
		"2 confined 3 process pid without",
		"3 refused 3 process pid without",
		"4 sampling 1 frequency",
		"5 operations 8 operation pid major minor inode result count granted",
		"6 violation 2 process reason",
		"7 exited 3 process how number",
		"8 kill 2 process reason",
		"9 restart 1 process",
		"10 policy 2 path hash",
		"11 incomplete 2 process reason",
		"12 end 3 status records lost",
		"13 sampled 2 what period",
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

static void test_audit__key_value(void **state)
{
	const char *line;
	unsigned int id;

	(void)state;
	begin("a.log");
	assert_int_equal(event(AUDIT_confined, PARTY_BROKER, 77, 0), 0);
	line = read_file("a.log");
	assert_non_null(strstr(line, " process=\"keyhole-broker\" pid=77 without=\"\"\n"));
	assert_memory_equal(line, "seq=", 4);
	assert_int_equal(sscanf(strstr(line, " id="), " id=%u", &id), 1);
	assert_int_equal(id, AUDIT_confined);
	assert_non_null(strstr(line, " event=\"confined\""));
}

static void test_audit__json(void **state)
{
	(void)state;
	begin("a.json");
	write_texts(AUDIT_policy, "/etc/x", "");
	read_file("a.json");
	assert_memory_equal(text, "{\"seq\":", 7);
	assert_non_null(strstr(text, ",\"id\":10,\"event\":\"policy\",\"path\":\"/etc/x\","
				     "\"hash\":\"\"}\n"));
}

static void test_audit__escapes(void **state)
{
	(void)state;
	begin("e.log");
	event_user("eve\n");
	assert_int_equal(event(AUDIT_start, PARTY_LOADER, 1, 0), 0);
	assert_non_null(strstr(read_file("e.log"), " uid=1 user=\"eve\\x0a\" mode=\"brokered\""));
	assert_non_null(strstr(read_file("e.log"),
			       "arguments=\"a\\x20b  \\x1b[2J\\x0a \\x22=\\x5cx "
			       "\\xc3\\xa9\\x7f\"\n"));
	begin("e.json");
	write_texts(AUDIT_violation, "\033\"\\", "\177");
	assert_non_null(strstr(read_file("e.json"), "\"process\":\"\\\\x1b\\\\x22\\\\x5c\","
						    "\"reason\":\"\\\\x7f\"}\n"));
}

static void test_audit__layers(void **state)
{
	(void)state;
	begin("a.log");
	assert_int_equal(event(AUDIT_confined, PARTY_WORKER, 7, 0), 0);
	assert_int_equal(event(AUDIT_confined, PARTY_WORKER, 7, 5), 0);
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
	assert_int_equal(event(AUDIT_start, PARTY_LOADER, UINT64_MAX, 0), 0);
	length = strlen(read_file("l.json"));
	assert_in_range(length, 10 * (sizeof(longest) - 1), 10 * sizeof(longest) + 300);
	assert_non_null(strstr(text, "\\\\x1b\"}\n"));
	assert_non_null(strstr(text, ",\"uid\":18446744073709551615,"));
}

/* The loader may not send these events, and no event of the loader has these numbers. */
static void test_audit__refuses_what_is_not_well_formed(void **state)
{
	static const struct {
		uint32_t event, party;
		uint64_t first, second;
	} wrong[] = {
		{0, PARTY_BROKER, 0, 0},
		{AUDIT_operations, PARTY_BROKER, 0, 0},
		{AUDIT_policy, PARTY_LOADER, 0, 0},
		{AUDIT_incomplete, PARTY_BROKER, 0, 0},
		{AUDIT_end, PARTY_LOADER, 0, 0},
		{AUDIT_sampled + 1, PARTY_LOADER, 0, 0},
		{AUDIT_sampled, PARTY_LOADER, 14, 0},
		{AUDIT_sampled, PARTY_LOADER, 1ull << 32, 0},
		{UINT32_MAX, PARTY_LOADER, 0, 0},
		{AUDIT_kill, PARTY_CHILD, 0, 0},
		{AUDIT_kill, UINT32_MAX, 0, 0},
		{AUDIT_confined, PARTY_BROKER, 0x80000000, 0},
		{AUDIT_confined, PARTY_BROKER, 1, 1 << LAYERS},
		{AUDIT_refused, PARTY_BROKER, 1, 1ull << 63},
		{AUDIT_violation, PARTY_BROKER, 4096, 0},
		{AUDIT_violation, PARTY_BROKER, 1ull << 32, 0},
		{AUDIT_exited, PARTY_WORKER, 0x10000, 0},
	};

	(void)state;
	begin("bad.log");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(event((enum audit_event)wrong[i].event,
				       (enum message_party)wrong[i].party, wrong[i].first,
				       wrong[i].second),
				 -EPROTO);
	assert_string_equal(read_file("bad.log"), "");
}

static void test_audit__names_each_event(void **state)
{
	static const struct {
		enum audit_event event;
		uint64_t value;
		const char *want;
	} rows[] = {
		{AUDIT_violation, EPROTO,
		 "\"violation\" process=\"keyhole-worker\" reason=\"violation of the protocol\"\n"},
		{AUDIT_violation, EIO,
		 "\"violation\" process=\"keyhole-worker\" reason=\"Input/output error\"\n"},
		{AUDIT_exited, 11, "process=\"keyhole-worker\" how=\"signal\" number=11\n"},
		{AUDIT_exited, 0x300, "process=\"keyhole-worker\" how=\"status\" number=3\n"},
		{AUDIT_kill, 0,
		 "\"kill\" process=\"keyhole-worker\" reason=\"no valid answer in time\"\n"},
		{AUDIT_kill, KILL_DRAFT,
		 "\"kill\" process=\"keyhole-worker\" reason=\"profile not finished\"\n"},
		{AUDIT_restart, 0, "\"restart\" process=\"keyhole-worker\"\n"},
		{AUDIT_sampling, 99, "\"sampling\" frequency=99\n"},
		{AUDIT_sampled, 0, "\"sampled\" what=\"default\" period=0\n"},
		{AUDIT_sampled, 9, "\"sampled\" what=\"page-faults\" period=0\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin("a.log");
		assert_int_equal(event(rows[i].event, PARTY_WORKER, rows[i].value, 0), 0);
		assert_non_null(strstr(read_file("a.log"), rows[i].want));
	}
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
		write_texts(AUDIT_policy, "0123456789012345678901234567890", "");
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	write_texts(AUDIT_policy, "whole", "");
	record_end(0);
	read_file("gap.log");
	assert_int_equal(sscanf(text, "seq=%u ", &first), 1);
	for (at = text; (at = strchr(at, '\n')) && at[1]; at++)
		records++;
	assert_true(records >= 3); /* includes the torn record */
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
					    "l.json", "o.log",	"gap.log", "bad.log"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(in_folder(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit__events_never_change),
		cmocka_unit_test(test_audit__key_value),
		cmocka_unit_test(test_audit__json),
		cmocka_unit_test(test_audit__escapes),
		cmocka_unit_test(test_audit__layers),
		cmocka_unit_test(test_audit__writes_long_text),
		cmocka_unit_test(test_audit__refuses_what_is_not_well_formed),
		cmocka_unit_test(test_audit__names_each_event),
		cmocka_unit_test(test_audit__operations),
		cmocka_unit_test(test_audit__a_failed_write_is_a_gap),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
