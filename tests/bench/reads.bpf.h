/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make OBSERVER=tests/bench/reads.bpf.h: counts the bytes of processes that BPF reads, with those
 * of stacks. tests/runtimes/reads.py reads the map by its name.
 */
#ifndef KEYHOLE_BENCH_READS_BPF_H
#define KEYHOLE_BENCH_READS_BPF_H

/* A map of its own: no function call and no look-up makes a walk longer for the verifier. */
struct {
	u64 bytes, samples;
} reads SEC(".data.reads");

INLINE int reads_add(u64 bytes)
{
	__sync_fetch_and_add(&reads.bytes, bytes);
	return 0;
}

INLINE int reads_walk(void *to, u64 bytes, u64 address)
{
	reads_add(bytes);
	return walk_read(to, bytes, address);
}
#define walk_read		       reads_walk
#define bpf_probe_read_user(to, n, at) (reads_add(n), (bpf_probe_read_user)(to, n, at))

#define observe_walk(ctx, scratch)

INLINE void observe_sample(struct scratch *scratch, struct record *record, u32 reason)
{
	(void)scratch;
	(void)record;
	(void)reason;
	__sync_fetch_and_add(&reads.samples, 1);
}

#endif
