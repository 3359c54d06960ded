/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an ELF file that describes itself as Node.js does. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_V8_H
#define KEYHOLE_TESTS_UNIT_BUILD_V8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

enum build_v8_version {
	BUILD_V8_9_4,
	BUILD_V8_10_2,
	BUILD_V8_11_3,
	BUILD_V8_12_4,
	BUILD_V8_13_6,
	BUILD_V8_14_6,
	BUILD_V8_VERSIONS
};

#define BUILD_V8_INSIDE 0x1008u /* node_module_register */

struct build_v8 {
	enum build_v8_version version;
	bool is_bare;		 /* no symbol describes a field */
	bool has_small_pointers; /* a build whose small numbers have 31 bits */
	const char *without;	 /* a symbol to leave out; NULL: none */
	const char *other;	 /* a symbol that has another value; NULL: none */
	int32_t value;		 /* that one */
	const uint8_t *changes;	 /* bits to invert in the values, in order */
	size_t changes_size;
};
struct image *build_v8_image(const struct build_v8 *v8);

#endif
