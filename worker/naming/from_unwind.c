/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "object/unwind/function_starts.h"
#include "worker/naming/naming.h"
#include "worker/naming/object_names.h"
#include "worker/naming/sources.h"

static void find_starts(struct object_names *names)
{
	const size_t count = names->unnamed_count;
	int r = -1;

	if (names->image && count > 0)
		r = unwind_function_starts(names->image, names->unnamed_addresses, count,
					   names->starts);
	if (r < 0)
		memset(names->starts, 0, count * sizeof(*names->starts));
}

void names_from_unwind(struct object_names *names)
{
	struct naming_counts *counts = names->parts->counts;

	find_starts(names);
	for (size_t i = 0; i < names->unnamed_count; i++) {
		object_names_set_offset(names, &names->unnamed[i], names->starts[i], false);
		if (names->starts[i])
			counts->starts++;
		else
			counts->offsets++;
	}
}
