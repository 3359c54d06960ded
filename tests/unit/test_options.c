/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/abi.h"
#include "generated/version.h"
#include "helper/options/command_line.h"
#include "helper/options/events.h"
#include "helper/options/setters.h"
#include "ipc/log.h"
#include "loader/options.h"
#include "policy/policy.h"
#include "tests/unit/options_rig.h"

static void test_options__defaults(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-v"), 0);
	assert_true(!options.given.pid_count && !options.cgroup && !options.command);
	assert_int_equal(options.given.sampling.frequency, 99);
	assert_int_equal(options.given.duration, 0);
	assert_int_equal(options.given.format, FORMAT_pprof);
	assert_int_equal(options.given.flags, OPTIONS_VERBOSE);
	assert_memory_equal(options.output, "keyhole-2", 9);
	assert_string_equal(strchr(options.output, '.'), ".pb.gz");
}

static void test_options__everything(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-p", "12", "--pid=34", "-F10000", "-d", "1.5", "-o",
			       "x.folded", "--force", "--by-thread"),
			 0);
	assert_int_equal(options.given.pid_count, 2);
	assert_int_equal(options.given.pids[0], 12);
	assert_int_equal(options.given.pids[1], 34);
	assert_int_equal(options.given.sampling.frequency, 10000);
	assert_int_equal(options.given.duration, 1500000000);
	assert_int_equal(options.given.format, FORMAT_folded);
	assert_int_equal(options.given.flags & ~OPTIONS_VERBOSE,
			 OPTIONS_FORCE | OPTIONS_BY_THREAD | OPTIONS_SOME);
}

#define PARSE_WHY(options, ...) PARSE_VERB("why", options, __VA_ARGS__)

static void test_options__why(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE_WHY(&options, "4711"), 0);
	assert_int_equal(options.given.pid_count, 1);
	assert_int_equal(options.given.pids[0], 4711);
	assert_int_equal(options.given.duration, 5000000000);
	assert_int_equal(options.given.flags, OPTIONS_WHY | OPTIONS_SOME);
	assert_string_equal(options.output, "-");
	/* texts are found before the number as well as behind it */
	assert_int_equal(PARSE_WHY(&options, "-d", "0.5", "--policy", "p", "12", "--debug-dir=d",
				   "-v", "-F200"),
			 0);
	assert_int_equal(options.given.pids[0], 12);
	assert_int_equal(options.given.duration, 500000000);
	assert_int_equal(options.given.sampling.frequency, 200);
	assert_int_equal(options.given.flags, OPTIONS_WHY | OPTIONS_SOME | OPTIONS_VERBOSE);
	assert_string_equal(options.policy, "p");
	assert_string_equal(options.debug_dirs, "d");
}

static void test_options__why_is_of_one_process(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE_WHY(&options, "-v"), EXIT_USAGE);
	assert_int_equal(PARSE_WHY(&options, "1", "2"), EXIT_USAGE);
	assert_int_equal(PARSE_WHY(&options, "0"), EXIT_USAGE);
	assert_int_equal(PARSE_WHY(&options, "12x"), EXIT_USAGE);
	assert_int_equal(PARSE_WHY(&options, "12", "-a"), EXIT_USAGE);
	assert_int_equal(PARSE_WHY(&options, "12", "-o", "x.folded"), EXIT_USAGE);
	assert_int_equal(PARSE_WHY(&options, "12", "-f", "folded"), EXIT_USAGE);
	assert_int_equal(PARSE_WHY(&options, "12", "--", "ls"), EXIT_USAGE);
	assert_int_equal(PARSE_WHY(&options, "-p", "12"), EXIT_USAGE);
	assert_int_equal(PARSE_WHY(&options, "--help"), EXIT_DONE);
}

#define PARSE_STAT(options, ...) PARSE_VERB("stat", options, __VA_ARGS__)

static void test_options__stat(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE_STAT(&options, "-d", "0.5"), 0);
	assert_int_equal(options.given.duration, 500000000);
	assert_int_equal(options.given.flags, OPTIONS_STAT);
	assert_int_equal(options.given.sampling.frequency, 10);
	assert_int_equal(options.given.every, 0);
	assert_string_equal(options.output, "-");
	assert_int_equal(PARSE_STAT(&options, "-p", "12", "-i", "3", "--json", "--by-cgroup",
				    "--counters", "-o", "file"),
			 0);
	assert_int_equal(options.given.flags, OPTIONS_STAT | OPTIONS_SOME | OPTIONS_STAT_JSON |
						      OPTIONS_BY_CGROUP | OPTIONS_COUNTERS);
	assert_int_equal(options.given.every, 3);
	assert_string_equal(options.output, "file");
	assert_int_equal(PARSE_STAT(&options, "--csv", "--", "make", "-j2"), 0);
	assert_string_equal(options.command[1], "-j2");
	assert_int_equal(options.given.flags, OPTIONS_STAT | OPTIONS_SOME | OPTIONS_STAT_CSV);
}

static void test_options__stat_refuses(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE_STAT(&options, "--json", "--csv"), EXIT_USAGE);
	assert_int_equal(PARSE_STAT(&options, "-F", "99"), EXIT_USAGE);
	assert_int_equal(PARSE_STAT(&options, "-e", "cycles"), EXIT_USAGE);
	assert_int_equal(PARSE_STAT(&options, "-i", "0"), EXIT_USAGE);
	assert_int_equal(PARSE_STAT(&options, "-i", "256"), EXIT_USAGE);
	assert_int_equal(PARSE_STAT(&options, "-o", ""), EXIT_USAGE);
	assert_int_equal(PARSE_STAT(&options, "-p", "12", "--", "ls"), EXIT_USAGE);
	assert_int_equal(PARSE_STAT(&options, "ls"), EXIT_USAGE);
	assert_int_equal(PARSE_STAT(&options, "--help"), EXIT_DONE);
}

static void test_options__the_last_word_on_inlined_functions(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "--no-inline"), 0);
	assert_int_equal(options.given.flags & OPTIONS_NO_INLINE, OPTIONS_NO_INLINE);
	assert_int_equal(PARSE(&options, "--no-inline", "--inline"), 0);
	assert_int_equal(options.given.flags & OPTIONS_NO_INLINE, 0);
	assert_int_equal(PARSE(&options, "--inline", "--no-inline"), 0);
	assert_int_equal(options.given.flags & OPTIONS_NO_INLINE, OPTIONS_NO_INLINE);
}

static void test_options__every(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(
		PARSE(&options, "--every", "9", "--every=255", "-v", "-f", "folded", "-o", "-"), 0);
	assert_int_equal(options.given.every, 255);
	assert_int_equal(options.given.flags, OPTIONS_VERBOSE);
	assert_int_equal(PARSE(&options, "--every", "1", "-f", "pprof", "-o", "-"), 0);
	assert_int_equal(PARSE(&options, "--every", "0", "-f", "pprof", "-o", "-"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--every", "256", "-f", "pprof", "-o", "-"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--every", "1", "-f", "svg", "-o", "-"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--every", "1", "-o", "x.pb.gz"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--every", "1"), EXIT_USAGE);
}

static void test_options__names_of_standard_output(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-f", "folded", "-o", "/dev/stdout"), 0);
	assert_string_equal(options.output, "-");
	assert_int_equal(PARSE(&options, "-f", "folded", "--output=/dev/fd/1"), 0);
	assert_string_equal(options.output, "-");
	assert_int_equal(PARSE(&options, "-f", "folded", "-o/proc/self/fd/1", "--every", "1"), 0);
	assert_string_equal(options.output, "-");
	/* the last one counts */
	assert_int_equal(PARSE(&options, "-o", "a.folded", "-o", "/dev/stdout"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-o", "/dev/stdout", "-o", "a.folded"), 0);
	assert_string_equal(options.output, "a.folded");
	assert_int_equal(PARSE(&options, "-f", "folded", "-o", "/dev/fd/11"), 0);
	assert_string_equal(options.output, "/dev/fd/11");
	assert_int_equal(PARSE(&options, "-f", "folded", "-o", "./--", "--", "ls"), 0);
	assert_string_equal(options.output, "./--");
}

static void test_options__command_keeps_its_options(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-F", "20", "--", "ls", "-a", "--"), 0);
	assert_string_equal(options.command[0], "ls");
	assert_string_equal(options.command[1], "-a");
	assert_string_equal(options.command[2], "--");
	assert_null(options.command[3]);
	assert_int_equal(PARSE(&options, "ls"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-v", "--"), EXIT_USAGE);
}

static void test_options__targets_exclude_each_other(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-a", "-p", "1"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-p", "1", "--cgroup", "/x"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-p", "1", "--", "ls"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-a", "--", "ls"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--cgroup", "/x", "--cgroup", "/y"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-a"), 0);
	assert_true(!options.given.pid_count && !options.cgroup && !options.command);
}

static void test_options__more_processes_than_room(void **state)
{
	char record[] = "record", pid[] = "-p7";
	char *argv[3 + OPTIONS_PIDS_MAX + 1] = {record, record};
	struct options options;

	(void)state;
	for (int i = 2; i <= OPTIONS_PIDS_MAX + 2; i++)
		argv[i] = pid;
	assert_int_equal(rig_parse(OPTIONS_PIDS_MAX + 2, argv, &options), 0);
	assert_int_equal(options.given.pid_count, OPTIONS_PIDS_MAX);
	assert_int_equal(rig_parse(OPTIONS_PIDS_MAX + 3, argv, &options), EXIT_USAGE);
}

static void test_options__quiet_and_verbose(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-a"), 0);
	assert_int_equal(options.given.level, LOG_LEVEL_WARNING);
	assert_int_equal(PARSE(&options, "-v"), 0);
	assert_int_equal(options.given.level, LOG_LEVEL_DEBUG);
	assert_int_equal(PARSE(&options, "--quiet"), 0);
	assert_int_equal(options.given.level, LOG_LEVEL_ERROR);
	assert_int_equal(options.given.flags, OPTIONS_QUIET);
	assert_int_equal(PARSE(&options, "-q", "-v"), EXIT_USAGE);
}

static void test_options__numbers_out_of_range(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-F", "0"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-F", "10001"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-F", "99x"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-F", "-1"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-F", ""), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-F"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-d", "nan"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-d", "0"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-d", "1e30"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-p", "0"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-p", "99999999999999999999"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--nonsense"), EXIT_USAGE);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void test_options__required_layers(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-a"), 0);
	assert_int_equal(options.given.require, 0);
	assert_int_equal(PARSE(&options, "--require=landlock,pid", "--require", "seccomp"), 0);
	assert_int_equal(options.given.require,
			 LAYER_BIT(landlock) | LAYER_BIT(pid) | LAYER_BIT(seccomp));
	assert_int_equal(PARSE(&options, "--require", "landlock,userns"), 0);
	assert_int_equal(options.given.require, LAYER_BIT(landlock) | LAYER_BIT(namespaces) |
							LAYER_BIT(pid) | LAYER_BIT(root));
	assert_int_equal(PARSE(&options, "--require", ""), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--require", ","), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--require", "landlock,"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--require", "land"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--require", "landlock pid"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--require"), EXIT_USAGE);
}

/* ---- filters --------------------------------------------------------------------------------- */

static void test_options__format_from_suffix(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-o", "a.pb.gz"), 0);
	assert_int_equal(options.given.format, FORMAT_pprof);
	assert_int_equal(PARSE(&options, "-f", "folded"), 0);
	assert_string_equal(strchr(options.output, '.'), ".folded");
	assert_int_equal(PARSE(&options, "-o", "a.folded", "-f", "pprof"), 0);
	assert_int_equal(options.given.format, FORMAT_pprof);
	assert_int_equal(PARSE(&options, "-o", "a.html"), 0);
	assert_int_equal(options.given.format, FORMAT_html);
	assert_int_equal(PARSE(&options, "-o", "-", "-f", "folded"), 0);
	assert_string_equal(options.output, "-");
	assert_int_equal(PARSE(&options, "-o", "-"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-o", "a.png"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-o", "a.txt"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-o", ""), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-o", ".folded"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-f", "png"), EXIT_USAGE);
}

static void test_options__texts_are_where_they_were_given(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-oa.folded", "--cgroup=/x"), 0);
	assert_string_equal(options.output, "a.folded");
	assert_string_equal(options.cgroup, "/x");
	assert_int_equal(options.given.flags, OPTIONS_CGROUP);
	assert_int_equal(PARSE(&options, "-vo", "b.folded", "--cgroup", "/y"), 0);
	assert_string_equal(options.output, "b.folded");
	assert_string_equal(options.cgroup, "/y");
	assert_int_equal(PARSE(&options, "-ob.folded", "-o", "c.folded", "--", "ls"), 0);
	assert_string_equal(options.output, "c.folded");
	assert_string_equal(options.command[-1], "--");
}

/* Returns the printed text, and the status in *ret_status. */
static const char *printed(const char *verb, const char *option, int *ret_status)
{
	static char text[8192];
	char *argv[] = {(char[]){"keyhole"}, strdup(verb), strdup(option), NULL};
	FILE *stream = fmemopen(text, sizeof(text), "w");
	struct message_options message;

	memset(text, 0, sizeof(text));
	command_line_read(*option ? 3 : *verb ? 2 : 1, argv, stream, NULL, &message);
	fclose(stream);
	*ret_status = message.status;
	free(argv[1]);
	free(argv[2]);
	return text;
}

static void test_options__help_names_each_option(void **state)
{
	static const char *const names[] = {
		"--all",    "--pid",	     "--cgroup",	 "--frequency", "-- CMD",
		"--output", "--by-thread",   "--force",		 ".pb.gz",	"--comm",
		"--uid",    "--exclude-pid", "--exclude-cgroup", "--no-kernel", "--no-user"};
	static const char *const ways[][2] = {{"help", ""}, {"--help", ""}, {"record", "-h"}};
	int status;

	(void)state;
	for (size_t way = 0; way < 3; way++) {
		const char *text = printed(ways[way][0], ways[way][1], &status);

		assert_int_equal(status, EXIT_DONE);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			assert_non_null(strstr(text, names[i]));
#define F(number, id, name, suffix, help) assert_non_null(strstr(text, name));
#include "ipc/formats.def"
#undef F
		for (; *text; text++) /* no line wraps in 80 columns */
			assert_true(strcspn(text, "\n") <= 80);
	}
	assert_string_equal(printed("--version", "", &status), "keyhole " KEYHOLE_VERSION "\n");
	assert_int_equal(status, EXIT_DONE);
}

static void test_options__help_of_a_verb(void **state)
{
	int status;

	(void)state;
	assert_non_null(strstr(printed("help", "record", &status), "usage: keyhole record"));
	assert_non_null(strstr(printed("help", "why", &status), "usage: keyhole why"));
	assert_non_null(strstr(printed("help", "stat", &status), "usage: keyhole stat"));
	assert_non_null(strstr(printed("help", "check-config", &status), "keyhole check-config"));
#define V(verb, program, help)                                                                   \
	assert_string_equal(printed("help", #verb, &status), "see: keyhole " #verb " --help\n"); \
	assert_int_equal(status, EXIT_DONE);
#include "ipc/verbs.def"
#undef V
	assert_string_equal(printed("help", "recrd", &status), "");
	assert_int_equal(status, EXIT_USAGE);
}

static void test_options__other_verbs_are_refused(void **state)
{
	int status;

	(void)state;
	assert_string_equal(printed("recor", "", &status), "");
	assert_int_equal(status, EXIT_USAGE);
	assert_string_equal(printed("", "", &status), "");
	assert_int_equal(status, EXIT_USAGE);
	assert_string_equal(printed("-v", "record", &status), "");
	assert_int_equal(status, EXIT_USAGE);
}

/* A bare file name never comes here: the loader opens the file for keyhole-rules. */
static void test_options__check_config_opens_no_option(void **state)
{
	int status;

	(void)state;
	assert_non_null(strstr(printed("check-config", "--help", &status), "policy.conf"));
	assert_int_equal(status, EXIT_DONE);
	assert_non_null(strstr(printed("check-config", "-h", &status), "policy.conf"));
	assert_int_equal(status, EXIT_DONE);
	assert_string_equal(printed("check-config", "--json", &status), "");
	assert_int_equal(status, EXIT_USAGE);
	assert_string_equal(printed("check-config", "", &status), "");
	assert_int_equal(status, EXIT_USAGE);
}

static void test_options__full_standard_output_is_a_failure(void **state)
{
	char *argv[] = {(char[]){"keyhole"}, (char[]){"help"}, NULL};
	struct message_options message;
	FILE *full = fopen("/dev/full", "we");

	(void)state;
	assert_non_null(full);
	command_line_read(2, argv, full, NULL, &message);
	fclose(full);
	assert_int_equal(message.status, EXIT_FAILED);
}

/* ---- what the loader takes ------------------------------------------------------------------- */

static char *given[] = {(char[]){"keyhole"}, (char[]){"record"}, (char[]){"--cgroup=/x"},
			(char[]){"--"},	     (char[]){"ls"},	 NULL};

static struct message_options good(void)
{
	return (struct message_options){.status = OPTIONS_RECORD,
					.sampling.frequency = 99,
					.format = FORMAT_pprof,
					.name = "n"};
}

static int check(const struct message_options *message)
{
	struct options options = {.given = *message};

	return options_check(5, given, &options);
}

#define REFUSED(...)                                         \
	do {                                                 \
		struct message_options message_ = good();    \
                                                             \
		__VA_ARGS__;                                 \
		assert_int_equal(check(&message_), -EPROTO); \
	} while (0)

static void test_options__hostile_numbers_are_refused(void **state)
{
	(void)state;
	REFUSED(message_.sampling.frequency = 0);
	REFUSED(message_.sampling.frequency = OPTIONS_FREQUENCY_MAX + 1);
	REFUSED(message_.duration = OPTIONS_DURATION_MAX + 1);
	REFUSED(message_.duration = UINT64_MAX);
	REFUSED(message_.format = FORMAT_NONE);
	REFUSED(message_.format = FORMAT_COUNT);
	REFUSED(message_.format = UINT32_MAX);
	REFUSED(message_.pid_count = OPTIONS_PIDS_MAX + 1);
	REFUSED(message_.pid_count = UINT32_MAX);
	REFUSED(message_.excluded_count = OPTIONS_PIDS_MAX + 1);
	REFUSED(message_.excluded_count = UINT32_MAX);
	REFUSED(message_.pid_count = 1; message_.excluded_count = OPTIONS_PIDS_MAX);
	REFUSED(message_.flags = OPTIONS_FLAGS + 1);
	REFUSED(message_.flags = UINT32_MAX);
	REFUSED(message_.every = OPTIONS_EVERY_MAX + 1);
	REFUSED((message_.chance = (struct message_chance){100, 60}));
	REFUSED((message_.chance = (struct message_chance){UINT32_MAX, 60}));
	REFUSED((message_.chance = (struct message_chance){50, 0}));
	REFUSED((message_.chance = (struct message_chance){50, CHANCE_INTERVAL_MAX + 1}));
}

static void test_options__hostile_places_are_refused(void **state)
{
	(void)state;
	REFUSED(message_.command = 5);
	REFUSED(message_.command = 1); /* two come before it */
	REFUSED(message_.command = UINT32_MAX);
	REFUSED(message_.output.index = 5);
	REFUSED(message_.output.index = UINT32_MAX);
	REFUSED(message_.cgroup.index = 5);
	REFUSED((message_.cgroup = (struct message_text){2, 12}));
	REFUSED((message_.output = (struct message_text){2, UINT32_MAX}));
	REFUSED(memset(message_.name, 'x', sizeof(message_.name)));
}

static void test_options__places_at_the_edge(void **state)
{
	struct options options = {.given = good()};
	struct message_options *message = &options.given;

	(void)state;
	message->cgroup = (struct message_text){2, 11};
	message->output = (struct message_text){4, 0};
	message->sampling.frequency = OPTIONS_FREQUENCY_MAX;
	message->duration = OPTIONS_DURATION_MAX;
	assert_int_equal(options_check(5, given, &options), 0);
	assert_string_equal(options.cgroup, "");
	assert_string_equal(options.output, "ls");
	*message = good();
	message->command = 4;
	message->name[OPTIONS_NAME_BYTES - 1] = '\0';
	memset(message->name, 'x', OPTIONS_NAME_BYTES - 1);
	assert_int_equal(options_check(5, given, &options), 0);
	assert_ptr_equal(options.command, given + 4);
	assert_int_equal(strlen(options.output), OPTIONS_NAME_BYTES - 1);
}

static void test_options__two_targets_of_a_message_are_refused(void **state)
{
	(void)state;
	REFUSED(message_.command = 4; message_.pid_count = 1);
	REFUSED(message_.command = 4; message_.cgroup.index = 2);
	REFUSED(message_.cgroup.index = 2; message_.pid_count = 1);
}

/* ---- the rows of options.def ----------------------------------------------------------------- */

static void test_options__rows_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < setters_count; i++) {
		const struct option_row *row = &setters_rows[i];

		if (!row->name)
			continue;
		assert_non_null(row->set);
		assert_true(row->verbs);
		/* a row without help shares the next one's */
		assert_true(row->help || (i + 1 < setters_count && setters_rows[i + 1].help));
	}
}

static void test_options__names_and_letters_are_unique_in_a_verb(void **state)
{
	(void)state;
	for (size_t i = 0; i < setters_count; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct option_row *one = &setters_rows[i], *other = &setters_rows[j];

			if (!(one->verbs & other->verbs) || !one->name || !other->name)
				continue;
			assert_string_not_equal(one->name, other->name);
			if (one->letter)
				assert_int_not_equal(one->letter, other->letter);
		}
	}
}

static void test_options__chance(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE_VERB("agent", &options, "-q"), 0);
	assert_int_equal(options.given.chance.threshold, 0);
	assert_int_equal(options.given.chance.interval, 60);
	assert_int_equal(PARSE_VERB("agent", &options, "--probabilistic-threshold", "25",
				    "--probabilistic-interval", "5m"),
			 0);
	assert_int_equal(options.given.chance.threshold, 25);
	assert_int_equal(options.given.chance.interval, 300);
	assert_int_equal(PARSE_VERB("agent", &options, "--probabilistic-threshold", "100",
				    "--probabilistic-interval", "24h"),
			 0);
	assert_int_equal(options.given.chance.threshold, 0);
	assert_int_equal(options.given.chance.interval, 86400);
	assert_int_equal(PARSE_VERB("agent", &options, "--probabilistic-interval", "90"), 0);
	assert_int_equal(options.given.chance.interval, 90);
}

static int parse_agent(const char *name, const char *argument)
{
	char words[4][32] = {"keyhole", "agent"};
	char *argv[] = {words[0], words[1], words[2], words[3], NULL};
	struct options options;

	snprintf(words[2], sizeof(words[2]), "%s", name);
	snprintf(words[3], sizeof(words[3]), "%s", argument);
	return rig_parse(4, argv, &options);
}

static void test_options__chances_that_are_none(void **state)
{
	static const char *const thresholds[] = {"0", "101", "", "x", "-1", "5%"};
	static const char *const intervals[] = {"0",
						"0s",
						"s",
						"1d",
						"25h",
						"1441m",
						"86401",
						"1m30s",
						"-1m",
						"1000ms",
						"00000000000000001m"};

	(void)state;
	for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
		assert_int_equal(parse_agent("--probabilistic-threshold", thresholds[i]), 2);
	}
	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		assert_int_equal(parse_agent("--probabilistic-interval", intervals[i]), 2);
	}
}

static int parse_word(const char *word, struct options *ret_options)
{
	char words[3][32] = {"keyhole", "record"};
	char *argv[] = {words[0], words[1], words[2], NULL};

	snprintf(words[2], sizeof(words[2]), "%s", word);
	return rig_parse(3, argv, ret_options);
}

static void test_options__least_time_off_the_cpu(void **state)
{
	static const struct {
		const char *argument;
		uint64_t ns;
	} times[] = {{"--off-cpu", 0},
		     {"--off-cpu=0ms", 0},
		     {"--off-cpu=7ns", 7},
		     {"--off-cpu=100us", 100000},
		     {"--off-cpu=10ms", 10000000},
		     {"--off-cpu=1000s", 1000000000000},
		     {"--off-cpu=2m", 120000000000}};
	static const char *const refused[] = {"--off-cpu=",
					      "--off-cpu=5",
					      "--off-cpu=ms",
					      "--off-cpu=1001s",
					      "--off-cpu=1.5s",
					      "--off-cpu=-1ms",
					      "--off-cpu=17m",
					      "--off-cpu=1 ms",
					      "--off-cpu=1d",
					      "--off-cpu=1msec",
					      "--off-cpu=000000000000001s"};
	struct options options;

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_int_equal(parse_word(times[i].argument, &options), 0);
		assert_true(options.given.flags & OPTIONS_OFF_CPU);
		assert_int_equal(options.given.off_cpu_min, times[i].ns);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(parse_word(refused[i], &options), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options__rows_are_whole),
		cmocka_unit_test(test_options__names_and_letters_are_unique_in_a_verb),
		cmocka_unit_test(test_options__defaults),
		cmocka_unit_test(test_options__chance),
		cmocka_unit_test(test_options__chances_that_are_none),
		cmocka_unit_test(test_options__least_time_off_the_cpu),
		cmocka_unit_test(test_options__everything),
		cmocka_unit_test(test_options__the_last_word_on_inlined_functions),
		cmocka_unit_test(test_options__every),
		cmocka_unit_test(test_options__names_of_standard_output),
		cmocka_unit_test(test_options__command_keeps_its_options),
		cmocka_unit_test(test_options__why),
		cmocka_unit_test(test_options__stat),
		cmocka_unit_test(test_options__stat_refuses),
		cmocka_unit_test(test_options__why_is_of_one_process),
		cmocka_unit_test(test_options__targets_exclude_each_other),
		cmocka_unit_test(test_options__more_processes_than_room),
		cmocka_unit_test(test_options__quiet_and_verbose),
		cmocka_unit_test(test_options__numbers_out_of_range),
		cmocka_unit_test(test_options__required_layers),
		cmocka_unit_test(test_options__format_from_suffix),
		cmocka_unit_test(test_options__texts_are_where_they_were_given),
		cmocka_unit_test(test_options__help_names_each_option),
		cmocka_unit_test(test_options__help_of_a_verb),
		cmocka_unit_test(test_options__other_verbs_are_refused),
		cmocka_unit_test(test_options__check_config_opens_no_option),
		cmocka_unit_test(test_options__full_standard_output_is_a_failure),
		cmocka_unit_test(test_options__hostile_numbers_are_refused),
		cmocka_unit_test(test_options__hostile_places_are_refused),
		cmocka_unit_test(test_options__places_at_the_edge),
		cmocka_unit_test(test_options__two_targets_of_a_message_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
