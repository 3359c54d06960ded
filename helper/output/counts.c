/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/counts.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/time.h"
#include "base/event_rows.h"
#include "base/reader.h"
#include "base/counter_rows.h"

#define TEXT_BYTES  4096
#define NS_PER_USEC 1000u

int counts_take(struct counts *counts, const struct message_counts *source, int fd)
{
	const unsigned int most = COUNTS_RULES + (source->rules > 0);

	if (counts->fd_count >= most || source->cpus > ABI_MAX_CPUS) {
		close(fd);
		return -EPROTO;
	}
	counts->source = *source;
	counts->fds[counts->fd_count++] = fd;
	return 0;
}

/* ---- CPU time ------------------------------------------------------------------------------ */

static bool parse_number(const char *text, size_t length, uint64_t *ret_number)
{
	uint64_t number = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9' || number > UINT64_MAX / 10 - 1)
			return false;
		number = number * 10 + (uint64_t)(text[i] - '0');
	}
	*ret_number = number;
	return length > 0;
}

int counts_parse_usage(const char *text, size_t size, uint64_t *ret_nanoseconds)
{
	static const char key[] = "usage_usec ";
	const size_t key_length = sizeof(key) - 1;
	struct reader reader;
	uint64_t number;

	reader_init(&reader, text, size);
	while (reader_left(&reader) > 0) {
		size_t length;
		const char *line = reader_until(&reader, '\n', &length);

		if (length < key_length || memcmp(line, key, key_length) != 0)
			continue;
		if (!parse_number(line + key_length, length - key_length, &number) ||
		    number > UINT64_MAX / NS_PER_USEC)
			return -EBADMSG;
		*ret_nanoseconds = number * NS_PER_USEC;
		return 0;
	}
	return -EBADMSG;
}

static int read_cgroup(int fd, uint64_t *ret_nanoseconds)
{
	char text[TEXT_BYTES];
	ssize_t size = read(fd, text, sizeof(text));

	if (size < 0)
		return -errno;
	return counts_parse_usage(text, (size_t)size, ret_nanoseconds);
}

static int read_tasks(int fd, struct task_runtime *ret_runtime)
{
	struct task_runtime runtime;
	ssize_t size = read(fd, &runtime, sizeof(runtime));

	if (size < 0)
		return -errno;
	if (size != (ssize_t)sizeof(runtime))
		return -EBADMSG;
	*ret_runtime = runtime;
	return 0;
}

/* ---- counters ------------------------------------------------------------------------------ */

static uint64_t difference(uint64_t a, uint64_t b)
{
	if (a < b)
		return 0;
	return a - b;
}

/* Adds the rows of all CPUs. A row is an array of words, each of them a sum. */
static struct counters add_rows(const struct counts *counts)
{
	union {
		struct counters counters;
		uint64_t word[sizeof(struct counters) / sizeof(uint64_t)];
	} sum = {0};

	if (counts->rows)
		counter_rows_add(counts->rows, counts->source.cpus,
				 sizeof(sum.word) / sizeof(sum.word[0]), sum.word);
	/* a row that was read early lacks samples that a later row knows to be over */
	sum.counters.reason[REASON_cut_not_ready] =
		difference(sum.counters.reason[REASON_cut_not_ready], sum.counters.kept_done);
	return sum.counters;
}

/*
 * Takes a reading of CPU time: COUNTS_BEFORE or COUNTS_AFTER. Each can be taken once. A
 * cgroup has 0 tasks: their number is not known.
 */
static int take_reading(struct counts *counts, int which, struct task_runtime *ret_runtime)
{
	guard_fd int fd = take_fd(&counts->fds[which]);
	uint64_t nanoseconds = 0;
	int r;

	if (!counts->source.cgroup)
		return read_tasks(fd, ret_runtime);
	r = read_cgroup(fd, &nanoseconds);
	*ret_runtime = (struct task_runtime){.nanoseconds = nanoseconds};
	return r;
}

/* Maps a descriptor that can only be read, and closes it. Returns NULL with *ret_error set. */
static const void *map_rows(int *fd, size_t bytes, int *ret_error)
{
	void *rows = mmap(NULL, bytes, PROT_READ, MAP_SHARED, *fd, 0);

	if (rows == MAP_FAILED)
		*ret_error = -errno;
	close_fd(fd);
	if (rows == MAP_FAILED)
		return NULL;
	return rows;
}

int counts_begin(struct counts *counts)
{
	const unsigned int wanted = COUNTS_RULES + (counts->source.rules > 0);
	struct task_runtime runtime = {0};
	int r = 0;

	if (counts->rows || counts->fd_count != wanted || counts->source.rules > DENY_KEYS_MAX)
		return -EPROTO;
	counts->rows = map_rows(&counts->fds[COUNTS_COUNTERS],
				counts->source.cpus * sizeof(struct counters), &r);
	counts->denied = map_rows(&counts->fds[COUNTS_DENIED],
				  (DENY_KEYS_MAX + 1) * sizeof(*counts->denied), &r);
	if (r)
		return r;
	counts->started = time_now();
	r = take_reading(counts, COUNTS_BEFORE, &runtime);
	counts->runtime = runtime.nanoseconds;
	return r;
}

void counts_replace(struct counts *counts)
{
	counts->before = add_rows(counts);
}

struct counted counts_sum(const struct counts *counts)
{
	const struct counters sum = add_rows(counts);
	struct counted counted = {.samples = sum.samples,
				  .events_lost = sum.events_lost,
				  .processes_lost = sum.processes_lost,
				  .denied = sum.denied,
				  .denied_counted = sum.denied_counted,
				  .filtered = sum.filtered,
				  .switches_lost = sum.off_skipped + sum.off_no_room,
				  .waits_lost = sum.off_events_lost};

	if (counts->rows)
		counted.elapsed = time_now() - counts->started;
	memcpy(counted.reason, sum.reason, sizeof(counted.reason));
	for (unsigned int i = 0; i < REASON_lost_ring_full;
	     i++) { /* reasons of samples that had a record */
		counted.reason[i] -= counts->before.reason[i];
		counted.restarted += counts->before.reason[i];
	}
	return counted;
}

/* Returns whether a period is a number of events: then CPU time tells nothing about samples. */
static bool is_counted(const struct message_sampling *sampling)
{
	return event_counted(sampling->event, sampling->period);
}

/* Threads that leave a CPU make samples, too. */
static bool has_switches(const struct counts *counts)
{
	return counts->source.off_cpu != OFF_MODE_NONE;
}

static uint64_t samples_of(const struct message_sampling *sampling, uint64_t runtime)
{
	if (is_counted(sampling))
		return 0;
	if (sampling->period)
		return runtime / sampling->period;
	return runtime / NS_PER_SECOND * sampling->frequency +
	       runtime % NS_PER_SECOND * sampling->frequency / NS_PER_SECOND;
}

/*
 * Takes denied samples out of the numbers. A cgroup's CPU time includes the processes that the
 * policy denies. Readings of tasks include the processes that were denied between the readings.
 */
static void leave_denied_out(const struct message_sampling *sampling, uint64_t denied,
			     struct counted *counted)
{
	uint64_t period = sampling->period;

	if (counted->counted)
		return;
	if (period == 0)
		period = NS_PER_SECOND / sampling->frequency;
	counted->expected = difference(counted->expected, denied);
	counted->used = difference(counted->used, denied * period);
}

int counts_end(struct counts *counts, struct counted *ret_counted)
{
	const struct message_sampling *sampling = &counts->source.sampling;
	struct task_runtime runtime;
	uint64_t denied;
	int r;

	if (!counts->rows)
		return -EPROTO;
	*ret_counted = counts_sum(counts);
	r = take_reading(counts, COUNTS_AFTER, &runtime);
	if (r)
		return r;
	ret_counted->used = difference(runtime.nanoseconds, counts->runtime);
	ret_counted->threads = runtime.tasks;
	ret_counted->expected = samples_of(sampling, ret_counted->used);
	ret_counted->counted = is_counted(sampling) || has_switches(counts);
	denied = ret_counted->denied_counted;
	if (counts->source.cgroup)
		denied = ret_counted->denied;
	leave_denied_out(sampling, denied, ret_counted);
	return 0;
}

void counts_settle(const struct counts *counts, struct counted *counted)
{
	const struct counted now = counts_sum(counts);

	counted->samples = now.samples;
	counted->events_lost = now.events_lost;
	counted->processes_lost = now.processes_lost;
	memcpy(counted->reason, now.reason, sizeof(counted->reason));
}
