/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locations of one object by address. Locations of one address share the names that are found for
 * that address.
 */
#ifndef KEYHOLE_PROFILE_PLACE_H
#define KEYHOLE_PROFILE_PLACE_H

#include <stddef.h>
#include <stdint.h>

struct place {
	uint64_t address;
	uint32_t location;
};

/* Compares for qsort(): ascending addresses. */
int place_compare(const void *a, const void *b);

/*
 * Writes each address once and returns how many there are. The places are in ascending order, and
 * ret_addresses has room for `count` addresses.
 */
uint32_t place_addresses(const struct place *places, size_t count, uint64_t *ret_addresses);

#endif
