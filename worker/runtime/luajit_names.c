/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/luajit_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/reader.h"
#include "bpf/abi.h"
#include "worker/runtime/lua_text.h"
#include "worker/runtime/luajit_layout.h"
#include "worker/runtime/memory.h"

/* ---- config ---- */

/* lj_bc.h: an instruction has 8 bits of opcode, 8 of A, and 16 of D, or 8 of C and 8 of B. */
#define OPCODE_BITS 8u
#define OP_MOV	    18u
#define OP_UGET	    45u
#define OP_GGET	    54u
#define OP_TGETS    57u
#define OP_CALLM    65u
#define OP_CALL	    66u
#define OP_ITERC    69u
#define OP_JMP	    88u

static const struct runtime_form forms[RUNTIME_FORMS] = {
	{.opcode = OP_MOV, .source = RUNTIME_OF_PACKED_VARIABLES, .shift = 16, .bits = 16},
	{.opcode = OP_UGET, .source = RUNTIME_OF_PACKED_UPVALUES, .shift = 16, .bits = 16},
	{.opcode = OP_GGET, .source = RUNTIME_OF_REFERENCES, .shift = 16, .bits = 16},
	{.opcode = OP_TGETS, .source = RUNTIME_OF_REFERENCES, .shift = 16, .bits = 8},
};

void luajit_names_set(struct runtime_config *config, const struct luajit_layout *layout)
{
	struct runtime_names *names = &config->names;

	config->flags |= RUNTIME_NAMES;
	names->constants = layout->code_constants;
	names->upvalue_bytes = layout->reference_bytes;
	names->upvalues = layout->code_upvalues;
	names->variables = layout->code_variables;
	names->opcode_bits = OPCODE_BITS;
	names->call = OP_CALL;
	names->other_call = OP_CALLM;
	names->jump = OP_JMP;
	memcpy(names->form, forms, sizeof(names->form));
}

/* ---- names ---- */

#define TYPE_TEXT  4u  /* lj_obj.h */
#define NAME_BYTES 64u /* with a NUL */

#define NAMED_SOURCE(named)	 ((uint32_t)((named) >> 56))
#define NAMED_INDEX(named)	 ((uint32_t)((named) >> 32) & 0xffffffu)
#define NAMED_INSTRUCTION(named) ((uint32_t)(named))

/* lj_obj.h, VARNAMEDEF: below this a name is one of the compiler's own, and 0 ends the list. */
#define VARIABLE_NAMED 7u

/* lj_debug.c, lj_debug_uvname() */
static const char *find_upvalue(struct reader *reader, uint32_t index)
{
	const char *text = NULL;

	for (uint32_t i = 0; i <= index; i++) {
		text = reader_string(reader);
		if (!text)
			break;
	}
	return text;
}

/*
 * lj_debug.c, debug_varname(). Each variable has a name and two numbers. These are the distance of
 * its first instruction from that of the variable before, and how many instructions it is there.
 */
static const char *find_variable(struct reader *reader, uint32_t slot, uint32_t instruction)
{
	uint64_t first = 0;

	for (;;) {
		const char *text = "";
		const uint8_t kind = reader_u8(reader);

		if (kind == 0 || reader_failed(reader))
			return NULL;
		if (kind >= VARIABLE_NAMED) {
			reader_seek(reader, reader_offset(reader) - 1);
			text = reader_string(reader);
		}
		first += reader_uleb(reader);
		if (!text || reader_failed(reader) || first > instruction)
			return NULL;
		if (instruction - first >= reader_uleb(reader) || reader_failed(reader))
			continue;
		if (slot == 0)
			return text;
		slot--;
	}
}

int luajit_name_find(const unsigned char *packed, size_t size, uint64_t named,
		     char ret_name[TOLD_NAME_BYTES])
{
	struct reader reader;
	const char *text;

	reader_init(&reader, packed, size);
	if (NAMED_SOURCE(named) == RUNTIME_OF_PACKED_UPVALUES)
		text = find_upvalue(&reader, NAMED_INDEX(named));
	else
		text = find_variable(&reader, NAMED_INDEX(named), NAMED_INSTRUCTION(named));
	if (reader_failed(&reader))
		return -ENODATA;
	if (!text || strlen(text) >= NAME_BYTES || !lua_text_is_name(text))
		return -ENOENT;
	memcpy(ret_name, text, strlen(text) + 1);
	return 0;
}

static int read_packed(const struct memory *memory, uint64_t address, uint64_t named,
		       char ret_name[TOLD_NAME_BYTES])
{
	unsigned char bytes[TOLD_PACKED_BYTES];
	size_t size = memory_left(memory, address);
	int r;

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (memory_read(memory, address, bytes, size) < 0)
		return -ENOENT;
	r = luajit_name_find(bytes, size, named, ret_name);
	if (r == -ENODATA && size < sizeof(bytes))
		return -ENOENT;
	return r;
}

int luajit_name_read(const struct luajit_layout *layout, const struct memory *memory,
		     uint64_t address, uint64_t named, char ret_name[TOLD_NAME_BYTES])
{
	uint8_t type;
	size_t size;

	if (address == 0)
		return -ENOENT;
	if (named != 0)
		return read_packed(memory, address, named, ret_name);
	if (memory_read(memory, address + layout->object_type, &type, sizeof(type)) < 0 ||
	    type != TYPE_TEXT)
		return -ENOENT;
	address += layout->text_bytes;
	size = memory_left(memory, address);
	if (size > NAME_BYTES)
		size = NAME_BYTES;
	if (memory_read(memory, address, ret_name, size) < 0 || !memchr(ret_name, '\0', size) ||
	    !lua_text_is_name(ret_name))
		return -ENOENT;
	return 0;
}

/* ---- functions that an event has called ---- */

static const struct {
	const char *name;
	uint8_t opcode;
} events[] = {
#define E(name, opcode) {name, opcode},
#include "worker/runtime/luajit_events.def"
#undef E
};

bool luajit_names_event(uint32_t instruction, char *ret_name, size_t size)
{
	const uint32_t opcode = instruction & ((1u << OPCODE_BITS) - 1);

	if (instruction == 0)
		return false;
	if (opcode == OP_ITERC) {
		snprintf(ret_name, size, "(for generator)");
		return true;
	}
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (events[i].opcode != opcode)
			continue;
		snprintf(ret_name, size, "metamethod '__%s'", events[i].name);
		return true;
	}
	return false;
}
