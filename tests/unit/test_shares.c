/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the accounts as a worker sends them, which may be anything, and what is told of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "exporter/metrics/figures.h"
#include "exporter/metrics/otlp.h"
#include "exporter/metrics/page.h"
#include "exporter/metrics/share_series.h"
#include "ipc/time.h"
#include "proto/metrics.pb-c.h"

#define NOW	   2000000000000000000ull
#define PAGE_BYTES (8u << 20)
#define COMM	   "keyhole_process_cpu_seconds_total{pid=\"7\",comm=\"seven\"} "
#define CGROUP	   "keyhole_cgroup_cpu_seconds_total{cgroup=\"/a\"} "
#define REST	   "keyhole_process_cpu_seconds_total{pid=\"other\"} "

static struct figures figures;

static int setup(void **state)
{
	(void)state;
	figures_init(&figures);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	figures_release(&figures);
	return 0;
}

/* ---- messages ---- */

static struct message_account process(uint32_t pid, uint64_t start, uint64_t ns)
{
	struct message_account message = {
		.kind = ACCOUNT_PROCESS, .pid = pid, .id = start, .values.ns = ns};

	snprintf(message.name, sizeof(message.name), "seven");
	return message;
}

static struct message_account group(enum account_row kind, const char *text, uint64_t id,
				    uint64_t ns)
{
	struct message_account message = {.kind = kind, .id = id, .values.ns = ns};

	snprintf(message.group, sizeof(message.group), "%s", text);
	return message;
}

static void take(struct message_account message)
{
	assert_int_equal(shares_take(&figures.shares, &message), 0);
}

static void end_set(void)
{
	const struct message_account_sums sums = {.wall = 1};

	shares_take_sums(&figures.shares, &sums);
}

static void take_alone(struct message_account message)
{
	take(message);
	end_set();
}

/* ---- the page ---- */

static char *page_of(void)
{
	struct buffer buffer = {0};

	buffer_reset(&buffer, PAGE_BYTES);
	page_write(&figures, PAGE_OPENMETRICS, &buffer);
	buffer_put(&buffer, "", 1);
	assert_int_equal(buffer.error, 0);
	return (char *)buffer.bytes;
}

static void assert_has(const char *text)
{
	char *page = page_of();

	if (!strstr(page, text))
		fail_msg("not in the page: %s\n%s", text, strstr(page, "keyhole_process"));
	free(page);
}

static void assert_has_not(const char *text)
{
	char *page = page_of();

	if (strstr(page, text))
		fail_msg("in the page: %s", text);
	free(page);
}

static size_t count_of(const char *text)
{
	char *page = page_of();
	size_t count = 0;

	for (const char *at = page; (at = strstr(at, text)); at++)
		count++;
	free(page);
	return count;
}

/* ---- what is told ---- */

static void test_shares__nothing_without_accounts(void **state)
{
	(void)state;
	assert_has_not("keyhole_accounts");
	assert_has_not("keyhole_process_cpu");
	take(process(7, 1, 5));
	assert_has_not("keyhole_process_cpu");
	end_set();
	assert_has("# TYPE keyhole_process_cpu_seconds counter\n"
		   "# UNIT keyhole_process_cpu_seconds seconds\n" COMM "0.000000005\n");
	assert_has("keyhole_accounts_wall_seconds_total 0.000000001\n");
}

static void test_shares__rows_of_the_last_whole_set(void **state)
{
	(void)state;
	take(process(7, 1, 5));
	take_alone(process(8, 1, 50));
	take(process(8, 1, 60));
	assert_has(COMM);
	end_set();
	assert_has_not(COMM);
	assert_has("pid=\"8\",comm=\"seven\"} 0.000000060\n");
}

static void test_shares__a_row_that_comes_back_goes_on(void **state)
{
	(void)state;
	take_alone(process(7, 1, 5));
	take_alone(process(8, 1, 50));
	assert_has_not(COMM);
	take_alone(process(7, 1, 9));
	assert_has(COMM "0.000000009\n");
}

/* A worker that follows another one has read less: the number waits and goes on. */
static void test_shares__no_number_falls(void **state)
{
	(void)state;
	take_alone(process(7, 1, 100));
	take_alone(process(7, 1, 90));
	assert_has(COMM "0.000000100\n");
	take_alone(process(7, 1, 95));
	assert_has(COMM "0.000000105\n");
}

static void test_shares__another_process_of_that_number(void **state)
{
	(void)state;
	take_alone(process(7, 1, 100));
	take_alone(process(7, 2, 3));
	assert_has(COMM "0.000000003\n");
	assert_int_equal(count_of("keyhole_process_cpu_seconds_total{"), 1);
}

static void test_shares__a_cgroup_that_is_made_anew_goes_on(void **state)
{
	(void)state;
	take_alone(group(ACCOUNT_CGROUP, "/a", 5, 100));
	take_alone(group(ACCOUNT_CGROUP, "/a", 6, 3));
	assert_has(CGROUP "0.000000103\n");
}

/* The rest of another worker counts from its own start on. */
static void test_shares__the_rest_goes_on_with_another_worker(void **state)
{
	struct message_account rest = {.kind = ACCOUNT_PROCESS, .values.ns = 100};

	(void)state;
	take_alone(rest);
	assert_has(REST "0.000000100\n");
	rest.epoch = rest.id = 1;
	rest.values.ns = 4;
	take_alone(rest);
	assert_has(REST "0.000000104\n");
}

/* An earlier exporter has told more of old processes than any worker knows now. */
/* The worker was replaced in the middle of a set. */
static void test_shares__a_set_without_an_end(void **state)
{
	struct message_account again = process(7, 1, 3000000000);

	(void)state;
	take_alone(process(7, 1, 2000000000));
	take(process(7, 1, 3000000000));
	again.epoch = 1;
	take(again);
	assert_int_equal(figures.shares.refused, 0);
	assert_has(COMM "3.000000000\n");
	end_set();
	assert_has(COMM "3.000000000\n");
	assert_int_equal(count_of(COMM), 1);
}

/* A row that a reader may have seen stays, so that its number does not fall. */
static void test_shares__a_new_row_of_a_set_without_an_end(void **state)
{
	struct message_account other = process(8, 1, 5);

	(void)state;
	take_alone(process(7, 1, 2000000000));
	take(other);
	assert_has("pid=\"8\",comm=\"seven\"} 0.000000005\n");
	other.epoch = 1;
	other.values.ns = 4;
	take(other);
	assert_has(COMM "2.000000000\n");
	assert_has("pid=\"8\",comm=\"seven\"} 0.000000005\n");
}

/* However often workers are replaced, a whole set and the coming one are all that is told. */
static void test_shares__sets_without_an_end_stay_bounded(void **state)
{
	struct message_account row = process(1, 1, 1);

	(void)state;
	for (uint32_t i = 0; i < SHARES_SHOWN_MAX - 30; i++) {
		row.pid = 1000 + i;
		take(row);
	}
	end_set();
	for (uint32_t i = 0; i < 3 * SHARES_SHOWN_MAX; i++) {
		row.pid = 2000 + i;
		row.epoch = 1 + i / 20;
		take(row);
	}
	row.epoch++;
	take(row);
	assert_has("pid=\"1000\"");
	assert_has("pid=\"2029\"");
	assert_has_not("pid=\"2031\"");
	assert_int_equal(count_of("keyhole_process_cpu_seconds_total{"), SHARES_SHOWN_MAX + 1);
}

static void test_shares__a_later_exporter_begins_anew(void **state)
{
	struct message_account old = process(7, 1, 100), young = process(8, UINT64_MAX, 3);

	(void)state;
	old.epoch = young.epoch = 2;
	take_alone(old);
	assert_has(COMM "0.000000000\n");
	old.values.ns = 101;
	take(old);
	take_alone(young);
	assert_has(COMM "0.000000001\n");
	assert_has("pid=\"8\",comm=\"seven\"} 0.000000003\n");
}

static void test_shares__modes_never_fall(void **state)
{
	struct message_account row = process(7, 1, 10);

	(void)state;
	take_alone(row);
	assert_has_not("keyhole_process_cpu_scaled_seconds_total{");
	row.values.user = 1;
	row.values.system = 1;
	take_alone(row);
	assert_has("mode=\"user\"} 0.000000005\n");
	row.values.ns = 11;
	row.values.user = 10;
	take_alone(row);
	assert_has("mode=\"user\"} 0.000000006\n");
	assert_has("mode=\"system\"} 0.000000005\n");
	row.values.system = 1000000;
	take_alone(row);
	assert_has("mode=\"user\"} 0.000000006\n");
}

static void test_shares__absent_counters_have_no_line(void **state)
{
	struct message_account row = process(7, 1, 10);

	(void)state;
	row.values.counter[ACCOUNT_COUNTER_page_faults] = 5;
	take_alone(row);
	assert_has(
		"keyhole_process_events_total{pid=\"7\",comm=\"seven\",event=\"page_faults\"} 5\n");
	assert_has_not("cycles");
	assert_has_not("frequency");
	assert_has_not("irq=");
}

/* The machine has the counter, and nothing was counted. */
static void test_shares__counters_of_nothing(void **state)
{
	const struct message_account_sums sums = {.wall = 1,
						  .counters = 1ull << ACCOUNT_COUNTER_page_faults};

	(void)state;
	take(process(7, 1, 10));
	shares_take_sums(&figures.shares, &sums);
	assert_has(
		"keyhole_process_events_total{pid=\"7\",comm=\"seven\",event=\"page_faults\"} 0\n");
	assert_has_not("cycles");
}

/* Epochs in turn leave no more rows than a set may have. */
static void test_shares__sets_without_an_end(void **state)
{
	(void)state;
	take_alone(process(1, 1, 10));
	for (uint32_t i = 0; i < 4 * SHARES_SHOWN_MAX; i++) {
		struct message_account row = process(i + 2, 1, 10);

		row.epoch = i;
		take(row);
	}
	assert_in_range(count_of("keyhole_process_cpu_seconds_total{"), 1, SHARES_SHOWN_MAX + 1);
}

static void test_shares__sums(void **state)
{
	struct message_account_sums sums = {.wall = 100, .frequency = 2000000000, .error = 5};
	const struct message_interrupts interrupts = {.ns = {[63] = 9}};

	(void)state;
	sums.softirq_ns[3] = 7;
	sums.counter[ACCOUNT_COUNTER_cycles] = 1234;
	shares_take_interrupts(&figures.shares, &interrupts);
	shares_take_sums(&figures.shares, &sums);
	assert_has("# UNIT keyhole_accounts_frequency_hertz hertz\n"
		   "keyhole_accounts_frequency_hertz 2000000000\n");
	assert_has("keyhole_accounts_error_ratio 0.000000005\n");
	assert_has("keyhole_accounts_softirq_seconds_total{vector=\"net_rx\"} 0.000000007\n");
	assert_has("keyhole_accounts_interrupt_seconds_total{irq=\"other\"} 0.000000009\n");
	assert_has("keyhole_accounts_events_total{event=\"cycles\"} 1234\n");
	sums.wall = 1;
	sums.frequency = 0;
	shares_take_sums(&figures.shares, &sums);
	assert_has("keyhole_accounts_wall_seconds_total 0.000000100\n");
	assert_has_not("frequency");
}

/* ---- hostile rows ---- */

static void test_shares__any_text_is_a_label(void **state)
{
	struct message_account row = process(7, 1, 1);

	(void)state;
	memcpy(row.name, "a\"b\\c\nd\x1b\xff\xc3\xa9", 12);
	take(row);
	memset(row.group, 'x', sizeof(row.group));
	row.kind = ACCOUNT_CONTAINER;
	take_alone(row);
	assert_has("comm=\"a\\\"b\\\\c\\nd??\xc3\xa9\"} ");
	assert_has("keyhole_container_cpu_seconds_total{container_id=\"xxxx");
	assert_int_equal(count_of("keyhole_container_cpu_seconds_total{"), 1);
}

static void test_shares__rows_are_bounded(void **state)
{
	char path[32];

	(void)state;
	for (uint32_t set = 0; set < 5; set++) {
		for (uint32_t i = 0; i < 1000; i++) {
			snprintf(path, sizeof(path), "/%u/%u", set, i);
			take(process(set * 1000 + i + 1, 1, i));
			take(group(ACCOUNT_CGROUP, path, i, i));
		}
		end_set();
		assert_int_equal(count_of("keyhole_process_cpu_seconds_total{"), SHARES_SHOWN_MAX);
		assert_int_equal(count_of("keyhole_cgroup_cpu_seconds_total{"), SHARES_SHOWN_MAX);
	}
	assert_int_equal(figures.shares.refused, 2 * 5 * (1000 - SHARES_SHOWN_MAX));
}

static void test_shares__a_row_comes_once_in_a_set(void **state)
{
	struct message_account unknown = process(7, 1, 1);

	(void)state;
	take(process(7, 1, 5));
	take(process(7, 1, 50));
	unknown.kind = ACCOUNT_ROWS;
	take(unknown);
	unknown.kind = UINT32_MAX;
	take_alone(unknown);
	assert_int_equal(figures.shares.refused, 3);
	assert_has(COMM "0.000000005\n");
	assert_int_equal(count_of("keyhole_process_cpu_seconds_total{"), 1);
}

static void test_shares__numbers_are_bounded(void **state)
{
	struct message_account row = process(7, 1, UINT64_MAX);
	struct message_account_sums sums = {.wall = UINT64_MAX};

	(void)state;
	row.values.user = row.values.system = UINT64_MAX;
	take(row);
	shares_take_sums(&figures.shares, &sums);
	row.values.ns = 0;
	take_alone(row);
	row.values.ns = UINT64_MAX;
	take_alone(row);
	assert_has(COMM "9223372036.854775807\n");
	assert_has("keyhole_accounts_wall_seconds_total 9223372036.854775807\n");
}

/* ---- OTLP ---- */

static OtlpMetrics__MetricsData *unpack(void)
{
	struct buffer buffer = {0};
	OtlpMetrics__MetricsData *data;

	buffer_reset(&buffer, PAGE_BYTES);
	otlp_write(&figures, NOW, &buffer);
	assert_int_equal(buffer.error, 0);
	data = otlp_metrics__metrics_data__unpack(NULL, buffer.size, buffer.bytes);
	assert_non_null(data);
	assert_int_equal(otlp_metrics__metrics_data__get_packed_size(data), buffer.size);
	buffer_release(&buffer);
	return data;
}

static const OtlpMetrics__Metric *find(const OtlpMetrics__ResourceMetrics *resource,
				       const char *name)
{
	const OtlpMetrics__ScopeMetrics *scope = resource->scope_metrics[0];

	for (size_t i = 0; i < scope->n_metrics; i++)
		if (strcmp(scope->metrics[i]->name, name) == 0)
			return scope->metrics[i];
	return NULL;
}

static void test_shares__otlp_has_a_resource_for_each(void **state)
{
	struct message_account row = process(7, time_now(), 1500000000);
	const OtlpMetrics__ResourceMetrics *resource;
	const OtlpMetrics__NumberDataPoint *point;
	const OtlpMetrics__Metric *metric;
	OtlpMetrics__MetricsData *data;

	(void)state;
	row.values.user = row.values.system = 1;
	row.values.involuntary = 3;
	snprintf(row.group, sizeof(row.group), "abc");
	take(row);
	take(group(ACCOUNT_CGROUP, "/a", 5, 100));
	take_alone((struct message_account){.kind = ACCOUNT_PROCESS, .values.ns = 100});
	data = unpack();
	assert_int_equal(data->n_resource_metrics, 4);
	assert_non_null(find(data->resource_metrics[0], "system.cpu.time"));
	resource = data->resource_metrics[1];
	assert_int_equal(resource->resource->n_attributes, 3);
	assert_string_equal(resource->resource->attributes[0]->key, "process.pid");
	assert_int_equal(resource->resource->attributes[0]->value->int_value, 7);
	assert_string_equal(resource->resource->attributes[2]->key, "container.id");
	metric = find(resource, "process.cpu.time");
	assert_string_equal(metric->unit, "s");
	assert_int_equal(metric->sum->n_data_points, 2);
	point = metric->sum->data_points[1];
	assert_true(point->as_double == 0.75);
	assert_string_equal(point->attributes[0]->key, "cpu.mode");
	assert_true(point->start_time_unix_nano > 0 && point->start_time_unix_nano <= NOW);
	metric = find(resource, "process.context_switches");
	assert_string_equal(metric->sum->data_points[1]->attributes[0]->value->string_value,
			    "involuntary");
	assert_int_equal(metric->sum->data_points[1]->as_int, 3);
	assert_non_null(find(resource, "process.paging.faults"));
	assert_string_equal(data->resource_metrics[2]->resource->attributes[0]->key,
			    "keyhole.share");
	assert_non_null(find(data->resource_metrics[3], "keyhole.cgroup.cpu.exact_time"));
	otlp_metrics__metrics_data__free_unpacked(data, NULL);
}

static void test_shares__all_metrics_have_values(void **state)
{
	uint32_t metrics = 0;

	(void)state;
	for (size_t i = 0; i < share_series_count; i++) {
		assert_true(share_series[i].offset + sizeof(uint64_t) <= sizeof(struct share));
		if (i == 0 || share_series[i].metric != share_series[i - 1].metric)
			assert_int_equal(share_series[i].metric, metrics++);
	}
	assert_int_equal(metrics, share_metrics_count);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(test_shares__nothing_without_accounts),
		T(test_shares__rows_of_the_last_whole_set),
		T(test_shares__a_row_that_comes_back_goes_on),
		T(test_shares__no_number_falls),
		T(test_shares__another_process_of_that_number),
		T(test_shares__a_cgroup_that_is_made_anew_goes_on),
		T(test_shares__the_rest_goes_on_with_another_worker),
		T(test_shares__a_set_without_an_end),
		T(test_shares__a_new_row_of_a_set_without_an_end),
		T(test_shares__sets_without_an_end_stay_bounded),
		T(test_shares__sets_without_an_end),
		T(test_shares__counters_of_nothing),
		T(test_shares__a_later_exporter_begins_anew),
		T(test_shares__modes_never_fall),
		T(test_shares__absent_counters_have_no_line),
		T(test_shares__sums),
		T(test_shares__any_text_is_a_label),
		T(test_shares__rows_are_bounded),
		T(test_shares__a_row_comes_once_in_a_set),
		T(test_shares__numbers_are_bounded),
		T(test_shares__otlp_has_a_resource_for_each),
		T(test_shares__all_metrics_have_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
