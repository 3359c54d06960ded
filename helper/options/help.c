/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/help.h"

#include "helper/options/events.h"
#include "helper/options/setters.h"

#define VERB_COLUMN   24
#define OPTION_COLUMN 26
#define EVENT_COLUMN  8

static const char record_begin[] =
	"Profile with stacks and write them to a file. Ctrl-C stops and writes.\n\n";
static const char record_events[] =
	"  A PERIOD of a clock is in ns, of others a number of events. cpu-clock,\n"
	"  task-clock and cycles without one make -F samples a second. Others are\n"
	"  counted, of 1000 a second and CPU at most: what is more is lost, a larger\n"
	"  PERIOD counts it.\n\n";
static const char record_end[] =
	"examples:\n"
	"  sudo keyhole record -d 10                    the whole machine, for 10 s\n"
	"  sudo keyhole record -p 1234 -o app.folded    one process, until Ctrl-C\n"
	"  sudo keyhole record -o make.pb.gz -- make    a command, run as the user\n"
	"  sudo keyhole record -d 5 -f folded -o - | flamegraph.pl >cpu.svg\n\n"
	"exit status: 0 done, 1 failed while recording, 2 usage, 3 missing rights,\n"
	"  4 no samples; with CMD that of CMD, 128 + N when signal N ended it\n";

static const char check_config_begin[] =
	"usage: keyhole check-config [FILE]\n"
	"What the policy file (/etc/keyhole/policy.conf) says, or what is wrong with it:\n"
	"its rules in their canonical order, then the SHA-256 of those lines.\n\n";
static const char check_config_end[] =
	"\nexamples:\n"
	"  sudo keyhole check-config\n"
	"  sudo keyhole check-config new.conf\n\n"
	"exit status: 0 the rules hold, 1 failed, 2 the file is wrong, or usage\n";

static const char why_begin[] =
	"usage: keyhole why [OPTIONS] PID\n"
	"Samples a process for 5 s, then says for each of its files where unwind rules,\n"
	"names and lines come from, which stacks ended there, and what to do about it.\n\n";
static const char why_end[] =
	"\nexamples:\n"
	"  sudo keyhole why 1234\n"
	"  sudo keyhole why -d 1 --debug-dir /srv/debug $(pidof -s app)\n\n"
	"exit status: 0 it was said, 1 failed, 2 no such process, or usage, 3 missing rights,\n"
	"  4 a policy denies all that it does\n";

static const char stat_begin[] =
	"usage: keyhole stat [OPTIONS] [-- CMD ARGS]\n"
	"Accounts for the time of all CPUs, at each switch between threads, and says which\n"
	"processes had it. Ctrl-C ends it and writes the table.\n\n";
static const char stat_end[] =
	"\nexamples:\n"
	"  sudo keyhole stat -d 10                 the whole machine, for 10 s\n"
	"  sudo keyhole stat -p 1234 -i 1          one process, a table a second\n"
	"  sudo keyhole stat -- make -j8           a command and its children\n"
	"  sudo keyhole stat --by-cgroup --json -i 10 >stat.jsonl\n\n"
	"exit status: 0 done, 1 failed, 2 usage, 3 missing rights; with CMD that of CMD\n";

static const char agent_begin[] =
	"usage: keyhole agent [OPTIONS]\n"
	"Profiles the machine until it is stopped, and sends the profiles to a server that\n"
	"speaks OTLP. SIGTERM stops it once everything is sent.\n\n";
static const char agent_end[] =
	"\nexamples:\n"
	"  sudo keyhole agent --endpoint http://localhost:4318\n"
	"  sudo keyhole agent --protocol grpc --endpoint https://collector:4317\n\n"
	"exit status: 0 done, 1 failed, 2 usage, 3 missing rights, 5 start it again (SIGHUP)\n";

static void print_options(FILE *out, uint32_t verb)
{
	option_print(setters_rows, setters_count, verb, OPTION_COLUMN, out);
}

static void print_verbs(FILE *out)
{
	fputs("usage: keyhole record [OPTIONS] [-- CMD ARGS]\n", out);
#define V(verb, program, help) option_print_text(out, "       keyhole " #verb, VERB_COLUMN, help);
#include "ipc/verbs.def"
#undef V
#define W(verb, help) option_print_text(out, "       keyhole " verb, VERB_COLUMN, help);
#include "helper/options/verbs.def"
#undef W
	fputc('\n', out);
}

void help_print(FILE *out)
{
	print_verbs(out);
	fputs(record_begin, out);
	print_options(out, RECORD);
	fputc('\n', out);
	option_print_text(out, "events:", EVENT_COLUMN, events_names());
	fputs(record_events, out);
	fputs(record_end, out);
}

void help_print_agent(FILE *out)
{
	fputs(agent_begin, out);
	print_options(out, AGENT);
	fputs(agent_end, out);
}

void help_print_check_config(FILE *out)
{
	fputs(check_config_begin, out);
	print_options(out, CHECK_CONFIG);
	fputs(check_config_end, out);
}

void help_print_stat(FILE *out)
{
	fputs(stat_begin, out);
	print_options(out, STAT);
	fputs(stat_end, out);
}

void help_print_why(FILE *out)
{
	fputs(why_begin, out);
	print_options(out, WHY);
	fputs(why_end, out);
}
