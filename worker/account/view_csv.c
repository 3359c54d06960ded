/* SPDX-License-Identifier: Apache-2.0 */
/* A table as rows of values between commas (RFC 4180), after one row with their names. */
#include <inttypes.h>
#include <stdio.h>

#include "ipc/time.h"
#include "profile/format/output.h"
#include "worker/account/view.h"

#define VALUES_BYTES 512
#define UJ_PER_J     1000000u

static void put_quoted(struct output *output, const char *clean)
{
	output_string(output, "\"");
	for (; *clean; clean++) {
		if (*clean == '"')
			output_string(output, "\"");
		output_write(output, clean, 1);
	}
	output_string(output, "\"");
}

static void put_seconds(struct output *output, uint64_t ns)
{
	char text[48];

	snprintf(text, sizeof(text), ",%llu.%09llu", ns / NS_PER_SECOND, ns % NS_PER_SECOND);
	output_string(output, text);
}

static void put_begin(const struct view *view, struct output *output, const char *kind)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu.%03llu", view->realtime / NS_PER_SECOND,
		 view->realtime % NS_PER_SECOND / NS_PER_MS);
	output_string(output, text);
	put_seconds(output, view->elapsed);
	output_string(output, ",");
	output_string(output, kind);
}

/* Writes the columns of the counters there are. NULL: there is no value. */
static void put_counters(const struct view *view, struct output *output, const uint64_t *counter)
{
	char text[32];

	for (unsigned int i = 0; i < ACCOUNT_COUNTERS; i++) {
		if (!view_counter(view, i))
			continue;
		text[0] = '\0';
		if (counter)
			snprintf(text, sizeof(text), "%" PRIu64, counter[i]);
		output_string(output, ",");
		output_string(output, text);
	}
}

/* Writes the column of the frequency, where there are its counters. NULL: there is no value. */
static void put_frequency(const struct view *view, struct output *output,
			  const struct amount *amount)
{
	char text[32] = "";

	if (!view_has_frequency(view))
		return;
	if (amount && view_frequency(view, amount) > 0)
		snprintf(text, sizeof(text), "%" PRIu64, view_frequency(view, amount));
	output_string(output, ",");
	output_string(output, text);
}

/* Writes the column of threads, where rows are threads. 0: there is no value. */
static void put_thread(const struct view *view, struct output *output, uint32_t thread)
{
	char text[16] = ",";

	if (!view->by_thread)
		return;
	if (thread)
		snprintf(text, sizeof(text), ",%" PRIu32, thread);
	output_string(output, text);
}

static void put_name(const struct view *view, struct output *output, unsigned int counter)
{
	if (!view_counter(view, counter))
		return;
	output_string(output, ",counter_");
	output_string(output, view_counter(view, counter));
}

static void put_joules(struct output *output, uint64_t microjoules)
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, microjoules / UJ_PER_J,
		 microjoules % UJ_PER_J);
	output_string(output, text);
}

/* Writes the columns of energy, of which a row has one value. NULL: there is none. */
static void put_energy(const struct view *view, struct output *output, const uint64_t *measured,
		       const uint64_t *estimated)
{
	if (view_zones(view) == 0)
		return;
	output_string(output, ",");
	if (measured)
		put_joules(output, *measured);
	output_string(output, ",");
	if (estimated && view_has_energy(view))
		put_joules(output, *estimated);
}

static void put_zone(const struct view *view, struct output *output, size_t number)
{
	const struct zone *zone = &view->energy->zones[number];
	const char *kind = "zone_shown";
	char label[ENERGY_LABEL_BYTES];
	const uint64_t *measured = NULL;

	if (zone->read_at)
		measured = &view->energies.zone[number];
	if (zone_is_summed(zone))
		kind = "zone_summed";
	if (zone->reason)
		kind = "zone_left_out";
	energy_label(view->energy, zone, label);
	put_begin(view, output, kind);
	output_string(output, ",,");
	put_quoted(output, label);
	output_string(output, ",,,,,,,,,,,,");
	put_counters(view, output, NULL);
	put_energy(view, output, measured, NULL);
	put_frequency(view, output, NULL);
	put_thread(view, output, 0);
	output_string(output, "\n");
}

/* Writes a part of the CPUs' time that is no row's. */
static void put_part(const struct view *view, struct output *output, const char *name, uint64_t ns,
		     enum energy_part part)
{
	put_begin(view, output, name);
	output_string(output, ",,,,");
	put_seconds(output, ns);
	output_string(output, ",,,,,,,,,");
	put_counters(view, output, NULL);
	put_energy(view, output, NULL, &view->energies.part[part]);
	put_frequency(view, output, NULL);
	put_thread(view, output, 0);
	output_string(output, "\n");
}

static void put_parts(const struct view *view, struct output *output)
{
	const struct accounts_sums *sums = &view->sums;
	uint64_t softirqs = 0, hardirqs = 0;

	for (unsigned int i = 0; i < ACCOUNT_SOFTIRQS; i++)
		softirqs += sums->softirqs[i].ns;
	for (unsigned int i = 0; i < ACCOUNT_HARDIRQS; i++)
		hardirqs += sums->hardirqs[i].ns;
	put_part(view, output, "idle", sums->kind[ACCOUNT_IDLE].ns, ENERGY_IDLE);
	put_part(view, output, "others", sums->kind[ACCOUNT_OTHERS].ns, ENERGY_OTHERS);
	put_part(view, output, "denied", sums->kind[ACCOUNT_DENIED].ns, ENERGY_DENIED);
	put_part(view, output, "unlisted", sums->kind[ACCOUNT_UNLISTED].ns, ENERGY_UNLISTED);
	put_part(view, output, "unseen", sums->unseen.ns, ENERGY_UNSEEN);
	put_part(view, output, "softirqs", softirqs, ENERGY_SOFTIRQS);
	put_part(view, output, "interrupts", hardirqs, ENERGY_HARDIRQS);
}

static void put_split(struct output *output, const struct amount *amount)
{
	uint64_t user, system;

	if (!view_split(amount, &user, &system)) {
		output_string(output, ",,");
		return;
	}
	put_seconds(output, user);
	put_seconds(output, system);
}

static const char *kind_of(const struct view *view)
{
	if (view->by_cgroup)
		return "cgroup";
	if (view->by_thread)
		return "thread";
	return "process";
}

static void put_row(const struct view *view, struct output *output, const struct view_row *row)
{
	const uint64_t *figure = row->amount.figure;
	char text[VALUES_BYTES];

	put_begin(view, output, kind_of(view));
	text[0] = '\0';
	if (row->pid)
		snprintf(text, sizeof(text), "%" PRIu32, row->pid);
	output_string(output, ",");
	output_string(output, text);
	output_string(output, ",");
	put_quoted(output, row->name);
	snprintf(text, sizeof(text), ",%" PRIu32 ",", row->processes);
	output_string(output, text);
	put_quoted(output, row->cgroup);
	put_seconds(output, row->ns);
	put_split(output, &row->amount);
	put_seconds(output, figure[FIGURE_delay]);
	snprintf(text, sizeof(text),
		 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		 figure[FIGURE_voluntary], figure[FIGURE_involuntary], figure[FIGURE_migrations],
		 figure[FIGURE_minor_faults], figure[FIGURE_major_faults], row->amount.softirqs);
	output_string(output, text);
	put_counters(view, output, row->amount.counter);
	put_energy(view, output, NULL, &row->amount.energy);
	put_frequency(view, output, &row->amount);
	put_thread(view, output, row->thread);
	output_string(output, "\n");
}

void view_csv(const struct view *view, struct output *output)
{
	if (view->number == 0)
		output_string(output, "time,elapsed_seconds,kind,pid,name,ended_processes,cgroup,"
				      "cpu_seconds,user_scaled_seconds,system_scaled_seconds,"
				      "run_queue_seconds,voluntary_switches,involuntary_switches,"
				      "migrations,minor_faults,major_faults,softirqs");
	for (unsigned int i = 0; i < ACCOUNT_COUNTERS && view->number == 0; i++)
		put_name(view, output, i);
	if (view->number == 0 && view_zones(view) > 0)
		output_string(output, ",joules,estimated_joules");
	if (view->number == 0 && view_has_frequency(view))
		output_string(output, ",average_frequency_hertz");
	if (view->number == 0 && view->by_thread)
		output_string(output, ",tid");
	if (view->number == 0)
		output_string(output, "\n");
	put_parts(view, output);
	for (size_t i = 0; i < view_zones(view); i++)
		put_zone(view, output, i);
	for (size_t i = 0; i < view->count; i++)
		put_row(view, output, &view->rows[i]);
}
