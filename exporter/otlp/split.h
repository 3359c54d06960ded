/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts an encoded ExportProfilesServiceRequest (proto/otlp.proto) into requests of some of its
 * samples. Each part has a dictionary of its own, with the elements that the part refers to and no
 * others. The parts together hold each sample once. A part has no resource, scope or profile
 * without samples. The bytes are the worker's, and hostile.
 */
#ifndef KEYHOLE_EXPORTER_OTLP_SPLIT_H
#define KEYHOLE_EXPORTER_OTLP_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "exporter/otlp/buffer.h"

/* Samples, and elements of the tables, of one request: 32 MiB of memory at most. */
#define SPLIT_ITEMS_MAX (2u << 20)

struct split;

/*
 * Looks through a request, whose bytes stay the caller's and must outlive the split. References of
 * samples are not followed here. Returns 0, -EBADMSG (no such request), -E2BIG (more than
 * SPLIT_ITEMS_MAX items), -EFBIG (4 GiB or more) or -ENOMEM.
 */
int split_new(const void *bytes, size_t size, struct split **ret_split);
void split_free(struct split *split); /* NULL is fine */

uint32_t split_samples(const struct split *split);
/*
 * Returns how many events the samples first <= i < end stand for. A sample stands for as many as it
 * has timestamps, or else for the sum of its values.
 */
uint64_t split_events(const struct split *split, uint32_t first, uint32_t end);

/*
 * Writes the request of the samples first <= i < end behind what the buffer has. Returns 0 or an
 * error: -EFBIG when the buffer's limit is reached, -EBADMSG for a reference to an element that is
 * not there, -ENOMEM. After an error the buffer holds no request.
 */
int split_write(struct split *split, uint32_t first, uint32_t end, struct buffer *buffer);

#endif
