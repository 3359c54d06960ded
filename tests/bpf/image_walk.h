/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the list of a memory image, or of a live process, and names its functions as BPF and the
 * worker do. `host` has the walk's state; host.read_at reads.
 */
#ifndef KEYHOLE_TESTS_BPF_IMAGE_WALK_H
#define KEYHOLE_TESTS_BPF_IMAGE_WALK_H

#include <errno.h>

#include "tests/bpf/host.h"
#include "tests/bpf/memory_image.h"
#include "worker/runtime/cpython.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/told.h"
#include "worker/sample/runtime_words.h"

#define IMAGE_FAMILY 1u

/* Marks frames side by side from the stack pointer on: border numbers then tell addresses. */
#define IMAGE_FRAME_BYTES 64u
static HOST_UNUSED void image_mark(const struct memory_image *image)
{
	for (u32 i = 1; i < RECORD_FRAMES_MAX; i++) {
		host.walk.frames++;
		runtime_mark(image->head.stack + i * IMAGE_FRAME_BYTES, image->head.pc);
	}
}

/* Walks the list of the image's thread. Returns the number of words in host.word. */
static HOST_UNUSED u32 image_walk(const struct memory_image *image)
{
	const u64 pc = image->head.pc & ~0xfffull;
	struct mapping_entry entry = {.start = pc, .end = pc + 4096, .bias = image->head.bias};

	if (!host.build.next)
		build_init(&host.build);
	build_reset(&host.build);
	entry.runtime = build_words(&host.build, sizeof(image->config) / 4, 16);
	memcpy(build_at(&host.build, entry.runtime), &image->config, sizeof(image->config));
	host.thread = image->head.thread;
	host.walk.block = build_block(&host.build, &entry, 1);
	host.walk.mappings = 1;
	walk_init(&host.walk);
	host.walk.deadline = ~0ull;
	image_mark(image);
	if (runtime_begin() == 0)
		for (u32 i = 0; i <= RECORD_FRAMES_MAX && !walk_step(); i++)
			;
	return host.walk.list.words;
}

/* Reads a part of an event, cut at a page that is not there: READ_PART() of bpf/code.bpf.h. */
static HOST_UNUSED u64 image_read_part(void *to, u64 bytes, u64 address)
{
	const u64 rest = 4096 - (address & 4095);

	if (address < 4096 || address >= WALK_ADDRESS_END)
		return 0;
	if (host.read_at(to, bytes, address) == 0)
		return bytes;
	if (rest < bytes && host.read_at(to, rest, address) == 0)
		return rest;
	return 0;
}

static HOST_UNUSED u64 image_word(u64 address)
{
	u64 word = 0;

	if (host.read_at(&word, sizeof(word), address) < 0)
		return 0;
	return word;
}

/* Returns how many bytes BPF reads of the last part: last_bytes() of bpf/code.bpf.h. */
static HOST_UNUSED u64 image_last_bytes(const struct runtime_config *config, u64 address)
{
	const u64 more = config->last_size + 24ull, most = CODE_BYTES - CODE_PART_3;
	u64 size;

	if (!config->last_size)
		return CODE_SHORT_END - CODE_PART_3;
	size = image_word(address + config->last_size);
	if (size > most - more)
		return most;
	return size + more;
}

/* Makes the event that BPF sends about code. */
static HOST_UNUSED void image_event(const struct memory_image *image, u64 code, u64 fingerprint,
				    struct event_code *ret_event)
{
	static const u64 places[] = {0, CODE_PART_1, CODE_PART_2, CODE_PART_3};
	u64 bytes;

	memset(ret_event, 0, sizeof(*ret_event));
	ret_event->code = code;
	ret_event->fingerprint = fingerprint;
	for (u32 i = 0; i < RUNTIME_PARTS; i++) {
		const u16 at = image->config.part[i];

		ret_event->address[i] = code;
		if (at != RUNTIME_CODE_ITSELF)
			ret_event->address[i] = image_word(code + at);
		if (i + 1 < RUNTIME_PARTS)
			bytes = places[i + 1] - places[i];
		else
			bytes = image_last_bytes(&image->config, ret_event->address[i]);
		ret_event->bytes[i] =
			image_read_part(ret_event->data + places[i], bytes, ret_event->address[i]);
	}
}

/* Gets the function and the line of a frame. Returns 0, or a negative errno of told_read(). */
static HOST_UNUSED int image_name(const struct memory_image *image, struct functions *functions,
				  const struct runtime_frame *frame, struct function *ret_function,
				  u32 *ret_line)
{
	const struct function_key key = {
		.family = IMAGE_FAMILY, .code = frame->code, .fingerprint = frame->fingerprint};
	static struct event_code event;
	static struct told told;
	struct runtime_setup setup = {.handler = &cpython_handler};
	u64 place;
	int r = memory_image_layout(image, &setup.layout.cpython);

	if (r < 0)
		return r;
	image_event(image, frame->code, frame->fingerprint, &event);
	r = told_read(&setup, &image->head.types, &event, &told);
	if (r < 0)
		return r;
	functions_tell(functions, &key, &told, 1);
	place = functions_place(functions, &key, frame->instruction, 1);
	*ret_line = FUNCTION_LINE_OF(place);
	return functions_get(functions, FUNCTION_OF(place), ret_function) ? 0 : -ENOENT;
}

#endif
