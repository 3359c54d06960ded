/* SPDX-License-Identifier: Apache-2.0 */
/* Locations of one object by their address: what is known of an address is known of all there. */
#ifndef KEYHOLE_PROFILE_PLACE_H
#define KEYHOLE_PROFILE_PLACE_H

#include <stddef.h>
#include <stdint.h>

struct place {
	uint64_t address;
	uint32_t location;
};

/* For qsort(): ascending. */
int place_compare(const void *a, const void *b);

/*
 * Each address once, of places in ascending order: how many there are. ret_addresses has room for
 * as many as there are places.
 */
uint32_t place_addresses(const struct place *places, size_t count, uint64_t *ret_addresses);

#endif
