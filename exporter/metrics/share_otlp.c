/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/share_otlp.h"

#include <stdio.h>

#include "exporter/metrics/figures.h"
#include "exporter/metrics/otlp_fields.h"
#include "exporter/metrics/share_series.h"

struct place {
	const struct figures *figures;
	enum account_row kind;
	uint64_t now;
	struct buffer *buffer;
};

/* ---- metrics ---- */

struct point {
	uint64_t start, number;
	const char *key, *value; /* NULL: no attribute */
};

static void put_point(const struct place *place, enum metric_unit unit, const struct point *point)
{
	struct buffer *buffer = place->buffer;
	const size_t start = buffer_open(buffer, DATA_POINTS);

	otlp_put_fixed64(buffer, POINT_START, point->start);
	otlp_put_fixed64(buffer, POINT_TIME, place->now);
	otlp_put_value(buffer, unit, point->number);
	if (point->key)
		otlp_put_attribute(buffer, POINT_ATTRIBUTES, point->key, point->value);
	buffer_close(buffer, start);
}

struct opened {
	size_t metric, sum;
};

static struct opened open_sum(struct buffer *buffer, const char *name, const char *unit,
			      const char *help)
{
	struct opened opened = {.metric = buffer_open(buffer, SCOPE_METRICS_METRICS)};

	otlp_put_text(buffer, METRIC_NAME, name);
	otlp_put_text(buffer, METRIC_DESCRIPTION, help);
	otlp_put_text(buffer, METRIC_UNIT, unit);
	opened.sum = buffer_open(buffer, METRIC_DATA_SUM);
	return opened;
}

static void close_sum(struct buffer *buffer, const struct opened *opened)
{
	otlp_put_number(buffer, SUM_TEMPORALITY, OTLP_CUMULATIVE);
	otlp_put_number(buffer, SUM_IS_MONOTONIC, true);
	buffer_close(buffer, opened->sum);
	buffer_close(buffer, opened->metric);
}

/* ---- shares ---- */

#define NAME_BYTES 64

/* Names a metric as the conventions do, or as keyhole's own. */
static void name_metric(const struct place *place, const struct share_metric *metric,
			char ret_name[NAME_BYTES])
{
	const char *own = "keyhole.";

	if (metric->conventions >> place->kind & 1)
		own = "";
	snprintf(ret_name, NAME_BYTES, "%s%s.%s", own, share_kind(place->kind), metric->otlp);
}

/* Returns since when the share's numbers count. */
static uint64_t start_of(const struct place *place, const struct share *share)
{
	uint64_t start = place->figures->agent_begun;

	if (share->begun > start)
		start = share->begun;
	if (start > place->now)
		start = place->now;
	return start;
}

static bool has_any(const struct place *place, const struct share *share, size_t row)
{
	const uint32_t number = share_series[row].metric;

	for (; row < share_series_count && share_series[row].metric == number; row++)
		if (share_has(&place->figures->shares, &share_series[row], share))
			return true;
	return false;
}

/* Puts the metric whose first row is at `row`. */
static void put_metric(const struct place *place, const struct share *share, size_t row)
{
	const uint32_t number = share_series[row].metric;
	const struct share_metric *metric = &share_metrics[number];
	char name[NAME_BYTES];
	struct opened opened;

	name_metric(place, metric, name);
	opened = open_sum(place->buffer, name, metric->otlp_unit, metric->help);
	for (; row < share_series_count && share_series[row].metric == number; row++) {
		const struct share_series *series = &share_series[row];
		const struct point point = {start_of(place, share), share_number(series, share),
					    series->otlp_key, series->value};

		if (share_has(&place->figures->shares, series, share))
			put_point(place, metric->unit, &point);
	}
	close_sum(place->buffer, &opened);
}

static void put_process(const struct share *share, struct buffer *buffer)
{
	otlp_put_int_attribute(buffer, RESOURCE_ATTRIBUTES, "process.pid", share->pid);
	otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "process.executable.name", share->name);
	if (share->group[0])
		otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "container.id", share->group);
}

static void put_resource(const struct place *place, const struct share *share)
{
	struct buffer *buffer = place->buffer;
	const size_t resource = buffer_open(buffer, RESOURCE_METRICS_RESOURCE);

	if (share_is_rest(share, place->kind))
		otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "keyhole.share", SHARE_REST);
	else if (place->kind == ACCOUNT_PROCESS)
		put_process(share, buffer);
	else if (place->kind == ACCOUNT_CGROUP)
		otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "keyhole.cgroup_path",
				   share->group);
	else
		otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "container.id", share->group);
	if (place->figures->host[0])
		otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "host.name", place->figures->host);
	buffer_close(buffer, resource);
}

static void put_share(const struct place *place, const struct share *share)
{
	struct buffer *buffer = place->buffer;
	const size_t all = buffer_open(buffer, DATA_RESOURCE_METRICS);
	size_t scopes;

	put_resource(place, share);
	scopes = buffer_open(buffer, RESOURCE_METRICS_SCOPES);
	otlp_put_scope(buffer);
	for (size_t row = 0; row < share_series_count; row++) {
		if (row > 0 && share_series[row].metric == share_series[row - 1].metric)
			continue;
		if (has_any(place, share, row))
			put_metric(place, share, row);
	}
	buffer_close(buffer, scopes);
	buffer_close(buffer, all);
}

void share_otlp_write(const struct figures *figures, uint64_t now, struct buffer *buffer)
{
	for (enum account_row kind = ACCOUNT_PROCESS; kind < ACCOUNT_ROWS; kind++) {
		const struct place place = {figures, kind, now, buffer};
		const struct share *share;
		size_t cursor = 0;

		while ((share = share_next(&figures->shares, kind, &cursor)))
			put_share(&place, share);
	}
}

/* ---- the machine ---- */

/* Numbers of a worker may be large. */
static uint64_t sum_of(const uint64_t *numbers, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (numbers[i] > INT64_MAX - sum)
			return INT64_MAX;
		sum += numbers[i];
	}
	return sum;
}

/* The modes are those of semantic conventions, and "other": time whose mode is not known. */
static void put_cpu_time(const struct place *place)
{
	const struct shares *shares = &place->figures->shares;
	const struct message_account_sums *sums = &shares->sums;
	const uint64_t kinds[] = {sum_of(sums->softirq_ns, ACCOUNTS_SOFTIRQS),
				  sum_of(shares->interrupts.ns, ACCOUNTS_HARDIRQS)};
	const uint64_t other[] = {sums->others, sums->denied, sums->unlisted};
	const struct point points[] = {
		{0, shares->modes.user, "cpu.mode", "user"},
		{0, shares->modes.system, "cpu.mode", "system"},
		{0, sums->idle, "cpu.mode", "idle"},
		{0, sum_of(kinds, 2), "cpu.mode", "interrupt"},
		{0, sum_of(other, 3), "cpu.mode", "other"},
	};
	struct opened opened;

	opened = open_sum(place->buffer, "system.cpu.time", "s",
			  "time of all CPUs, from switch to switch; user and system are scaled");
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		struct point point = points[i];

		/* the split into modes is that of this exporter */
		point.start = place->figures->exporter_begun;
		put_point(place, UNIT_SECONDS, &point);
	}
	close_sum(place->buffer, &opened);
}

static void put_faults(const struct place *place)
{
	const struct account_values *threads = &place->figures->shares.sums.threads;
	const uint64_t start = place->figures->agent_begun;
	const struct point minor = {start, threads->minor_faults, "system.paging.fault.type",
				    "minor"};
	const struct point major = {start, threads->major_faults, "system.paging.fault.type",
				    "major"};
	struct opened opened = open_sum(place->buffer, "system.paging.faults", "{fault}",
					"page faults of all processes");

	put_point(place, UNIT_NONE, &minor);
	put_point(place, UNIT_NONE, &major);
	close_sum(place->buffer, &opened);
}

void share_otlp_system(const struct figures *figures, uint64_t now, struct buffer *buffer)
{
	const struct place place = {.figures = figures, .now = now, .buffer = buffer};

	if (figures->shares.set == 0)
		return;
	put_cpu_time(&place);
	put_faults(&place);
}
