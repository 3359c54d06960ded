/* SPDX-License-Identifier: Apache-2.0 */
/* From a row of call frame information to a rule of bpf/abi.h. */
#ifndef KEYHOLE_OBJECT_UNWIND_RULE_H
#define KEYHOLE_OBJECT_UNWIND_RULE_H

#include <stdbool.h>

#include "bpf/abi.h"
#include "object/unwind/cfi.h"
#include "object/unwind/frame.h"

/*
 * The rule for a row; expressions are bytes of the section. RULE_WIDE: the rest is in *ret_wide and
 * the offset is the caller's to fill in. RULE_UNSUPPORTED when nothing can say it, which includes
 * every frame marked as one of a signal that is not the kernel's.
 */
u64 rule_make(const struct cfi_row *row, const struct frame_section *section, bool signal,
	      struct rule_wide *ret_wide);

/* The same for the rows of one function, of which most differ in the CFA's offset alone. */
struct rule_maker {
	const struct frame_section *section;
	u32 slots;
	bool simple; /* the columns of the last row were save slots, and nothing else */
};
u64 rule_maker_next(struct rule_maker *maker, struct cfi *cfi, struct rule_wide *ret_wide);

#endif
