/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the OpenTelemetry context of the current thread (struct thread_context in bpf/abi.h). Pure
 * C. The includer supplies the environment that bpf/walk/runtime.bpf.h names.
 *
 * The worker, which writes the root, may have been taken over. So the root makes BPF read any
 * memory of the process, and a record has 24 bytes of it, where the next byte is 1. The caller has
 * made sure that the process has a grant.
 */
#ifndef KEYHOLE_BPF_WALK_CONTEXT_BPF_H
#define KEYHOLE_BPF_WALK_CONTEXT_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/runtime.bpf.h"
#include "bpf/walk/table.bpf.h"

#define CONTEXT_VALID 1u

/* Returns the word where the struct thread_context of the block is. */
INLINE u32 context_word(const struct walk *walk)
{
	return walk->block + ((walk->mappings * 2 + 15) & ~15u) + walk->mappings * 16;
}

/* Returns whether the bytes that were read are a valid record with a trace and a span. */
INLINE int context_is_valid(const u64 *record)
{
	return (u8)record[3] == CONTEXT_VALID && (record[0] | record[1]) && record[2];
}

/*
 * Reads the context into list->memory, whose first CONTEXT_WORDS it is. The list's walk is over.
 * Returns CONTEXT_TAKEN or CONTEXT_NONE.
 */
INLINE u32 context_take(struct walk *walk)
{
	u64 *record = walk->list.memory, address;

	/* a version of the mappings may have had another one */
	walk->list.config_word = 0;
	if (runtime_copy_config(context_word(walk), 0))
		return CONTEXT_NONE;
	address = runtime_follow(0);
	record[3] = 0;
	if (address - 4096 >= WALK_ADDRESS_END - 4096 ||
	    walk_read(record, CONTEXT_RECORD_BYTES, address) || !context_is_valid(record))
		return CONTEXT_NONE;
	return CONTEXT_TAKEN;
}

#endif
