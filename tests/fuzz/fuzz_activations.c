/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/sample/activations.h"
#include "worker/sample/runtime_words.h"

#define LOOPS_MAX 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t frames_of(const u64 *words, size_t count)
{
	struct runtime_words list;

	runtime_words_init(&list, words, count);
	return list.frames;
}

/* Any words, behind flags and the distances of the loop's frames. No frame is lost. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u64 words[RECORD_RUNTIME_WORDS_MAX];
	uint16_t loops[LOOPS_MAX], number = 0;
	size_t count, frames, loop_count;

	if (size < 2 || size < 2 + data[1] % LOOPS_MAX)
		return 0;
	loop_count = data[1] % LOOPS_MAX;
	for (size_t i = 0; i < loop_count; i++)
		loops[i] = number = (uint16_t)(number + data[2 + i] % 16 + 1);
	count = (size - 2 - loop_count) / sizeof(*words);
	if (count > RECORD_RUNTIME_WORDS_MAX)
		count = RECORD_RUNTIME_WORDS_MAX;
	memcpy(words, data + 2 + loop_count, count * sizeof(*words));
	frames = frames_of(words, count);
	activations_tie(words, count, loops, loop_count, data[0] & 1);
	if (frames_of(words, count) != frames)
		abort();
	return 0;
}
