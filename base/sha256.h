/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4). */
#ifndef KEYHOLE_BASE_SHA256_H
#define KEYHOLE_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES	 32
#define SHA256_BLOCK	 64
#define SHA256_HEX_BYTES (2 * SHA256_BYTES + 1) /* lower-case hex, with its NUL */

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;		     /* added so far */
	uint8_t block[SHA256_BLOCK]; /* the unfinished one */
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t size);
void sha256_end(struct sha256 *sha, uint8_t ret_digest[SHA256_BYTES]);
void sha256_end_hex(struct sha256 *sha, char ret_hex[SHA256_HEX_BYTES]);

#endif
