/* SPDX-License-Identifier: Apache-2.0 */
/* The table of metrics.def. */
#ifndef KEYHOLE_EXPORTER_METRICS_SERIES_H
#define KEYHOLE_EXPORTER_METRICS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct figures;

enum metric_kind {
	METRIC_COUNTER,
	METRIC_GAUGE,
	METRIC_INFO
};

enum metric_unit {
	UNIT_NONE,
	UNIT_BYTES,
	UNIT_SECONDS,
	UNIT_RATIO,
	UNIT_HERTZ
};

enum metric_since {
	SINCE_AGENT,
	SINCE_EXPORTER
};

enum metric_where {
	WHERE_ALWAYS,
	WHERE_SERVER,
	WHERE_PUSH,
	WHERE_EXPECTED,
	WHERE_ACCOUNTS,
	WHERE_SEEN
};

struct metric {
	const char *name, *help;
	enum metric_kind kind;
	enum metric_unit unit;
	enum metric_since since;
	enum metric_where where;
};

#define SERIES_LABELS 2

struct series {
	uint32_t metric;				       /* in series_metrics[] */
	const char *key[SERIES_LABELS], *value[SERIES_LABELS]; /* NULL: no such label */
	size_t offset; /* in struct figures, of a uint64_t */
};

extern const struct metric series_metrics[];
extern const size_t series_metrics_count;

extern const struct series series_rows[]; /* those of a metric follow each other */
extern const size_t series_count;

/* Returns the number; that of UNIT_SECONDS is in ns, that of UNIT_RATIO in billionths. */
uint64_t series_number(const struct series *series, const struct figures *figures);
/* Returns whether the metric is told: whether there is what it is about. */
bool series_is_told(const struct series *series, const struct figures *figures);

#endif
