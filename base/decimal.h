/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as a command line gives them: digits alone, without sign, blank or anything behind. */
#ifndef KEYHOLE_BASE_DECIMAL_H
#define KEYHOLE_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* Whether text is one from least to most; most is below UINT64_MAX. Else nothing is returned. */
bool decimal_read(const char *text, uint64_t least, uint64_t most, uint64_t *ret_value);
bool decimal_read32(const char *text, uint32_t least, uint32_t most, uint32_t *ret_value);

#endif
