/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <string.h>

/* FIPS 180-4, 4.2.2. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t value, unsigned int bits)
{
	return value >> bits | value << (32 - bits);
}

static void schedule(const uint8_t *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

/* Does one round (FIPS 180-4, 6.2.2); v[0..7] are a to h there, before the round turns them. */
static inline void round_of(uint32_t v[8], int turn, uint32_t constant, uint32_t word)
{
	/* turning the names of the variables saves moving the values */
	uint32_t a = v[(8 - turn) & 7], b = v[(9 - turn) & 7], c = v[(10 - turn) & 7];
	uint32_t e = v[(12 - turn) & 7], f = v[(13 - turn) & 7], g = v[(14 - turn) & 7];
	uint32_t *d = &v[(11 - turn) & 7], *h = &v[(15 - turn) & 7];
	uint32_t t1 = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
		      constant + word;
	uint32_t t2 =
		(rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));

	*d += t1;
	*h = t1 + t2;
}

/* Adds the block to the state. */
static void compress(struct sha256 *sha)
{
	uint32_t w[64], v[8];

	schedule(sha->block, w);
	memcpy(v, sha->state, sizeof(v));
	for (int i = 0; i < 64; i += 8)
		for (int turn = 0; turn < 8; turn++)
			round_of(v, turn, constants[i + turn], w[i + turn]);
	for (int i = 0; i < 8; i++)
		sha->state[i] += v[i];
}

void sha256_init(struct sha256 *sha)
{
	*sha = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
					 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	size_t used, piece;

	while (size > 0) {
		used = sha->bytes % SHA256_BLOCK;
		piece = SHA256_BLOCK - used;
		if (piece > size)
			piece = size;
		memcpy(sha->block + used, from, piece);
		sha->bytes += piece;
		from += piece;
		size -= piece;
		if (used + piece == SHA256_BLOCK)
			compress(sha);
	}
}

void sha256_end(struct sha256 *sha, uint8_t ret_digest[SHA256_BYTES])
{
	uint64_t bits = sha->bytes * 8;
	uint8_t length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(sha, "\x80", 1);
	while (sha->bytes % SHA256_BLOCK != SHA256_BLOCK - sizeof(length))
		sha256_add(sha, "", 1);
	sha256_add(sha, length, sizeof(length));
	for (int i = 0; i < SHA256_BYTES; i++)
		ret_digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_end_hex(struct sha256 *sha, char ret_hex[SHA256_HEX_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[SHA256_BYTES];

	sha256_end(sha, digest);
	for (size_t i = 0; i < SHA256_BYTES; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[2 * SHA256_BYTES] = '\0';
}
