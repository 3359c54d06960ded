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

/* How the callers of code name it, as the walk has told. */
struct image_told {
	u64 code, fingerprint, name, named;
	u32 call, in;
	u64 part[RUNTIME_PARTS];	    /* RUNTIME_SCOPES, RUNTIME_CONTROL */
	u64 last_bytes, table, table_bytes; /* RUNTIME_CONTROL */
};
static struct image_told image_told[MEMORY_IMAGE_FRAMES_MAX];
static u32 image_told_count;

static HOST_UNUSED struct image_told *image_find_told(u64 code, u64 fingerprint)
{
	for (u32 i = 0; i < image_told_count; i++)
		if (image_told[i].code == code && image_told[i].fingerprint == fingerprint)
			return &image_told[i];
	return NULL;
}

static HOST_UNUSED void image_take_parts(const struct runtime_list *list, struct image_told *told)
{
	for (u32 i = 0; i < RUNTIME_PARTS; i++)
		told->part[i] = runtime_u64(list, list->config.part[i]);
}

static HOST_UNUSED void image_take_control(const struct runtime_list *list, struct image_told *told)
{
	told->part[0] = told->code;
	told->part[1] = list->label;
	told->part[2] = list->path;
	told->part[3] = list->lines;
	told->last_bytes = list->lines_bytes;
	told->table = list->table;
	told->table_bytes = list->table_bytes;
}

/* The first event about code is the one that counts. */
static HOST_UNUSED void image_tell(u64 code)
{
	struct runtime_list *list = &host.walk.list;
	struct image_told *told = &image_told[image_told_count];

	list->told--;
	if (image_told_count == MEMORY_IMAGE_FRAMES_MAX || image_find_told(code, host.told_print))
		return;
	image_told_count++;
	*told = (struct image_told){.code = code,
				    .fingerprint = host.told_print,
				    .name = host.told_name,
				    .named = list->named,
				    .call = host.told_call,
				    .in = host.told_in};
	if (list->config.flags & RUNTIME_SCOPES)
		image_take_parts(list, told);
	else
		image_take_control(list, told);
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
	image_told_count = 0;
	host.walk.block = build_block(&host.build, &entry, 1);
	host.walk.seed++; /* another version of the mappings */
	host.walk.mappings = 1;
	walk_init(&host.walk);
	host.walk.made = image->head.made;
	begin_time();
	host.walk.list.told = MEMORY_IMAGE_FRAMES_MAX;
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
static HOST_UNUSED u64 image_last_bytes(const struct runtime_config *config, u64 code, u64 address)
{
	const u64 more = config->last_size + 24ull, most = CODE_BYTES - CODE_PART_3;
	u32 count = 0;
	u64 size;

	if (config->last_count) {
		if (host.read_at(&count, sizeof(count), code + config->last_count) < 0)
			return 0;
		size = (u64)count * config->last_unit;
		if (!config->last_unit)
			size = code + count - address;
		return size < most ? size : most;
	}
	if (!config->last_size)
		return CODE_SHORT_END - CODE_PART_3;
	size = image_word(address + config->last_size);
	if (size > most - more)
		return most;
	return size + more;
}

static HOST_UNUSED void image_event_name(struct event_code *event)
{
	const struct image_told *told = image_find_told(event->code, event->fingerprint);

	if (!told)
		return;
	event->called_by = told->call;
	event->called_in = told->in;
	event->named = told->named;
	if (image_read_part(event->text, sizeof(event->text), told->name))
		event->name = told->name;
}

/* Returns the address of a part: part_address() of bpf/code.bpf.h. */
static HOST_UNUSED u64 image_part_address(const struct memory_image *image,
					  const struct event_code *event, u32 number)
{
	const struct runtime_config *config = &image->config;
	const struct image_told *told = image_find_told(event->code, event->fingerprint);
	const u64 code = event->code;
	const u16 at = config->part[number];

	if (config->flags & RUNTIME_SCOPES)
		return told ? told->part[number] : 0;
	if (at == RUNTIME_CODE_ITSELF)
		return code;
	if (at == RUNTIME_CODE_NAMES)
		return told ? told->name : 0;
	if (!(config->flags & RUNTIME_STACKED))
		return image_word(code + at);
	return image_word(code + (at & ~7u)) >> (at & 4) * 8 & config->code_mask;
}

/* Adds what the event about code of Ruby has otherwise: send_event() of bpf/code.bpf.h. */
static HOST_UNUSED void image_event_control(struct event_code *event)
{
	static const u64 places[] = {0, CODE_PART_1, CODE_PART_2, CODE_PART_3, CODE_BYTES};
	const struct image_told *told = image_find_told(event->code, event->fingerprint);
	u64 bytes;

	memset(event->bytes, 0, sizeof(event->bytes));
	event->table_at = CODE_BYTES - CODE_TABLE_LONG;
	for (u32 i = 0; i < RUNTIME_PARTS && told; i++) {
		bytes = places[i + 1] - places[i];
		if (i + 1 == RUNTIME_PARTS)
			bytes -= CODE_TABLE_LONG;
		if (i + 1 == RUNTIME_PARTS && bytes > told->last_bytes)
			bytes = told->last_bytes;
		event->address[i] = told->part[i];
		event->bytes[i] = image_read_part(event->data + places[i], bytes, told->part[i]);
	}
	if (!told || told->table_bytes > CODE_TABLE_LONG)
		return;
	event->table = told->table;
	event->table_bytes = (u32)image_read_part(event->data + event->table_at, told->table_bytes,
						  event->table);
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
	image_event_name(ret_event);
	if (image->config.flags & RUNTIME_CONTROL) {
		image_event_control(ret_event);
		return;
	}
	for (u32 i = 0; i < RUNTIME_PARTS; i++) {
		ret_event->address[i] = image_part_address(image, ret_event, i);
		if (i + 1 < RUNTIME_PARTS)
			bytes = places[i + 1] - places[i];
		else
			bytes = image_last_bytes(&image->config, code, ret_event->address[i]);
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

/* Tells of all functions: the name of one may come with its caller. */
static HOST_UNUSED void image_tell_all(const struct memory_image *image,
				       struct functions *functions, u32 count)
{
	struct runtime_words words;
	struct runtime_frame frame;
	struct function function;
	u32 line;

	runtime_words_init(&words, host.word, count);
	while (!runtime_words_end(&words))
		while (runtime_words_next(&words, &frame))
			image_name(image, functions, &frame, &function, &line);
}

#endif
