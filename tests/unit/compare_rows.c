/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/compare_rows.h"

#include <stdlib.h>

#include "object/unwind/rule.h"
#include "object/unwind/unwind_table.h"

void compare_rows(const struct unwind_table *table, const void *eh_frame, size_t size)
{
	static struct frame_section section;
	static struct cfi cfi;
	struct cfi_row initial;
	struct rule_wide wide;
	struct frame_fde fde;

	frame_section_init(&section, eh_frame, size, 0);
	if (!frame_next(&section, &fde) || cfi_initial(&section, fde.cie, &initial) < 0)
		abort();
	cfi_init(&cfi, &section, &fde, &initial, UINT64_MAX);
	while (cfi_next(&cfi)) {
		u64 rule = rule_make(&cfi.row, &section, false, &wide);
		u64 first = unwind_table_rule(table, cfi.start);

		if (first != unwind_table_rule(table, cfi.end - 1) ||
		    rule_kind(first) != rule_kind(rule) ||
		    (rule_kind(rule) != RULE_WIDE && rule != first))
			abort();
	}
}
