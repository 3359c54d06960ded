/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the page of metrics. */
#ifndef KEYHOLE_EXPORTER_METRICS_LINES_H
#define KEYHOLE_EXPORTER_METRICS_LINES_H

#include <stdint.h>

#include "exporter/metrics/page.h"
#include "exporter/metrics/series.h"
#include "exporter/otlp/buffer.h"

/* A metric: its name is "keyhole_", group, "_" and name, or without a group "keyhole_" and name. */
struct lines_metric {
	const char *group, *name, *help;
	enum metric_kind kind;
	enum metric_unit unit;
};

/* Appends up to 511 bytes. */
__attribute__((format(printf, 2, 3))) void lines_put(struct buffer *buffer, const char *format,
						     ...);
/* Appends what comes before the values of a metric. */
void lines_put_head(const struct lines_metric *metric, enum page_form form, struct buffer *buffer);
/* Appends the name in front of labels and value. */
void lines_put_name(const struct lines_metric *metric, struct buffer *buffer);
/* Appends `start`, and a label whose value may have any character. */
void lines_put_label(const char *start, const char *key, const char *clean, struct buffer *buffer);
/* Appends a blank, the value and the end of the line. */
void lines_put_value(enum metric_unit unit, uint64_t number, struct buffer *buffer);

#endif
