/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/figures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/counter_rows.h"
#include "exporter/metrics/cpu_time.h"
#include "ipc/guard.h"
#include "ipc/time.h"

#define COUNTER_WORDS (sizeof(struct counters) / sizeof(uint64_t))

void figures_init(struct figures *ret_figures)
{
	memset(ret_figures, 0, sizeof(*ret_figures));
	shares_init(&ret_figures->shares);
	ret_figures->own.one = 1;
	ret_figures->cpu_time = -1;
	ret_figures->agent_begun = ret_figures->exporter_begun = time_since_1970();
}

void figures_release(struct figures *figures)
{
	if (figures->rows)
		munmap((void *)(uintptr_t)figures->rows, figures->cpus * sizeof(*figures->rows));
	figures->rows = NULL;
	shares_release(&figures->shares);
	close_fd(&figures->cpu_time);
}

int figures_map(struct figures *figures, const struct message_counters *counters, int fd)
{
	const uint64_t now = time_now();
	const struct counters *rows;

	if (!memchr(counters->host, '\0', sizeof(counters->host)))
		return -EPROTO;
	if (figures->rows || counters->cpus == 0 || counters->cpus > ABI_MAX_CPUS ||
	    counters->begun > now)
		return -EPROTO;
	rows = mmap(NULL, counters->cpus * sizeof(*rows), PROT_READ, MAP_SHARED, fd, 0);
	if (rows == MAP_FAILED)
		return -errno;
	figures->rows = rows;
	figures->cpus = counters->cpus;
	figures->agent_begun = time_since_1970() - (now - counters->begun);
	snprintf(figures->host, sizeof(figures->host), "%s", counters->host);
	figures_update(figures);
	figures->first = figures->sampled;
	return 0;
}

int figures_take_cpu_time(struct figures *figures, const struct message_sampling *sampling, int fd)
{
	close_fd(&figures->cpu_time);
	if (sampling->frequency == 0 || sampling->frequency > OPTIONS_FREQUENCY_MAX ||
	    cpu_time_read(fd, &figures->first_ticks) < 0) {
		close(fd);
		return -EPROTO;
	}
	figures->cpu_time = fd;
	figures->frequency = sampling->frequency;
	return 0;
}

void figures_take_status(struct figures *figures, const struct message_status *status)
{
	figures->status = *status;
}

static void raise(uint64_t *count, uint64_t now)
{
	if (now > *count)
		*count = now;
}

static void raise_all(uint64_t *counts, const uint64_t *now, size_t count)
{
	for (size_t i = 0; i < count; i++)
		raise(&counts[i], now[i]);
}

void figures_take_work(struct figures *figures, const struct message_work *work)
{
	struct message_work *own = &figures->work;

#define COUNT(name)	    raise(&own->name, work->name);
#define LEVEL(name)	    own->name = work->name;
#define W(kind, name, help) kind(name)
#include "ipc/work.def"
#undef W
#undef LEVEL
#undef COUNT
	raise_all(own->limit, work->limit, SUMMARY_LIMITS);
	raise_all(own->requests, work->requests, WORK_REQUESTS);
	raise_all(own->refusals, work->refusals, REFUSALS);
}

/*
 * A sample that waits for its process counts as not ready until it has its record, which counts
 * anew. The difference of both counts falls when it gets one.
 */
static void leave_waiting_out(struct counters *now, const struct counters *before)
{
	uint64_t not_ready = now->reason[REASON_cut_not_ready];

	if (not_ready < now->kept_done)
		not_ready = 0;
	else
		not_ready -= now->kept_done;
	raise(&not_ready, before->reason[REASON_cut_not_ready]);
	now->reason[REASON_cut_not_ready] = not_ready;
}

/* The first of base/limits.def are BPF's. All of them count from the exporter's start on. */
static void count_limits(struct figures *figures)
{
	const struct counters *now = &figures->sampled, *first = &figures->first;
	uint64_t *limit = figures->work.limit;

	limit[LIMIT_generations] = now->processes_lost - first->processes_lost;
	limit[LIMIT_events] = now->events_lost - first->events_lost;
	limit[LIMIT_denied] = now->denied - first->denied;
}

static void count_expected(struct figures *figures)
{
	const uint64_t a_second = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t ticks;

	if (figures->cpu_time < 0 || cpu_time_read(figures->cpu_time, &ticks) < 0 ||
	    ticks < figures->first_ticks)
		return;
	raise(&figures->own.expected,
	      (ticks - figures->first_ticks) * figures->frequency / a_second);
}

void figures_update(struct figures *figures)
{
	union {
		struct counters counters;
		uint64_t word[COUNTER_WORDS];
	} sum;

	count_expected(figures);
	if (!figures->rows)
		return;
	counter_rows_add(figures->rows, figures->cpus, COUNTER_WORDS, sum.word);
	leave_waiting_out(&sum.counters, &figures->sampled);
	figures->sampled = sum.counters;
	count_limits(figures);
}
