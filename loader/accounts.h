/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The BPF object of accounts (bpf/sched.bpf.c), beside the sampler's: for `keyhole stat`, and for
 * an agent with OPTIONS_ACCOUNTS.
 */
#ifndef KEYHOLE_LOADER_ACCOUNTS_H
#define KEYHOLE_LOADER_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct sched_bpf;
struct walk_loop_bpf;

struct accounts {
	struct sched_bpf *skeleton; /* NULL: no accounts are wanted */
	int places, cpus, tick;	    /* for the worker, and the program of the event; borrowed */
	uint64_t map_bytes;	    /* kernel memory of its own maps */
};

/*
 * Loads and attaches the object, which takes maps and constants of the sampler's. That one is
 * loaded and attached. counters: programs read the counters that this machine has. Returns 0 or a
 * negative errno.
 */
int accounts_load(struct accounts *accounts, const struct walk_loop_bpf *sampler, bool counters);

/* Has accounts begin now, or does nothing where none are wanted. */
void accounts_begin(const struct accounts *accounts);

/* As programs_begin_epoch(). */
void accounts_begin_epoch(const struct accounts *accounts, uint32_t epoch);

#endif
