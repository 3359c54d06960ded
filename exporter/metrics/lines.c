/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ipc/time.h"

#define LINE_BYTES 512

static const char *const unit_names[] = {
	[UNIT_BYTES] = "bytes",
	[UNIT_SECONDS] = "seconds",
	[UNIT_RATIO] = "ratio",
	[UNIT_HERTZ] = "hertz",
};

static void put_text(struct buffer *buffer, const char *text)
{
	buffer_put(buffer, text, strlen(text));
}

void lines_put(struct buffer *buffer, const char *format, ...)
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

static void put_family(const struct lines_metric *metric, const char *suffix, struct buffer *buffer)
{
	put_text(buffer, "keyhole_");
	put_text(buffer, metric->group);
	if (metric->group[0])
		put_text(buffer, "_");
	put_text(buffer, metric->name);
	put_text(buffer, suffix);
}

/* Returns the end of the name in each line with a value. */
static const char *suffix_of(const struct lines_metric *metric)
{
	static const char *const suffixes[] = {
		[METRIC_COUNTER] = "_total", [METRIC_GAUGE] = "", [METRIC_INFO] = "_info"};

	return suffixes[metric->kind];
}

/* OpenMetrics names the family, and Prometheus the lines with values. */
void lines_put_head(const struct lines_metric *metric, enum page_form form, struct buffer *buffer)
{
	static const char *const types[][3] = {
		[PAGE_PROMETHEUS] = {"counter", "gauge", "gauge"},
		[PAGE_OPENMETRICS] = {"counter", "gauge", "info"},
	};
	const char *suffix = "";

	if (form == PAGE_PROMETHEUS)
		suffix = suffix_of(metric);
	put_text(buffer, "# HELP ");
	put_family(metric, suffix, buffer);
	lines_put(buffer, " %s\n# TYPE ", metric->help);
	put_family(metric, suffix, buffer);
	lines_put(buffer, " %s\n", types[form][metric->kind]);
	if (form != PAGE_OPENMETRICS || metric->unit == UNIT_NONE)
		return;
	put_text(buffer, "# UNIT ");
	put_family(metric, "", buffer);
	lines_put(buffer, " %s\n", unit_names[metric->unit]);
}

void lines_put_name(const struct lines_metric *metric, struct buffer *buffer)
{
	put_family(metric, suffix_of(metric), buffer);
}

/* Both formats escape three characters. */
static void put_escaped(struct buffer *buffer, const char *clean)
{
	for (; *clean; clean++) {
		if (*clean == '\\' || *clean == '"')
			put_text(buffer, "\\");
		if (*clean == '\n')
			put_text(buffer, "\\n");
		else
			buffer_put(buffer, clean, 1);
	}
}

void lines_put_label(const char *start, const char *key, const char *clean, struct buffer *buffer)
{
	put_text(buffer, start);
	put_text(buffer, key);
	put_text(buffer, "=\"");
	put_escaped(buffer, clean);
	put_text(buffer, "\"");
}

void lines_put_value(enum metric_unit unit, uint64_t number, struct buffer *buffer)
{
	if (unit == UNIT_SECONDS || unit == UNIT_RATIO)
		lines_put(buffer, " %" PRIu64 ".%09" PRIu64 "\n",
			  (uint64_t)(number / NS_PER_SECOND), (uint64_t)(number % NS_PER_SECOND));
	else
		lines_put(buffer, " %" PRIu64 "\n", number);
}
