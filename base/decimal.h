/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers of a command line: digits alone, without a sign, a blank or a word behind. */
#ifndef KEYHOLE_BASE_DECIMAL_H
#define KEYHOLE_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Both return whether text is a number from least to most, and only then write *ret_value. most is
 * below UINT64_MAX.
 */
bool decimal_read(const char *text, uint64_t least, uint64_t most, uint64_t *ret_value);
bool decimal_read32(const char *text, uint32_t least, uint32_t most, uint32_t *ret_value);

#endif
