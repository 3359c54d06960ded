/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/share_page.h"

#include <inttypes.h>
#include <stdio.h>

#include "exporter/metrics/lines.h"
#include "exporter/metrics/share_series.h"

/* All of one kind's lines of one metric stand together. */
struct block {
	const struct shares *shares;
	enum account_row kind;
	enum page_form form;
	struct buffer *buffer;
};

static void put_process(const struct share *share, struct buffer *buffer)
{
	char pid[16] = SHARE_REST;

	if (!share_is_rest(share, ACCOUNT_PROCESS))
		snprintf(pid, sizeof(pid), "%" PRIu32, share->pid);
	lines_put_label("{", "pid", pid, buffer);
	if (share->name[0])
		lines_put_label(",", "comm", share->name, buffer);
	if (share->group[0])
		lines_put_label(",", "container_id", share->group, buffer);
}

static void put_group(const struct share *share, const char *key, struct buffer *buffer)
{
	const char *group = share->group;

	if (!group[0])
		group = SHARE_REST;
	lines_put_label("{", key, group, buffer);
}

static void put_labels(const struct block *block, const struct share *share,
		       const struct share_series *series)
{
	struct buffer *buffer = block->buffer;

	if (block->kind == ACCOUNT_PROCESS)
		put_process(share, buffer);
	else if (block->kind == ACCOUNT_CGROUP)
		put_group(share, "cgroup", buffer);
	else
		put_group(share, "container_id", buffer);
	if (series->key)
		lines_put_label(",", series->key, series->value, buffer);
	lines_put(buffer, "}");
}

/* Puts the values of a metric whose first row is at `row`. Its head comes before the first one. */
static void put_metric(const struct block *block, size_t row)
{
	const uint32_t number = share_series[row].metric;
	const struct share_metric *metric = &share_metrics[number];
	const struct lines_metric lines = {
		.group = share_kind(block->kind),
		.name = metric->name,
		.help = metric->help,
		.kind = METRIC_COUNTER,
		.unit = metric->unit,
	};
	bool has_head = false;

	for (; row < share_series_count && share_series[row].metric == number; row++) {
		const struct share_series *series = &share_series[row];
		const struct share *share;
		size_t cursor = 0;

		while ((share = share_next(block->shares, block->kind, &cursor))) {
			if (!share_has(block->shares, series, share))
				continue;
			if (!has_head)
				lines_put_head(&lines, block->form, block->buffer);
			has_head = true;
			lines_put_name(&lines, block->buffer);
			put_labels(block, share, series);
			lines_put_value(metric->unit, share_number(series, share), block->buffer);
		}
	}
}

void share_page_write(const struct shares *shares, enum page_form form, struct buffer *buffer)
{
	for (enum account_row kind = ACCOUNT_PROCESS; kind < ACCOUNT_ROWS; kind++) {
		const struct block block = {shares, kind, form, buffer};

		for (size_t row = 0; row < share_series_count; row++)
			if (row == 0 || share_series[row].metric != share_series[row - 1].metric)
				put_metric(&block, row);
	}
}
