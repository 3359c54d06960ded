/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The accounts of a grant (struct grant): how much of a family's memory may come out.
 *
 * CPUs look and pay at the same time. A payment is one atomic addition, so none is lost. Only where
 * an account is brought up to what it may keep, a payment of another CPU at that moment is.
 */
#ifndef KEYHOLE_BPF_GRANT_BPF_H
#define KEYHOLE_BPF_GRANT_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"
#include "bpf/deny.bpf.h"
#include "bpf/env.bpf.h"
#include "bpf/maps.bpf.h"

#define GRANT_TOLD_KEPT	  ((u64)GRANT_TOLD_BYTES * GRANT_TOLD_NS)
#define GRANT_LISTED_KEPT ((u64)GRANT_LISTED_BYTES * GRANT_LISTED_NS)
/* The most that a list costs, and its result with it. */
#define LIST_COST_MAX ((8ull * RECORD_RUNTIME_WORDS_MAX + 8) * GRANT_LISTED_NS)

/* Returns whether an account that may keep `most` has room for `cost`. All are ns. */
INLINE int account_has(u64 *account, u64 most, u64 cost)
{
	u64 now = bpf_ktime_get_ns(), paid = *(volatile u64 *)account;

	if (paid + most < now) {
		paid = now - most;
		*(volatile u64 *)account = paid;
	}
	return paid + cost <= now;
}

INLINE void account_take(u64 *account, u64 cost)
{
	__sync_fetch_and_add(account, cost);
}

INLINE struct grant *grant_of(struct scratch *scratch)
{
	return bpf_map_lookup_elem(&grants, &scratch->sample.family);
}

/* Returns RUNTIME_WHOLE where a list may be walked, or the result of that list. */
GLOBAL int grant_begin_list(void)
{
	struct scratch *scratch = scratch_state();
	struct grant *grant = scratch ? grant_of(scratch) : NULL;

	if (!grant)
		return RUNTIME_NOT_GRANTED;
	if (denies_memory())
		return RUNTIME_DENIED;
	if (!account_has(&grant->listed, GRANT_LISTED_KEPT, LIST_COST_MAX))
		return RUNTIME_OVERDRAWN;
	return RUNTIME_WHOLE;
}

/* Takes the words of a list from the grant. Its result, too, tells something. */
GLOBAL int grant_end_list(void)
{
	struct scratch *scratch = scratch_state();
	struct grant *grant = scratch ? grant_of(scratch) : NULL;

	if (grant)
		account_take(&grant->listed,
			     (8ull * scratch->walk.list.words + 8) * GRANT_LISTED_NS);
	return 0;
}

/*
 * Takes the bytes of an event, or of a look, from the grant of a key. Returns 1, or 0 when there is
 * no room for them, or no grant.
 */
GLOBAL int grant_tell(u64 key, u64 bytes)
{
	struct grant *grant = bpf_map_lookup_elem(&grants, &key);
	u64 cost = bytes * GRANT_TOLD_NS;

	if (!grant || !account_has(&grant->told, GRANT_TOLD_KEPT, cost))
		return 0;
	account_take(&grant->told, cost);
	return 1;
}

#define LABELS_COST_MAX ((8ull * GO_LABELS_WORDS + 8) * GRANT_LISTED_NS)

/* Returns LABELS_TAKEN where BPF may look at labels, or why it must not. */
GLOBAL int grant_begin_labels(void)
{
	struct scratch *scratch = scratch_state();
	struct grant *grant = scratch ? grant_of(scratch) : NULL;

	if (!grant)
		return LABELS_NOT_GRANTED;
	if (denies_memory())
		return LABELS_DENIED;
	if (!account_has(&grant->listed, GRANT_LISTED_KEPT, LABELS_COST_MAX))
		return LABELS_OVERDRAWN;
	return LABELS_TAKEN;
}

/* Takes the words of labels from the grant. */
GLOBAL int grant_end_labels(void)
{
	struct scratch *scratch = scratch_state();
	struct grant *grant = scratch ? grant_of(scratch) : NULL;

	if (grant)
		account_take(&grant->listed,
			     (8ull * scratch->walk.label_words + 8) * GRANT_LISTED_NS);
	return 0;
}

/* Pays for a look at the context of a thread. Returns CONTEXT_NONE, or why BPF must not look. */
INLINE u32 grant_context(struct scratch *scratch)
{
	u64 key = scratch->sample.family | GRANT_OF_CONTEXT;

	if (!bpf_map_lookup_elem(&grants, &key))
		return CONTEXT_NOT_GRANTED;
	if (denies_memory())
		return CONTEXT_DENIED;
	if (!grant_tell(key, CONTEXT_COST))
		return CONTEXT_OVERDRAWN;
	return CONTEXT_NONE;
}

#endif
