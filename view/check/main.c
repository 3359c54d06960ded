/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-check: what `keyhole check` runs. It only looks. Of root's capabilities it keeps those
 * that looking at other processes takes, and no more can be got by it.
 *
 * JSON (--json): format, version, mode; kernel, layers (whether they can be had here), executables
 * (path and sha256 by name), bpf_objects (sha256), policy; processes; deviations and unknown
 * (object, what); result. Keys stay; new ones may come, a change of meaning raises "format".
 */
#include <stdlib.h>
#include <string.h>
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
	return fflush(stdout) ? EXIT_FAILURE : r;
}
