/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a rule of bpf/abi.h from a row of call frame information. */
#ifndef KEYHOLE_OBJECT_UNWIND_RULE_H
#define KEYHOLE_OBJECT_UNWIND_RULE_H

#include <stdbool.h>

#include "bpf/abi.h"
#include "object/unwind/cfi.h"
#include "object/unwind/frame.h"

/*
 * Returns the rule for a row, whose expressions are bytes of the section. For RULE_WIDE the rest is
 * in *ret_wide, and the caller fills in the offset. RULE_UNSUPPORTED means that no rule can say it;
 * a signal frame that differs from the kernel's is one of these cases.
 */
u64 rule_make(const struct cfi_row *row, const struct frame_section *section, bool signal,
	      struct rule_wide *ret_wide);

/* Does the same for the rows of one function. Most of them differ in the CFA's offset alone. */
struct rule_maker {
	const struct frame_section *section;
	u32 slots;
	bool simple; /* all columns of the last row were unchanged or save slots */
};
u64 rule_maker_next(struct rule_maker *maker, struct cfi *cfi, struct rule_wide *ret_wide);

#endif
