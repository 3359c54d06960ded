/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_code.h"

#include <stddef.h>
#include <string.h>

#define NAME	    0x1000u /* offsets from the code */
#define FILE_	    0x2000u
#define TABLE	    0x3000u
#define ASCII	    (1u << 2 | 1u << 5 | 1u << 6)
#define CODE_ITSELF 256u

const struct cpython_types build_code_types = {
	.code = BUILD_CODE_TYPE,
	.text = BUILD_TEXT_TYPE,
	.bytes = BUILD_BYTES_TYPE,
};

struct part {
	struct event_code *event;
	unsigned int number;
	size_t place;
};

static void put(const struct part *part, size_t offset, const void *bytes, size_t size)
{
	memcpy(part->event->data + part->place + offset, bytes, size);
	if (part->event->bytes[part->number] < offset + size)
		part->event->bytes[part->number] = offset + size;
}

static void put_word(const struct part *part, size_t offset, uint64_t word)
{
	put(part, offset, &word, sizeof(word));
}

static void put_text(const struct part *part, const struct cpython_layout *layout, const char *text)
{
	const uint32_t state = ASCII;

	put_word(part, layout->object_type, BUILD_TEXT_TYPE);
	put(part, layout->text_state, &state, sizeof(state));
	put_word(part, layout->text_length, strlen(text));
	put(part, layout->text_ascii, text, strlen(text));
}

struct event_code build_code(uint32_t pid, uint64_t generation, uint64_t family,
			     const struct build_code *code)
{
	struct event_code event = {
		.event = {.generation = generation,
			  .parent_generation = family,
			  .kind = EVENT_CODE,
			  .pid = pid},
		.code = code->address,
		.marked = BUILD_CODE_MARKED,
		.fingerprint = code->fingerprint,
		.address = {code->address, code->address + NAME, code->address + FILE_,
			    code->address + TABLE},
	};
	const struct part itself = {&event, 0, 0}, name = {&event, 1, CODE_PART_1},
			  file = {&event, 2, CODE_PART_2}, table = {&event, 3, CODE_PART_3};
	struct cpython_layout layout;

	if (cpython_layout_find(CPYTHON_VERSION(3, 11), &layout) < 0)
		return event;
	put_word(&itself, layout.object_type, BUILD_CODE_TYPE);
	put_word(&itself, layout.code_qualified, event.address[1]);
	put_word(&itself, layout.code_file, event.address[2]);
	put_word(&itself, layout.code_lines, event.address[3]);
	put(&itself, layout.code_first_line, &code->first_line, sizeof(code->first_line));
	put_text(&name, &layout, code->name);
	put_text(&file, &layout, code->file);
	put_word(&table, layout.object_type, BUILD_BYTES_TYPE);
	put_word(&table, layout.bytes_size, code->table_size);
	put(&table, layout.bytes_data, code->table, sizeof(code->table));
	return event;
}
