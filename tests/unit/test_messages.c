/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define FIELDS 10

struct row {
	char field[FIELDS][32];
};

/* Returns the line of the protocol document that begins with the name. */
static bool read_row(const char *name, struct row *ret_row)
{
	FILE *file = fopen("ipc/PROTOCOL", "re");
	char line[256];
	bool found = false;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file)) {
		char(*f)[32] = ret_row->field;

		found = sscanf(line, "%31s %31s %31s %31s %31s %31s %31s %31s %31s %31s", f[0],
			       f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9]) == FIELDS &&
			strcmp(f[0], name) == 0 &&
			(strcmp(f[8], "once") == 0 || strcmp(f[8], "many") == 0);
	}
	fclose(file);
	return found;
}

static void check_row(const char *const want[FIELDS])
{
	struct row row;

	if (!read_row(want[0], &row))
		fail_msg("ipc/PROTOCOL has no row for %s", want[0]);
	for (int i = 1; i < FIELDS; i++)
		assert_string_equal(row.field[i], want[i]);
}

static void test_messages__protocol_lists_every_row(void **state)
{
	char bytes[16];

	(void)state;
#define FDS_0	      "0"
#define FDS_1	      "1"
#define FDS_FDS_REPLY "reply"
#define FDS_FDS_MAYBE "maybe"
#define TIMES_ONCE    "once"
#define TIMES_MANY    "many"
#define M(name, from, to, first, last, payload, fds, times, reply)                         \
	snprintf(bytes, sizeof(bytes), "%zu", sizeof(struct payload));                     \
	check_row((const char *const[]){#name, #from, #to, #first, #last, #payload, bytes, \
					FDS_##fds, TIMES_##times,                          \
					MESSAGE_##reply == MESSAGE_NONE ? "-" : #reply});
#include "ipc/messages.def"
#undef M
}

static void test_messages__rules_follow_the_table(void **state)
{
	const struct message_rule *rule = message_rule(MESSAGE_READY);

	(void)state;
	assert_string_equal(rule->name, "READY");
	assert_int_equal(rule->from, PARTY_CHILD);
	assert_int_equal(rule->to, PARTY_LOADER);
	assert_int_equal(rule->payload, sizeof(struct message_ready));
	assert_int_equal(rule->once, 1);
	rule = message_rule(MESSAGE_OBJECT_REPLY);
	assert_int_equal(rule->fds, FDS_MAYBE);
}

static void test_messages__unknown_types_have_no_rule(void **state)
{
	(void)state;
	assert_null(message_rule(MESSAGE_NONE));
	assert_null(message_rule(MESSAGE_COUNT));
	assert_null(message_rule(0xffff));
	for (unsigned int type = MESSAGE_NONE + 1; type < MESSAGE_COUNT; type++) {
		assert_non_null(message_rule(type));
		assert_true(message_rule(type)->first <= message_rule(type)->last);
	}
}

static void test_messages__a_reply_goes_back_to_who_asked(void **state)
{
	(void)state;
	assert_int_equal(message_rule(MESSAGE_MAPS)->reply, MESSAGE_MAPS_REPLY);
	assert_int_equal(message_rule(MESSAGE_OBJECT)->reply, MESSAGE_OBJECT_REPLY);
	assert_int_equal(message_rule(MESSAGE_SEGMENT)->reply, MESSAGE_SEGMENT_REPLY);
	assert_int_equal(message_rule(MESSAGE_MAPS_REPLY)->reply, MESSAGE_NONE);
	assert_true(message_is_reply(MESSAGE_MAPS_REPLY));
	assert_true(message_is_reply(MESSAGE_SPAWNED));
	assert_false(message_is_reply(MESSAGE_MAPS));
	assert_false(message_is_reply(MESSAGE_NONE));
	for (unsigned int type = MESSAGE_NONE + 1; type < MESSAGE_COUNT; type++) {
		const struct message_rule *request = message_rule(type), *reply;

		reply = message_rule(request->reply);
		if (!reply)
			continue;
		assert_int_equal(reply->from, request->to);
		assert_int_equal(reply->to, request->from);
		assert_true(reply->first <= request->first && reply->last >= request->last);
		assert_int_equal(reply->reply, MESSAGE_NONE);
	}
}

static void test_messages__parties_have_names(void **state)
{
	(void)state;
	assert_string_equal(message_party_name(PARTY_LOADER), "keyhole");
	assert_string_equal(message_party_name(PARTY_BROKER), "keyhole-broker");
	assert_string_equal(message_party_name((enum message_party)99), "keyhole-?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages__protocol_lists_every_row),
		cmocka_unit_test(test_messages__rules_follow_the_table),
		cmocka_unit_test(test_messages__unknown_types_have_no_rule),
		cmocka_unit_test(test_messages__a_reply_goes_back_to_who_asked),
		cmocka_unit_test(test_messages__parties_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
