/* SPDX-License-Identifier: Apache-2.0 */
/* Takes apart the URL of a server or of a proxy. RFC 3986, without user, query and fragment. */
#ifndef KEYHOLE_HELPER_OPTIONS_URL_H
#define KEYHOLE_HELPER_OPTIONS_URL_H

#include <stdbool.h>
#include <stdint.h>

#define URL_HOST_BYTES 256
#define URL_PATH_BYTES 1024

struct url {
	bool is_tls;	/* https */
	bool is_unix;	/* unix: host is a path */
	uint32_t port;	/* 0: not given */
	bool is_quoted; /* an IPv6 address, in host without its brackets */
	char user[512]; /* user:password, percent-decoded; "": none */
	char host[URL_HOST_BYTES];
	char path[URL_PATH_BYTES]; /* "": none */
};

/*
 * Reads scheme://[user@]host[:port][/path] with the scheme http or https, or unix:/path. A text
 * without a scheme has http. Returns NULL, or why the text is refused.
 */
const char *url_read(const char *text, struct url *ret_url);

/*
 * Decodes %XX, RFC 3986, 2.1, in place. Returns false for another use of '%', for %00, and for
 * control characters.
 */
bool url_decode(char *text);

#endif
