/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/cfi.h"

#include <errno.h>

#include "object/unwind/pace.h"

#define CFI_CODE_ALIGNMENT_MAX 4096u

/* ---- registers ---- */

/* By register: enum cfi_column + 1; 0: not followed. */
static const uint8_t columns[REGISTER_COUNT] = {
	[REGISTER_RBX] = COLUMN_RBX + 1, [REGISTER_RBP] = COLUMN_RBP + 1,
	[REGISTER_RSP] = COLUMN_RSP + 1, [REGISTER_R12] = COLUMN_R12 + 1,
	[REGISTER_R13] = COLUMN_R13 + 1, [REGISTER_R14] = COLUMN_R14 + 1,
	[REGISTER_R15] = COLUMN_R15 + 1,
};

/* Returns the register's place in the row, or NULL for one that is not followed. */
static struct cfi_place *column_of(struct cfi *cfi, uint64_t number)
{
	if (number == cfi->cie->return_register)
		return &cfi->row.column[COLUMN_RETURN];
	if (number >= REGISTER_COUNT || columns[number] == 0)
		return NULL;
	return &cfi->row.column[columns[number] - 1];
}

static void set_column(struct cfi *cfi, uint64_t number, enum cfi_how how, uint32_t size,
		       int64_t value)
{
	struct cfi_place *place = column_of(cfi, number);

	if (!place)
		return;
	*place = (struct cfi_place){.how = how, .size = size, .value = value};
	cfi->columns_changed = true;
}

static void restore_column(struct cfi *cfi, uint64_t number)
{
	struct cfi_place *place = column_of(cfi, number);

	if (!place)
		return;
	*place = cfi->initial->column[place - cfi->row.column];
	cfi->columns_changed = true;
}

static int64_t factored(struct cfi *cfi, int64_t value)
{
	int64_t product;

	if (__builtin_mul_overflow(value, cfi->cie->data_alignment, &product)) {
		reader_fail(&cfi->reader);
		return 0;
	}
	return product;
}

static int64_t unsigned_operand(struct cfi *cfi)
{
	uint64_t value = reader_uleb(&cfi->reader);

	if (value > INT64_MAX)
		reader_fail(&cfi->reader);
	return (int64_t)value;
}

/* Returns a block's offset in the section, and moves past the block. */
static int64_t block_operand(struct cfi *cfi, uint32_t *ret_size)
{
	uint64_t size = reader_uleb(&cfi->reader);
	int64_t offset = (int64_t)reader_offset(&cfi->reader);

	if (size > UINT32_MAX)
		reader_fail(&cfi->reader);
	reader_skip(&cfi->reader, size);
	*ret_size = (uint32_t)size;
	return offset;
}

/* ---- operations ---- */

static void set_location(struct cfi *cfi, uint64_t location)
{
	if (location < cfi->location)
		reader_fail(&cfi->reader);
	else
		cfi->location = location;
}

static void advance(struct cfi *cfi, uint32_t units)
{
	set_location(cfi, cfi->location + units * cfi->cie->code_alignment);
}

static void op_nop(struct cfi *cfi)
{
	(void)cfi;
}

static void op_set_loc(struct cfi *cfi)
{
	set_location(cfi, frame_pointer(&cfi->reader, cfi->cie->encoding, cfi->section_address));
}

static void op_advance_loc1(struct cfi *cfi)
{
	advance(cfi, reader_u8(&cfi->reader));
}

static void op_advance_loc2(struct cfi *cfi)
{
	advance(cfi, reader_u16(&cfi->reader));
}

static void op_advance_loc4(struct cfi *cfi)
{
	advance(cfi, reader_u32(&cfi->reader));
}

static void op_offset_extended(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);

	set_column(cfi, number, CFI_OFFSET, 0, factored(cfi, unsigned_operand(cfi)));
}

static void op_offset_extended_sf(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);

	set_column(cfi, number, CFI_OFFSET, 0, factored(cfi, reader_sleb(&cfi->reader)));
}

static void op_gnu_negative_offset_extended(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);

	set_column(cfi, number, CFI_OFFSET, 0, factored(cfi, -unsigned_operand(cfi)));
}

static void op_val_offset(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);

	set_column(cfi, number, CFI_VAL_OFFSET, 0, factored(cfi, unsigned_operand(cfi)));
}

static void op_val_offset_sf(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);

	set_column(cfi, number, CFI_VAL_OFFSET, 0, factored(cfi, reader_sleb(&cfi->reader)));
}

static void op_restore_extended(struct cfi *cfi)
{
	restore_column(cfi, reader_uleb(&cfi->reader));
}

static void op_undefined(struct cfi *cfi)
{
	set_column(cfi, reader_uleb(&cfi->reader), CFI_UNDEFINED, 0, 0);
}

static void op_same_value(struct cfi *cfi)
{
	set_column(cfi, reader_uleb(&cfi->reader), CFI_SAME, 0, 0);
}

static void op_register(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);

	set_column(cfi, number, CFI_REGISTER, 0, unsigned_operand(cfi));
}

static void op_expression(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);
	uint32_t size;
	int64_t offset = block_operand(cfi, &size);

	set_column(cfi, number, CFI_EXPRESSION, size, offset);
}

static void op_val_expression(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);
	uint32_t size;
	int64_t offset = block_operand(cfi, &size);

	set_column(cfi, number, CFI_VAL_EXPRESSION, size, offset);
}

static void op_remember_state(struct cfi *cfi)
{
	if (cfi->states < CFI_STATES_MAX)
		cfi->state[cfi->states++] = cfi->row;
	else
		reader_fail(&cfi->reader);
}

static void op_restore_state(struct cfi *cfi)
{
	if (cfi->states == 0) {
		reader_fail(&cfi->reader);
		return;
	}
	cfi->row = cfi->state[--cfi->states];
	cfi->columns_changed = true;
}

static void set_cfa(struct cfi *cfi, uint64_t number, int64_t offset)
{
	cfi->row.cfa.how = CFI_REGISTER;
	cfi->row.cfa_register = number;
	cfi->row.cfa_offset = offset;
}

static void op_def_cfa(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);

	set_cfa(cfi, number, unsigned_operand(cfi));
}

static void op_def_cfa_sf(struct cfi *cfi)
{
	uint64_t number = reader_uleb(&cfi->reader);

	set_cfa(cfi, number, factored(cfi, reader_sleb(&cfi->reader)));
}

/* Changes one half of the CFA, which must have both: the other half stays. */
static void change_cfa(struct cfi *cfi, uint64_t number, int64_t offset)
{
	if (cfi->row.cfa.how == CFI_UNSET)
		reader_fail(&cfi->reader);
	set_cfa(cfi, number, offset);
}

static void op_def_cfa_register(struct cfi *cfi)
{
	change_cfa(cfi, reader_uleb(&cfi->reader), cfi->row.cfa_offset);
}

static void op_def_cfa_offset(struct cfi *cfi)
{
	change_cfa(cfi, cfi->row.cfa_register, unsigned_operand(cfi));
}

static void op_def_cfa_offset_sf(struct cfi *cfi)
{
	change_cfa(cfi, cfi->row.cfa_register, factored(cfi, reader_sleb(&cfi->reader)));
}

static void op_def_cfa_expression(struct cfi *cfi)
{
	struct cfi_place *cfa = &cfi->row.cfa;

	cfa->how = CFI_EXPRESSION;
	cfa->value = block_operand(cfi, &cfa->size);
}

static void op_gnu_args_size(struct cfi *cfi)
{
	reader_uleb(&cfi->reader);
}

/* By the low six bits of an opcode whose high two are zero. */
static void (*const operations[64])(struct cfi *cfi) = {
	[0x00] = op_nop,
	[0x01] = op_set_loc,
	[0x02] = op_advance_loc1,
	[0x03] = op_advance_loc2,
	[0x04] = op_advance_loc4,
	[0x05] = op_offset_extended,
	[0x06] = op_restore_extended,
	[0x07] = op_undefined,
	[0x08] = op_same_value,
	[0x09] = op_register,
	[0x0a] = op_remember_state,
	[0x0b] = op_restore_state,
	[0x0c] = op_def_cfa,
	[0x0d] = op_def_cfa_register,
	[0x0e] = op_def_cfa_offset,
	[0x0f] = op_def_cfa_expression,
	[0x10] = op_expression,
	[0x11] = op_offset_extended_sf,
	[0x12] = op_def_cfa_sf,
	[0x13] = op_def_cfa_offset_sf,
	[0x14] = op_val_offset,
	[0x15] = op_val_offset_sf,
	[0x16] = op_val_expression,
	[0x2d] = op_nop, /* GNU_window_save, AARCH64_negate_ra_state: no register of ours */
	[0x2e] = op_gnu_args_size,
	[0x2f] = op_gnu_negative_offset_extended,
};

enum {
	PRIMARY_NONE,
	PRIMARY_ADVANCE,
	PRIMARY_OFFSET,
	PRIMARY_RESTORE
};

/* Executes one instruction. Three have an operand in the low six bits; the table has the others. */
static void execute(struct cfi *cfi)
{
	uint8_t opcode = reader_u8(&cfi->reader), low = opcode & 0x3f;

	if (opcode >> 6 == PRIMARY_ADVANCE)
		advance(cfi, low);
	else if (opcode >> 6 == PRIMARY_OFFSET)
		set_column(cfi, low, CFI_OFFSET, 0, factored(cfi, unsigned_operand(cfi)));
	else if (opcode >> 6 == PRIMARY_RESTORE)
		restore_column(cfi, low);
	else if (operations[low])
		operations[low](cfi);
	else
		reader_fail(&cfi->reader);
}

/* ---- programs ---- */

/* Starts a program at [from, to) of the section, whose offsets the reader keeps. */
static void program_init(struct cfi *cfi, const struct frame_section *section,
			 const struct frame_cie *cie, size_t from, size_t to)
{
	cfi->cie = cie;
	cfi->section_address = section->address;
	reader_init(&cfi->reader, section->bytes, to);
	reader_seek(&cfi->reader, from);
	cfi->finished = false;
	cfi->error = 0;
	cfi->pace = NULL;
	cfi->damaged = cie->code_alignment > CFI_CODE_ALIGNMENT_MAX;
	cfi->columns_changed = true;
	cfi->states = 0;
}

int cfi_initial(const struct frame_section *section, const struct frame_cie *cie,
		struct cfi_row *ret_row)
{
	static const struct cfi_row unset;
	struct cfi cfi;

	program_init(&cfi, section, cie, cie->instructions, cie->instructions_end);
	cfi.row = unset;
	cfi.initial = &unset;
	cfi.location = 0;
	while (reader_left(&cfi.reader) > 0 && cfi.location == 0)
		execute(&cfi);
	if (reader_failed(&cfi.reader) || cfi.damaged || cfi.location != 0)
		return -EBADMSG;
	*ret_row = cfi.row;
	return 0;
}

void cfi_init(struct cfi *cfi, const struct frame_section *section, const struct frame_fde *fde,
	      const struct cfi_row *initial, uint64_t limit)
{
	program_init(cfi, section, fde->cie, fde->instructions, fde->instructions_end);
	cfi->row = *initial;
	cfi->initial = initial;
	cfi->start = cfi->end = cfi->location = fde->start;
	cfi->limit = limit;
	if (cfi->limit > fde->end)
		cfi->limit = fde->end;
}

bool cfi_next(struct cfi *cfi)
{
	if (cfi->finished || cfi->damaged)
		return false;
	cfi->start = cfi->end;
	while (reader_left(&cfi->reader) > 0 && cfi->location == cfi->start) {
		cfi->error = pace_step(cfi->pace);
		if (cfi->error < 0)
			return false;
		execute(cfi);
	}
	/* a damaged instruction leaves no row, as the row before it may not hold here */
	cfi->damaged = reader_failed(&cfi->reader);
	if (cfi->damaged)
		return false;
	cfi->finished = cfi->location == cfi->start || cfi->location >= cfi->limit;
	cfi->end = cfi->location;
	if (cfi->finished)
		cfi->end = cfi->limit;
	return cfi->start < cfi->end;
}
