/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "exporter/metrics/figures.h"
#include "exporter/metrics/series.h"
#include "ipc/time.h"

#define LINE_BYTES 512

static const char *const unit_names[] = {
	[UNIT_BYTES] = "bytes",
	[UNIT_SECONDS] = "seconds",
};

__attribute__((format(printf, 2, 3))) static void put(struct buffer *buffer, const char *format,
						      ...)
{
	char line[LINE_BYTES];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length > 0 && (size_t)length < sizeof(line))
		buffer_put(buffer, line, (size_t)length);
}

/* Returns the end of the name in each line with a value. */
static const char *suffix_of(const struct metric *metric)
{
	static const char *const suffixes[] = {
		[METRIC_COUNTER] = "_total", [METRIC_GAUGE] = "", [METRIC_INFO] = "_info"};

	return suffixes[metric->kind];
}

/* OpenMetrics names the family, and Prometheus the lines with values. */
static void write_head(const struct metric *metric, enum page_form form, struct buffer *buffer)
{
	static const char *const types[][3] = {
		[PAGE_PROMETHEUS] = {"counter", "gauge", "gauge"},
		[PAGE_OPENMETRICS] = {"counter", "gauge", "info"},
	};
	const char *suffix = "";

	if (form == PAGE_PROMETHEUS)
		suffix = suffix_of(metric);
	put(buffer, "# HELP keyhole_%s%s %s\n", metric->name, suffix, metric->help);
	put(buffer, "# TYPE keyhole_%s%s %s\n", metric->name, suffix, types[form][metric->kind]);
	if (form == PAGE_OPENMETRICS && metric->unit != UNIT_NONE)
		put(buffer, "# UNIT keyhole_%s %s\n", metric->name, unit_names[metric->unit]);
}

static void write_labels(const struct series *series, struct buffer *buffer)
{
	if (!series->key[0])
		return;
	put(buffer, "{%s=\"%s\"", series->key[0], series->value[0]);
	if (series->key[1])
		put(buffer, ",%s=\"%s\"", series->key[1], series->value[1]);
	put(buffer, "}");
}

static void write_value(const struct series *series, const struct figures *figures,
			struct buffer *buffer)
{
	const struct metric *metric = &series_metrics[series->metric];
	const uint64_t number = series_number(series, figures);

	put(buffer, "keyhole_%s%s", metric->name, suffix_of(metric));
	write_labels(series, buffer);
	if (metric->unit == UNIT_SECONDS)
		put(buffer, " %" PRIu64 ".%09" PRIu64 "\n", (uint64_t)(number / NS_PER_SECOND),
		    (uint64_t)(number % NS_PER_SECOND));
	else
		put(buffer, " %" PRIu64 "\n", number);
}

const char *page_type(enum page_form form)
{
	static const char *const types[] = {
		[PAGE_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
		[PAGE_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	};

	return types[form];
}

void page_write(const struct figures *figures, enum page_form form, struct buffer *buffer)
{
	const struct metric *head = NULL;

	for (size_t i = 0; i < series_count; i++) {
		const struct series *series = &series_rows[i];
		const struct metric *metric = &series_metrics[series->metric];

		if (!series_is_told(series, figures))
			continue;
		if (metric != head)
			write_head(metric, form, buffer);
		head = metric;
		write_value(series, figures, buffer);
	}
	if (form == PAGE_OPENMETRICS)
		put(buffer, "# EOF\n");
}
