/* SPDX-License-Identifier: Apache-2.0 */
/* Input of fuzzers of walks over a runtime's functions, and a check of the words that come out. */
#ifndef KEYHOLE_TESTS_FUZZ_LIST_INPUT_H
#define KEYHOLE_TESTS_FUZZ_LIST_INPUT_H

#include "tests/bpf/host.h"

/* Takes bytes of the input; behind its end all are 0. */
static HOST_UNUSED void take(const u8 **input, size_t *size, void *to, size_t bytes)
{
	size_t got = *size < bytes ? *size : bytes;

	memset(to, 0, bytes);
	memcpy(to, *input, got);
	*input += got;
	*size -= got;
}

/* The same for words. lead: makes most of them addresses in the process. */
static HOST_UNUSED void take_words(const u8 **input, size_t *size, u64 *words, size_t count,
				   u64 (*lead)(u64 value))
{
	take(input, size, words, count * 8);
	for (size_t i = 0; i < count; i++)
		words[i] = lead(words[i]);
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
