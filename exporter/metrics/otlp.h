/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes all numbers as an ExportMetricsServiceRequest of OTLP (proto/metrics.proto): a COUNTER as
 * a cumulative, monotonic sum, anything else as a gauge.
 */
#ifndef KEYHOLE_EXPORTER_METRICS_OTLP_H
#define KEYHOLE_EXPORTER_METRICS_OTLP_H

#include "exporter/otlp/buffer.h"

struct figures;

/* now: ns since 1970. An error is the buffer's. */
void otlp_write(const struct figures *figures, uint64_t now, struct buffer *buffer);

#endif
