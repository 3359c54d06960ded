/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/sample/runtime_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each frame comes once, and the words end. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u64 list[RECORD_RUNTIME_WORDS_MAX];
	struct runtime_words words;
	struct runtime_frame frame;
	size_t count = size / sizeof(*list), frames = 0, turns = 0;

	if (count > RECORD_RUNTIME_WORDS_MAX)
		count = RECORD_RUNTIME_WORDS_MAX;
	memcpy(list, data, count * sizeof(*list));
	runtime_words_init(&words, list, count);
	while (!runtime_words_end(&words)) {
		if (turns++ > count)
			abort();
		while (runtime_words_next(&words, &frame))
			frames++;
	}
	if (frames != words.frames)
		abort();
	return 0;
}
