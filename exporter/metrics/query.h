/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a client of the page sends: a request of HTTP/1.1 (RFC 9112). The bytes are anybody's
 * on this machine. Only the first line and the header Accept mean something.
 */
#ifndef KEYHOLE_EXPORTER_METRICS_QUERY_H
#define KEYHOLE_EXPORTER_METRICS_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "exporter/metrics/page.h"

#define QUERY_BYTES_MAX 8192u /* of a request line and headers */

struct query {
	int status;   /* of the answer: 200, 400, 404, 405, 431 or 505 */
	bool is_head; /* no body */
	enum page_form form;
};

/* Returns whether the request has come to its end, which is then in *ret_query. */
bool query_read(const char *bytes, size_t size, struct query *ret_query);

#endif
