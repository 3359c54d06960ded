/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes bytes of an untrusted writer harmless for a terminal. Printable ASCII, newlines, tabs and
 * well-formed UTF-8 (RFC 3629) stay. All other bytes become '?': control bytes of ASCII, the
 * control characters U+0080 to U+009F (ECMA-48), and bytes that are no UTF-8.
 */
#ifndef KEYHOLE_BASE_PRINTABLE_H
#define KEYHOLE_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

#define PRINTABLE_TAIL 3u /* bytes at most, of a character that is not complete */

/*
 * Masks the text in place. more: the text goes on behind these bytes. Returns how many bytes are
 * done. With `more`, up to PRINTABLE_TAIL bytes of a character that is not complete are left.
 */
size_t printable_mask(unsigned char *bytes, size_t size, bool more);

#endif
