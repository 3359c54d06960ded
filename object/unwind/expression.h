/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the caller in terms of a frame's registers, and the DWARF expressions that say them
 * (DWARF 5, 2.5.1). The expressions of compilers are base + offset, or one word read from there.
 */
#ifndef KEYHOLE_OBJECT_UNWIND_EXPRESSION_H
#define KEYHOLE_OBJECT_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "object/unwind/cfi.h"
#include "object/unwind/frame.h"

/* The base of a value is a register's number or one of these. */
#define BASE_CFA      32
#define BASE_CONSTANT 33 /* the offset alone */

struct value { /* base + offset, or *(base + offset) + add */
	u32 base;
	bool deref;
	s64 offset, add;
};

static inline bool value_fits_s32(s64 value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

static inline bool value_is(struct value value, u32 base, s64 offset, bool deref)
{
	return value.base == base && value.deref == deref && value.offset == offset &&
	       value.add == 0;
}

/* Adds to the value. Returns false for an overflow. */
bool value_add(struct value *value, s64 more);

/*
 * Evaluates the expression at a place of the section. cfa_on_stack: the CFA is its input. Returns
 * false for an expression that no struct value can say.
 */
bool expression_evaluate(const struct cfi_place *place, const struct frame_section *section,
			 bool cfa_on_stack, struct value *ret_value);

/*
 * Recognises rsp + 8 + ((rip & 15) >= N) * 8, which linkers write for entries of the procedure
 * linkage table. *ret_from: N.
 */
bool expression_is_plt(const struct cfi_place *cfa, const struct frame_section *section,
		       u32 *ret_from);

#endif
