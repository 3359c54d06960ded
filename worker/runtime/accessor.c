/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/accessor.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "bpf/abi.h"
#include "object/elf/dynamic.h"
#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/instruction.h"

static const struct accessor_value unknown = {.base = ACCESSOR_UNKNOWN};

void accessor_init(struct accessor *accessor, struct image *image, const struct exported *exported,
		   uint64_t pc)
{
	*accessor = (struct accessor){.image = image, .exported = exported, .pc = pc};
}

bool accessor_turn(struct accessor *accessor)
{
	if (accessor->other == 0)
		return false;
	accessor->pc = accessor->other;
	accessor->other = 0;
	accessor->in_call = false;
	memcpy(accessor->reg, accessor->other_reg, sizeof(accessor->reg));
	return true;
}

/* ---- values ---- */

static bool find_relocation(struct accessor *accessor, uint64_t address,
			    struct dynamic_relocation *ret_relocation)
{
	if (accessor->relocations >= ACCESSOR_RELOCATIONS_MAX)
		return false;
	accessor->relocations++;
	return dynamic_relocation(accessor->image, address, ret_relocation) == 0;
}

static struct accessor_value number_value(uint64_t number)
{
	return (struct accessor_value){.base = ACCESSOR_NUMBER, .number = number};
}

static struct accessor_value symbol_value(const struct accessor *accessor,
					  const struct dynamic_relocation *relocation)
{
	struct exported_symbol symbol;

	if (!exported_get(accessor->exported, relocation->symbol, &symbol))
		return unknown;
	return number_value(symbol.address + (uint64_t)relocation->addend);
}

/* Returns what the dynamic linker stores at an address, or that which the program has there. */
static struct accessor_value stored_value(struct accessor *accessor, uint64_t address)
{
	struct accessor_value value = number_value(address);
	struct dynamic_relocation relocation;

	value.loaded = true;
	if (!find_relocation(accessor, address, &relocation))
		return value;
	switch (relocation.type) {
	case R_X86_64_GLOB_DAT:
	case R_X86_64_64:
		return symbol_value(accessor, &relocation);
	case R_X86_64_RELATIVE:
		return number_value((uint64_t)relocation.addend);
	case R_X86_64_TPOFF64:
		return (struct accessor_value){.base = ACCESSOR_OFFSET, .pc = address};
	default:
		return unknown;
	}
}

/* Adds a number. */
static struct accessor_value moved(struct accessor_value value, uint64_t number)
{
	if (value.base == ACCESSOR_UNKNOWN)
		return unknown;
	if (value.loaded && number != 0)
		return unknown;
	value.number += number;
	return value;
}

static struct accessor_value operand_value(const struct accessor *accessor,
					   const struct instruction *instruction)
{
	const struct instruction_operand *operand = &instruction->operand;

	if (operand->unknown)
		return unknown;
	if (operand->base == INSTRUCTION_NO_BASE)
		return number_value(operand->number);
	return moved(accessor->reg[operand->base], operand->number);
}

/* Makes an offset from the thread pointer the place there. */
static struct accessor_value thread_place(struct accessor_value offset)
{
	if (offset.loaded)
		return unknown;
	if (offset.base == ACCESSOR_NUMBER)
		offset.base = ACCESSOR_THREAD;
	else if (offset.base == ACCESSOR_OFFSET)
		offset.base = ACCESSOR_THREAD_OFFSET;
	else if (offset.base == ACCESSOR_DESCRIPTOR)
		offset.base = ACCESSOR_THREAD_DESCRIPTOR;
	else
		return unknown;
	return offset;
}

/* Returns whether a value is an offset that is known when the program runs. */
static bool is_offset(const struct accessor_value *value)
{
	return value->base == ACCESSOR_OFFSET || value->base == ACCESSOR_DESCRIPTOR;
}

static struct accessor_value load(struct accessor *accessor, const struct instruction *instruction)
{
	struct accessor_value place = operand_value(accessor, instruction);

	if (instruction->segment)
		place = thread_place(place);
	if (place.base == ACCESSOR_UNKNOWN || is_offset(&place) || place.loaded)
		return unknown;
	/* The word at the thread pointer is the thread pointer itself: the x86-64 ABI of TLS. */
	if (place.base == ACCESSOR_THREAD && place.number == 0 && instruction->segment)
		return place;
	if (place.base == ACCESSOR_NUMBER && instruction->wide)
		return stored_value(accessor, place.number);
	place.loaded = true;
	return place;
}

/* Adds two values, of which one is an offset from the thread pointer. */
static struct accessor_value sum(struct accessor_value left, struct accessor_value right)
{
	if (right.base == ACCESSOR_NUMBER && !right.loaded)
		return moved(left, right.number);
	if (left.base == ACCESSOR_THREAD && !left.loaded && is_offset(&right))
		return thread_place(moved(right, left.number));
	if (right.base == ACCESSOR_THREAD && !right.loaded && is_offset(&left))
		return thread_place(moved(left, right.number));
	return unknown;
}

/* ---- instructions ---- */

static void set(struct accessor *accessor, const struct instruction *instruction,
		struct accessor_value value)
{
	if (!instruction->wide && !value.loaded) {
		if (value.base != ACCESSOR_NUMBER)
			value = unknown;
		value.number &= UINT32_MAX;
	}
	accessor->reg[instruction->reg] = value;
}

static bool is_relocated_as(struct accessor *accessor, const struct accessor_value *place,
			    uint32_t type)
{
	struct dynamic_relocation relocation;

	if (place->base != ACCESSOR_NUMBER || place->loaded)
		return false;
	return find_relocation(accessor, place->number, &relocation) && relocation.type == type;
}

/*
 * Lets the function that was called return; it may be one that finds thread-local memory. That of a
 * descriptor keeps all registers but one.
 */
static void end_call(struct accessor *accessor)
{
	static const uint8_t lost[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};
	const struct accessor_value argument = accessor->reg[ACCESSOR_RDI];

	accessor->in_call = false;
	if (is_relocated_as(accessor, &accessor->called_at, R_X86_64_TLSDESC)) {
		accessor->reg[ACCESSOR_RAX] = (struct accessor_value){
			.base = ACCESSOR_DESCRIPTOR, .pc = accessor->called_at.number};
		return;
	}
	for (size_t i = 0; i < sizeof(lost); i++)
		accessor->reg[lost[i]] = unknown;
	if (is_relocated_as(accessor, &argument, R_X86_64_DTPMOD64))
		accessor->reg[ACCESSOR_RAX] =
			(struct accessor_value){.base = ACCESSOR_MODULE, .pc = argument.number};
}

static void note_branch(struct accessor *accessor, uint64_t target)
{
	if (accessor->other != 0)
		return;
	accessor->other = target;
	memcpy(accessor->other_reg, accessor->reg, sizeof(accessor->reg));
}

static void change(struct accessor *accessor, const struct instruction *instruction)
{
	struct accessor_value *reg = &accessor->reg[instruction->reg];

	switch (instruction->kind) {
	case INSTRUCTION_LOSE:
		*reg = unknown;
		break;
	case INSTRUCTION_MOVE:
		set(accessor, instruction, operand_value(accessor, instruction));
		break;
	case INSTRUCTION_LOAD:
		set(accessor, instruction, load(accessor, instruction));
		break;
	case INSTRUCTION_ADD:
		*reg = sum(*reg, operand_value(accessor, instruction));
		break;
	case INSTRUCTION_ADD_FROM:
		*reg = sum(*reg, load(accessor, instruction));
		break;
	case INSTRUCTION_BRANCH:
		note_branch(accessor, instruction->target);
		break;
	default:
		break;
	}
}

static int decode_at(const struct accessor *accessor, struct instruction *ret_instruction)
{
	unsigned char bytes[INSTRUCTION_BYTES_MAX];
	struct image_place place;
	size_t size = sizeof(bytes);

	if (image_address_place(accessor->image, accessor->pc, &place) < 0)
		return -EBADMSG;
	if (size > place.size)
		size = place.size;
	size = image_read(accessor->image, place.offset, bytes, size);
	return instruction_decode(bytes, size, accessor->pc, ret_instruction);
}

/* Does one instruction. Returns an event, or -EAGAIN for none, or an error. */
static int step(struct accessor *accessor)
{
	struct instruction instruction;
	int r;

	if (accessor->pc == 0)
		return -ENOTSUP; /* the end, or a jump to an unknown place */
	r = decode_at(accessor, &instruction);
	if (r < 0)
		return r;
	accessor->pc += instruction.size;
	accessor->called_at = unknown;
	switch (instruction.kind) {
	case INSTRUCTION_CALL_AT:
		accessor->called_at = operand_value(accessor, &instruction);
		accessor->in_call = true;
		return ACCESSOR_CALL;
	case INSTRUCTION_CALL:
		accessor->in_call = true;
		return ACCESSOR_CALL;
	case INSTRUCTION_JUMP:
		accessor->pc = instruction.target;
		return ACCESSOR_JUMP;
	case INSTRUCTION_RETURN:
		accessor->pc = 0;
		return ACCESSOR_RETURN;
	default:
		change(accessor, &instruction);
		return -EAGAIN;
	}
}

int accessor_next(struct accessor *accessor)
{
	int r = -EAGAIN;

	if (accessor->in_call)
		end_call(accessor);
	for (; r == -EAGAIN; accessor->steps++) {
		if (accessor->steps >= ACCESSOR_STEPS_MAX)
			return -ELOOP;
		r = step(accessor);
	}
	return r;
}

int accessor_root(const struct accessor_value *value, bool musl, struct runtime_root *ret_root)
{
	struct runtime_root root = {.pc = value->pc, .steps = 1};

	if (!value->loaded || (int64_t)value->number != (int32_t)value->number)
		return -ENOTSUP;
	root.offset[0] = (int32_t)value->number;
	switch (value->base) {
	case ACCESSOR_THREAD:
		root.start = RUNTIME_AT_THREAD;
		break;
	case ACCESSOR_THREAD_OFFSET:
		root.start = RUNTIME_AT_OFFSET;
		break;
	case ACCESSOR_MODULE:
		root.start = musl ? RUNTIME_AT_MODULE_MUSL : RUNTIME_AT_MODULE;
		break;
	case ACCESSOR_THREAD_DESCRIPTOR:
		root.start = musl ? RUNTIME_AT_DESCRIPTOR_MUSL : RUNTIME_AT_DESCRIPTOR;
		break;
	default:
		return -ENOTSUP;
	}
	*ret_root = root;
	return 0;
}
