/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a struct mapping from the text of a maps file, or from a record of the kernel. */
#ifndef KEYHOLE_WORKER_PROCESS_LISTING_H
#define KEYHOLE_WORKER_PROCESS_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/process/mapping.h"
#include "worker/process/tracker_parts.h"

#ifndef LISTING_TEXT_MAX
/* Bytes: 128 for each of the 65,530 lines of vm.max_map_count. The worker reads no more, because
 * the kernel needs 2.5 ms of one turn for a MB. */
#define LISTING_TEXT_MAX (8u << 20)
#endif

/* False: the mapping is outside the user's addresses, or there is no memory. */
bool listing_mapping(const struct tracker_parts *parts, const struct tracker_mapping *told,
		     struct mapping *ret_mapping);

struct listing {
	struct mapping *items; /* sorted */
	size_t count, capacity;
	size_t refused; /* beyond MAPPINGS_MAX; one for the rest of a text that is too long */
	uint64_t context_start, context_end; /* of a mapping named OTEL_CTX (OTEP 4719), or 0 */
};
/*
 * Makes a list of all executable mappings of a maps file, and looks for that of a context.
 * Returns 0 or a negative errno.
 */
int listing_read(const struct tracker_parts *parts, int fd, struct listing *ret_listing);
int listing_parse(const struct tracker_parts *parts, const void *text, size_t size,
		  struct listing *ret_listing);
void listing_release(struct listing *listing);

#endif
