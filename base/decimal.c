/* SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"

#include <stdlib.h>

bool decimal_read(const char *text, uint64_t least, uint64_t most, uint64_t *ret_value)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most)
		return false;
	*ret_value = value;
	return true;
}

bool decimal_read32(const char *text, uint32_t least, uint32_t most, uint32_t *ret_value)
{
	uint64_t value;

	if (!decimal_read(text, least, most, &value))
		return false;
	*ret_value = (uint32_t)value;
	return true;
}
