/* SPDX-License-Identifier: Apache-2.0 */
/* Input of fuzzers of walks over a runtime's functions, and a check of the words that come out. */
#ifndef KEYHOLE_TESTS_FUZZ_LIST_INPUT_H
#define KEYHOLE_TESTS_FUZZ_LIST_INPUT_H

#include "tests/bpf/host.h"

/* Where it is not 0, bytes behind the end of the input are made of it: a short input fills all. */
static u64 filling;

/* Takes bytes of the input; behind its end all are 0, or made of `filling`. */
static HOST_UNUSED void take(const u8 **input, size_t *size, void *to, size_t bytes)
{
	size_t got = *size < bytes ? *size : bytes;

	memset(to, 0, bytes);
	memcpy(to, *input, got);
	*input += got;
	*size -= got;
	for (size_t i = got; filling && i < bytes; i++)
		((u8 *)to)[i] = (u8)(build_random(&filling) >> 56);
}

/* The same for words. lead: makes most of them addresses in the process. */
static HOST_UNUSED void take_words(const u8 **input, size_t *size, u64 *words, size_t count,
				   u64 (*lead)(u64 value))
{
	take(input, size, words, count * 8);
	for (size_t i = 0; i < count; i++)
		words[i] = lead(words[i]);
}

/*
 * A walk has time for READS_MAX reads. It looks at the clock after some of them: so no more than
 * READS_APART_MAX come between two looks, nor behind the end of the time.
 */
#define READ_NS		100u
#define READS_MAX	10000u
#define READS_APART_MAX 224u

/* Begins the time of a walk. */
static HOST_UNUSED void begin_time(void)
{
	host.reads = host.reads_before = host.reads_apart = 0;
	host.read_ns = READ_NS;
	host.walk.looked = host.clock;
	host.walk.deadline = host.clock + READ_NS * READS_MAX;
}

/* Steps to the end of a list. Each call takes some frames, and counts as a read. */
static HOST_UNUSED void step_list(void)
{
	for (u32 i = 0; i <= WALK_STEPS_MAX && !walk_step(); i++)
		host.clock += READ_NS;
}

static HOST_UNUSED void check_time(void)
{
	host_count_reads();
	assert(host.reads_apart <= READS_APART_MAX);
	assert(host.clock <= host.walk.deadline + READ_NS * READS_APART_MAX);
}

static HOST_UNUSED void check_words(void)
{
	const struct runtime_list *list = &host.walk.list;

	assert(list->words <= RECORD_RUNTIME_WORDS_MAX && list->result <= RUNTIME_CUT_BUDGET);
	for (u32 i = 0; i < list->words; i++) {
		if (host.word[i] & RUNTIME_WORD_FRAME)
			i++;
		else
			assert(host.word[i] & RUNTIME_WORD_BORDER);
	}
}

#endif
