/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/series.h"

#include <string.h>

#include "base/limits.h"
#include "exporter/metrics/figures.h"
#include "generated/version.h"

#define LOWER_END   "end"
#define LOWER_GUESS "guess"
#define LOWER_CUT   "cut"
#define LOWER_LOST  "lost"

enum {
#define M(name, kind, unit, since, where, help) ROW_##name,
#define V(name, key, value, key2, value2, field)
#include "exporter/metrics/metrics.def"
#undef V
#undef M
};

const struct metric series_metrics[] = {
#define M(name, kind, unit, since, where, help) \
	{#name, help, METRIC_##kind, UNIT_##unit, SINCE_##since, WHERE_##where},
#define V(name, key, value, key2, value2, field)
#include "exporter/metrics/metrics.def"
#undef V
#undef M
};
const size_t series_metrics_count = sizeof(series_metrics) / sizeof(*series_metrics);

const struct series series_rows[] = {
#define M(name, kind, unit, since, where, help)
#define V(name, key, value, key2, value2, field) \
	{ROW_##name, {key, key2}, {value, value2}, offsetof(struct figures, field)},
#include "exporter/metrics/metrics.def"
#undef V
#undef M
};
const size_t series_count = sizeof(series_rows) / sizeof(*series_rows);

uint64_t series_number(const struct series *series, const struct figures *figures)
{
	uint64_t number;

	memcpy(&number, (const char *)figures + series->offset, sizeof(number));
	return number;
}

bool series_is_told(const struct series *series, const struct figures *figures)
{
	const struct metric *metric = &series_metrics[series->metric];

	if (metric->kind == METRIC_INFO && series_number(series, figures) == 0)
		return false;
	switch (metric->where) {
	case WHERE_SERVER:
		return figures->has_server;
	case WHERE_PUSH:
		return figures->has_push;
	case WHERE_EXPECTED:
		return figures->cpu_time >= 0;
	case WHERE_ACCOUNTS:
		return figures->shares.set > 0;
	case WHERE_SEEN:
		return figures->shares.set > 0 && series_number(series, figures) > 0;
	default:
		return true;
	}
}
