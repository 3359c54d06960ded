/* SPDX-License-Identifier: Apache-2.0 */
#include "view/amount.h"

#include <errno.h>
#include <stdlib.h>

void amount_add(struct amount *amount, uint64_t count, bool is_leaf)
{
	amount->total += count;
	if (is_leaf)
		amount->self += count;
}

int amount_marks_init(struct amount_marks *marks, size_t names)
{
	*marks = (struct amount_marks){.names = names};
	marks->seen = calloc(names + 1, sizeof(*marks->seen));
	if (!marks->seen)
		return -ENOMEM;
	return 0;
}

void amount_marks_release(struct amount_marks *marks)
{
	free(marks->seen);
	*marks = (struct amount_marks){0};
}

void amount_marks_next(struct amount_marks *marks)
{
	marks->number++;
}

bool amount_marks_first(struct amount_marks *marks, uint32_t name)
{
	if (marks->seen[name] == marks->number)
		return false;
	marks->seen[name] = marks->number;
	return true;
}
