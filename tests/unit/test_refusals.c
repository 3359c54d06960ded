/* SPDX-License-Identifier: Apache-2.0 */
/* The command line refuses mistakes with one line, which says the mistake and what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "tests/unit/options_rig.h"

#define WORDS_MAX 8

struct refusal {
	const char *words[WORDS_MAX + 1]; /* behind "keyhole"; NULL ends them */
	const char *line;		  /* extended regular expression, case does not count */
};

/* Standard error of the parser; ends with a 0. */
static int said_by(const struct refusal *refusal, char *ret_said, size_t size)
{
	char *argv[WORDS_MAX + 2] = {strdup("keyhole")};
	int argc = 1, status;
	struct options options;
	guard_fd int kept = dup(STDERR_FILENO);
	guard_fd int file = memfd_create("said", MFD_CLOEXEC);
	ssize_t got;

	assert_true(kept >= 0 && file >= 0);
	for (; refusal->words[argc - 1]; argc++)
		argv[argc] = strdup(refusal->words[argc - 1]);
	log_init("keyhole", LOG_LEVEL_WARNING);
	assert_true(dup2(file, STDERR_FILENO) >= 0);
	status = rig_parse(argc, argv, &options);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	got = pread(file, ret_said, size - 1, 0);
	assert_in_range(got, 0, size - 1);
	ret_said[got] = '\0';
	while (argc > 0)
		free(argv[--argc]);
	return status;
}

static void assert_refused(const struct refusal *refusal)
{
	char said[4096];
	regex_t line;
	int status = said_by(refusal, said, sizeof(said)), differs;

	assert_int_equal(regcomp(&line, refusal->line, REG_EXTENDED | REG_ICASE | REG_NOSUB), 0);
	differs = regexec(&line, said, 0, NULL, 0);
	regfree(&line);
	if (status != EXIT_USAGE || differs || strchr(said, '\n') != said + strlen(said) - 1)
		fail_msg("%s %s: status %d, wanted %s, said %s", refusal->words[0],
			 refusal->words[1], status, refusal->line, said);
}

/* OBJECT and WHAT TO DO of "keyhole: verb: OBJECT: why; what to do". */
#define MISTAKE(object, todo) "^keyhole: [a-z-]+: " object ": .+; .*" todo

static const struct refusal mistakes[] = {
	{{"record", "--frequncy", "99"}, MISTAKE("--frequncy", "did you mean --frequency")},
	{{"record", "-aZ"}, MISTAKE("-Z", "record --help")},
	{{"record", "--all=3"}, MISTAKE("--all=3", "record --help")},
	{{"record", "--pid"}, MISTAKE("--pid", "record --help")},
	{{"record", "-f", "pprof", "-o", "--", "./app"}, MISTAKE("-o", "record --help")},
	{{"record", "--output", "--", "./app"}, MISTAKE("--output", "record --help")},
	{{"record", "--audit", "--", "./app"}, MISTAKE("--audit", "record --help")},
	{{"record", "-d", "x"}, MISTAKE("x", "record --help")},
	{{"record", "-f", "htlm", "-o", "p.folded"}, MISTAKE("htlm", "html")},
	{{"record", "-o", "/nowhere/p.xyz"}, MISTAKE("/nowhere/p.xyz", "-f FORMAT")},
	{{"record", "-o", "-"}, MISTAKE("-", "-f FORMAT")},
	{{"record", "ls"}, MISTAKE("ls", "--")},
	{{"record", "-a", "-p", "1"}, MISTAKE("options", "record --help")},
	{{"record", "--require", "landlok"}, MISTAKE("landlok", "landlock")},
	{{"record", "--require", "landlock,foo"}, MISTAKE("landlock,foo", "landlock")},
	{{"record", "-p", "17", "--exclude-pid", "17"}, MISTAKE("options", "leave one")},
	{{"check-config", "-x"}, MISTAKE("-x", "check-config --help")},
	{{"why", "x"}, MISTAKE("x", "why --help")},
};

static const struct refusal values[] = {
	{{"record", "-F", "0", "-d", "1", "-o", "p.folded"}, "10000|10,000"},
	{{"record", "-F", "10001", "-d", "1", "-o", "p.folded"}, "10000|10,000"},
	{{"record", "-d", "1", "-o", "p.xyz"}, "folded.*pb\\.gz|pb\\.gz.*folded"},
	{{"record", "-d", "1", "-o", "-"}, "-f"},
	{{"record", "--no-such-option"}, "--no-such-option"},
	{{"record", "-a", "-p", "1", "-d", "1", "-o", "p.folded"}, "-p"},
	{{"record", "-p", "12x", "-d", "1", "-o", "p.folded"}, "12x"},
	{{"why", "--even", "5", "1"}, "unknown option; see: keyhole why"},
	{{"why", "--require=pid", "--polcy", "x", "1"}, "did you mean --policy"},
};

static const struct refusal verbs[] = {
	{{NULL}, "nothing.*keyhole help"},
	{{"recrd", "-d", "1"}, "recrd: not a command"},
	{{"reprot"},
	 "^keyhole: reprot: not a command; did you mean report\\? run: keyhole help\n$"},
};

static const struct refusal streams[] = {
	{{"record", "--every", "1", "-o", "x.pb.gz", "-d", "1"}, "--every so often needs"},
	{{"record", "--every", "1", "-f", "html", "-o", "-"}, "--every so often needs"},
	{{"record", "--every", "0", "-f", "pprof", "-o", "-"}, "not a number of seconds"},
};

#define NO_EVENT(event) "record: " event ": (not an event|a period of)"

static const struct refusal events[] = {
	{{"record", "-e", "nope", "--", "true"}, NO_EVENT("nope")},
	{{"record", "-e", "cpu-clock:1", "--", "true"}, NO_EVENT("cpu-clock:1")},
	{{"record", "-e", "cycles:1", "--", "true"}, NO_EVENT("cycles:1")},
	{{"record", "-e", "cs:0", "--", "true"}, NO_EVENT("cs:0")},
	{{"record", "-e", "cs:", "--", "true"}, NO_EVENT("cs:")},
	{{"record", "-e", "page-faults:1x", "--", "true"}, NO_EVENT("page-faults:1x")},
	{{"record", "-e", "cs:2", "-F", "99", "--", "true"}, "cs:2: a period, so no -F"},
	{{"record", "-e", "cs", "-F", "99", "--", "true"}, "cs: is counted"},
};

static const struct refusal filters[] = {
	{{"record", "--uid", "nobody-of-this-name"}, "not a user"},
	{{"record", "--uid", "1,4294967295"}, "4294967295: not a user id"},
	{{"record", "--exclude-pid", "1,x"}, "x: not a process id"},
	{{"record", "--comm", "("}, "record: \\(: .*\\("},
	{{"record", "--comm", "(a{99}){99}"}, "too large"},
	{{"record", "--comm", "a{99}{99}"}, "repeats a repeat"},
	{{"record", "--comm", "a++++++++++"}, "repeats a repeat"},
	{{"record", "--comm", "(a)\\1"}, "references such as"},
	{{"record", "--no-kernel", "--no-user"}, "nothing is left"},
};

#define TEST(table)                                                             \
	static void test_refusals__##table(void **state)                        \
	{                                                                       \
		(void)state;                                                    \
		for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); i++) \
			assert_refused(&(table)[i]);                            \
	}

TEST(mistakes)
TEST(values)
TEST(verbs)
TEST(streams)
TEST(events)
TEST(filters)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals__mistakes), cmocka_unit_test(test_refusals__values),
		cmocka_unit_test(test_refusals__verbs),	   cmocka_unit_test(test_refusals__streams),
		cmocka_unit_test(test_refusals__events),   cmocka_unit_test(test_refusals__filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
