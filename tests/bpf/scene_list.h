/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scene whose process is a made-up interpreter: its heap, the config of its list, and the walk
 * over that list. A test that wants a heap of another size defines HEAP_WORDS before.
 */
#ifndef KEYHOLE_TESTS_BPF_SCENE_LIST_H
#define KEYHOLE_TESTS_BPF_SCENE_LIST_H

#include "tests/bpf/scene.h"

#define HEAP 0x600000000000ull
#ifndef HEAP_WORDS
#define HEAP_WORDS 4096u
#endif

static u64 heap[HEAP_WORDS];
static struct runtime_config config;

static HOST_UNUSED u64 *heap_word(u64 address)
{
	assert(!(address & 7) && address - HEAP < sizeof(heap));
	return &heap[(address - HEAP) / 8];
}
#define HEAP_WORD(address) (*heap_word(address))

/* Before each test: a scene with a heap of zeros. */
static HOST_UNUSED int scene_list_setup(void **state)
{
	int r = scene_setup(state);

	memset(heap, 0, sizeof(heap));
	host.region[2] = (struct host_region){HEAP, sizeof(heap), heap};
	return r;
}

/* Makes the config so far that of the scene's mapping. */
static HOST_UNUSED void publish_config(void)
{
	u32 word = build_words(&host.build, sizeof(config) / 4, 16);

	memcpy(build_at(&host.build, word), &config, sizeof(config));
	scene.mapping.runtime = word;
}

/* Walks the list behind a stack that was walked. Returns the words. */
static HOST_UNUSED u32 take_list(void)
{
	if (runtime_begin())
		return 0;
	for (u32 i = 0; i <= RECORD_FRAMES_MAX; i++)
		if (walk_step())
			break;
	return host.walk.list.words;
}

#endif
