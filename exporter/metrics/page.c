/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/page.h"

#include "exporter/metrics/figures.h"
#include "exporter/metrics/lines.h"
#include "exporter/metrics/series.h"
#include "exporter/metrics/share_page.h"

static void write_labels(const struct series *series, struct buffer *buffer)
{
	if (!series->key[0])
		return;
	lines_put_label("{", series->key[0], series->value[0], buffer);
	if (series->key[1])
		lines_put_label(",", series->key[1], series->value[1], buffer);
	lines_put(buffer, "}");
}

static struct lines_metric lines_of(const struct metric *metric)
{
	return (struct lines_metric){
		.group = "",
		.name = metric->name,
		.help = metric->help,
		.kind = metric->kind,
		.unit = metric->unit,
	};
}

static void write_value(const struct series *series, const struct figures *figures,
			struct buffer *buffer)
{
	const struct lines_metric metric = lines_of(&series_metrics[series->metric]);

	lines_put_name(&metric, buffer);
	write_labels(series, buffer);
	lines_put_value(metric.unit, series_number(series, figures), buffer);
}

static void write_head(const struct metric *metric, enum page_form form, struct buffer *buffer)
{
	const struct lines_metric lines = lines_of(metric);

	lines_put_head(&lines, form, buffer);
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
	share_page_write(&figures->shares, form, buffer);
	if (form == PAGE_OPENMETRICS)
		lines_put(buffer, "# EOF\n");
}
