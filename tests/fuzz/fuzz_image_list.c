/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over the list of a memory image, and its names. Seeds are images of interpreters. */
#include <stdint.h>

#include "tests/bpf/image_walk.h"
#include "tests/fuzz/list_input.h"

#define NAMED_MAX 128u

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct memory_image image;

static int read_image(void *to, u64 bytes, u64 address)
{
	return memory_image_read(&image, to, bytes, address);
}

static void name_all(struct functions *functions)
{
	static struct image_frames found;
	struct runtime_words words;
	struct runtime_frame frame;
	struct function function;
	u32 line, count = 0;

	if (memory_image_has_code(&image)) {
		image_name_all(&image, functions, host.walk.list.words, &found);
		return;
	}
	assert(runtime_words_init(&words, host.word, host.walk.list.words));
	while (!runtime_words_end(&words))
		while (runtime_words_next(&words, &frame) && count++ < NAMED_MAX)
			if (image_name(&image, functions, &frame, &function, &line) == 0)
				assert(strlen(function.name) < TOLD_NAME_BYTES &&
				       strlen(function.file) < TOLD_FILE_BYTES &&
				       line < FUNCTION_UNTOLD);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct functions *functions = functions_new();

	host.read_at = read_image;
	if (functions && memory_image_parse(data, size, &image) == 0) {
		image_walk_in(&image, begin_time);
		assert(host.walk.list.words <= RECORD_RUNTIME_WORDS_MAX);
		assert(host.walk.list.result <= RUNTIME_CUT_BUDGET);
		check_time();
		name_all(functions);
	}
	memory_image_release(&image);
	functions_free(functions);
	return 0;
}
