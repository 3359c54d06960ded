/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/luajit_names.h"

#include <errno.h>
#include <string.h>

#include "base/reader.h"
#include "bpf/abi.h"
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

#define TYPE_TEXT    4u /* lj_obj.h */
#define PACKED_BYTES (CODE_PART_3 - CODE_PART_2)

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

static int read_packed(const struct memory *memory, uint64_t address, uint64_t named,
		       char ret_name[LUAJIT_NAME_BYTES])
{
	unsigned char bytes[PACKED_BYTES];
	size_t size = memory_left(memory, address);
	struct reader reader;
	const char *text;

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (memory_read(memory, address, bytes, size) < 0)
		return -ENOENT;
	reader_init(&reader, bytes, size);
	if (NAMED_SOURCE(named) == RUNTIME_OF_PACKED_UPVALUES)
		text = find_upvalue(&reader, NAMED_INDEX(named));
	else
		text = find_variable(&reader, NAMED_INDEX(named), NAMED_INSTRUCTION(named));
	if (!text || strlen(text) >= LUAJIT_NAME_BYTES)
		return -ENOENT;
	memcpy(ret_name, text, strlen(text) + 1);
	return 0;
}

int luajit_name_read(const struct luajit_layout *layout, const struct memory *memory,
		     uint64_t address, uint64_t named, char ret_name[LUAJIT_NAME_BYTES])
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
	if (size > LUAJIT_NAME_BYTES)
		size = LUAJIT_NAME_BYTES;
	if (memory_read(memory, address, ret_name, size) < 0 || !memchr(ret_name, '\0', size))
		return -ENOENT;
	return 0;
}
