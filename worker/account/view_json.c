/* SPDX-License-Identifier: Apache-2.0 */
/* A table as one object of JSON on one line. Times are seconds; what is not known is left out. */

#include "profile/format/json.h"
#include "profile/format/output.h"
#include "worker/account/view.h"

#define NS_DIGITS 9
#define UJ_DIGITS 6

static void put_seconds(struct json *json, const char *key, uint64_t ns)
{
	json_key(json, key);
	json_decimal(json, ns, NS_DIGITS);
}

static void put_amount(struct json *json, const struct amount *amount)
{
	const uint64_t *figure = amount->figure;
	uint64_t user, system;

	put_seconds(json, "cpu_seconds", amount->ns);
	if (view_split(amount, &user, &system)) {
		put_seconds(json, "user_scaled_seconds", user);
		put_seconds(json, "system_scaled_seconds", system);
	}
	put_seconds(json, "kernel_runtime_seconds", figure[FIGURE_runtime]);
	put_seconds(json, "run_queue_seconds", figure[FIGURE_delay]);
	json_key_number(json, "voluntary_switches", figure[FIGURE_voluntary]);
	json_key_number(json, "involuntary_switches", figure[FIGURE_involuntary]);
	json_key_number(json, "migrations", figure[FIGURE_migrations]);
	json_key_number(json, "minor_faults", figure[FIGURE_minor_faults]);
	json_key_number(json, "major_faults", figure[FIGURE_major_faults]);
	json_key_number(json, "softirqs", amount->softirqs);
}

static void put_joules(struct json *json, const char *key, uint64_t microjoules)
{
	json_key(json, key);
	json_decimal(json, microjoules, UJ_DIGITS);
}

static void put_counters(const struct view *view, struct json *json, const struct amount *amount)
{
	if (view->sums.counters == 0)
		return;
	json_key_object(json, "counters");
	for (unsigned int i = 0; i < ACCOUNT_COUNTERS; i++)
		if (view_counter(view, i))
			json_key_number(json, view_counter(view, i), amount->counter[i]);
	json_end(json);
}

/* Writes the frequency, where it is known. */
static void put_frequency(const struct view *view, struct json *json, const struct amount *amount)
{
	const uint64_t frequency = view_frequency(view, amount);

	if (frequency > 0)
		json_key_number(json, "average_frequency_hertz", frequency);
}

static void put_times(struct json *json, const char *key, const struct account_time *times,
		      unsigned int count, bool named)
{
	json_key_array(json, key);
	for (unsigned int i = 0; i < count; i++) {
		if (times[i].count == 0)
			continue;
		json_object(json);
		if (named)
			json_key_string(json, "vector", view_softirq(i));
		else if (i < ACCOUNT_HARDIRQS - 1)
			json_key_number(json, "number", i);
		put_seconds(json, "seconds", times[i].ns);
		json_key_number(json, "count", times[i].count);
		json_end(json);
	}
	json_end(json);
}

static void put_row(const struct view *view, struct json *json, const struct view_row *row)
{
	json_object(json);
	if (!view->by_cgroup && row->pid)
		json_key_number(json, "pid", row->pid);
	if (row->thread)
		json_key_number(json, "tid", row->thread);
	if (!view->by_cgroup)
		json_key_clean_string(json, "name", row->name);
	if (row->processes)
		json_key_number(json, view->by_thread ? "ended_threads" : "ended_processes",
				row->processes);
	if (row->cgroup[0])
		json_key_clean_string(json, "cgroup", row->cgroup);
	put_amount(json, &row->amount);
	put_counters(view, json, &row->amount);
	put_frequency(view, json, &row->amount);
	if (view_has_energy(view))
		put_joules(json, "estimated_joules", row->amount.energy);
	json_end(json);
}

static void put_zone(const struct view *view, struct json *json, size_t number)
{
	const struct zone *zone = &view->energy->zones[number];
	char label[ENERGY_LABEL_BYTES];

	energy_label(view->energy, zone, label);
	json_object(json);
	json_key_clean_string(json, "name", label);
	if (zone->read_at)
		put_joules(json, "joules", view->energies.zone[number]);
	json_key_literal(json, "summed", zone->read_at && zone_is_summed(zone) ? "true" : "false");
	if (zone->reason)
		json_key_clean_string(json, "left_out", zone->reason);
	json_end(json);
}

static void put_parts(const struct view *view, struct json *json)
{
	static const char *const keys[ENERGY_PARTS] = {
		[ENERGY_ROWS] = "rows_estimated_joules",
		[ENERGY_OTHERS] = "other_processes_estimated_joules",
		[ENERGY_DENIED] = "denied_processes_estimated_joules",
		[ENERGY_UNLISTED] = "unlisted_threads_estimated_joules",
		[ENERGY_UNSEEN] = "unseen_threads_estimated_joules",
		[ENERGY_IDLE] = "idle_estimated_joules",
		[ENERGY_SOFTIRQS] = "softirqs_estimated_joules",
		[ENERGY_HARDIRQS] = "interrupts_estimated_joules",
	};

	put_joules(json, "summed_joules", view->energies.measured);
	for (size_t i = 0; i < ENERGY_PARTS; i++)
		put_joules(json, keys[i], view->energies.part[i]);
	json_key_literal(json, "estimated_by",
			 view->energy->by_cycles ? "\"cycles\"" : "\"cpu_time\"");
}

static void put_energy(const struct view *view, struct json *json)
{
	if (!view->energy)
		return;
	json_key_object(json, "energy");
	if (energy_absence(view->energy)) {
		json_key_clean_string(json, "absent", energy_absence(view->energy));
		json_end(json);
		return;
	}
	put_seconds(json, "elapsed_seconds", view->energies.read_at);
	if (view_has_energy(view))
		put_parts(view, json);
	json_key_array(json, "zones");
	for (size_t i = 0; i < view_zones(view); i++)
		put_zone(view, json, i);
	json_end(json);
	json_end(json);
}

static void put_sums(const struct view *view, struct json *json)
{
	const struct accounts_sums *sums = &view->sums;

	put_seconds(json, "elapsed_seconds", view->elapsed);
	json_key_number(json, "cpus", sums->cpus);
	put_seconds(json, "wall_seconds", sums->wall);
	put_seconds(json, "idle_seconds", sums->kind[ACCOUNT_IDLE].ns);
	put_seconds(json, "other_processes_seconds", sums->kind[ACCOUNT_OTHERS].ns);
	put_seconds(json, "denied_processes_seconds", sums->kind[ACCOUNT_DENIED].ns);
	put_seconds(json, "unlisted_threads_seconds", sums->kind[ACCOUNT_UNLISTED].ns);
	put_seconds(json, "unseen_threads_seconds", sums->unseen.ns);
	json_key(json, "error_ratio");
	json_decimal(json, (uint64_t)(view_error(view) * 1e9), NS_DIGITS);
	put_frequency(view, json, &sums->counted);
	json_key_number(json, "lost_places", sums->lost_places);
	json_key_number(json, "lost_tasks", sums->lost_tasks);
	json_key_number(json, "skipped_interrupts", sums->skipped);
	json_key_number(json, "missed_switches", sums->missed);
}

void view_json(const struct view *view, struct output *output)
{
	static struct json json; /* large */
	const char *rows = "processes";

	if (view->by_cgroup)
		rows = "cgroups";
	if (view->by_thread)
		rows = "threads";
	json_init(&json, output);
	json_object(&json);
	json_key(&json, "time_seconds");
	json_decimal(&json, view->realtime, NS_DIGITS);
	put_sums(view, &json);
	put_energy(view, &json);
	put_times(&json, "softirqs", view->sums.softirqs, ACCOUNT_SOFTIRQS, true);
	put_times(&json, "interrupts", view->sums.hardirqs, ACCOUNT_HARDIRQS, false);
	json_key_array(&json, rows);
	for (size_t i = 0; i < view->count; i++)
		put_row(view, &json, &view->rows[i]);
	json_end(&json);
	json_end(&json);
	json_finish(&json);
}
