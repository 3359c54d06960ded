/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/instruction.h"

#include <errno.h>

#include "base/reader.h"

#define REX	  0x40u
#define REX_W	  8u
#define REX_R	  4u
#define REX_B	  1u
#define PREFIX_FS 0x64u
#define ESCAPE	  0x0fu
#define TWO	  0x0f00u /* an opcode of two bytes */

#define SP 4u /* the number in a modrm byte that stands for a SIB byte */
#define BP 5u /* without displacement: relative to the next instruction, or absolute */

struct decoder {
	struct reader reader;
	uint64_t pc;
	unsigned int rex, opcode;
	unsigned int reg;      /* of the modrm byte */
	bool memory, relative; /* the operand is in memory; relative to the next instruction */
	struct instruction *instruction;
};

typedef int decode(struct decoder *decoder);

static uint64_t signed8(struct decoder *decoder)
{
	return (uint64_t)(int64_t)(int8_t)reader_u8(&decoder->reader);
}

static uint64_t signed32(struct decoder *decoder)
{
	return (uint64_t)(int64_t)(int32_t)reader_u32(&decoder->reader);
}

/* ---- operands ---- */

static void read_prefixes(struct decoder *decoder)
{
	for (size_t i = 0; i < INSTRUCTION_BYTES_MAX; i++) {
		decoder->opcode = reader_u8(&decoder->reader);
		switch (decoder->opcode) {
		case PREFIX_FS:
			decoder->instruction->segment = true;
			break;
		case 0x66:
		case 0x67:
		case 0xf2:
		case 0xf3:
			break;
		default:
			return;
		}
	}
}

static void read_opcode(struct decoder *decoder)
{
	read_prefixes(decoder);
	if ((decoder->opcode & 0xf0) == REX) {
		decoder->rex = decoder->opcode;
		decoder->opcode = reader_u8(&decoder->reader);
	}
	if (decoder->opcode == ESCAPE)
		decoder->opcode = TWO | reader_u8(&decoder->reader);
	decoder->instruction->wide = (decoder->rex & REX_W) != 0;
}

static uint8_t low_register(const struct decoder *decoder, unsigned int number)
{
	return (uint8_t)((number & 7) | (decoder->rex & REX_B) << 3);
}

static void read_sib(struct decoder *decoder, unsigned int mode)
{
	struct instruction_operand *operand = &decoder->instruction->operand;
	unsigned int sib = reader_u8(&decoder->reader);

	operand->base = low_register(decoder, sib);
	if ((sib >> 3 & 7) != SP || decoder->rex & 2)
		operand->unknown = true; /* there is an index */
	if (mode == 0 && (sib & 7) == BP) {
		operand->base = INSTRUCTION_NO_BASE;
		operand->number = signed32(decoder);
	}
}

static void read_memory(struct decoder *decoder, unsigned int mode, unsigned int base)
{
	struct instruction_operand *operand = &decoder->instruction->operand;

	decoder->memory = true;
	operand->base = low_register(decoder, base);
	if (base == SP)
		read_sib(decoder, mode);
	if (mode == 0 && base == BP) {
		decoder->relative = true;
		operand->base = INSTRUCTION_NO_BASE;
		operand->number = signed32(decoder);
	}
	if (mode == 1)
		operand->number = signed8(decoder);
	if (mode == 2)
		operand->number = signed32(decoder);
}

/* Reads a modrm byte and what belongs to it. */
static void read_operand(struct decoder *decoder)
{
	unsigned int byte = reader_u8(&decoder->reader);

	decoder->reg = (byte >> 3 & 7) | (decoder->rex & REX_R) << 1;
	decoder->instruction->reg = (uint8_t)decoder->reg;
	if (byte >> 6 != 3)
		read_memory(decoder, byte >> 6, byte & 7);
	else
		decoder->instruction->operand.base = low_register(decoder, byte);
}

static void set_number(struct decoder *decoder, uint64_t number)
{
	decoder->instruction->operand = (struct instruction_operand){
		.base = INSTRUCTION_NO_BASE,
		.number = number,
	};
}

/* Makes the register of the operand the one that changes. */
static void turn_around(struct decoder *decoder)
{
	struct instruction *instruction = decoder->instruction;
	uint8_t reg = instruction->reg;

	instruction->reg = instruction->operand.base;
	instruction->operand = (struct instruction_operand){.base = reg};
}

/* ---- instructions ---- */

static int decode_nothing(struct decoder *decoder)
{
	(void)decoder;
	return 0;
}

static int decode_compare(struct decoder *decoder)
{
	read_operand(decoder);
	return 0;
}

/* An operation with a number on a register, or on memory. */
static int decode_number(struct decoder *decoder, uint64_t (*read)(struct decoder *decoder))
{
	struct instruction *instruction = decoder->instruction;
	uint8_t reg;

	read_operand(decoder);
	reg = instruction->operand.base;
	set_number(decoder, read(decoder));
	if (decoder->memory || (decoder->reg & 7) == 7)
		return 0;
	instruction->reg = reg;
	instruction->kind = INSTRUCTION_LOSE;
	if ((decoder->reg & 7) == 0 && instruction->wide)
		instruction->kind = INSTRUCTION_ADD;
	return 0;
}

static int decode_number8(struct decoder *decoder)
{
	return decode_number(decoder, signed8);
}

static int decode_number32(struct decoder *decoder)
{
	return decode_number(decoder, signed32);
}

static int decode_compare_byte(struct decoder *decoder)
{
	read_operand(decoder);
	reader_skip(&decoder->reader, 1);
	if ((decoder->reg & 7) != 7)
		return -ENOTSUP;
	return 0;
}

static int decode_store(struct decoder *decoder)
{
	read_operand(decoder);
	if (decoder->memory)
		return 0;
	turn_around(decoder);
	decoder->instruction->kind = INSTRUCTION_MOVE;
	return 0;
}

static int decode_load(struct decoder *decoder)
{
	read_operand(decoder);
	decoder->instruction->kind = decoder->memory ? INSTRUCTION_LOAD : INSTRUCTION_MOVE;
	return 0;
}

static int decode_add(struct decoder *decoder)
{
	read_operand(decoder);
	decoder->instruction->kind = INSTRUCTION_LOSE;
	if (decoder->memory && decoder->instruction->wide)
		decoder->instruction->kind = INSTRUCTION_ADD_FROM;
	return 0;
}

static int decode_add_to(struct decoder *decoder)
{
	read_operand(decoder);
	if (decoder->memory)
		return 0;
	turn_around(decoder);
	decoder->instruction->kind = INSTRUCTION_LOSE;
	if (decoder->instruction->wide)
		decoder->instruction->kind = INSTRUCTION_ADD;
	return 0;
}

static int decode_address(struct decoder *decoder)
{
	read_operand(decoder);
	if (!decoder->memory)
		return -ENOTSUP;
	decoder->instruction->kind = INSTRUCTION_MOVE;
	return 0;
}

static int decode_xor(struct decoder *decoder)
{
	struct instruction *instruction = decoder->instruction;

	read_operand(decoder);
	if (decoder->memory)
		return -ENOTSUP;
	instruction->kind = INSTRUCTION_LOSE;
	if (instruction->operand.base != instruction->reg) {
		if (decoder->opcode == 0x31)
			turn_around(decoder);
		return 0;
	}
	instruction->kind = INSTRUCTION_MOVE;
	set_number(decoder, 0);
	return 0;
}

static int decode_constant(struct decoder *decoder)
{
	decoder->instruction->kind = INSTRUCTION_MOVE;
	decoder->instruction->reg = low_register(decoder, decoder->opcode);
	if (decoder->instruction->wide)
		set_number(decoder, reader_u64(&decoder->reader));
	else
		set_number(decoder, reader_u32(&decoder->reader));
	return 0;
}

static int decode_store_number(struct decoder *decoder)
{
	struct instruction *instruction = decoder->instruction;

	read_operand(decoder);
	if (!decoder->memory) {
		instruction->kind = INSTRUCTION_MOVE;
		instruction->reg = instruction->operand.base;
	}
	set_number(decoder, signed32(decoder));
	return 0;
}

static int decode_pop(struct decoder *decoder)
{
	decoder->instruction->kind = INSTRUCTION_LOSE;
	decoder->instruction->reg = low_register(decoder, decoder->opcode);
	return 0;
}

/* The target is relative to the end of the instruction. */
static int decode_target(struct decoder *decoder, enum instruction_kind kind, uint64_t distance)
{
	decoder->instruction->kind = kind;
	decoder->instruction->target = decoder->pc + reader_offset(&decoder->reader) + distance;
	return 0;
}

static int decode_call(struct decoder *decoder)
{
	return decode_target(decoder, INSTRUCTION_CALL, signed32(decoder));
}

static int decode_jump(struct decoder *decoder)
{
	return decode_target(decoder, INSTRUCTION_JUMP, signed32(decoder));
}

static int decode_jump8(struct decoder *decoder)
{
	return decode_target(decoder, INSTRUCTION_JUMP, signed8(decoder));
}

static int decode_branch(struct decoder *decoder)
{
	return decode_target(decoder, INSTRUCTION_BRANCH, signed32(decoder));
}

static int decode_branch8(struct decoder *decoder)
{
	return decode_target(decoder, INSTRUCTION_BRANCH, signed8(decoder));
}

static int decode_indirect(struct decoder *decoder)
{
	read_operand(decoder);
	if ((decoder->reg & 7) == 2 && decoder->memory)
		decoder->instruction->kind = INSTRUCTION_CALL_AT;
	else if ((decoder->reg & 7) == 2)
		decoder->instruction->kind = INSTRUCTION_CALL;
	else if ((decoder->reg & 7) == 4)
		decoder->instruction->kind = INSTRUCTION_JUMP;
	else
		return -ENOTSUP;
	return 0;
}

static int decode_return(struct decoder *decoder)
{
	decoder->instruction->kind = INSTRUCTION_RETURN;
	return 0;
}

static const struct {
	unsigned int first, last;
	decode *decode;
} opcodes[] = {
	{0x01, 0x01, decode_add_to},
	{0x03, 0x03, decode_add},
	{0x31, 0x31, decode_xor},
	{0x33, 0x33, decode_xor},
	{0x38, 0x3b, decode_compare},
	{0x50, 0x57, decode_nothing}, /* push */
	{0x58, 0x5f, decode_pop},
	{0x70, 0x7f, decode_branch8},
	{0x80, 0x80, decode_compare_byte},
	{0x81, 0x81, decode_number32},
	{0x83, 0x83, decode_number8},
	{0x84, 0x85, decode_compare}, /* test */
	{0x89, 0x89, decode_store},
	{0x8b, 0x8b, decode_load},
	{0x8d, 0x8d, decode_address},
	{0x90, 0x90, decode_nothing},
	{0xb8, 0xbf, decode_constant},
	{0xc3, 0xc3, decode_return},
	{0xc7, 0xc7, decode_store_number},
	{0xc9, 0xc9, decode_nothing}, /* leave */
	{0xe8, 0xe8, decode_call},
	{0xe9, 0xe9, decode_jump},
	{0xeb, 0xeb, decode_jump8},
	{0xff, 0xff, decode_indirect},
	{TWO | 0x1e, TWO | 0x1f, decode_compare}, /* endbr64, nop */
	{TWO | 0x80, TWO | 0x8f, decode_branch},
};

static int decode_opcode(struct decoder *decoder)
{
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
		if (decoder->opcode >= opcodes[i].first && decoder->opcode <= opcodes[i].last)
			return opcodes[i].decode(decoder);
	return -ENOTSUP;
}

int instruction_decode(const void *bytes, size_t size, uint64_t pc,
		       struct instruction *ret_instruction)
{
	struct instruction instruction = {.kind = INSTRUCTION_OTHER};
	struct decoder decoder = {.pc = pc, .instruction = &instruction};
	int r;

	if (size > INSTRUCTION_BYTES_MAX)
		size = INSTRUCTION_BYTES_MAX;
	reader_init(&decoder.reader, bytes, size);
	read_opcode(&decoder);
	r = decode_opcode(&decoder);
	if (reader_failed(&decoder.reader))
		return -EBADMSG;
	if (r < 0)
		return r;
	instruction.size = reader_offset(&decoder.reader);
	if (decoder.relative)
		instruction.operand.number += pc + instruction.size;
	*ret_instruction = instruction;
	return 0;
}
