/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the labels of the goroutine that the current thread runs (struct go_labels in bpf/abi.h).
 * Pure C. The includer supplies the environment that bpf/walk/runtime.bpf.h names.
 *
 * The worker, which writes the offsets, may have been taken over. So they make BPF read any memory
 * of the process. The caller has made sure that the process has a grant.
 */
#ifndef KEYHOLE_BPF_WALK_GO_LABELS_BPF_H
#define KEYHOLE_BPF_WALK_GO_LABELS_BPF_H

#include "bpf/walk/context.bpf.h"
#include "bpf/walk/go.bpf.h"

/* struct hmap and its buckets, of src/runtime/map.go until Go 1.23 */
#define GO_MAP_BITS	    9u /* a u8: there are 1 << bits buckets */
#define GO_MAP_BUCKETS	    16u
#define GO_MAP_BUCKETS_MAX  4u
#define GO_BUCKET_SLOTS	    8u
#define GO_BUCKET_KEYS	    8u /* behind a byte for each slot */
#define GO_BUCKET_VALUES    (GO_BUCKET_KEYS + GO_BUCKET_SLOTS * 16)
#define GO_BUCKET_BYTES	    (GO_BUCKET_VALUES + GO_BUCKET_SLOTS * 16 + 8) /* an address */
#define GO_BUCKET_SLOT_USED 5u /* less: the slot is free, or its pair is elsewhere */
#define GO_PAIR_BYTES	    32u

/* Returns a word of the window, at an offset. */
INLINE u64 go_word(const struct walk *walk, u32 at)
{
	return walk->window[at >> 3 & (WALK_WINDOW_BYTES / 8 - 1)];
}

/* Takes a label whose strings are in the window. */
GLOBAL int go_take_label(u32 key_at, u32 value_at)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	if (walk->label_count >= GO_LABELS_MAX) {
		walk->labels = LABELS_CUT;
		return 0;
	}
	struct walk_label *label = &walk->label[walk->label_count++ & (GO_LABELS_MAX - 1)];

	label->key = go_word(walk, key_at);
	label->key_bytes = go_word(walk, key_at + 8);
	label->value = go_word(walk, value_at);
	label->value_bytes = go_word(walk, value_at + 8);
	return 0;
}

/* Reads into the window. Returns 0 when all were read. */
INLINE int go_read(struct walk *walk, u64 bytes, u64 address)
{
	walk->window_bytes = 0;
	if (!runtime_is_address(address))
		return 1;
	walk->list.reads++;
	return walk_read(walk->window, BOUND(bytes, WALK_WINDOW_BYTES + 1), address);
}

/* Takes the labels of a slice. */
INLINE void go_take_list(struct walk *walk, u64 slice)
{
	if (go_read(walk, 16, slice))
		return;
	u64 from = walk->window[0], count = walk->window[1];

	if (count > GO_LABELS_MAX) {
		count = GO_LABELS_MAX;
		walk->labels = LABELS_CUT;
	}
	if (!count || go_read(walk, count * GO_PAIR_BYTES, from))
		return;
	NOT_UNROLLED
	for (u32 i = 0; i < GO_LABELS_MAX; i++) {
		if (i >= count)
			break;
		go_take_label(i * GO_PAIR_BYTES, i * GO_PAIR_BYTES + 16);
	}
}

/* Takes the labels of a bucket. Returns the address of the bucket with further ones, or 0. */
GLOBAL u64 go_take_bucket(u64 bucket)
{
	struct walk *walk = walk_state();

	if (!walk || go_read(walk, GO_BUCKET_BYTES, bucket))
		return 0;
	u64 used = walk->window[0];

	NOT_UNROLLED
	for (u32 i = 0; i < GO_BUCKET_SLOTS; i++)
		if ((used >> i * 8 & 0xff) >= GO_BUCKET_SLOT_USED)
			go_take_label(GO_BUCKET_KEYS + i * 16, GO_BUCKET_VALUES + i * 16);
	return go_word(walk, GO_BUCKET_BYTES - 8);
}

/* Takes the labels of a map. A bucket may lead to another one; what follows is left out. */
INLINE void go_take_map(struct walk *walk, u64 pointer)
{
	if (runtime_read_word(pointer) || go_read(walk, GO_MAP_BUCKETS + 8, walk->list.word))
		return;
	u64 count = walk->window[0], buckets = walk->window[GO_MAP_BUCKETS / 8];
	u64 bits = walk->window[GO_MAP_BITS / 8] >> GO_MAP_BITS % 8 * 8 & 0xff;

	NOT_UNROLLED
	for (u32 i = 0; i < GO_MAP_BUCKETS_MAX; i++) {
		if (bits > 2 || i >> bits)
			break;
		u64 more = go_take_bucket(buckets + i * GO_BUCKET_BYTES);

		if (more)
			go_take_bucket(more);
	}
	if (walk->label_count < count)
		walk->labels = LABELS_CUT;
}

/* Returns the offset of the goroutine from the thread pointer, or 0. */
INLINE u64 go_labels_offset(struct runtime_list *list, const struct go_labels *go)
{
	if (!go->word)
		return (u64)(s64)go->thread_local_at;
	return runtime_read_word(go->word) ? 0 : list->word;
}

/*
 * Finds the goroutine, and takes its number and the places of its labels into the walk. The walks
 * of stack and list are over. Sets walk->labels.
 */
GLOBAL int go_find_labels(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	walk->label_count = 0;
	walk->labels = LABELS_NO_GOROUTINE;
	/* a version of the mappings may have had another one */
	walk->list.config_word = 0;
	if (runtime_copy_config(context_word(walk), 0))
		return 0;
	struct runtime_list *list = &walk->list;
	const struct go_labels *go = &((const struct thread_context *)&list->config)->go;
	u64 at = go_labels_offset(list, go);

	if (!at || runtime_read_word(walk_thread_pointer() + at) ||
	    runtime_read_word(list->word + GO_THREAD))
		return 0;
	u64 thread = list->word;

	if (runtime_read_word(thread + go->current))
		return 0;
	u64 goroutine = list->word;

	if (!goroutine || runtime_read_word(goroutine + GO_THREAD) || list->word != thread ||
	    runtime_read_word(goroutine + go->number))
		return 0;
	walk->goroutine = list->word;
	if (runtime_read_word(goroutine + go->labels))
		return 0;
	walk->labels = LABELS_TAKEN;
	if (!list->word)
		return 0;
	if (go->form == GO_LABELS_LIST)
		go_take_list(walk, list->word);
	else if (go->form == GO_LABELS_MAP)
		go_take_map(walk, list->word);
	return 0;
}

#endif
