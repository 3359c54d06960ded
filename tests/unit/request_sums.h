/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an encoded ExportProfilesServiceRequest with protobuf-c, and sums up each sample with all
 * that its indices lead to. Requests of equal sums hold equal samples, however their tables are
 * ordered.
 */
#ifndef KEYHOLE_TESTS_REQUEST_SUMS_H
#define KEYHOLE_TESTS_REQUEST_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct request_sums {
	uint64_t *sums; /* one a sample */
	size_t count, capacity;
	size_t unused;	 /* elements of tables that nothing refers to, but element 0 */
	size_t elements; /* of all tables, without element 0 */
};

/*
 * Adds the samples of a request. Returns 0, or -EBADMSG for what is no request, or has a bad
 * index.
 */
int request_sums_add(struct request_sums *sums, const void *bytes, size_t size);
/* Sorts, so that two lists can be compared. */
void request_sums_sort(struct request_sums *sums);
void request_sums_release(struct request_sums *sums);

#endif
