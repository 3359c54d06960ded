/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes call frame instructions (DWARF 5, 6.4.2, and the GNU additions). The result is rows:
 * ranges of text with one way to find the caller. Only registers that a rule can restore are
 * followed.
 */
#ifndef KEYHOLE_OBJECT_UNWIND_CFI_H
#define KEYHOLE_OBJECT_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"
#include "object/unwind/frame.h"

struct pace;

/* DWARF numbers of x86-64 registers: psABI, figure 3.36. */
enum {
	REGISTER_RBX = 3,
	REGISTER_RBP = 6,
	REGISTER_RSP = 7,
	REGISTER_R12 = 12,
	REGISTER_R13 = 13,
	REGISTER_R14 = 14,
	REGISTER_R15 = 15,
	REGISTER_RIP = 16,
	REGISTER_COUNT = 17,
};

/* The first six in the order of a rule's save slots. */
enum cfi_column {
	COLUMN_RBP,
	COLUMN_RBX,
	COLUMN_R12,
	COLUMN_R13,
	COLUMN_R14,
	COLUMN_R15,
	COLUMN_RETURN,
	COLUMN_RSP,
	COLUMN_COUNT,
};

enum cfi_how {
	CFI_UNSET, /* no instruction names the register, which keeps its value */
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_OFFSET,	    /* saved at CFA + value */
	CFI_VAL_OFFSET,	    /* the value is CFA + value */
	CFI_REGISTER,	    /* kept in register `value` */
	CFI_EXPRESSION,	    /* saved at the expression's address */
	CFI_VAL_EXPRESSION, /* the value is the expression's */
};

struct cfi_place {
	uint32_t how;  /* enum cfi_how */
	uint32_t size; /* bytes of an expression */
	int64_t value; /* an expression's offset in the section */
};

struct cfi_row {
	/*
	 * CFI_REGISTER: register + offset. CFI_EXPRESSION leaves register and offset as they were:
	 * libgcc goes back to them, and assembly relies on it. CFI_UNSET: not known yet.
	 */
	struct cfi_place cfa;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct cfi_place column[COLUMN_COUNT];
};

#define CFI_STATES_MAX 16

struct cfi {
	uint64_t start, end; /* of the row, after cfi_next() returned true */
	struct cfi_row row;
	bool columns_changed; /* set when a column is written; the caller clears it */
	bool damaged;	      /* the rest of the range has no row */
	int error;	      /* of the pace: the rest has no row either */
	struct pace *pace;    /* borrowed, of the caller after cfi_init(); NULL is fine */

	uint64_t location, limit;
	const struct frame_cie *cie;
	const struct cfi_row *initial;
	uint64_t section_address;
	struct reader reader;
	bool finished;
	unsigned int states;
	struct cfi_row state[CFI_STATES_MAX];
};

/* Gets the row that a CIE's instructions leave. Returns 0 or -EBADMSG. */
int cfi_initial(const struct frame_section *section, const struct frame_cie *cie,
		struct cfi_row *ret_row);
/*
 * Starts the rows of an FDE, from its start to min(its end, limit). Keeps a pointer to `initial`.
 */
void cfi_init(struct cfi *cfi, const struct frame_section *section, const struct frame_fde *fde,
	      const struct cfi_row *initial, uint64_t limit);
/*
 * Makes the next row, which is not empty and begins at the end of the one before. Returns false at
 * the end of the range. A damaged program ends early and sets cfi->damaged: [cfi->end, limit) has
 * no row.
 */
bool cfi_next(struct cfi *cfi);

#endif
