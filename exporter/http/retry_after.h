/* SPDX-License-Identifier: Apache-2.0 */
/* The header Retry-After (RFC 9110, 10.2.3): seconds, or a date in one of three forms (5.6.7). */
#ifndef KEYHOLE_EXPORTER_HTTP_RETRY_AFTER_H
#define KEYHOLE_EXPORTER_HTTP_RETRY_AFTER_H

#include <stdint.h>

/* Reads a date. Returns 0 and seconds since 1970, or -EBADMSG. */
int http_date_parse(const char *text, int64_t *ret_seconds);

/*
 * Reads how long to wait. A date counts from `date`, which the same answer had, or from `now`
 * (seconds since 1970) where that is "" or no date. A date that has passed is a wait of 0. Returns
 * 0 and nanoseconds, at most a year of them, or -EBADMSG.
 */
int retry_after_parse(const char *text, const char *date, int64_t now, uint64_t *ret_ns);

#endif
