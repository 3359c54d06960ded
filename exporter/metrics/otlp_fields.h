/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of proto/metrics.proto, and functions that put them. */
#ifndef KEYHOLE_EXPORTER_METRICS_OTLP_FIELDS_H
#define KEYHOLE_EXPORTER_METRICS_OTLP_FIELDS_H

#include <stdint.h>

#include "exporter/metrics/series.h"
#include "exporter/otlp/buffer.h"

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
	ANY_INT = 3,
};

#define OTLP_CUMULATIVE 2

void otlp_put_text(struct buffer *buffer, uint32_t field, const char *text);
void otlp_put_fixed64(struct buffer *buffer, uint32_t field, uint64_t value);
void otlp_put_double(struct buffer *buffer, uint32_t field, double value);
void otlp_put_number(struct buffer *buffer, uint32_t field, uint64_t value);
void otlp_put_attribute(struct buffer *buffer, uint32_t field, const char *key, const char *value);
void otlp_put_int_attribute(struct buffer *buffer, uint32_t field, const char *key, uint64_t value);
/* Puts the value of a point: a number of series_number() and the like. */
void otlp_put_value(struct buffer *buffer, enum metric_unit unit, uint64_t number);
/* Says that keyhole has made the metrics. */
void otlp_put_scope(struct buffer *buffer);

#endif
