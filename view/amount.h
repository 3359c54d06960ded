/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of samples by name. A sample counts once for each name on its stack, however often a
 * recursion repeats that name.
 */
#ifndef KEYHOLE_VIEW_AMOUNT_H
#define KEYHOLE_VIEW_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct amount {
	uint64_t self;	/* samples with the name as their leaf */
	uint64_t total; /* samples with the name on their stack */
};

void amount_add(struct amount *amount, uint64_t count, bool is_leaf);

/* Remembers which names the current sample has been added to. */
struct amount_marks {
	uint32_t *seen; /* by name: the number of the last sample that had it */
	size_t names;
	uint32_t number; /* of the current sample */
};

int amount_marks_init(struct amount_marks *marks, size_t names); /* 0 or -ENOMEM */
void amount_marks_release(struct amount_marks *marks);
void amount_marks_next(struct amount_marks *marks); /* begins the next sample */
/* Marks a name of the current sample. Returns true for its first time in this sample. */
bool amount_marks_first(struct amount_marks *marks, uint32_t name);

#endif
