/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of an answer for its request, by the OTLP specification: taken, to be sent again,
 * too large or refused for good. Judging is a function of the answer alone.
 */
#ifndef KEYHOLE_EXPORTER_DELIVERY_VERDICT_H
#define KEYHOLE_EXPORTER_DELIVERY_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "exporter/http/answer.h"

#define VERDICT_TEXT_BYTES 216u

enum outcome {
	OUTCOME_DELIVERED,
	OUTCOME_RETRY,
	OUTCOME_TOO_LARGE,
	OUTCOME_REFUSED
};

struct verdict {
	enum outcome outcome;
	uint64_t wait_ns; /* that the server asks for; 0: nothing said */
	bool partial;	  /* delivered, but for `rejected` profiles, or with a warning */
	bool bad_answer;  /* a part of it could not be read */
	bool packing;	  /* refused, maybe because of the request's compression */
	uint64_t rejected;
	char text[VERDICT_TEXT_BYTES]; /* for a log line; "" where there is nothing to say */
};

/*
 * now: seconds since 1970, for dates in the answer. reason: why no whole answer came, in words.
 * scratch: a buffer to unpack into.
 */
void verdict_of(const struct answer *answer, enum endpoint_protocol protocol, int64_t now,
		const char *reason, struct buffer *scratch, struct verdict *ret_verdict);

#endif
