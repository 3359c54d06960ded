/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the list of a memory image, or of a live process, and names its functions as BPF and the
 * worker do. With RUNTIME_HEAPS the walk is that of the stack. `host` has the walk's state;
 * host.read_at reads.
 */
#ifndef KEYHOLE_TESTS_BPF_IMAGE_WALK_H
#define KEYHOLE_TESTS_BPF_IMAGE_WALK_H

#include <errno.h>
#include <stdio.h>

#include "tests/bpf/host.h"
#include "tests/bpf/image_event.h"
#include "tests/bpf/memory_image.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/told.h"
#include "worker/sample/runtime_words.h"

#define IMAGE_FAMILY 1u

/* Marks frames side by side from the stack pointer on: border numbers then tell addresses. */
#define IMAGE_FRAME_BYTES 64u
/* LuaJIT's own code has a frame of so many bytes where it is the leaf: CFRAME_SIZE of lj_frame.h */
#define IMAGE_STACKED_BYTES 80u
static HOST_UNUSED void image_mark(const struct memory_image *image)
{
	u64 bytes = IMAGE_FRAME_BYTES;

	if (image->config.flags & RUNTIME_STACKED)
		bytes = IMAGE_STACKED_BYTES;
	for (u32 i = 1; i < RECORD_FRAMES_MAX; i++) {
		host.walk.frames++;
		runtime_mark(image->head.stack + i * bytes, image->head.pc);
	}
}

/* Puts the registers of the leaf where the walk has them. */
static HOST_UNUSED void image_take_registers(const struct memory_image *image)
{
	/* struct pt_regs */
	static const u8 order[] = {REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP,
				   REG_RBX, REG_R11, REG_R10, REG_R9,  REG_R8,
				   REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI};

	for (size_t i = 0; i < sizeof(order); i++)
		host.walk.reg[order[i]] = image->head.leaf[i];
	host.walk.reg[REG_RSP] = image->head.stack;
	host.walk.address = image->head.made;
}

static const struct memory_image *image_walked;

static HOST_UNUSED bool image_is_executable(u64 address)
{
	const struct memory_image_code *code = &image_walked->code;

	for (u32 i = 0; i < code->mappings; i++)
		if (address >= code->mapping[i].start && address < code->mapping[i].end)
			return true;
	return false;
}

static HOST_UNUSED void image_publish(const struct memory_image *image, u32 runtime)
{
	struct mapping_entry entry[MEMORY_IMAGE_MAPPINGS_MAX] = {0};
	const struct memory_image_code *code = &image->code;
	static u64 generation;

	for (u32 i = 0; i < code->mappings; i++)
		entry[i] = (struct mapping_entry){
			.start = code->mapping[i].start,
			.end = code->mapping[i].end,
			.bias = code->mapping[i].bias,
			.rule = code->mapping[i].rule,
			.flags = code->mapping[i].is_of_file ? MAPPING_HAS_TABLE : 0,
			.runtime = runtime,
		};
	host.walk.block = build_block(&host.build, entry, code->mappings);
	host.walk.mappings = code->mappings;
	host.walk.multiplier = 0x9e3779b97f4a7c15ull;
	host.walk.seed = cache_seed(++generation, 0, host.walk.multiplier);
	host.executable_at = image_is_executable;
	image_walked = image;
}

/* Walks the stack of the image's thread, and takes the functions of its frames. */
static HOST_UNUSED void image_walk_code(const struct memory_image *image, u32 runtime)
{
	image_publish(image, runtime);
	memset(&host.cache, 0, sizeof(host.cache));
	image_take_registers(image);
	host.may_list = true;
	host.knows = image_knows;
	host.tell_inlined = image_tell_inlined;
	for (u32 i = 0; i <= RECORD_FRAMES_MAX && !walk_step(); i++)
		;
	if (!host.walk.marks || runtime_begin())
		return;
	for (u32 i = 0; i <= WALK_STEPS_MAX && !walk_step(); i++)
		;
}

static HOST_UNUSED void image_without_deadline(void)
{
	host.walk.deadline = ~0ull;
}

/*
 * Walks the list of the image's thread, in the time that begin_time() gives. Returns the number of
 * words in host.word.
 */
static HOST_UNUSED u32 image_walk_in(const struct memory_image *image, void (*begin_time)(void))
{
	const u64 pc = image->head.pc & ~0xfffull;
	struct mapping_entry entry = {.start = pc, .end = pc + 4096, .bias = image->head.bias};

	if (!host.build.next)
		build_init(&host.build);
	build_reset(&host.build);
	entry.runtime = build_words(&host.build, sizeof(image->config) / 4, 16);
	memcpy(build_at(&host.build, entry.runtime), &image->config, sizeof(image->config));
	host.thread = image->head.thread;
	host.leaf_stack = image->head.stack;
	memcpy(host.leaf, image->head.leaf, sizeof(host.leaf));
	host.tell = image_tell;
	host.knows = NULL;
	host.may_list = false;
	image_told_count = image_inlined_count = 0;
	host.walk.block = build_block(&host.build, &entry, 1);
	host.walk.seed++; /* another version of the mappings */
	host.walk.mappings = 1;
	walk_init(&host.walk);
	host.walk.made = image->head.made;
	begin_time();
	host.walk.list.told = MEMORY_IMAGE_FRAMES_MAX;
	if (memory_image_has_code(image)) {
		image_walk_code(image, entry.runtime);
		return host.walk.list.words;
	}
	image_mark(image);
	if (runtime_begin() == 0)
		for (u32 i = 0; i <= RECORD_FRAMES_MAX && !walk_step(); i++)
			host.clock += host.read_ns;
	return host.walk.list.words;
}

static HOST_UNUSED u32 image_walk(const struct memory_image *image)
{
	return image_walk_in(image, image_without_deadline);
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
	struct runtime_setup setup;
	u64 place;
	int r = memory_image_setup(image, &setup);

	if (r < 0)
		return r;
	image_event(image, frame->code, frame->fingerprint, &event);
	r = told_read(&setup, &image->head.types, &event, &told);
	if (r < 0)
		return r;
	functions_tell(functions, &key, &told, 1);
	place = functions_place(functions, &key, frame->instruction, 1);
	*ret_line = functions_line(functions, place);
	return functions_get(functions, FUNCTION_OF(place), ret_function) ? 0 : -ENOENT;
}

/* Tells of an event about code. */
static HOST_UNUSED void image_tell_event(const struct runtime_setup *setup,
					 struct functions *functions,
					 const struct event_code *event)
{
	const struct function_key key = {
		.family = IMAGE_FAMILY, .code = event->code, .fingerprint = event->fingerprint};
	static const struct cpython_types none;
	static struct told told;

	if (told_read(setup, &none, event, &told) == 0)
		functions_tell(functions, &key, &told, 1);
}

/* Tells of all that the walk of an image with RUNTIME_HEAPS has told of. */
static HOST_UNUSED void image_tell_code(const struct memory_image *image,
					struct functions *functions)
{
	static struct event_code event;
	struct runtime_setup setup;

	if (memory_image_setup(image, &setup) < 0)
		return;
	for (u32 i = 0; i < image_told_count; i++) {
		image_event(image, image_told[i].code, image_told[i].fingerprint, &event);
		image_tell_event(&setup, functions, &event);
	}
	for (u32 i = 0; i < image_inlined_count; i++) {
		image_event_inlined(&image_inlined[i], &event);
		image_tell_event(&setup, functions, &event);
	}
}

/* Tells of all functions: the name of one may come with its caller. */
static HOST_UNUSED void image_tell_all(const struct memory_image *image,
				       struct functions *functions, u32 count)
{
	struct runtime_words words;
	struct runtime_frame frame;
	struct function function;
	u32 line;

	if (memory_image_has_code(image)) {
		image_tell_code(image, functions);
		return;
	}
	runtime_words_init(&words, host.word, count);
	while (!runtime_words_end(&words))
		while (runtime_words_next(&words, &frame))
			image_name(image, functions, &frame, &function, &line);
}

/* ---- all frames ---- */

struct image_frames {
	const struct memory_image *image;
	struct functions *functions;
	u32 count;
	struct memory_image_frame frame[MEMORY_IMAGE_FRAMES_MAX];
};

/* Returns whether Java's own stacks leave the function out: HotSpot's code, and hidden classes. */
static HOST_UNUSED bool image_is_hidden(const struct memory_image_frame *frame)
{
	return !frame->file[0] || strstr(frame->name, "$$Lambda") ||
	       strstr(frame->name, "LambdaForm$");
}

/* Adds a function. One that nobody can name has no name. */
static HOST_UNUSED void image_add_frame(struct image_frames *all, const struct function *function,
					u32 line)
{
	struct memory_image_frame *frame = &all->frame[all->count];

	if (all->count == MEMORY_IMAGE_FRAMES_MAX)
		return;
	*frame = (struct memory_image_frame){.line = line};
	if (function) {
		snprintf(frame->name, sizeof(frame->name), "%s", function->name);
		snprintf(frame->file, sizeof(frame->file), "%.*s", (int)sizeof(frame->file) - 1,
			 function->file);
	}
	if (!function || !memory_image_is_hotspot(all->image) || !image_is_hidden(frame))
		all->count++;
}

static HOST_UNUSED void image_add_place(struct image_frames *all, u64 place)
{
	struct function function;

	if (functions_get(all->functions, FUNCTION_OF(place), &function))
		image_add_frame(all, &function, functions_line(all->functions, place));
	else
		image_add_frame(all, NULL, 0);
}

/* Adds the functions of a frame of the stack, innermost first. */
static HOST_UNUSED void image_add_code(struct image_frames *all, const struct runtime_frame *frame)
{
	const struct function_key key = {
		.family = IMAGE_FAMILY, .code = frame->code, .fingerprint = frame->fingerprint};
	uint64_t place = functions_place(all->functions, &key, frame->instruction, 1), inlined;
	u32 count = 0;

	if (frame->code == RUNTIME_CODE_ELSEWHERE)
		return;
	while (functions_inlined(all->functions, place, count, &inlined)) {
		image_add_place(all, inlined);
		count++;
	}
	if (count == 0)
		image_add_place(all, place);
}

/* Gets all functions of the words that a walk has left, as the runtime says them. */
static HOST_UNUSED void image_name_all(const struct memory_image *image,
				       struct functions *functions, u32 words_count,
				       struct image_frames *ret_frames)
{
	struct runtime_words words;
	struct runtime_frame frame;
	struct function function;
	u32 line;

	ret_frames->image = image;
	ret_frames->functions = functions;
	ret_frames->count = 0;
	image_tell_all(image, functions, words_count);
	runtime_words_init(&words, host.word, words_count);
	while (!runtime_words_end(&words))
		while (runtime_words_next(&words, &frame)) {
			if (memory_image_has_code(image))
				image_add_code(ret_frames, &frame);
			else if (image_name(image, functions, &frame, &function, &line) == 0)
				image_add_frame(ret_frames, &function, line);
			else
				image_add_frame(ret_frames, NULL, 0);
		}
}

/*
 * Returns whether a frame is the one that the runtime has said. Some of those names have no
 * parameters. A line that V8 has not said is 0.
 */
static HOST_UNUSED bool image_is_said(const struct memory_image *image,
				      const struct memory_image_frame *said,
				      const struct memory_image_frame *frame)
{
	size_t size = sizeof(said->name);

	if (memory_image_is_hotspot(image) && !strchr(said->name, '('))
		size = strcspn(frame->name, "(");
	if (memory_image_is_hotspot(image) && size < strlen(said->name))
		return false;
	if (said->line != frame->line && !(memory_image_is_v8(image) && said->line == 0))
		return false;
	return strncmp(said->name, frame->name, size) == 0 && strcmp(said->file, frame->file) == 0;
}

#endif
