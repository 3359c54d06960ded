/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-check: the program of `keyhole check`, which only reads. The process keeps those of
 * root's capabilities that reading other processes takes, and can get no others.
 *
 * The JSON (--json) has these members:
 *
 * - format, version and mode;
 * - kernel, layers (true: this machine has them), executables (path and sha256 by name),
 *   bpf_objects (sha256) and policy;
 * - processes;
 * - deviations and unknown, both with object and what;
 * - result.
 *
 * Keys stay, and new keys may come. A change of a key's meaning raises "format".
 */
#include <getopt.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "generated/version.h"
#include "base/option.h"
#include "view/check/check.h"
#include "ipc/exit_status.h"
#include "ipc/log.h"

#define FORMAT 1

#define CHECK	    1 /* the only verb of option_row.verbs */
#define HELP_COLUMN 24

struct options {
	bool json, help;
};

static const char usage_begin[] =
	"usage: keyhole check [--json]\n"
	"What this machine offers, which files are installed, and whether every process\n"
	"of a running keyhole is confined as it should be. Root sees most.\n\n";
static const char usage_end[] = "\nexamples:\n"
				"  sudo keyhole check\n"
				"  sudo keyhole check --json | jq .deviations\n\n"
				"exit status: 0 all is well, 1 something deviates, 2 usage,\n"
				"  3 not all could be seen\n";

static const struct option_row rows[] = {
#define OPTION(name, letter, argument, verbs, set, value, completion, help, manual) \
	{name, letter, argument, verbs, help, set, value},
#include "view/check/options.def"
#undef OPTION
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int read_options(int argc, char **argv, struct options *ret_options)
{
	const struct option_reader reader = {.verb = "check",
					     .rows = rows,
					     .count = ROWS,
					     .verbs = CHECK,
					     .target = ret_options};
	int r = option_read(&reader, argc, argv);

	if (r < 0 || optind == argc)
		return r;
	return option_refuse("check", argv[optind], "unexpected");
}

static int print_usage(void)
{
	fputs(usage_begin, stdout);
	option_print(rows, ROWS, CHECK, HELP_COLUMN, stdout);
	fputs(usage_end, stdout);
	return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
	static struct report report;
	static struct programs programs;
	struct options options = {0};
	uint32_t lacking;
	int r;

	signal(SIGPIPE, SIG_DFL); /* systemd ignores it: `| head` is no error even so */
	log_init("keyhole", LOG_LEVEL_WARNING);
	if (read_options(argc, argv, &options))
		return EXIT_USAGE;
	if (options.help)
		return print_usage();
	report.stream = stdout;
	report.json = options.json;
	prctl(PR_SET_NAME, "keyhole-check");
	r = policy_confine_self(ROLE_CHECK, NULL);
	if (r < 0) {
		log_error("check: rights: %s", strerror(-r));
		return EXIT_FAILURE;
	}
	report_open(&report, NULL, '{');
	report_number(&report, "format", FORMAT);
	report_text(&report, "version", KEYHOLE_VERSION);
	report_text(&report, "mode", "brokered"); /* there is no other */
	check_machine(&report, &lacking);
	check_files(&report, &programs);
	check_processes(&report, &programs, lacking);
	r = report_end(&report);
	report_close(&report);
	if (fflush(stdout))
		return EXIT_FAILURE;
	return r;
}
