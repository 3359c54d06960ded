/* SPDX-License-Identifier: Apache-2.0 */
/* Hexadecimal digits. */
#ifndef KEYHOLE_BASE_HEX_H
#define KEYHOLE_BASE_HEX_H

/* Returns the value of a digit of either case, or -1. */
static inline int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

#endif
