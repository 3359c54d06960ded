/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a text is one JSON value (RFC 8259) in valid UTF-8, followed by white space only. */
#ifndef KEYHOLE_TESTS_UNIT_JSON_CHECK_H
#define KEYHOLE_TESTS_UNIT_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL for such a text, else the place of the first error. */
const char *json_check(const char *text, size_t size);

#endif
