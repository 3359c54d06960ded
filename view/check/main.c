/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-check: the program of `keyhole check`, which only reads. The process keeps those of
 * root's capabilities that reading other processes takes, and can get no others.
 *
 * The JSON (--json) has these members: format, version, mode; kernel, layers (true: this machine
 * has them), executables (path and sha256 by name), bpf_objects (sha256), policy; processes;
 * deviations and unknown (object, what); result. Keys stay, and new keys may come. A change of a
 * key's meaning raises "format".
 */
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "view/check/check.h"
#include "ipc/exit_status.h"
#include "ipc/log.h"

#define FORMAT 1

static const char usage[] =
	"usage: keyhole check [--json]\n"
	"What this machine offers, which files are installed, and whether every process\n"
	"of a running keyhole is confined as it should be. Root sees most.\n\n"
	"examples:\n"
	"  sudo keyhole check\n"
	"  sudo keyhole check --json | jq .deviations\n\n"
	"exit status: 0 all is well, 1 something deviates, 2 usage,\n"
	"  3 not all could be seen\n";

static void limit_ourselves(void)
{
	static const cap_value_t kept[] = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH};
	cap_t held = cap_get_proc(), wanted = cap_init();

	prctl(PR_SET_NAME, "keyhole-check");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		cap_flag_value_t set = CAP_CLEAR;

		cap_get_flag(held, kept[i], CAP_PERMITTED, &set);
		cap_set_flag(wanted, CAP_PERMITTED, 1, &kept[i], set);
		cap_set_flag(wanted, CAP_EFFECTIVE, 1, &kept[i], set);
	}
	cap_set_proc(wanted);
	cap_free(held);
	cap_free(wanted);
}

int main(int argc, char **argv)
{
	static struct report report;
	static struct programs programs;
	uint32_t lacking;
	int r;

	log_init("keyhole", LOG_LEVEL_WARNING);
	report.stream = stdout;
	report.json = argc == 2 && strcmp(argv[1], "--json") == 0;
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return fputs(usage, stdout) < 0;
	if (argc > 1 && !report.json) {
		log_error("check: %s: unexpected; see: keyhole check --help", argv[1]);
		return EXIT_USAGE;
	}
	limit_ourselves();
	report_open(&report, NULL, '{');
	report_number(&report, "format", FORMAT);
	report_text(&report, "version", KEYHOLE_VERSION);
	report_text(&report, "mode", "brokered"); /* there is no other */
	check_machine(&report, &lacking);
	check_files(&report, &programs);
	check_processes(&report, &programs, lacking);
	r = report_end(&report);
	report_close(&report);
	return fflush(stdout) ? EXIT_FAILURE : r;
}
