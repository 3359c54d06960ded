/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/go_labels.h"

#include <errno.h>
#include <stddef.h>

#include "object/elf/go_version.h"
#include "object/unwind/unwind_table.h"

#define WORD 8u

static const struct {
	uint32_t minor;
	struct go_labels labels;
} versions[] = {
#define X(version, curg, goid, at, kind) \
	{version, {.current = (curg), .number = (goid), .labels = (at), .form = (kind)}},
#include "worker/runtime/go_labels.def"
#undef X
};

int go_labels_find(struct image *image, const struct unwind_table *table,
		   struct go_labels *ret_labels)
{
	uint32_t minor;

	if (!table || table->go_thread_local_at == 0 || go_version(image, &minor) < 0)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (versions[i].minor != minor)
			continue;
		if (versions[i].labels.current != table->go_current)
			return -ENOTSUP;
		*ret_labels = versions[i].labels;
		if (table->go_in_word)
			ret_labels->word = (u64)table->go_thread_local_at * WORD;
		else
			ret_labels->thread_local_at = table->go_thread_local_at;
		return 0;
	}
	return -ENOTSUP;
}
