/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed hash for tables whose keys attackers choose: SipHash-1-3 (Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF"), with one compression and three finalization rounds.
 */
#ifndef KEYHOLE_BASE_HASH_H
#define KEYHOLE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t k0, k1;
};

int hash_key_random(struct hash_key *ret_key); /* 0 or a negative errno */
uint64_t hash_bytes(const struct hash_key *key, const void *bytes, size_t size);

#endif
