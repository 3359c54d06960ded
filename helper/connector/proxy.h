/* SPDX-License-Identifier: Apache-2.0 */
/* Has an HTTP proxy connect to a host. RFC 9110, 9.3.6. */
#ifndef KEYHOLE_HELPER_CONNECTOR_PROXY_H
#define KEYHOLE_HELPER_CONNECTOR_PROXY_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/destination.h"

#define PROXY_ANSWER_MAX 8192 /* bytes of the answer's head; more is refused */

/*
 * Writes the request for the address into ret_text, NUL terminated. Returns its length, or -E2BIG.
 */
int proxy_request(const struct address *address, char *ret_text, size_t size);

/*
 * Looks at what a proxy has answered so far. Returns 1 when the connection stands and the answer
 * ends there, 0 when more is to come, or a negative errno. -EACCES: the proxy wants credentials.
 * -ECONNREFUSED: another refusal. -EPROTO: no answer of HTTP/1.
 */
int proxy_read_answer(const char *text, size_t size);

/*
 * Sends the request on a non-blocking socket to the proxy, and reads the answer but no byte of what
 * follows. Returns 0 or a negative errno.
 */
int proxy_connect(int fd, const struct address *address, uint64_t until);

#endif
