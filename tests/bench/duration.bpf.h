/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make OBSERVER=tests/bench/duration.bpf.h: measures the time of each sample with interrupts off. A
 * sample lasts from the clock read that begins it (record->time) to its commit, less the stall
 * that the walk was forgiven.
 *
 * A control replaces every other walk, at the same place of the interrupt. The control reads words
 * of the stack and of the tables, and looks at the clock after each word. It ends when as much time
 * has passed as a walk may take. A hypervisor that takes the CPU away, or has to find the memory,
 * makes the control late. It makes walks late as well, as often and by as much.
 *
 * The map keeps both a second time without stalls. A stall is a gap between two looks at the clock
 * that is longer than work explains. tests/bench/duration.py reads the map by its name.
 */
#ifndef KEYHOLE_BENCH_DURATION_BPF_H
#define KEYHOLE_BENCH_DURATION_BPF_H

#define DURATION_BUCKETS  512u /* of 1 us to 400 us, then of 100 us; the last holds the rest */
#define DURATION_FINE	  400u
#define DURATION_STALL_NS 25000ull /* five times the longest step of a walk */
#define DURATION_ROWS	  32u
#define CONTROL_READS	  4000u	 /* of the clock, of 20 ns or more: enough */
#define CONTROL_APART	  65536u /* bytes between the words it reads; coldstack.c */
#define CONTROL_SEGMENTS  32u	 /* of tables: coldstack's objects fill 26 */

/* Rows: a reason each, then these. */
enum duration_kind {
	DURATION_CONTROL = REASON_COUNT,
	DURATION_OWN,	      /* of all samples, less their stalls */
	DURATION_CONTROL_OWN, /* the same of the control */
	DURATION_STALLS,      /* of samples: each stall */
	DURATION_CONTROL_STALLS,
};

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
	u32 walking;	  /* this sample has a walk, or a control in its place */
	u32 control;	  /* the latter */
	u64 began, ended; /* of the control */
	u64 deadline;	  /* as it was before the walk */
	u64 looked;
	u64 stalled; /* ns */
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct duration_turn);
} duration_turns SEC(".maps");

GLOBAL int duration_add(u32 key, u64 nanoseconds)
{
	struct duration_row *row = bpf_map_lookup_elem(&durations, &key);
	u64 at = nanoseconds / 1000;

	if (!row)
		return 0;
	if (at >= DURATION_FINE)
		at = DURATION_FINE + (at - DURATION_FINE) / 100;
	if (at >= DURATION_BUCKETS)
		at = DURATION_BUCKETS - 1;
	row->count++;
	row->nanoseconds += nanoseconds;
	row->bucket[at & (DURATION_BUCKETS - 1)]++;
	if (nanoseconds > row->longest)
		row->longest = nanoseconds;
	return 0;
}

/* Reads a word of the tables. The address chooses the word. */
INLINE void duration_touch(u64 address)
{
	u64 hash = address * 0x9e3779b97f4a7c15ull;
	u32 segment_number = hash >> 40 & (CONTROL_SEGMENTS - 1);
	struct segment *segment = walk_segment(segment_number << SEGMENT_WORD_BITS);

	if (segment)
		(void)*(volatile u32 *)&segment->word[hash >> 20 & (SEGMENT_WORDS - 1)];
}

INLINE void duration_look(struct duration_turn *turn, u64 now)
{
	u64 since = now - turn->looked;

	if (since > DURATION_STALL_NS) {
		turn->stalled += since;
		duration_add(turn->control ? DURATION_CONTROL_STALLS : DURATION_STALLS, since);
	}
	turn->looked = now;
}

/* step.bpf.h calls this function in place of walk_clock(). */
GLOBAL u64 duration_clock(void)
{
	u64 now = bpf_ktime_get_ns();
	u32 zero = 0;
	struct duration_turn *turn = bpf_map_lookup_elem(&duration_turns, &zero);

	if (turn && turn->walking)
		duration_look(turn, now);
	return now;
}
#define walk_clock duration_clock

GLOBAL u64 duration_control(u64 at, u64 touched)
{
	u64 word;

	walk_read(&word, sizeof(word), at);
	duration_touch(touched);
	return duration_clock();
}

INLINE void observe_walk(void *ctx, struct scratch *scratch)
{
	u64 at = scratch->walk.reg[REG_RSP], limit = walk_budget_ns + walk_extension_ns;
	u32 zero = 0;
	struct duration_turn *turn = bpf_map_lookup_elem(&duration_turns, &zero);

	if (!turn)
		return;
	turn->walking = 1;
	turn->deadline = scratch->walk.deadline;
	turn->looked = turn->deadline - walk_budget_ns;
	turn->stalled = 0;
	turn->control = 0;
	if (++turn->walks & 1)
		return;
	turn->control = 1;
	turn->began = turn->ended = turn->looked = bpf_ktime_get_ns();
	for (u32 i = 0; i < CONTROL_READS && turn->ended - turn->began < limit; i++) {
		turn->ended = duration_control(at, at ^ turn->walks);
		at += CONTROL_APART;
	}
	turn->walking = 0;
	/* it ends at its first look at the clock */
	scratch->walk.extension = scratch->walk.forgiving = 0;
}

/* A stall moves the deadline as an extension does. */
INLINE u64 duration_forgiven(const struct walk *walk, const struct duration_turn *turn)
{
	u64 moved = walk->deadline - turn->deadline;

	return walk->extension ? moved : moved - walk_extension_ns;
}

INLINE void observe_sample(struct scratch *scratch, struct record *record, u32 reason)
{
	u64 now = bpf_ktime_get_ns(), took = now - scratch->began;
	u32 rows = 0, zero = 0;
	struct duration_turn *turn = bpf_map_lookup_elem(&duration_turns, &zero);

	if (!turn)
		return;
	if (scratch->sample.record.flags & RECORD_FLAG_KERNEL_MODE)
		rows = DURATION_ROWS;
	if (turn->control) {
		took = turn->ended - turn->began;
		duration_add(rows + DURATION_CONTROL, took);
		duration_add(DURATION_CONTROL_OWN, took - turn->stalled);
	} else if (turn->walking) {
		duration_look(turn, now);
		duration_add(rows + reason, took - duration_forgiven(&scratch->walk, turn));
		duration_add(DURATION_OWN, took - turn->stalled);
	} else {
		duration_add(rows + reason, took);
		duration_add(DURATION_OWN, took);
	}
	turn->walking = turn->control = 0;
}

#endif
