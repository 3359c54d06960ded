/* SPDX-License-Identifier: Apache-2.0 */
/* The table of share_rows.def, and what both writers need to know of a share. */
#ifndef KEYHOLE_EXPORTER_METRICS_SHARE_SERIES_H
#define KEYHOLE_EXPORTER_METRICS_SHARE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporter/metrics/series.h"
#include "exporter/metrics/shares.h"

#define SHARE_REST "other" /* in place of a pid, a path or an id: all without a row of their own */

struct share_metric {
	const char *name, *otlp, *otlp_unit, *help;
	enum metric_unit unit;
	uint32_t conventions; /* 1 << enum account_row */
	bool seen;
};

struct share_series {
	uint32_t metric;		    /* in share_metrics[] */
	const char *key, *otlp_key, *value; /* NULL: no label */
	size_t offset;			    /* in struct share, of a uint64_t */
};

extern const struct share_metric share_metrics[];
extern const size_t share_metrics_count;
extern const struct share_series share_series[]; /* those of a metric follow each other */
extern const size_t share_series_count;

/* Returns "process", "cgroup" or "container". */
const char *share_kind(enum account_row kind);
/* Returns the number, in ns where the unit is seconds. */
uint64_t share_number(const struct share_series *series, const struct share *share);
/* Returns whether the value is told of the share, which is one of `shares`. */
bool share_has(const struct shares *shares, const struct share_series *series,
	       const struct share *share);
/* Returns the next share to tell of the kind, or NULL. *cursor starts at 0. */
const struct share *share_next(const struct shares *shares, enum account_row kind, size_t *cursor);

#endif
