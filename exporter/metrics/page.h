/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the page of metrics, in the text format of Prometheus, version 0.0.4, or in that of
 * OpenMetrics 1.0. The order of the lines is that of metrics.def.
 */
#ifndef KEYHOLE_EXPORTER_METRICS_PAGE_H
#define KEYHOLE_EXPORTER_METRICS_PAGE_H

#include "exporter/otlp/buffer.h"

struct figures;

enum page_form {
	PAGE_PROMETHEUS,
	PAGE_OPENMETRICS
};

/* Returns the content-type of the form. */
const char *page_type(enum page_form form);
/* Appends the page. An error is the buffer's. */
void page_write(const struct figures *figures, enum page_form form, struct buffer *buffer);

#endif
