/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/place.h"

int place_compare(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

uint32_t place_addresses(const struct place *places, size_t count, uint64_t *ret_addresses)
{
	uint32_t unique = 0;

	for (size_t i = 0; i < count; i++)
		if (unique == 0 || ret_addresses[unique - 1] != places[i].address)
			ret_addresses[unique++] = places[i].address;
	return unique;
}
