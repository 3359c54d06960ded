/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and inlined functions at the end of a recording, with good and bad answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "ipc/channel.h"
#include "tests/unit/session_rig.h"
#include "object/dwarf/answer.h"
#include "object/debug/reader.h"
#include "worker/naming/source_lines.h"
#include "profile/profile.h"
#include "worker/naming/debug_peer.h"

void outer(void);

__attribute__((noinline)) void outer(void)
{
	__asm__ volatile("nop; nop" ::: "memory");
}

/* ---- who answers ---- */

enum manner {
	MANNER_GOOD,
	MANNER_CUT,   /* the summary alone, as after a timeout */
	MANNER_NOISE, /* bytes that are no answer */
	MANNER_SHORT, /* an answer about fewer addresses */
	MANNER_EMPTY, /* a file with nothing in it */
	MANNER_LARGE,
	MANNER_REFUSE,
	MANNER_SILENT,
	MANNER_VIOLATE, /* another message in its place */
};

struct question {
	uint64_t addresses[16];
	size_t count;
};

/* Each address has two frames: an inlined function and the function around it. */
static struct answer *make_answer(size_t count)
{
	struct answer *answer = answer_new(count);
	struct answer_function function = {.line = 3};
	struct answer_frame frames[2];

	function.file = answer_string(answer, "/src/inner.h");
	function.name = function.system_name = answer_string(answer, "inner");
	frames[0] = (struct answer_frame){answer_function_add(answer, &function), 7};
	function.file = answer_string(answer, "/src/outer.c");
	function.name = function.system_name = answer_string(answer, "not_outer");
	frames[1] = (struct answer_frame){answer_function_add(answer, &function), 8};
	for (size_t i = 0; i < count; i++)
		answer_set(answer, i, frames, 2);
	return answer;
}

static void write_answer(int fd, enum manner manner, size_t count)
{
	struct answer *answer = make_answer(count - (manner == MANNER_SHORT));
	const off_t large = (off_t)reader_limits[READER_RECORDING].answer + 1;
	static const char noise[4096] = "noise";

	if (manner == MANNER_CUT)
		answer_summary(answer)->status = ANSWER_TIME;
	if (manner == MANNER_NOISE)
		write(fd, noise, sizeof(noise)) < 0 ? abort() : (void)0;
	else if (manner != MANNER_EMPTY)
		answer_write(answer, fd);
	if (manner == MANNER_LARGE && ftruncate(fd, large))
		abort();
	answer_free(answer);
}

static void reply(struct channel *worker, const struct message *request, enum manner manner,
		  int answer)
{
	struct message_reply said = {.error = manner == MANNER_REFUSE ? -ENOMEM : 0};
	struct message answered = *request;

	write_answer(answer, manner, request->LINES.count);
	if (manner == MANNER_VIOLATE)
		answered.head.type = MESSAGE_DEBUG_FILE; /* whose reply is of another type */
	if (manner == MANNER_VIOLATE)
		said.error = -ENOENT;
	if (manner != MANNER_SILENT)
		channel_reply(worker, &answered, &said, sizeof(said), -1);
}

/* Stands in for the opener of debug files, and leaves the questions in shared memory. */
static void serve(int fd, enum manner manner, struct question *asked)
{
	const struct message_reply none = {.error = -ENOENT};
	struct channel worker;
	struct message message;
	int answer = -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	channel_init(&worker, fd, PARTY_DEBUG, PARTY_WORKER);
	worker.phase = PHASE_RUN;
	while (channel_wait(&worker, 5000, &message) == 1) {
		if (message.head.type == MESSAGE_LINES_ANSWER)
			answer = message.fd;
		if (message.head.type == MESSAGE_DEBUG_FILE)
			channel_reply(&worker, &message, &none, sizeof(none), -1);
		if (message.head.type != MESSAGE_LINES)
			continue;
		asked->count += message.LINES.count;
		if (pread(message.fd, asked->addresses, sizeof(asked->addresses), 0) < 0)
			abort();
		reply(&worker, &message, manner, answer);
	}
	_exit(0);
}

static struct question *asked;

static int set_up(void **state, enum manner manner)
{
	struct debug_peer_files files;
	int fds[2];

	asked = mmap(NULL, sizeof(*asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (asked == MAP_FAILED || channel_pair(fds))
		return -1;
	if (fork() == 0) {
		close(fds[0]);
		serve(fds[1], manner, asked);
	}
	close(fds[1]);
	files.addresses = memory_file("addresses");
	files.answer = memory_file("answer");
	rig_debug_files = debug_peer_new(fds[0], &files);
	return rig_setup(state);
}

static int tear_down(void **state)
{
	munmap(asked, sizeof(*asked));
	return rig_teardown(state);
}

/*
 * Takes three samples at two places in outer(), and returns what was left. tick: as in struct rig.
 */
static uint64_t record_slowly(struct rig *rig, uint64_t tick)
{
	struct image_segment text;
	u64 address = rig_seen_own(rig, outer, &text), frame;
	struct message_summary summary;

	for (u64 i = 0; i < 3; i++) {
		frame = (address + i % 2) | FRAME_EXACT;
		rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	}
	rig_settle(rig);
	rig->tick = tick;
	assert_int_equal(session_finish(rig->session), 0);
	session_summary(rig->session, &summary);
	return summary.limit[LIMIT_lines];
}

static uint64_t record(struct rig *rig)
{
	return record_slowly(rig, 0);
}

static void assert_plain(const struct rig *rig)
{
	const struct profile *profile = session_profile(rig->session);
	struct profile_line lines[PROFILE_LINES_MAX];

	rig_check_stack(rig, 0, "outer");
	for (uint32_t id = 1; id <= profile_locations(profile); id++) {
		assert_int_equal(profile_location_lines(profile, id, lines), 1);
		assert_int_equal(lines[0].line, 0);
	}
}

/* ---- tests ---- */

static int good(void **state)
{
	return set_up(state, MANNER_GOOD);
}

static void check_line(const struct profile *profile, const struct profile_line *line,
		       const char *name, const char *file, uint32_t number)
{
	const struct profile_function *function = profile_function_get(profile, line->function);

	assert_string_equal(profile_string_get(profile, function->name), name);
	assert_string_equal(profile_string_get(profile, function->file), file);
	assert_int_equal(line->line, number);
}

static void test_source_lines__what_is_said_is_in_the_profile(void **state)
{
	struct rig *rig = *state;
	const struct profile *profile = session_profile(rig->session);
	struct profile_line lines[PROFILE_LINES_MAX];
	struct session_totals totals;

	assert_int_equal(record(rig), 0);
	/* each address occurs once, ascending, as in the file */
	assert_int_equal(asked->count, 2);
	assert_int_equal(asked->addresses[0], rig_own_address(outer));
	assert_int_equal(asked->addresses[1], rig_own_address(outer) + 1);
	for (uint32_t id = 1; id <= profile_locations(profile); id++) {
		assert_int_equal(profile_location_lines(profile, id, lines), 2);
		check_line(profile, &lines[0], "inner", "/src/inner.h", 7);
		/* the symbol's name stays */
		check_line(profile, &lines[1], "outer", "/src/outer.c", 8);
	}
	session_totals(rig->session, &totals);
	assert_int_equal(totals.line_counts.asked, 1);
	assert_int_equal(totals.line_counts.merged.inlined, 2);
	assert_int_equal(totals.line_counts.merged.lines, 2);
}

static int with_flag(void **state, uint32_t flag)
{
	int r = good(state);
	struct rig *rig = *state;

	/* as CONFIG would have it from the start */
	session_free(rig->session);
	rig->parts.config.flags |= flag;
	rig->segment = fake_segment();
	return r || session_new(&rig->parts, &rig->session) < 0 ||
	       session_attach_segment(rig->session, rig->segment) < 0;
}

static int unwanted(void **state)
{
	return with_flag(state, OPTIONS_NO_INLINE);
}

/* keyhole why shows no functions. After a question about lines nobody can ask for files. */
static int of_why(void **state)
{
	return with_flag(state, OPTIONS_WHY);
}

static void test_source_lines__not_when_not_wanted(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(record(rig), 0);
	assert_int_equal(asked->count, 0);
	assert_plain(rig);
}

static const uint8_t hash_paths[NAMES_KINDS] = {[NAMES_PATH] = NAMES_HASH};
static const uint8_t drop_functions[NAMES_KINDS] = {[NAMES_FUNCTION] = NAMES_DROP};

static int with_names(void **state, const uint8_t *names)
{
	*state = (void *)(uintptr_t)names;
	return good(state);
}

static int hashed_paths(void **state)
{
	return with_names(state, hash_paths);
}

static int dropped_functions(void **state)
{
	return with_names(state, drop_functions);
}

/* The user's process would see names that the profile must not show. */
static void test_source_lines__nothing_is_asked_where_names_are_not_kept(void **state)
{
	struct rig *rig = *state;
	const struct profile *profile = session_profile(rig->session);

	assert_int_equal(record(rig), 0);
	assert_int_equal(asked->count, 0);
	for (uint32_t id = 0; id < profile_strings(profile); id++)
		assert_null(strstr(profile_string_get(profile, id), "inner"));
}

static void test_source_lines__time_that_is_over_is_counted(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(record_slowly(rig, SOURCE_LINES_BUDGET + 1), 1);
	assert_int_equal(asked->count, 0);
	assert_plain(rig);
}

static void test_source_lines__what_cannot_be_used_is_counted(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(record(rig), 1);
	assert_int_equal(asked->count, 2);
	assert_plain(rig);
}

static void test_source_lines__a_part_is_used_and_counted(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(record(rig), 1);
	rig_check_stack(rig, 0, "outer");
	assert_int_equal(profile_location_get(session_profile(rig->session), 1)->line, 8);
}

#define MANNER(name, manner)                    \
	static int name(void **state)           \
	{                                       \
		return set_up(state, (manner)); \
	}
MANNER(cut, MANNER_CUT)
MANNER(noise, MANNER_NOISE)
MANNER(fewer, MANNER_SHORT)
MANNER(empty, MANNER_EMPTY)
MANNER(large, MANNER_LARGE)
MANNER(refused, MANNER_REFUSE)
MANNER(silent, MANNER_SILENT)
MANNER(violating, MANNER_VIOLATE)

#define UNUSABLE(set)                                                               \
	{                                                                           \
		.name = "test_source_lines__what_cannot_be_used_is_counted: " #set, \
		.test_func = test_source_lines__what_cannot_be_used_is_counted,     \
		.setup_func = (set), .teardown_func = tear_down                     \
	}
#define TEST(test, set) cmocka_unit_test_setup_teardown(test, set, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_source_lines__what_is_said_is_in_the_profile, good),
		TEST(test_source_lines__not_when_not_wanted, unwanted),
		TEST(test_source_lines__not_when_not_wanted, of_why),
		TEST(test_source_lines__nothing_is_asked_where_names_are_not_kept, hashed_paths),
		TEST(test_source_lines__nothing_is_asked_where_names_are_not_kept,
		     dropped_functions),
		TEST(test_source_lines__time_that_is_over_is_counted, good),
		TEST(test_source_lines__a_part_is_used_and_counted, cut),
		UNUSABLE(noise),
		UNUSABLE(fewer),
		UNUSABLE(empty),
		UNUSABLE(large),
		UNUSABLE(refused),
		UNUSABLE(silent),
		UNUSABLE(violating),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
