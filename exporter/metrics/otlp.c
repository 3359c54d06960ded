/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/otlp.h"

#include <string.h>

#include "exporter/metrics/figures.h"
#include "exporter/metrics/series.h"
#include "generated/version.h"
#include "ipc/time.h"

/* Fields of proto/metrics.proto. */
enum {
	DATA_RESOURCE_METRICS = 1,
	RESOURCE_METRICS_RESOURCE = 1,
	RESOURCE_METRICS_SCOPES = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_METRICS_SCOPE = 1,
	SCOPE_METRICS_METRICS = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
	METRIC_NAME = 1,
	METRIC_DESCRIPTION = 2,
	METRIC_UNIT = 3,
	METRIC_DATA_GAUGE = 5,
	METRIC_DATA_SUM = 7,
	DATA_POINTS = 1, /* of both */
	SUM_TEMPORALITY = 2,
	SUM_IS_MONOTONIC = 3,
	POINT_START = 2,
	POINT_TIME = 3,
	POINT_DOUBLE = 4,
	POINT_INT = 6,
	POINT_ATTRIBUTES = 7,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	ANY_STRING = 1,
};

#define CUMULATIVE 2

struct writer {
	const struct figures *figures;
	uint64_t now;
	struct buffer *buffer;
};

/* ---- fields ---- */

static void put_text(struct buffer *buffer, uint32_t field, const char *text)
{
	const size_t start = buffer_open(buffer, field);

	buffer_put(buffer, text, strlen(text));
	buffer_close(buffer, start);
}

static void put_fixed64(struct buffer *buffer, uint32_t field, uint64_t value)
{
	uint8_t bytes[sizeof(value)];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	buffer_put_tag(buffer, field, WIRE_FIXED64);
	buffer_put(buffer, bytes, sizeof(bytes));
}

static void put_double(struct buffer *buffer, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_fixed64(buffer, field, bits);
}

static void put_number(struct buffer *buffer, uint32_t field, uint64_t value)
{
	buffer_put_tag(buffer, field, WIRE_VARINT);
	buffer_put_varint(buffer, value);
}

static void put_attribute(struct buffer *buffer, uint32_t field, const char *key, const char *value)
{
	const size_t pair = buffer_open(buffer, field);
	size_t any;

	put_text(buffer, PAIR_KEY, key);
	any = buffer_open(buffer, PAIR_VALUE);
	put_text(buffer, ANY_STRING, value);
	buffer_close(buffer, any);
	buffer_close(buffer, pair);
}

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
		put_fixed64(buffer, POINT_START, start_of(metric, writer->figures));
	put_fixed64(buffer, POINT_TIME, writer->now);
	if (metric->unit == UNIT_SECONDS)
		put_double(buffer, POINT_DOUBLE, (double)number / (double)NS_PER_SECOND);
	else
		put_fixed64(buffer, POINT_INT, number);
	for (int i = 0; i < SERIES_LABELS && series->key[i]; i++)
		put_attribute(buffer, POINT_ATTRIBUTES, series->key[i], series->value[i]);
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
		put_number(buffer, SUM_TEMPORALITY, CUMULATIVE);
		put_number(buffer, SUM_IS_MONOTONIC, true);
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
		[UNIT_NONE] = "1", [UNIT_BYTES] = "By", [UNIT_SECONDS] = "s"};
	const struct metric *metric = &series_metrics[series_rows[row].metric];
	struct buffer *buffer = writer->buffer;
	const size_t start = buffer_open(buffer, SCOPE_METRICS_METRICS);

	put_name(buffer, metric->name);
	put_text(buffer, METRIC_DESCRIPTION, metric->help);
	put_text(buffer, METRIC_UNIT, units[metric->unit]);
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

	put_attribute(buffer, RESOURCE_ATTRIBUTES, "service.name", "keyhole");
	put_attribute(buffer, RESOURCE_ATTRIBUTES, "service.version", KEYHOLE_VERSION);
	if (*host) {
		put_attribute(buffer, RESOURCE_ATTRIBUTES, "service.instance.id", host);
		put_attribute(buffer, RESOURCE_ATTRIBUTES, "host.name", host);
	}
	buffer_close(buffer, resource);
}

static void put_scope(struct buffer *buffer)
{
	const size_t scope = buffer_open(buffer, SCOPE_METRICS_SCOPE);

	put_text(buffer, SCOPE_NAME, "keyhole");
	put_text(buffer, SCOPE_VERSION, KEYHOLE_VERSION);
	buffer_close(buffer, scope);
}

void otlp_write(const struct figures *figures, uint64_t now, struct buffer *buffer)
{
	const struct writer writer = {figures, now, buffer};
	const size_t all = buffer_open(buffer, DATA_RESOURCE_METRICS);
	size_t scopes;

	put_resource(buffer, figures->host);
	scopes = buffer_open(buffer, RESOURCE_METRICS_SCOPES);
	put_scope(buffer);
	put_metrics(&writer);
	buffer_close(buffer, scopes);
	buffer_close(buffer, all);
}
