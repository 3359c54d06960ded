/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over the list of a memory image, and its names. Seeds are images of interpreters. */
#include <stdint.h>

#include "tests/bpf/image_walk.h"

#define READS_FRAME 8u /* of a frame and its border, at most; also of a step of a search */
#define READS_MORE  64u
/* For a control frame, which may be none of a function; for telling of a function */
#define READS_CONTROL 80u
#define READS_TELLING 64u
/* For a frame of the stack, and for a step that looks for its function */
#define READS_CODE 256u
#define NAMED_MAX  128u

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct memory_image image;
static u64 reads;

static int read_image(void *to, u64 bytes, u64 address)
{
	reads++;
	return memory_image_read(&image, to, bytes, address);
}

/* Returns how much memory a walk reads at most. */
static u64 most_reads(void)
{
	if (memory_image_is_ruby(&image))
		return (RECORD_FRAMES_MAX + 1ull) * RUNTIME_FRAMES_STEP * READS_CONTROL +
		       MEMORY_IMAGE_FRAMES_MAX * READS_TELLING;
	if (memory_image_has_code(&image))
		return (RECORD_FRAMES_MAX + 1ull) * (RUNTIME_FRAMES_STEP + 1) * READS_CODE;
	return RECORD_RUNTIME_WORDS_MAX / 2 * READS_FRAME + READS_MORE;
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
	reads = 0;
	if (functions && memory_image_parse(data, size, &image) == 0) {
		image_walk(&image);
		assert(host.walk.list.words <= RECORD_RUNTIME_WORDS_MAX);
		assert(host.walk.list.result <= RUNTIME_CUT_BUDGET);
		assert(reads <= most_reads());
		name_all(functions);
	}
	memory_image_release(&image);
	functions_free(functions);
	return 0;
}
