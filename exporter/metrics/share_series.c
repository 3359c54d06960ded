/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/share_series.h"

#include <string.h>

#include "bpf/abi.h"

_Static_assert(ACCOUNTS_COUNTERS == ACCOUNT_COUNTERS && ACCOUNTS_SOFTIRQS == ACCOUNT_SOFTIRQS &&
		       ACCOUNTS_HARDIRQS == ACCOUNT_HARDIRQS,
	       "messages have what BPF counts");

#define BIT(kind) (1u << ACCOUNT_##kind)

enum {
#define M(name, unit, otlp, otlp_unit, conventions, seen, help) ROW_##name,
#define V(name, key, otlp_key, value, field)
#include "exporter/metrics/share_rows.def"
#undef V
#undef M
};

const struct share_metric share_metrics[] = {
#define M(name, unit, otlp, otlp_unit, conventions, seen, help) \
	{#name, otlp, otlp_unit, help, UNIT_##unit, conventions, seen},
#define V(name, key, otlp_key, value, field)
#include "exporter/metrics/share_rows.def"
#undef V
#undef M
};
const size_t share_metrics_count = sizeof(share_metrics) / sizeof(*share_metrics);

const struct share_series share_series[] = {
#define M(name, unit, otlp, otlp_unit, conventions, seen, help)
#define V(name, key, otlp_key, value, field) \
	{ROW_##name, key, otlp_key, value, offsetof(struct share, field)},
#include "exporter/metrics/share_rows.def"
#undef V
#undef M
};
const size_t share_series_count = sizeof(share_series) / sizeof(*share_series);

const char *share_kind(enum account_row kind)
{
	static const char *const names[ACCOUNT_ROWS] = {
		[ACCOUNT_PROCESS] = "process",
		[ACCOUNT_CGROUP] = "cgroup",
		[ACCOUNT_CONTAINER] = "container",
	};

	return names[kind];
}

uint64_t share_number(const struct share_series *series, const struct share *share)
{
	uint64_t number;

	memcpy(&number, (const char *)share + series->offset, sizeof(number));
	return number;
}

/* Returns whether all CPUs have the counter of a value. Other values are of none. */
static bool is_counted(const struct shares *shares, const struct share_series *series)
{
	const size_t counter =
		(series->offset - offsetof(struct share, total.counter)) / sizeof(uint64_t);

	return series->metric == ROW_events && shares->sums.counters >> counter & 1;
}

bool share_has(const struct shares *shares, const struct share_series *series,
	       const struct share *share)
{
	return !share_metrics[series->metric].seen || share_number(series, share) > 0 ||
	       is_counted(shares, series);
}

const struct share *share_next(const struct shares *shares, enum account_row kind, size_t *cursor)
{
	const struct share *rows = shares->rows[kind];

	while (rows && *cursor < SHARES_KEPT_MAX) {
		const struct share *share = &rows[(*cursor)++];

		if (shares_tells(shares, share))
			return share;
	}
	return NULL;
}
