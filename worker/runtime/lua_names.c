/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/lua_names.h"

#include <stdint.h>
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
#define OLD_C(opcode)  CONSTANT(opcode, 14, 8, 22)
#define NEW_C(opcode)  CONSTANT(opcode, 24, 8, 0)
#define NEW_RK(opcode) CONSTANT(opcode, 24, 8, 15)

/* MOVE, GETUPVAL, GETGLOBAL or GETTABUP, GETTABLE or GETFIELD, SELF */
static const struct table tables[] = {
	[1] = {6,
	       28,
	       22,
	       {MOVE(0, 23, 9), UPVALUE(4, 23, 9), CONSTANT(5, 14, 18, 0), OLD_C(6), OLD_C(11)}},
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
