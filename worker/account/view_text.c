/* SPDX-License-Identifier: Apache-2.0 */
/* A table for people: the CPUs as a whole, then the processes or cgroups that used most. */
#include <inttypes.h>
#include <stdio.h>

#include "ipc/time.h"
#include "profile/format/output.h"
#include "worker/account/view.h"

#define ROWS_SHOWN 30
#define LINE_BYTES 256
#define UJ_PER_J   1000000u

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_SECOND;
}

static double percent(uint64_t part, uint64_t whole)
{
	if (whole == 0)
		return 0;
	return (double)part * 100 / (double)whole;
}

static uint64_t sum_times(const struct account_time *times, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += times[i].ns;
	return sum;
}

static void put_joules(const struct view *view, struct output *output, uint64_t microjoules)
{
	char text[32];

	if (!view_has_energy(view))
		return;
	snprintf(text, sizeof(text), "%10.3f ", (double)microjoules / UJ_PER_J);
	output_string(output, text);
}

/* Writes a share of the CPUs. A part that is not there has no line, unless it is `always`. */
static void put_share(const struct view *view, struct output *output, const char *name, uint64_t ns,
		      enum energy_part part, bool always)
{
	char line[LINE_BYTES];

	if (ns == 0 && !always)
		return;
	snprintf(line, sizeof(line), "  %12.6f s  %6.2f %%  ", seconds(ns),
		 percent(ns, view->sums.wall));
	output_string(output, line);
	put_joules(view, output, view->energies.part[part]);
	if (view_has_energy(view))
		output_string(output, "J  ");
	output_string(output, name);
	output_string(output, "\n");
}

static void put_shares(const struct view *view, struct output *output)
{
	const struct accounts_sums *sums = &view->sums;
	uint64_t processes = 0;

	for (size_t i = 0; i < view->count; i++)
		processes += view->rows[i].ns;
	put_share(view, output, "processes", processes, ENERGY_ROWS, true);
	put_share(view, output, "other processes", sums->kind[ACCOUNT_OTHERS].ns, ENERGY_OTHERS,
		  false);
	put_share(view, output, "denied or excluded processes", sums->kind[ACCOUNT_DENIED].ns,
		  ENERGY_DENIED, false);
	put_share(view, output, "threads that were not seen or have no place",
		  sums->kind[ACCOUNT_UNLISTED].ns, ENERGY_UNLISTED, false);
	put_share(view, output, "processes that ended unseen", sums->unseen.ns, ENERGY_UNSEEN,
		  false);
	put_share(view, output, "idle", sums->kind[ACCOUNT_IDLE].ns, ENERGY_IDLE, true);
	put_share(view, output, "softirqs", sum_times(sums->softirqs, ACCOUNT_SOFTIRQS),
		  ENERGY_SOFTIRQS, true);
	put_share(view, output, "interrupts", sum_times(sums->hardirqs, ACCOUNT_HARDIRQS),
		  ENERGY_HARDIRQS, true);
}

static void put_zone(const struct view *view, struct output *output, size_t number)
{
	const struct zone *zone = &view->energy->zones[number];
	char line[LINE_BYTES], label[ENERGY_LABEL_BYTES];

	energy_label(view->energy, zone, label);
	if (zone->reason)
		snprintf(line, sizeof(line), "  left out: %s: %s\n", label, zone->reason);
	else
		snprintf(line, sizeof(line), "  %12.6f J  %s%s\n",
			 (double)view->energies.zone[number] / UJ_PER_J, label,
			 zone_is_summed(zone) ? "" : ", which overlaps: not summed");
	output_string(output, line);
}

/* Writes what the zones have counted, or why there is no energy. */
static void put_energy(const struct view *view, struct output *output)
{
	char line[LINE_BYTES];

	if (!view->energy)
		return;
	if (energy_absence(view->energy)) {
		snprintf(line, sizeof(line), "  no energy: %s\n", energy_absence(view->energy));
		output_string(output, line);
		return;
	}
	snprintf(line, sizeof(line),
		 "energy in %.3f s; the sum is shared out by %s, which is an estimate:\n",
		 seconds(view->energies.read_at), view->energy->by_cycles ? "cycles" : "CPU time");
	output_string(output, line);
	for (size_t i = 0; i < view_zones(view); i++)
		put_zone(view, output, i);
}

/* Writes the split of CPU time by ticks, as percents of a CPU. */
static void format_split(const struct view *view, const struct amount *amount, char *ret_text,
			 size_t size)
{
	uint64_t user, system;

	snprintf(ret_text, size, "%6s %6s", "-", "-");
	if (view_split(amount, &user, &system))
		snprintf(ret_text, size, "%6.1f %6.1f", percent(user, view->elapsed),
			 percent(system, view->elapsed));
}

static void put_name(const struct view *view, const struct view_row *row, struct output *output)
{
	char text[48];

	if (view->by_cgroup) {
		output_string(output, row->cgroup);
	} else if (row->processes) {
		output_string(output, row->name[0] ? row->name : "other names");
		snprintf(text, sizeof(text), " (%" PRIu32 " ended)", row->processes);
		output_string(output, text);
	} else {
		output_string(output, row->name[0] ? row->name : "?");
	}
	output_string(output, "\n");
}

static void put_counters(const struct view *view, const struct amount *amount,
			 struct output *output)
{
	char text[32];

	for (unsigned int i = 0; i < ACCOUNT_COUNTERS; i++) {
		if (!view_counter(view, i))
			continue;
		snprintf(text, sizeof(text), "%16" PRIu64 " ", amount->counter[i]);
		output_string(output, text);
	}
}

static void put_frequency(const struct view *view, const struct amount *amount,
			  struct output *output)
{
	char text[32];

	if (!view_has_frequency(view))
		return;
	snprintf(text, sizeof(text), "%6.0f ", (double)view_frequency(view, amount) / 1e6);
	output_string(output, text);
}

static void put_number(uint32_t number, struct output *output)
{
	char text[16] = "      - ";

	if (number)
		snprintf(text, sizeof(text), "%7" PRIu32 " ", number);
	output_string(output, text);
}

static void put_row(const struct view *view, const struct view_row *row, struct output *output)
{
	const uint64_t *figure = row->amount.figure;
	char line[LINE_BYTES], split[32];

	format_split(view, &row->amount, split, sizeof(split));
	snprintf(line, sizeof(line),
		 "%11.6f %6.1f %s %9.4f %8" PRIu64 " %7" PRIu64 " %6" PRIu64 " %7" PRIu64 " ",
		 seconds(row->ns), percent(row->ns, view->elapsed), split,
		 seconds(figure[FIGURE_delay]), figure[FIGURE_voluntary],
		 figure[FIGURE_involuntary], figure[FIGURE_migrations],
		 figure[FIGURE_minor_faults] + figure[FIGURE_major_faults]);
	output_string(output, line);
	put_counters(view, &row->amount, output);
	put_joules(view, output, row->amount.energy);
	put_frequency(view, &row->amount, output);
	if (!view->by_cgroup)
		put_number(row->pid, output);
	if (view->by_thread)
		put_number(row->thread, output);
	put_name(view, row, output);
}

static void put_head(const struct view *view, struct output *output)
{
	char line[LINE_BYTES];

	if (view->number > 0)
		output_string(output, "\n");
	snprintf(line, sizeof(line), "%.3f s on %" PRIu64 " CPUs; %.4f %% unexplained\n",
		 seconds(view->elapsed), view->sums.cpus, view_error(view) * 100);
	output_string(output, line);
	put_shares(view, output);
	put_energy(view, output);
	if (view->sums.lost_places + view->sums.lost_tasks == 0)
		return;
	snprintf(line, sizeof(line), "  %" PRIu64 " threads had no place: there are %u\n",
		 view->sums.lost_places + view->sums.lost_tasks, ACCOUNTS);
	output_string(output, line);
}

static const char *columns_of(const struct view *view)
{
	if (view->by_cgroup)
		return "CGROUP\n";
	if (view->by_thread)
		return "    PID     TID NAME\n";
	return "    PID NAME\n";
}

void view_text(const struct view *view, struct output *output)
{
	char line[LINE_BYTES];
	size_t shown = 0;

	put_head(view, output);
	snprintf(line, sizeof(line), "\n%11s %6s %6s %6s %9s %8s %7s %6s %7s ", "CPU s", "CPU %",
		 "user %", "sys %", "waited s", "vol.sw", "inv.sw", "migr", "faults");
	output_string(output, line);
	for (unsigned int i = 0; i < ACCOUNT_COUNTERS; i++) {
		if (!view_counter(view, i))
			continue;
		snprintf(line, sizeof(line), "%16s ", view_counter(view, i));
		output_string(output, line);
	}
	if (view_has_energy(view))
		output_string(output, "  estim. J ");
	if (view_has_frequency(view))
		output_string(output, "   MHz ");
	output_string(output, columns_of(view));
	for (; shown < view->count && shown < ROWS_SHOWN; shown++)
		put_row(view, &view->rows[shown], output);
	if (shown == view->count)
		return;
	snprintf(line, sizeof(line), "%*s %zu more used less\n", 11, "...", view->count - shown);
	output_string(output, line);
}
