/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/function_starts.h"
#include "worker/naming/object_names.h"
#include "worker/naming/sources.h"

uint64_t names_from_unwind(struct object_names *names)
{
	const size_t count = names->unnamed_count;
	uint64_t named = 0;

	if (!names->image || count == 0)
		return 0;
	if (unwind_function_starts(names->image, names->unnamed_addresses, count, names->starts) <
	    0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (names->starts[i] == 0)
			continue;
		object_names_set_offset(names, &names->unnamed[i], names->starts[i], false);
		named++;
	}
	return named;
}

uint64_t names_from_offsets(struct object_names *names)
{
	for (size_t i = 0; i < names->unnamed_count; i++)
		object_names_set_offset(names, &names->unnamed[i], 0, false);
	return names->unnamed_count;
}
