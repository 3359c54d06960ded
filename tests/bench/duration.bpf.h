/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make OBSERVER=tests/bench/duration.bpf.h: how long each sample takes with interrupts off, from
 * the clock read that begins it (record->time) to its commit. In place of every other walk, at the
 * same place of the interrupt, a control reads words of the stack and looks at the clock after each
 * until the budget is used up: what makes the control late, a hypervisor that takes the CPU away or
 * has to find the memory, makes walks late as well, as often and by as much. Read by
 * tests/bench/duration.py, by the map's name.
 */
#ifndef KEYHOLE_BENCH_DURATION_BPF_H
#define KEYHOLE_BENCH_DURATION_BPF_H

#define DURATION_BUCKETS 512u /* of 1 us to 400 us, then of 100 us; the last holds the rest */
#define DURATION_FINE	 400u
#define DURATION_CONTROL REASON_COUNT /* rows: a reason each, then the control */
#define DURATION_ROWS	 32u
#define CONTROL_READS	 4000u	/* of the clock, of 20 ns or more: enough */
#define CONTROL_APART	 65536u /* bytes between the words it reads; coldstack.c */

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

struct duration_turn {
	u64 walks;
	u64 control; /* ns, if this sample is one */
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct duration_turn);
} duration_turns SEC(".maps");

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

INLINE void observe_walk(void *ctx, struct scratch *scratch)
{
	u64 start = bpf_ktime_get_ns(), end = start, at = scratch->walk.reg[REG_RSP], word;
	u32 zero = 0;
	struct duration_turn *turn = bpf_map_lookup_elem(&duration_turns, &zero);

	if (!turn || ++turn->walks & 1)
		return;
	for (u32 i = 0; i < CONTROL_READS && end - start < walk_budget_ns; i++) {
		walk_read(&word, sizeof(word), at);
		at += CONTROL_APART;
		end = bpf_ktime_get_ns();
	}
	turn->control = end - start;
	scratch->walk.extension = 0; /* it ends at its first look at the clock */
}

INLINE void observe_sample(struct scratch *scratch, struct record *record, u32 reason)
{
	u64 end = bpf_ktime_get_ns();
	u32 rows = record->flags & RECORD_FLAG_KERNEL_MODE ? DURATION_ROWS : 0, zero = 0;
	struct duration_turn *turn = bpf_map_lookup_elem(&duration_turns, &zero);

	if (turn && turn->control) {
		duration_add(rows + DURATION_CONTROL, turn->control);
		turn->control = 0;
	} else {
		duration_add(rows + reason, end - record->time);
	}
}

#endif
