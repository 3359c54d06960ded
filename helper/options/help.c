/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/help.h"

#include <string.h>

#include "helper/options/events.h"
#include "helper/options/formats.h"

#define HELP_COLUMNS  80
#define VERB_COLUMN   25
#define OPTION_COLUMN 27
#define EVENT_COLUMN  9

static const char usage_target[] =
	"Profile with stacks and write them to a file. Ctrl-C stops and writes.\n\n"
	"  -a, --all                the whole machine (default)\n"
	"  -p, --pid PID            a process, its threads, later children (repeatable)\n"
	"      --cgroup PATH        the processes of a cgroup v2 directory\n"
	"  -- CMD ARGS              profile CMD, run as the invoking user, until it exits\n"
	"  what of these is sampled (LIST has commas; repeatable, all can be combined):\n"
	"      --comm REGEX         only where the name of the process or thread matches\n"
	"      --uid LIST           only of these users, by name or number\n"
	"      --exclude-pid LIST   not of these processes and their later children\n"
	"      --exclude-cgroup LIST\n"
	"                           not of these cgroup v2 directories and those below\n"
	"      --no-kernel          without kernel stacks and threads (--kernel: with)\n"
	"      --no-user            in the kernel only, no user stacks (--user: with)\n"
	"  -e, --event EVENT[:PERIOD]\n"
	"                           what makes samples (cycles; cpu-clock if no PMU):\n"
	"                           at a frequency, or one in PERIOD of them\n"
	"  -F, --frequency HZ       samples per second and CPU, 1-10000 (99)\n"
	"  -d, --duration SECONDS   stop after so long, may be fractional\n"
	"      --every SECONDS      a profile every 1-255 s; with -o -, pprof or folded\n";
static const char usage_rest[] =
	"      --force              replace FILE when it exists\n"
	"      --by-thread          keep threads apart\n"
	"      --no-inline          no inlined functions, no source lines: ends sooner\n"
	"                           (--inline: with them, the default)\n"
	"      --debug-dir DIR[:DIR] where debug files are (/usr/lib/debug)\n"
	"      --policy FILE        who is never sampled (/etc/keyhole/policy.conf)\n"
	"      --audit FILE         append what was done to FILE (ours, mode 0600; .json)\n"
	"      --require LAYERS     do not start without: namespaces,pid,root,landlock\n"
	"  -q, --quiet              say nothing but errors\n"
	"  -v, --verbose            say more\n"
	"  -h, --help               this text\n\n";
static const char usage_end[] =
	"examples:\n"
	"  sudo keyhole record -d 10                    the whole machine, for 10 s\n"
	"  sudo keyhole record -p 1234 -o app.folded    one process, until Ctrl-C\n"
	"  sudo keyhole record -o make.pb.gz -- make    a command, run as the user\n"
	"  sudo keyhole record -d 5 -f folded -o - | flamegraph.pl >cpu.svg\n\n"
	"exit status: 0 done, 1 failed while recording, 2 usage, 3 missing rights,\n"
	"  4 no samples; with CMD that of CMD, 128 + N when signal N ended it\n";
static const char usage_events[] =
	"  A PERIOD of a clock is in ns, of others a number of events. cpu-clock,\n"
	"  task-clock and cycles without one make -F samples a second. Others are\n"
	"  counted, of 1000 a second and CPU at most: what is more is lost, a larger\n"
	"  PERIOD counts it.\n\n";

static const char usage_check_config[] =
	"usage: keyhole check-config [FILE]\n"
	"What the policy file (/etc/keyhole/policy.conf) says, or what is wrong with it:\n"
	"its rules in their canonical order, then the SHA-256 of those lines.\n\n"
	"  -h, --help               this text\n\n"
	"examples:\n"
	"  sudo keyhole check-config\n"
	"  sudo keyhole check-config new.conf\n\n"
	"exit status: 0 the rules hold, 1 failed, 2 the file is wrong, or usage\n";

static const char usage_why[] =
	"usage: keyhole why [OPTIONS] PID\n"
	"Samples a process for 5 s, then says for each of its files where unwind rules,\n"
	"names and lines come from, which stacks ended there, and what to do about it.\n\n"
	"  -F, --frequency HZ       samples per second and CPU, 1-10000 (99)\n"
	"  -d, --duration SECONDS   sample for so long, may be fractional (5)\n"
	"      --debug-dir DIR[:DIR] where debug files are (/usr/lib/debug)\n"
	"      --policy FILE        who is never sampled (/etc/keyhole/policy.conf)\n"
	"      --audit FILE         append what was done to FILE (ours, mode 0600; .json)\n"
	"      --require LAYERS     do not start without: namespaces,pid,root,landlock\n"
	"  -v, --verbose            say more\n"
	"  -h, --help               this text\n\n"
	"examples:\n"
	"  sudo keyhole why 1234\n"
	"  sudo keyhole why -d 1 --debug-dir /srv/debug $(pidof -s app)\n\n"
	"exit status: 0 it was said, 1 failed, 2 no such process, or usage, 3 missing rights,\n"
	"  4 a policy denies all that it does\n";

/* Text from that column on, continued below itself where it would be wider than a terminal. */
static void print_entry(FILE *out, const char *label, int start, const char *text)
{
	int column = fprintf(out, "%-*s", start - 1, label);

	while (*text) {
		const int word = (int)strcspn(text, " ");

		if (column + 1 + word > HELP_COLUMNS)
			column = fprintf(out, "\n%*s", start - 1, "") - 1;
		column += fprintf(out, " %.*s", word, text);
		text += word + (text[word] == ' ');
	}
	fputc('\n', out);
}

void help_print(FILE *out)
{
	char formats[640];

	fputs("usage: keyhole record [OPTIONS] [-- CMD ARGS]\n", out);
#define V(verb, program, help) print_entry(out, "       keyhole " #verb, VERB_COLUMN, help);
#include "ipc/verbs.def"
#undef V
	print_entry(out, "       keyhole why", VERB_COLUMN,
		    "[OPTIONS] PID: what a process's names, lines and stacks lack, and what to do");
	print_entry(out, "       keyhole check-config", VERB_COLUMN,
		    "[FILE]: what the policy file says, or what is wrong with it");
	fputc('\n', out);
	fputs(usage_target, out);
	fprintf(out, "  -o, --output FILE        write here (keyhole-DATE-TIME%s), - for stdout\n",
		formats_suffix(FORMAT_pprof));
	snprintf(formats, sizeof(formats), "%s; else by the suffix of FILE", formats_names(" or "));
	print_entry(out, "  -f, --format FORMAT", OPTION_COLUMN, formats);
	fputs(usage_rest, out);
	print_entry(out, "events:", EVENT_COLUMN, events_names());
	fputs(usage_events, out);
	fputs(usage_end, out);
}

void help_print_check_config(FILE *out)
{
	fputs(usage_check_config, out);
}

void help_print_why(FILE *out)
{
	fputs(usage_why, out);
}
