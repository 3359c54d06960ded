/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a text is one JSON value (RFC 8259) in valid UTF-8, and nothing but white space after. */
#ifndef KEYHOLE_TESTS_UNIT_JSON_CHECK_H
#define KEYHOLE_TESTS_UNIT_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* NULL: it is. Else where it is not. */
const char *json_check(const char *text, size_t size);

#endif
