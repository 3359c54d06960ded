/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make OBSERVER=tests/bench/duration.bpf.h: how long each sample takes with interrupts off, from
 * the clock read that begins it (record->time) to its commit. Behind every sample, in the same
 * interrupt, a control does work that is always the same and nearly always takes the same time:
 * what makes the control late, a hypervisor that takes the CPU away, makes samples late as well.
 * Read by tests/bench/duration.py, by the map's name.
 */
#ifndef KEYHOLE_BENCH_DURATION_BPF_H
#define KEYHOLE_BENCH_DURATION_BPF_H

#define DURATION_BUCKETS 512u /* of 1 us to 400 us, then of 100 us; the last holds the rest */
#define DURATION_FINE	 400u
#define DURATION_CONTROL REASON_COUNT /* rows: a reason each, then the control */
#define DURATION_ROWS	 32u
#define CONTROL_READS	 1200u /* of the clock */

struct duration_row {
	u64 count, nanoseconds, longest;
	u64 bucket[DURATION_BUCKETS];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DURATION_ROWS * 2); /* hit user mode, hit kernel mode */
	__type(key, u32);
	__type(value, struct duration_row);
} durations SEC(".maps");

#define observe_walk(ctx, scratch)

static void duration_add(u32 key, u64 nanoseconds)
{
	struct duration_row *row = bpf_map_lookup_elem(&durations, &key);
	u64 at = nanoseconds / 1000;

	if (!row)
		return;
	if (at >= DURATION_FINE)
		at = DURATION_FINE + (at - DURATION_FINE) / 100;
	if (at >= DURATION_BUCKETS)
		at = DURATION_BUCKETS - 1;
	row->count++;
	row->nanoseconds += nanoseconds;
	row->bucket[at & (DURATION_BUCKETS - 1)]++;
	if (nanoseconds > row->longest)
		row->longest = nanoseconds;
}

INLINE void observe_sample(struct scratch *scratch, struct record *record, u32 reason)
{
	u64 start = bpf_ktime_get_ns(), end = start;
	u32 rows = record->flags & RECORD_FLAG_KERNEL_MODE ? DURATION_ROWS : 0;

	duration_add(rows + reason, start - record->time);
	start = bpf_ktime_get_ns();
	for (u32 i = 0; i < CONTROL_READS; i++)
		end = bpf_ktime_get_ns();
	duration_add(rows + DURATION_CONTROL, end - start);
}

#endif
