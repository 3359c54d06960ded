/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/coroutines.h"

#include <stdbool.h>

#include "worker/runtime/functions.h"

#define TAGS	    (RUNTIME_WORD_FRAME | RUNTIME_WORD_BORDER)
#define FRAME_WORDS 2u

static bool is_frame(const u64 *words, size_t at, size_t count)
{
	return (words[at] & TAGS) == RUNTIME_WORD_FRAME && count - at >= FRAME_WORDS;
}

static bool is_start(const u64 *frame, struct functions *functions, uint64_t family, uint64_t time)
{
	const struct function_key key = {
		.family = family,
		.code = FRAME_ADDRESS(frame[0]),
		.fingerprint = (uint32_t)frame[1],
	};

	return functions_is_start(functions, &key, time);
}

size_t coroutines_split(u64 *words, size_t count, uint32_t last, struct functions *functions,
			uint64_t family, uint64_t time)
{
	size_t at = 0, left = 0;

	while (at < count) {
		if (!is_frame(words, at, count)) {
			words[left++] = words[at++];
			continue;
		}
		if (is_start(words + at, functions, family, time)) {
			words[left++] = RUNTIME_WORD_BORDER | last;
		} else {
			words[left++] = words[at];
			words[left++] = words[at + 1];
		}
		at += FRAME_WORDS;
	}
	return left;
}
