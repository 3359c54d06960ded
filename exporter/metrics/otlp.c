/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/otlp.h"

#include <string.h>

#include "exporter/metrics/figures.h"
#include "exporter/metrics/otlp_fields.h"
#include "exporter/metrics/series.h"
#include "exporter/metrics/share_otlp.h"
#include "generated/version.h"

struct writer {
	const struct figures *figures;
	uint64_t now;
	struct buffer *buffer;
};

/* ---- metrics ---- */

static uint64_t start_of(const struct metric *metric, const struct figures *figures)
{
	if (metric->since == SINCE_AGENT)
		return figures->agent_begun;
	return figures->exporter_begun;
}

static void put_point(const struct writer *writer, const struct series *series)
{
	const struct metric *metric = &series_metrics[series->metric];
	const uint64_t number = series_number(series, writer->figures);
	struct buffer *buffer = writer->buffer;
	const size_t point = buffer_open(buffer, DATA_POINTS);

	if (metric->kind == METRIC_COUNTER)
		otlp_put_fixed64(buffer, POINT_START, start_of(metric, writer->figures));
	otlp_put_fixed64(buffer, POINT_TIME, writer->now);
	otlp_put_value(buffer, metric->unit, number);
	for (int i = 0; i < SERIES_LABELS && series->key[i]; i++)
		otlp_put_attribute(buffer, POINT_ATTRIBUTES, series->key[i], series->value[i]);
	buffer_close(buffer, point);
}

/* Puts the points of the metric whose first row is at `row`. */
static void put_points(const struct writer *writer, size_t row)
{
	const uint32_t metric = series_rows[row].metric;

	for (; row < series_count && series_rows[row].metric == metric; row++)
		if (series_is_told(&series_rows[row], writer->figures))
			put_point(writer, &series_rows[row]);
}

static void put_data(const struct writer *writer, size_t row)
{
	const bool is_sum = series_metrics[series_rows[row].metric].kind == METRIC_COUNTER;
	struct buffer *buffer = writer->buffer;
	uint32_t field = METRIC_DATA_GAUGE;
	size_t data;

	if (is_sum)
		field = METRIC_DATA_SUM;
	data = buffer_open(buffer, field);
	put_points(writer, row);
	if (is_sum) {
		otlp_put_number(buffer, SUM_TEMPORALITY, OTLP_CUMULATIVE);
		otlp_put_number(buffer, SUM_IS_MONOTONIC, true);
	}
	buffer_close(buffer, data);
}

static void put_name(struct buffer *buffer, const char *name)
{
	static const char prefix[] = "keyhole.";
	const size_t start = buffer_open(buffer, METRIC_NAME);

	buffer_put(buffer, prefix, sizeof(prefix) - 1);
	buffer_put(buffer, name, strlen(name));
	buffer_close(buffer, start);
}

static void put_metric(const struct writer *writer, size_t row)
{
	static const char *const units[] = {
		[UNIT_NONE] = "1",  [UNIT_BYTES] = "By", [UNIT_SECONDS] = "s",
		[UNIT_RATIO] = "1", [UNIT_HERTZ] = "Hz",
	};
	const struct metric *metric = &series_metrics[series_rows[row].metric];
	struct buffer *buffer = writer->buffer;
	const size_t start = buffer_open(buffer, SCOPE_METRICS_METRICS);

	put_name(buffer, metric->name);
	otlp_put_text(buffer, METRIC_DESCRIPTION, metric->help);
	otlp_put_text(buffer, METRIC_UNIT, units[metric->unit]);
	put_data(writer, row);
	buffer_close(buffer, start);
}

/* Each metric is put at the first of its rows that is told. */
static void put_metrics(const struct writer *writer)
{
	uint32_t last = UINT32_MAX;

	for (size_t row = 0; row < series_count; row++) {
		if (series_rows[row].metric == last ||
		    !series_is_told(&series_rows[row], writer->figures))
			continue;
		last = series_rows[row].metric;
		put_metric(writer, row);
	}
}

/* ---- around them ---- */

static void put_resource(struct buffer *buffer, const char *host)
{
	const size_t resource = buffer_open(buffer, RESOURCE_METRICS_RESOURCE);

	otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "service.name", "keyhole");
	otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "service.version", KEYHOLE_VERSION);
	if (*host) {
		otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "service.instance.id", host);
		otlp_put_attribute(buffer, RESOURCE_ATTRIBUTES, "host.name", host);
	}
	buffer_close(buffer, resource);
}

void otlp_write(const struct figures *figures, uint64_t now, struct buffer *buffer)
{
	const struct writer writer = {figures, now, buffer};
	const size_t all = buffer_open(buffer, DATA_RESOURCE_METRICS);
	size_t scopes;

	put_resource(buffer, figures->host);
	scopes = buffer_open(buffer, RESOURCE_METRICS_SCOPES);
	otlp_put_scope(buffer);
	put_metrics(&writer);
	share_otlp_system(figures, now, buffer);
	buffer_close(buffer, scopes);
	buffer_close(buffer, all);
	share_otlp_write(figures, now, buffer);
}
