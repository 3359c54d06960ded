/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_hotspot.h"

#include <stdlib.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_python.h"
#include "worker/runtime/hotspot_layout.h"

#define NONE UINT64_MAX

enum what {
	OFFSET,
	STATIC,
	SIZE,
	CONSTANT
};

static const struct {
	enum what what;
	const char *type, *name;
	uint64_t value[BUILD_HOTSPOT_VERSIONS];
} rows[] = {
#define R(what, type, name, ...) {what, type, name, {__VA_ARGS__}},
#include "tests/unit/build_hotspot.def"
#undef R
};

static const uint32_t majors[BUILD_HOTSPOT_VERSIONS] = {25, 11, 17, 21, 25, 26};

/* ---- the image ---- */

#define FIELDS	  0x0000u /* places in the further segment */
#define TYPES	  0x2000u
#define CONSTANTS 0x3000u
#define STRINGS	  0x4000u
#define BYTES	  0x6000u
#define POINTERS  0x4010u /* addresses of the variables that lead to the tables */
#define STORES	  0x1100u

#define FIELD_BYTES    48u
#define TYPE_BYTES     40u
#define CONSTANT_BYTES 16u

struct writer {
	unsigned char bytes[BYTES];
	size_t fields, types, constants, strings;
	uint64_t code; /* address of the next store */
	struct build_python python;
};

static void put(struct writer *writer, size_t at, uint64_t value)
{
	memcpy(writer->bytes + at, &value, sizeof(value));
}

/* Returns the address of a text. */
static uint64_t text(struct writer *writer, const char *string)
{
	const size_t at = STRINGS + writer->strings;

	memcpy(writer->bytes + at, string, strlen(string) + 1);
	writer->strings += strlen(string) + 1;
	return PYTHON_MORE + at;
}

/* movq $value, place(%rip) */
static void add_store(struct writer *writer, uint64_t place, uint32_t value)
{
	const uint32_t distance = (uint32_t)(place - (writer->code + 11));

	build_python_bytes(&writer->python, writer->code, "\x48\xc7\x05", 3);
	build_python_bytes(&writer->python, writer->code + 3, &distance, sizeof(distance));
	build_python_bytes(&writer->python, writer->code + 7, &value, sizeof(value));
	writer->code += 11;
}

static void add_field(struct writer *writer, const struct build_hotspot *hotspot, size_t row,
		      size_t *unstored)
{
	const size_t at = FIELDS + writer->fields++ * FIELD_BYTES;
	const uint64_t value = rows[row].value[hotspot->version];

	put(writer, at, text(writer, rows[row].type));
	put(writer, at + 8, text(writer, rows[row].name));
	if (rows[row].what == STATIC) {
		put(writer, at + 24, 1);
		put(writer, at + 40, BUILD_HOTSPOT_VARIABLE);
	} else if (hotspot->has_offsets) {
		put(writer, at + 32, value);
	} else if (*unstored > 0) {
		--*unstored;
	} else {
		add_store(writer, PYTHON_MORE + at + 32, (uint32_t)value);
	}
}

static void add_row(struct writer *writer, const struct build_hotspot *hotspot, size_t row,
		    size_t *unstored)
{
	const uint64_t value = rows[row].value[hotspot->version];

	if (value == NONE || (hotspot->without && strcmp(rows[row].name, hotspot->without) == 0))
		return;
	if (rows[row].what == SIZE) {
		const size_t at = TYPES + writer->types++ * TYPE_BYTES;

		put(writer, at, text(writer, rows[row].type));
		put(writer, at + 32, value);
	} else if (rows[row].what == CONSTANT) {
		const size_t at = CONSTANTS + writer->constants++ * CONSTANT_BYTES;

		put(writer, at, text(writer, rows[row].name));
		put(writer, at + 8, value);
	} else {
		add_field(writer, hotspot, row, unstored);
	}
}

static void add_pointer(struct writer *writer, const char *name, uint64_t address, uint64_t value)
{
	build_python_symbol(&writer->python, name, address, sizeof(value));
	build_python_bytes(&writer->python, address, &value, sizeof(value));
}

static void add_pointers(struct writer *writer, const struct build_hotspot *hotspot)
{
	uint64_t fields = PYTHON_MORE + FIELDS;

	if (hotspot->is_relocated) {
		build_python_relocation(&writer->python, POINTERS, R_X86_64_RELATIVE, 0,
					(int64_t)fields);
		fields = 0;
	}
	add_pointer(writer, "gHotSpotVMStructs", POINTERS, fields);
	add_pointer(writer, "gHotSpotVMTypes", POINTERS + 8, PYTHON_MORE + TYPES);
	add_pointer(writer, "gHotSpotVMIntConstants", POINTERS + 16, PYTHON_MORE + CONSTANTS);
	build_python_symbol(&writer->python, "JNI_CreateJavaVM", BUILD_HOTSPOT_INSIDE, 16);
}

static void change(struct writer *writer, const struct build_hotspot *hotspot)
{
	for (size_t i = 0; i < hotspot->changes_size && i < BYTES; i++)
		writer->bytes[i] ^= hotspot->changes[i];
}

struct image *build_hotspot_image(const struct build_hotspot *hotspot)
{
	static struct writer writer;
	size_t unstored = hotspot->unstored;
	uint32_t major = majors[hotspot->version];

	memset(&writer, 0, sizeof(writer));
	writer.code = STORES;
	writer.python.symbols = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_row(&writer, hotspot, i, &unstored);
	if (hotspot->major)
		major = hotspot->major;
	build_python_bytes(&writer.python, BUILD_HOTSPOT_VARIABLE, &major, sizeof(major));
	add_pointers(&writer, hotspot);
	change(&writer, hotspot);
	writer.python.more = writer.bytes;
	writer.python.more_size = sizeof(writer.bytes);
	return build_python_image(&writer.python);
}

/* ---- events ---- */

#define CODE	  0x7f0000010000ull
#define CLASS	  0x7f0000020000ull
#define NAME	  0x7f0000030000ull
#define SIGNED	  0x7f0000040000ull
#define CONSTANT_ 0x7f0000050000ull
#define FILE_	  0x7f0000060000ull

/* Puts a Symbol, as much of it as there is room. */
static void put_symbol(const struct hotspot_layout *layout, const char *symbol, uint8_t *bytes,
		       size_t room)
{
	const uint16_t length = (uint16_t)strlen(symbol);
	size_t size = length;

	memcpy(bytes + layout->symbol_length, &length, sizeof(length));
	if (size > room - layout->symbol_body)
		size = room - layout->symbol_body;
	memcpy(bytes + layout->symbol_body, symbol, size);
}

static void put_part(struct event_code *event, const struct hotspot_layout *layout, size_t part,
		     size_t start, size_t end, uint64_t address, const char *symbol)
{
	event->address[part] = address;
	if (!symbol)
		return;
	event->bytes[part] = end - start;
	put_symbol(layout, symbol, event->data + start, end - start);
}

struct event_code build_hotspot_function(const struct hotspot_layout *layout,
					 const struct build_hotspot_function *function)
{
	struct event_code event = {.event = {.kind = EVENT_CODE}, .code = CODE};
	uint8_t *constant = event.data + CODE_PART_3;
	const uint16_t flags = function->lines ? (uint16_t)layout->has_lines : 0;

	put_part(&event, layout, 0, 0, CODE_PART_1, CLASS, function->class);
	put_part(&event, layout, 1, CODE_PART_1, CODE_PART_2, NAME, function->name);
	put_part(&event, layout, 2, CODE_PART_2, CODE_PART_3, SIGNED, function->signature);
	if (function->file) {
		event.name = FILE_;
		put_symbol(layout, function->file, event.text, sizeof(event.text));
	}
	event.address[3] = CONSTANT_;
	event.bytes[3] = layout->constant_bytes + function->code_size + function->lines_size;
	memcpy(constant + layout->flags, &flags, sizeof(flags));
	memcpy(constant + layout->code_size, &function->code_size, sizeof(function->code_size));
	if (function->lines)
		memcpy(constant + layout->constant_bytes + function->code_size, function->lines,
		       function->lines_size);
	return event;
}
