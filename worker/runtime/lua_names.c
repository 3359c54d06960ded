/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/lua_names.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "worker/runtime/lua_layout.h"

/*
 * lopcodes.h: numbers of instructions, and where their fields are. Until 5.3 an instruction has 6
 * bits of opcode, 8 of register A, 9 of C and 9 of B. The highest bit of C says that the rest is
 * the number of a constant. From 5.4 on it has 7 bits of opcode, 8 of A, k, 8 of B and 8 of C.
 */
struct table {
	uint8_t opcode_bits, call, jump;
	struct runtime_form form[RUNTIME_FORMS];
};

#define MOVE(opcode_, shift_, bits_)                                                    \
	{                                                                               \
		.opcode = (opcode_), .source = RUNTIME_OF_VARIABLES, .shift = (shift_), \
		.bits = (bits_)                                                         \
	}
#define UPVALUE(opcode_, shift_, bits_)                                                \
	{                                                                              \
		.opcode = (opcode_), .source = RUNTIME_OF_UPVALUES, .shift = (shift_), \
		.bits = (bits_)                                                        \
	}
#define CONSTANT(opcode_, shift_, bits_, needs_)                                        \
	{                                                                               \
		.opcode = (opcode_), .source = RUNTIME_OF_CONSTANTS, .shift = (shift_), \
		.bits = (bits_), .needs = (needs_)                                      \
	}
#define CAPTURES(opcode_)                                          \
	{                                                          \
		.opcode = (opcode_), .source = RUNTIME_OF_CAPTURES \
	}
#define OLD_C(opcode)  CONSTANT(opcode, 14, 8, 22)
#define NEW_C(opcode)  CONSTANT(opcode, 24, 8, 0)
#define NEW_RK(opcode) CONSTANT(opcode, 24, 8, 15)

/* MOVE, GETUPVAL, GETGLOBAL or GETTABUP, GETTABLE or GETFIELD, SELF; 5.1: CLOSURE */
static const struct table tables[] = {
	[1] = {6,
	       28,
	       22,
	       {MOVE(0, 23, 9), UPVALUE(4, 23, 9), CONSTANT(5, 14, 18, 0), OLD_C(6), OLD_C(11),
		CAPTURES(36)}},
	[2] = {6, 29, 23, {MOVE(0, 23, 9), UPVALUE(5, 23, 9), OLD_C(6), OLD_C(7), OLD_C(12)}},
	[3] = {6, 36, 30, {MOVE(0, 23, 9), UPVALUE(5, 23, 9), OLD_C(6), OLD_C(7), OLD_C(12)}},
	[4] = {7, 68, 56, {MOVE(0, 16, 8), UPVALUE(9, 16, 8), NEW_C(11), NEW_C(14), NEW_RK(20)}},
	[5] = {7, 68, 56, {MOVE(0, 16, 8), UPVALUE(9, 16, 8), NEW_C(11), NEW_C(14), NEW_C(20)}},
};

/* lstate.h: CIST_TAIL of CallInfo.callstatus */
static const uint32_t tail_of[] = {[2] = 1u << 6, [3] = 1u << 5, [4] = 1u << 5, [5] = 1u << 22};

static void set_tail(struct runtime_names *names, const struct lua_layout *layout)
{
	names->tail = layout->frame_tail_calls;
	names->tail_mask = UINT32_MAX;
	if (layout->frame_status == LUA_NONE)
		return;
	names->tail = (uint16_t)(layout->frame_status & ~3u);
	names->tail_mask = tail_of[LUA_MINOR(layout->version)] << layout->frame_status % 4u * 8;
}

void lua_names_set(struct runtime_config *config, const struct lua_layout *layout)
{
	const struct table *table = &tables[LUA_MINOR(layout->version)];
	struct runtime_names *names = &config->names;

	config->flags |= RUNTIME_NAMES;
	set_tail(names, layout);
	names->constants = layout->code_constants;
	names->upvalues = layout->code_upvalues;
	names->upvalue_bytes = layout->code_upvalue_bytes;
	names->variables = layout->code_variables;
	names->variable_count = layout->code_variables_count;
	names->opcode_bits = table->opcode_bits;
	names->call = names->other_call = table->call;
	names->jump = table->jump;
	memcpy(names->form, table->form, sizeof(names->form));
}

/* ---- functions that an event has called ---- */

#define NONE	      0xffu
#define COLUMNS	      5u
#define MINOR_FIRST   2u /* in which getfuncname() knows events */
#define MINOR_SHORT   4u /* from here on metamethods are named without "__" */
#define RELEASE_ORDER 2u /* of 5.4: until then comparisons have another column */

static const struct metamethod {
	const char *name;
	uint8_t opcode[COLUMNS];
} metamethods[] = {
#define E(name, ...) {name, {__VA_ARGS__}},
#include "worker/runtime/lua_events.def"
#undef E
};

/* ltm.h of 5.4 and 5.5: an instruction behind an operator has the number of the metamethod. */
#define BINARY	     46u /* OP_MMBIN, OP_MMBINI and OP_MMBINK */
#define BINARY_KINDS 3u
#define BINARY_SHIFT 24u
#define BINARY_FIRST 6u /* TM_ADD */
static const char *const operators[] = {"add",	"sub",	"mul", "mod",  "pow", "div",
					"idiv", "band", "bor", "bxor", "shl", "shr"};

/* lstate.h: CIST_HOOKED and CIST_FIN of the callstatus, where getfuncname() asks for them */
static const uint32_t hooked_of[COLUMNS] = {0, 1u << 2, 1u << 3, 1u << 3, 1u << 20};
static const uint32_t finalizes_of[COLUMNS] = {0, 0, 0, 1u << 7, 1u << 24};

/* opcodes of OP_TFORCALL, or of OP_TFORLOOP, and what the version calls the function */
static const uint8_t iterate_of[] = {[1] = 33, [2] = 34, [3] = 41, [4] = 76, [5] = 76};

static size_t column_of(uint32_t version)
{
	const uint32_t minor = LUA_MINOR(version);
	size_t column = minor - MINOR_FIRST;

	if (version > LUA_VERSION(MINOR_SHORT, RELEASE_ORDER))
		column++;
	return column;
}

static const char *operator_of(const struct lua_layout *layout, uint32_t instruction,
			       uint32_t opcode)
{
	const uint32_t number = (instruction >> BINARY_SHIFT) - BINARY_FIRST;

	if (LUA_MINOR(layout->version) < MINOR_SHORT || opcode - BINARY >= BINARY_KINDS ||
	    number >= sizeof(operators) / sizeof(*operators))
		return NULL;
	return operators[number];
}

/* Returns the name of the metamethod that an instruction calls, without "__", or NULL. */
static const char *metamethod_of(const struct lua_layout *layout, uint32_t instruction,
				 uint32_t opcode)
{
	const size_t column = column_of(layout->version);

	for (size_t i = 0; i < sizeof(metamethods) / sizeof(*metamethods); i++)
		if (metamethods[i].opcode[column] == opcode)
			return metamethods[i].name;
	return operator_of(layout, instruction, opcode);
}

/* Returns whether the caller's callstatus has one of the bits. */
static bool has_status(const struct lua_layout *layout, uint32_t frame,
		       const uint32_t bits_of[COLUMNS])
{
	if (layout->frame_status == LUA_NONE)
		return false;
	return frame >> layout->frame_status % 4u * 8 & bits_of[column_of(layout->version)];
}

bool lua_names_event(const struct lua_layout *layout, uint32_t instruction, uint32_t frame,
		     char *ret_name, size_t size)
{
	const uint32_t minor = LUA_MINOR(layout->version);
	const uint32_t opcode = instruction & ((1u << tables[minor].opcode_bits) - 1);
	const char *name, *prefix = "__";

	if (has_status(layout, frame, hooked_of)) {
		snprintf(ret_name, size, "hook '?'");
		return true;
	}
	if (has_status(layout, frame, finalizes_of)) {
		snprintf(ret_name, size, "metamethod '__gc'");
		return true;
	}
	if (instruction == 0 || opcode == tables[minor].call)
		return false;
	if (opcode == iterate_of[minor]) {
		snprintf(ret_name, size, "%s",
			 minor < MINOR_FIRST ? "(for generator)" : "for iterator");
		return true;
	}
	if (minor < MINOR_FIRST)
		return false;
	name = metamethod_of(layout, instruction, opcode);
	if (!name)
		return false;
	if (minor >= MINOR_SHORT)
		prefix = "";
	snprintf(ret_name, size, "metamethod '%s%s'", prefix, name);
	return true;
}
