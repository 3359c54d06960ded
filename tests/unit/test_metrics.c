/* SPDX-License-Identifier: Apache-2.0 */
/* The table of metrics, the page that is made of it, and the numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "exporter/metrics/cpu_time.h"
#include "exporter/metrics/figures.h"
#include "exporter/metrics/otlp.h"
#include "exporter/metrics/page.h"
#include "exporter/metrics/series.h"
#include "ipc/time.h"
#include "proto/metrics.pb-c.h"

/* ---- the table ------------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
	return text[0] >= 'a' && text[0] <= 'z' &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), end_length = strlen(end);

	return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static void test_metrics__names_follow_the_rules(void **state)
{
	static const char *const units[] = {
		[UNIT_NONE] = "",	 [UNIT_BYTES] = "_bytes", [UNIT_SECONDS] = "_seconds",
		[UNIT_RATIO] = "_ratio", [UNIT_HERTZ] = "_hertz",
	};
	static const char *const reserved[] = {"_total", "_info",  "_created",
					       "_sum",	 "_count", "_bucket"};

	(void)state;
	for (size_t i = 0; i < series_metrics_count; i++) {
		const struct metric *metric = &series_metrics[i];

		assert_true(is_name(metric->name));
		if (metric->unit != UNIT_NONE)
			assert_true(ends_with(metric->name, units[metric->unit]));
		for (size_t j = 0; j < sizeof(reserved) / sizeof(*reserved); j++)
			assert_false(ends_with(metric->name, reserved[j]));
		assert_null(strpbrk(metric->help, "\\\"\n"));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(metric->name, series_metrics[j].name);
	}
}

static bool have_equal_labels(const struct series *one, const struct series *other)
{
	for (int i = 0; i < SERIES_LABELS; i++)
		if (one->key[i] && strcmp(one->value[i], other->value[i]) != 0)
			return false;
	return true;
}

/* All metrics have values, which follow each other, with the same keys and no labels twice. */
static void test_metrics__values_stand_together(void **state)
{
	uint32_t last = UINT32_MAX, metrics = 0;

	(void)state;
	for (size_t i = 0; i < series_count; i++) {
		const struct series *series = &series_rows[i];

		assert_true(series->offset + sizeof(uint64_t) <= sizeof(struct figures));
		assert_int_equal(series->offset % sizeof(uint64_t), 0);
		if (series->metric != last) {
			assert_int_equal(series->metric, metrics++);
			last = series->metric;
			continue;
		}
		for (size_t j = i; j > 0 && series_rows[j - 1].metric == last; j--) {
			assert_string_equal(series_rows[j - 1].key[0], series->key[0]);
			assert_false(have_equal_labels(&series_rows[j - 1], series));
		}
	}
	assert_int_equal(metrics, series_metrics_count);
}

static void test_metrics__labels_are_plain(void **state)
{
	(void)state;
	for (size_t i = 0; i < series_count; i++)
		for (int j = 0; j < SERIES_LABELS; j++) {
			const struct series *series = &series_rows[i];

			if (!series->key[j]) {
				assert_null(series->value[j]);
				continue;
			}
			assert_true(is_name(series->key[j]));
			assert_null(strpbrk(series->value[j], "\\\"\n"));
		}
}

/* ---- the page -------------------------------------------------------------------------------- */

static struct figures figures;

static int setup(void **state)
{
	(void)state;
	figures_init(&figures);
	return 0;
}

/* Returns the page, for free(). */
static char *page_of(enum page_form form)
{
	struct buffer buffer = {0};

	buffer_reset(&buffer, 1 << 20);
	page_write(&figures, form, &buffer);
	buffer_put(&buffer, "", 1);
	assert_int_equal(buffer.error, 0);
	return (char *)buffer.bytes;
}

static void assert_has(enum page_form form, const char *text)
{
	char *page = page_of(form);

	if (!strstr(page, text))
		fail_msg("not in the page: %s", text);
	free(page);
}

static void assert_has_not(enum page_form form, const char *text)
{
	char *page = page_of(form);

	if (strstr(page, text))
		fail_msg("in the page: %s", text);
	free(page);
}

static void test_metrics__page_of_prometheus(void **state)
{
	(void)state;
	figures.sampled.samples = 18446744073709551615u;
	figures.agent_begun = 1234567890 * NS_PER_SECOND + 5;
	assert_has(PAGE_PROMETHEUS, "# HELP keyhole_samples_taken_total samples taken, ");
	assert_has(PAGE_PROMETHEUS, "# TYPE keyhole_samples_taken_total counter\n"
				    "keyhole_samples_taken_total 18446744073709551615\n");
	assert_has(PAGE_PROMETHEUS, "# TYPE keyhole_build_info gauge\n");
	assert_has(PAGE_PROMETHEUS, "\nkeyhole_start_time_seconds 1234567890.000000005\n");
	assert_has(PAGE_PROMETHEUS, "{class=\"cut\",reason=\"cut_read\"} 0\n");
	assert_has_not(PAGE_PROMETHEUS, "# UNIT");
	assert_has_not(PAGE_PROMETHEUS, "# EOF");
}

static void test_metrics__page_of_openmetrics(void **state)
{
	char *page = page_of(PAGE_OPENMETRICS);

	(void)state;
	assert_true(ends_with(page, "\n# EOF\n"));
	free(page);
	assert_has(PAGE_OPENMETRICS, "# TYPE keyhole_samples_taken counter\n"
				     "keyhole_samples_taken_total 0\n");
	assert_has(PAGE_OPENMETRICS, "# TYPE keyhole_build info\nkeyhole_build_info{version=");
	assert_has(PAGE_OPENMETRICS, "# UNIT keyhole_records_bytes bytes\n");
}

static void test_metrics__page_of_an_agent_without_a_server(void **state)
{
	(void)state;
	assert_has_not(PAGE_PROMETHEUS, "keyhole_queue_bytes");
	assert_has_not(PAGE_PROMETHEUS, "mode=");
	figures.has_server = true;
	figures.status.brokered = 1;
	figures.own.queue_age = 1500 * NS_PER_MS;
	assert_has(PAGE_PROMETHEUS, "\nkeyhole_queue_age_seconds 1.500000000\n");
	assert_has(PAGE_PROMETHEUS, "keyhole_mode_info{mode=\"brokered\"} 1\n");
	assert_has_not(PAGE_PROMETHEUS, "sealed");
}

/* ---- OTLP ------------------------------------------------------------------------------------ */

#define NOW 2000000000000000000ull

static OtlpMetrics__MetricsData *unpack(struct buffer *buffer)
{
	OtlpMetrics__MetricsData *data;

	buffer_reset(buffer, 1 << 20);
	otlp_write(&figures, NOW, buffer);
	assert_int_equal(buffer->error, 0);
	data = otlp_metrics__metrics_data__unpack(NULL, buffer->size, buffer->bytes);
	assert_non_null(data);
	/* a field that the description lacks would be left out here */
	assert_int_equal(otlp_metrics__metrics_data__get_packed_size(data), buffer->size);
	return data;
}

static const OtlpMetrics__Metric *find(const OtlpMetrics__MetricsData *data, const char *name)
{
	const OtlpMetrics__ScopeMetrics *scope = data->resource_metrics[0]->scope_metrics[0];

	for (size_t i = 0; i < scope->n_metrics; i++)
		if (strcmp(scope->metrics[i]->name, name) == 0)
			return scope->metrics[i];
	return NULL;
}

static void test_metrics__sums_and_gauges_of_otlp(void **state)
{
	const OtlpMetrics__NumberDataPoint *point;
	OtlpMetrics__MetricsData *data;
	const OtlpMetrics__Metric *metric;
	struct buffer buffer = {0};

	(void)state;
	figures.agent_begun = 1000;
	figures.exporter_begun = 2000;
	figures.has_server = true;
	figures.sampled.reason[REASON_cut_read] = 77;
	figures.own.queue_age = 1500 * NS_PER_MS;
	data = unpack(&buffer);
	metric = find(data, "keyhole.samples_ended");
	assert_int_equal(metric->data_case, OTLP_METRICS__METRIC__DATA_SUM);
	assert_int_equal(metric->sum->aggregation_temporality,
			 OTLP_METRICS__AGGREGATION_TEMPORALITY__AGGREGATION_TEMPORALITY_CUMULATIVE);
	assert_true(metric->sum->is_monotonic);
	assert_int_equal(metric->sum->n_data_points, REASON_COUNT);
	point = metric->sum->data_points[REASON_cut_read];
	assert_int_equal(point->as_int, 77);
	assert_int_equal(point->start_time_unix_nano, 1000);
	assert_int_equal(point->time_unix_nano, NOW);
	assert_int_equal(point->n_attributes, 2);
	assert_string_equal(point->attributes[1]->key, "reason");
	assert_string_equal(point->attributes[1]->value->string_value, "cut_read");
	metric = find(data, "keyhole.queue_age_seconds");
	assert_int_equal(metric->data_case, OTLP_METRICS__METRIC__DATA_GAUGE);
	assert_string_equal(metric->unit, "s");
	assert_true(metric->gauge->data_points[0]->as_double == 1.5);
	metric = find(data, "keyhole.export_samples");
	assert_int_equal(metric->sum->data_points[0]->start_time_unix_nano, 2000);
	otlp_metrics__metrics_data__free_unpacked(data, NULL);
	buffer_release(&buffer);
}

static void test_metrics__resource_of_otlp(void **state)
{
	const OtlpMetrics__Resource *resource;
	OtlpMetrics__MetricsData *data;
	struct buffer buffer = {0};

	(void)state;
	data = unpack(&buffer);
	resource = data->resource_metrics[0]->resource;
	assert_int_equal(resource->n_attributes, 2);
	assert_string_equal(resource->attributes[0]->value->string_value, "keyhole");
	assert_null(find(data, "keyhole.queue_bytes"));
	otlp_metrics__metrics_data__free_unpacked(data, NULL);
	snprintf(figures.host, sizeof(figures.host), "a-host");
	data = unpack(&buffer);
	resource = data->resource_metrics[0]->resource;
	assert_int_equal(resource->n_attributes, 4);
	assert_string_equal(resource->attributes[3]->key, "host.name");
	assert_string_equal(resource->attributes[3]->value->string_value, "a-host");
	otlp_metrics__metrics_data__free_unpacked(data, NULL);
	buffer_release(&buffer);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void test_metrics__a_count_never_falls(void **state)
{
	struct message_work work = {.samples_read = 10, .table_bytes = 10};

	(void)state;
	work.limit[LIMIT_slots] = 10;
	work.refusals[REFUSAL_denied] = 10;
	figures_take_work(&figures, &work);
	work = (struct message_work){.samples_read = 9, .table_bytes = 9};
	work.limit[LIMIT_slots] = work.refusals[REFUSAL_denied] = 9;
	figures_take_work(&figures, &work);
	assert_int_equal(figures.work.samples_read, 10);
	assert_int_equal(figures.work.table_bytes, 9);
	assert_int_equal(figures.work.limit[LIMIT_slots], 10);
	assert_int_equal(figures.work.refusals[REFUSAL_denied], 10);
}

static struct counters *make_rows(int *ret_fd)
{
	int fd = memfd_create("rows", MFD_CLOEXEC);
	struct counters *rows;

	assert_int_equal(ftruncate(fd, 2 * sizeof(*rows)), 0);
	rows = mmap(NULL, 2 * sizeof(*rows), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(rows, MAP_FAILED);
	*ret_fd = fd;
	return rows;
}

/* A sample that waits counts as not ready on one CPU, and as done on another one. */
static void test_metrics__counters_of_all_cpus(void **state)
{
	const struct message_counters counters = {.begun = time_now(), .cpus = 2};
	struct counters *rows;
	int fd;

	(void)state;
	rows = make_rows(&fd);
	rows[0].denied = 5;
	assert_int_equal(figures_map(&figures, &counters, fd), 0);
	close(fd);
	rows[0].samples = 3;
	rows[1].samples = 4;
	rows[0].denied = 7;
	rows[0].reason[REASON_cut_not_ready] = 3;
	rows[1].kept_done = 1;
	figures_update(&figures);
	assert_int_equal(figures.sampled.samples, 7);
	assert_int_equal(figures.sampled.denied, 7);
	assert_int_equal(figures.work.limit[LIMIT_denied], 2);
	assert_int_equal(figures.sampled.reason[REASON_cut_not_ready], 2);
	rows[1].kept_done = 3;
	figures_update(&figures);
	assert_int_equal(figures.sampled.reason[REASON_cut_not_ready], 2);
	figures_release(&figures);
	munmap(rows, 2 * sizeof(*rows));
}

static void test_metrics__no_counters(void **state)
{
	static const struct message_counters bad[] = {
		{.begun = 0, .cpus = 0},
		{.begun = 0, .cpus = UINT64_MAX},
		{.begun = UINT64_MAX, .cpus = 1},
		{.begun = 0, .cpus = 1, .host = {[0 ... CONFIG_HOST_BYTES - 1] = 'a'}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(figures_map(&figures, &bad[i], -1), -EPROTO);
	figures_update(&figures);
	assert_int_equal(figures.sampled.samples, 0);
}

static void test_metrics__cpu_time(void **state)
{
	static const char text[] = "cpu  100 20 3 4000 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
	static const char *const bad[] = {"",
					  "cpu ",
					  "cpu  1 2",
					  "cpu  1 2 x 4",
					  "cpu0 1 2 3",
					  "cpu  1  2 3",
					  "cpu  99999999999999999999 1 2",
					  "intr  1 2 3"};
	uint64_t ticks;

	(void)state;
	assert_int_equal(cpu_time_parse(text, sizeof(text) - 1, &ticks), 0);
	assert_int_equal(ticks, 123);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(cpu_time_parse(bad[i], strlen(bad[i]), &ticks), -EBADMSG);
}

/* 250 ticks of 10 ms at 20 Hz stand for 50 samples. */
static void test_metrics__samples_that_were_expected(void **state)
{
	const struct message_sampling sampling = {.frequency = 20};
	int fd = memfd_create("stat", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(pwrite(fd, "cpu  100 0 0 7 ", 15, 0), 15);
	assert_has_not(PAGE_PROMETHEUS, "samples_expected");
	assert_int_equal(figures_take_cpu_time(&figures, &sampling, dup(fd)), 0);
	assert_int_equal(pwrite(fd, "cpu  300 20 30 ", 15, 0), 15);
	figures_update(&figures);
	assert_has(PAGE_PROMETHEUS, "\nkeyhole_samples_expected_total 50\n");
	figures_release(&figures);
	close(fd);
	assert_int_equal(figures_take_cpu_time(&figures, &sampling, open("/dev/null", O_RDONLY)),
			 -EPROTO);
	assert_int_equal(figures_take_cpu_time(&figures, &(struct message_sampling){0},
					       open("/proc/stat", O_RDONLY)),
			 -EPROTO);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics__names_follow_the_rules),
		cmocka_unit_test(test_metrics__values_stand_together),
		cmocka_unit_test(test_metrics__labels_are_plain),
		cmocka_unit_test_setup(test_metrics__page_of_prometheus, setup),
		cmocka_unit_test_setup(test_metrics__page_of_openmetrics, setup),
		cmocka_unit_test_setup(test_metrics__page_of_an_agent_without_a_server, setup),
		cmocka_unit_test_setup(test_metrics__sums_and_gauges_of_otlp, setup),
		cmocka_unit_test_setup(test_metrics__resource_of_otlp, setup),
		cmocka_unit_test_setup(test_metrics__a_count_never_falls, setup),
		cmocka_unit_test_setup(test_metrics__counters_of_all_cpus, setup),
		cmocka_unit_test_setup(test_metrics__no_counters, setup),
		cmocka_unit_test(test_metrics__cpu_time),
		cmocka_unit_test_setup(test_metrics__samples_that_were_expected, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
