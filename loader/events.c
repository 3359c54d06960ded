/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/time.h"

static const struct {
	const char *name;
	uint64_t least; /* period */
	struct perf_event_attr attr;
} rows[] = {
#define E(name, kind, what, counted, period, least) \
	{name, least, {.type = PERF_TYPE_##kind, .config = PERF_COUNT_##what}},
#include "ipc/events.def"
#undef E
};

#define EVENTS_CLOCK 1 /* the row of the clock that every machine has */

static int open_on(struct perf_event_attr *attr, uint32_t cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * Opens one event per online CPU. Returns 0 or a negative errno; after an error the events that
 * were opened stay open and disabled.
 */
static int open_all(struct perf_event_attr *attr, uint32_t cpus, int *fds)
{
	int r = -ENODEV;

	attr->size = sizeof(*attr);
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		close_fd(&fds[cpu]); /* of an earlier attempt */
		fds[cpu] = open_on(attr, cpu);
		if (fds[cpu] >= 0)
			r = 0;
		else if (errno != ENODEV) /* ENODEV: not online */
			return -errno;
	}
	return r;
}

/* The two clocks tick by time; other events count. */
static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config <= PERF_COUNT_SW_TASK_CLOCK;
}

static int open_sampling(struct message_sampling *sampling, uint32_t row, struct events *events)
{
	const uint64_t interval = NS_PER_SECOND / sampling->frequency;
	struct perf_event_attr attr;
	bool clock;

	if (row >= sizeof(rows) / sizeof(rows[0]))
		return -EPROTO;
	if (sampling->period && sampling->period < rows[row].least)
		return -EPROTO;
	events->name = rows[row].name;
	attr = rows[row].attr;
	attr.disabled = 1;
	attr.exclude_hv = 1;
	attr.freq = attr.type == PERF_TYPE_HARDWARE && !sampling->period;
	/* An idle CPU finishes kept samples. Its timer goes on with exclude_idle as well. */
	clock = is_clock(&attr);
	if (clock && sampling->period && sampling->period < interval)
		sampling->period = interval;
	attr.sample_period = interval;
	if (sampling->period)
		attr.sample_period = sampling->period;
	else if (attr.freq)
		attr.sample_period = sampling->frequency;
	return open_all(&attr, events->cpus, events->sample);
}

static int open_sideband(struct events *events, uint32_t watermark)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				       .sample_id_all = 1,
				       .mmap = 1,
				       .mmap2 = 1,
				       .comm = 1,
				       .comm_exec = 1,
				       .exclude_kernel = 1,
				       .use_clockid = 1,
				       .clockid = CLOCK_MONOTONIC,
				       .watermark = 1,
				       .wakeup_watermark = watermark};

	return open_all(&attr, events->cpus, events->sideband);
}

/* Controls all events of a kind, also after an error. Returns 0 or the last negative errno. */
static int control(const int *fds, uint32_t cpus, unsigned long request, unsigned long argument)
{
	int r = 0;

	for (uint32_t i = 0; i < cpus; i++)
		if (fds[i] >= 0 && ioctl(fds[i], request, argument))
			r = -errno;
	return r;
}

/*
 * Opens the event that was asked for. The default is the first row, and after any error the second
 * row: hypervisors refuse hardware events in several ways.
 */
static int open_chosen(struct message_sampling *sampling, struct events *events)
{
	int r;

	if (sampling->event)
		return open_sampling(sampling, sampling->event - 1, events);
	r = open_sampling(sampling, 0, events);
	if (r == 0)
		return 0;
	return open_sampling(sampling, EVENTS_CLOCK, events);
}

int events_open(uint32_t cpus, struct message_sampling *sampling, int program, uint32_t watermark,
		struct events *ret_events)
{
	int r;

	memset(ret_events, 0xff, sizeof(*ret_events)); /* no descriptor is 0 */
	ret_events->cpus = cpus;
	ret_events->name = NULL;
	r = open_chosen(sampling, ret_events);
	if (r)
		return r;
	if (watermark != EVENTS_NO_SIDEBAND)
		r = open_sideband(ret_events, watermark);
	if (r)
		return r;
	/* libbpf's attach would enable the event. */
	return control(ret_events->sample, cpus, PERF_EVENT_IOC_SET_BPF, (unsigned long)program);
}

int events_open_clock(uint32_t cpus, uint32_t frequency, int program, struct events *ret_events)
{
	struct message_sampling sampling = {.frequency = frequency};
	int r;

	memset(ret_events, 0xff, sizeof(*ret_events));
	ret_events->cpus = cpus;
	r = open_sampling(&sampling, EVENTS_CLOCK, ret_events);
	if (r)
		return r;
	return control(ret_events->sample, cpus, PERF_EVENT_IOC_SET_BPF, (unsigned long)program);
}

int events_enable(const struct events *events)
{
	return control(events->sample, events->cpus, PERF_EVENT_IOC_ENABLE, 0);
}

/* An error means that the CPU went away: nothing is left to disable there. */
void events_disable(const struct events *events)
{
	control(events->sample, events->cpus, PERF_EVENT_IOC_DISABLE, 0);
}
