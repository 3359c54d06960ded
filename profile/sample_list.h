/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a profile: equal ones are one entry with a count. */
#ifndef KEYHOLE_PROFILE_SAMPLE_LIST_H
#define KEYHOLE_PROFILE_SAMPLE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/chunks.h"
#include "base/hash.h"
#include "base/slots.h"
#include "profile/profile.h"

struct sample_list {
	struct hash_key hash_key;
	struct chunks entries; /* the samples without `base` and `waits` */
	struct slots slots;    /* ids are indexes + 1 */
	struct intern *scenes; /* what few samples differ in */
	struct sample_column {
		uint64_t *items; /* by index; those behind count are 0 */
		size_t count, capacity;
	} bases, waits; /* what few profiles have */
	size_t count;
};

int sample_list_init(struct sample_list *list); /* 0 or a negative errno */
void sample_list_release(struct sample_list *list);

/* Adds count, base and waits to an equal sample, or adds the sample. Returns 0 or -ENOMEM. */
int sample_list_add(struct sample_list *list, const struct profile_sample *sample,
		    uint32_t *ret_index);
/* Adds a sample without a search for an equal one. sample_list_add() never finds this sample. */
int sample_list_append(struct sample_list *list, const struct profile_sample *sample);
/* Returns the sample of an index below list->count. */
struct profile_sample sample_list_get(const struct sample_list *list, size_t index);
/* Multiplies the counts of all samples from this index on. */
void sample_list_scale(struct sample_list *list, size_t from, uint64_t factor);

#endif
