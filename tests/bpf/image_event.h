/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over a memory image tells of code. BPF makes events of that, and so do tests here. */
#ifndef KEYHOLE_TESTS_BPF_IMAGE_EVENT_H
#define KEYHOLE_TESTS_BPF_IMAGE_EVENT_H

#include "tests/bpf/host.h"
#include "tests/bpf/memory_image.h"

/* How the callers of code name it, as the walk has told. */
struct image_told {
	u64 code, fingerprint, name, named;
	u32 call, in;
	u64 part[RUNTIME_PARTS]; /* RUNTIME_SCOPES, RUNTIME_CONTROL, RUNTIME_HEAPS */
	u64 last_bytes;		 /* RUNTIME_CONTROL, RUNTIME_HEAPS */
	u64 table, table_bytes;	 /* RUNTIME_CONTROL */
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
	told->last_bytes = (u64)runtime_u32(list, list->config.last_count) * list->config.last_unit;
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
	if (list->config.flags & (RUNTIME_SCOPES | RUNTIME_HEAPS))
		image_take_parts(list, told);
	else
		image_take_control(list, told);
}

/* Code that the walk has told of with words of the window: fill_inlined() of bpf/code.bpf.h. */
#define IMAGE_INLINED_MAX 512u
struct image_inlined {
	u64 code, bytes;
	u32 fingerprint;
	u64 word[CODE_TINY_END / 8];
};
static struct image_inlined image_inlined[IMAGE_INLINED_MAX];
static u32 image_inlined_count;

static HOST_UNUSED struct image_inlined *image_find_inlined(u64 code, u32 fingerprint)
{
	for (u32 i = 0; i < image_inlined_count; i++)
		if (image_inlined[i].code == code && image_inlined[i].fingerprint == fingerprint)
			return &image_inlined[i];
	return NULL;
}

static HOST_UNUSED int image_tell_inlined(u64 code, u32 fingerprint)
{
	struct image_inlined *inlined = &image_inlined[image_inlined_count];

	if (image_inlined_count == IMAGE_INLINED_MAX || image_find_inlined(code, fingerprint))
		return 0;
	image_inlined_count++;
	inlined->code = code;
	inlined->fingerprint = fingerprint;
	inlined->bytes = host.walk.hotspot.inlined * 16ull;
	memcpy(inlined->word, host.walk.window, sizeof(inlined->word));
	return 1;
}

static HOST_UNUSED int image_knows(u64 code, u32 fingerprint)
{
	return image_find_told(code, fingerprint) || image_find_inlined(code, fingerprint);
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

	if (config->flags & (RUNTIME_SCOPES | RUNTIME_HEAPS))
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

/* Makes the event about code that the walk has told of with words of the window. */
static HOST_UNUSED void image_event_inlined(const struct image_inlined *inlined,
					    struct event_code *ret_event)
{
	const u64 first = inlined->bytes < CODE_PART_1 ? inlined->bytes : CODE_PART_1;

	memset(ret_event, 0, sizeof(*ret_event));
	ret_event->code = inlined->code;
	ret_event->fingerprint = inlined->fingerprint;
	ret_event->address[0] = CODE_INLINED_AT;
	ret_event->bytes[0] = (u32)first;
	ret_event->address[1] = CODE_INLINED_AT + CODE_PART_1;
	ret_event->bytes[1] = (u32)(inlined->bytes - first);
	memcpy(ret_event->data, inlined->word, sizeof(inlined->word));
}

/* Returns how many bytes BPF reads of the last part of what the walk has told of. */
static HOST_UNUSED u64 image_told_bytes(const struct event_code *event)
{
	const struct image_told *told = image_find_told(event->code, event->fingerprint);
	const u64 most = CODE_BYTES - CODE_PART_3;

	if (!told)
		return 0;
	return told->last_bytes < most ? told->last_bytes : most;
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
		else if (image->config.flags & RUNTIME_HEAPS)
			bytes = image_told_bytes(ret_event);
		else
			bytes = image_last_bytes(&image->config, code, ret_event->address[i]);
		ret_event->bytes[i] =
			image_read_part(ret_event->data + places[i], bytes, ret_event->address[i]);
	}
}

#endif
