/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/cpython_code.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/reader.h"
#include "worker/runtime/cpython_layout.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/told.h"

/* ---- text ---- */

/* PyASCIIObject.state, the same bits from 3.9 to 3.15, but for text_state_shift */
#define TEXT_KIND_SHIFT 2
#define TEXT_KIND_MASK	7u
#define TEXT_COMPACT	(1u << 5)
#define TEXT_ASCII	(1u << 6)

#define CHARACTER_MAX	0x10ffffu
#define CHARACTER_WRONG 0xfffdu /* in place of what is none */
#define UTF8_BYTES_MAX	4

struct text {
	uint64_t data;	     /* address of the characters */
	uint64_t characters; /* as far as they can be shown */
	uint32_t bytes;	     /* of a character: 1, 2 or 4 */
};

static int find_text(const struct cpython_layout *layout, const struct memory *memory,
		     uint64_t address, size_t most, struct text *ret_text)
{
	uint64_t length;
	uint32_t state;
	int r = memory_read(memory, address + layout->text_state, &state, sizeof(state));

	if (r == 0)
		r = memory_word(memory, address + layout->text_length, &length);
	if (r < 0)
		return r;
	state >>= layout->text_state_shift;
	if (!(state & TEXT_COMPACT) || length > INT64_MAX)
		return -EBADMSG;
	*ret_text = (struct text){
		.data = address + layout->text_compact,
		.characters = length,
		.bytes = state >> TEXT_KIND_SHIFT & TEXT_KIND_MASK,
	};
	if (state & TEXT_ASCII)
		ret_text->data = address + layout->text_ascii;
	if (ret_text->bytes != 1 && ret_text->bytes != 2 && ret_text->bytes != 4)
		return -EBADMSG;
	if (ret_text->characters > most)
		ret_text->characters = most;
	return 0;
}

static uint32_t next_character(struct reader *reader, uint32_t bytes)
{
	uint32_t character;

	if (bytes == 1)
		character = reader_u8(reader);
	else if (bytes == 2)
		character = reader_u16(reader);
	else
		character = reader_u32(reader);
	/* half of a pair of UTF-16 is no character */
	if (character > CHARACTER_MAX || character == 0 || (character & 0xfffff800) == 0xd800)
		return CHARACTER_WRONG;
	return character;
}

/* Returns how many bytes the character took. */
static size_t encode(uint32_t character, unsigned char bytes[static UTF8_BYTES_MAX])
{
	if (character < 0x80) {
		bytes[0] = (unsigned char)character;
		return 1;
	}
	if (character < 0x800) {
		bytes[0] = (unsigned char)(0xc0 | character >> 6);
		bytes[1] = (unsigned char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		bytes[0] = (unsigned char)(0xe0 | character >> 12);
		bytes[1] = (unsigned char)(0x80 | (character >> 6 & 0x3f));
		bytes[2] = (unsigned char)(0x80 | (character & 0x3f));
		return 3;
	}
	bytes[0] = (unsigned char)(0xf0 | character >> 18);
	bytes[1] = (unsigned char)(0x80 | (character >> 12 & 0x3f));
	bytes[2] = (unsigned char)(0x80 | (character >> 6 & 0x3f));
	bytes[3] = (unsigned char)(0x80 | (character & 0x3f));
	return 4;
}

static void write_text(const struct text *text, const void *data, char *ret_text, size_t size)
{
	unsigned char bytes[UTF8_BYTES_MAX];
	struct reader reader;
	size_t used = 0;

	reader_init(&reader, data, text->characters * text->bytes);
	while (reader_left(&reader) > 0) {
		size_t count = encode(next_character(&reader, text->bytes), bytes);

		if (used + count >= size)
			break;
		memcpy(ret_text + used, bytes, count);
		used += count;
	}
	ret_text[used] = '\0';
}

/* Cuts the text to the characters that are there. */
static int cut_text(const struct memory *memory, struct text *text)
{
	const size_t left = memory_left(memory, text->data) / text->bytes;

	if (text->characters > 0 && left == 0)
		return -EFAULT;
	if (text->characters > left)
		text->characters = left;
	return 0;
}

int cpython_text(const struct cpython_layout *layout, const struct memory *memory, uint64_t address,
		 char *ret_text, size_t size)
{
	unsigned char data[TOLD_FILE_BYTES * UTF8_BYTES_MAX];
	struct text text;
	int r = find_text(layout, memory, address, TOLD_FILE_BYTES, &text);

	if (r == 0)
		r = cut_text(memory, &text);
	if (r == 0)
		r = memory_read(memory, text.data, data, text.characters * text.bytes);
	if (r < 0)
		return r;
	write_text(&text, data, ret_text, size);
	return 0;
}

/* ---- types ---- */

static uint16_t offset_of_name(const struct cpython_layout *layout)
{
	if (layout->code_qualified != CPYTHON_NONE)
		return layout->code_qualified;
	return layout->code_name;
}

static int check_type(const struct cpython_layout *layout, const struct memory *memory,
		      uint64_t object, uint64_t wanted)
{
	uint64_t type;
	int r = memory_word(memory, object + layout->object_type, &type);

	if (r < 0)
		return r;
	if (type != wanted)
		return -EPROTO;
	return 0;
}

/* Checks the object to which the pointer at an address leads. */
static int check_type_at(const struct cpython_layout *layout, const struct memory *memory,
			 uint64_t address, uint64_t wanted)
{
	uint64_t object;
	int r = memory_word(memory, address, &object);

	if (r < 0)
		return r;
	return check_type(layout, memory, object, wanted);
}

int cpython_code_check(const struct cpython_layout *layout, const struct cpython_types *types,
		       const struct memory *memory, uint64_t address)
{
	int r = check_type(layout, memory, address, types->code);

	if (r == 0)
		r = check_type_at(layout, memory, address + offset_of_name(layout), types->text);
	if (r == 0)
		r = check_type_at(layout, memory, address + layout->code_file, types->text);
	if (r < 0)
		return r;
	r = check_type_at(layout, memory, address + layout->code_lines, types->bytes);
	if (r == -EFAULT)
		return 0;
	return r;
}

/* ---- code ---- */

static int read_text_at(const struct cpython_layout *layout, const struct memory *memory,
			uint64_t address, char *ret_text, size_t size)
{
	uint64_t text;
	int r = memory_word(memory, address, &text);

	if (r < 0)
		return r;
	return cpython_text(layout, memory, text, ret_text, size);
}

int cpython_code_read(const struct cpython_layout *layout, const struct memory *memory,
		      uint64_t address, struct told_code *ret_code)
{
	int r = read_text_at(layout, memory, address + offset_of_name(layout), ret_code->name,
			     sizeof(ret_code->name));

	if (r < 0)
		return r;
	r = read_text_at(layout, memory, address + layout->code_file, ret_code->file,
			 sizeof(ret_code->file));
	if (r < 0)
		return r;
	return memory_read(memory, address + layout->code_first_line, &ret_code->first_line,
			   sizeof(ret_code->first_line));
}

static size_t at_most(uint64_t size, size_t most)
{
	if (size < most)
		return (size_t)size;
	return most;
}

int cpython_code_lines(const struct cpython_layout *layout, const struct memory *memory,
		       uint64_t address, void *ret_table, size_t size, size_t *ret_size)
{
	uint64_t object, bytes;
	int r = memory_word(memory, address + layout->code_lines, &object);

	if (r == 0)
		r = memory_word(memory, object + layout->bytes_size, &bytes);
	if (r < 0)
		return r;
	object += layout->bytes_data;
	*ret_size = at_most(bytes, at_most(memory_left(memory, object), size));
	r = memory_read(memory, object, ret_table, *ret_size);
	if (r < 0)
		return r;
	return *ret_size < bytes;
}
