/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

int hash_key_random(struct hash_key *ret_key)
{
	ssize_t got;

	do {
		got = getrandom(ret_key, sizeof(*ret_key), 0);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (got != sizeof(*ret_key))
		return -EIO;
	return 0;
}

static inline uint64_t rotate(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

/* The worker hashes a word for each frame of a sample. Calls would leave the state in memory. */
#define IN_PLACE static inline __attribute__((always_inline))

IN_PLACE void hash_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

IN_PLACE void hash_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	hash_round(v);
	v[0] ^= word;
}

uint64_t hash_bytes(const struct hash_key *key, const void *bytes, size_t size)
{
	uint64_t v[4] = {key->k0 ^ 0x736f6d6570736575, key->k1 ^ 0x646f72616e646f6d,
			 key->k0 ^ 0x6c7967656e657261, key->k1 ^ 0x7465646279746573};
	const unsigned char *from = bytes;
	uint64_t word, last = (uint64_t)size << 56;
	size_t left = size;

	for (; left >= sizeof(word); left -= sizeof(word), from += sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		hash_word(v, word);
	}
	for (size_t i = 0; i < left; i++)
		last |= (uint64_t)from[i] << 8 * i;
	hash_word(v, last);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		hash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
