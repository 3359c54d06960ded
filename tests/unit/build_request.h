/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a request of OTLP profiles, as wire bytes. */
#ifndef KEYHOLE_TESTS_BUILD_REQUEST_H
#define KEYHOLE_TESTS_BUILD_REQUEST_H

#include <stdint.h>

#include "exporter/otlp/buffer.h"

struct build_request {
	uint32_t resources, samples; /* samples of each resource */
	uint32_t timestamps;	     /* of a sample; 0: each has the value 3 */
	uint32_t name_bytes;	     /* of a function's name, at least */
	uint32_t unused;	     /* elements of tables that no sample leads to */
	uint64_t seed;		     /* chooses the indices */
};

/* Returns the request, whose memory is the caller's: buffer_release(). */
struct buffer build_request(const struct build_request *how);

/* The parts of requests, for odd ones. */
void build_number(struct buffer *buffer, uint32_t field, uint64_t value);
void build_bytes(struct buffer *buffer, uint32_t field, const void *bytes, size_t size);
void build_text(struct buffer *buffer, uint32_t field, const char *text);

#endif
