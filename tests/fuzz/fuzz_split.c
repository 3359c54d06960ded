/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is a window, behind a byte that says how many samples a part has. The parts together
 * are the whole, and a part of a part is the part. (Orphans are test_split.c's affair: a field
 * that is there twice refers to an element that the second one hides.)
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/otlp/split.h"
#include "tests/unit/request_sums.h"

#define NO_LIMIT (1u << 28)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds)
{
	if (!holds)
		__builtin_trap();
}

/* Writes the samples. Returns false where the request refers to what is not there. */
static int write_part(struct split *split, uint32_t first, uint32_t end, struct buffer *part)
{
	buffer_reset(part, NO_LIMIT);
	return split_write(split, first, end, part) == 0;
}

static void check_again(const struct buffer *part, uint32_t samples)
{
	struct buffer again = {0};
	struct split *split = NULL;

	demand(split_new(part->bytes, part->size, &split) == 0);
	demand(split_samples(split) == samples);
	demand(write_part(split, 0, samples, &again));
	demand(again.size == part->size && memcmp(again.bytes, part->bytes, part->size) == 0);
	split_free(split);
	buffer_release(&again);
}

static void check_parts(struct split *split, uint32_t step, struct request_sums *whole)
{
	struct request_sums parts = {0};
	struct buffer part = {0};
	uint32_t samples = split_samples(split);

	for (uint32_t first = 0; first < samples; first += step) {
		uint32_t end = samples - first < step ? samples : first + step;

		demand(write_part(split, first, end, &part));
		check_again(&part, end - first);
		demand(request_sums_add(&parts, part.bytes, part.size) == 0);
	}
	request_sums_sort(whole);
	request_sums_sort(&parts);
	demand(parts.count == whole->count);
	demand(whole->count == 0 ||
	       memcmp(parts.sums, whole->sums, whole->count * sizeof(*whole->sums)) == 0);
	request_sums_release(&parts);
	buffer_release(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request_sums whole = {0};
	struct buffer all = {0};
	struct split *split;

	if (size == 0 || split_new(data + 1, size - 1, &split) < 0)
		return 0;
	/* protobuf-c refuses more than we do: fields of another type than theirs. */
	if (write_part(split, 0, UINT32_MAX, &all) &&
	    request_sums_add(&whole, all.bytes, all.size) == 0)
		check_parts(split, data[0] + 1u, &whole);
	request_sums_release(&whole);
	buffer_release(&all);
	split_free(split);
	return 0;
}
