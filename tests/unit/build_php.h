/* SPDX-License-Identifier: Apache-2.0 */
/* Makes events about code, as BPF reads it from PHP, and images that look like interpreters. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_PHP_H
#define KEYHOLE_TESTS_UNIT_BUILD_PHP_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct build_cfi_code;
struct image;
struct php_layout;

#define BUILD_PHP_CODE	   0x7f0000010000ull
#define BUILD_PHP_INTERNAL 1u
#define BUILD_PHP_USER	   2u
#define BUILD_PHP_EVAL	   4u

struct build_php {
	const char *class, *name, *file; /* NULL: none */
	uint8_t type;
	uint32_t first_line;
	const uint32_t *lines; /* of each instruction */
	uint32_t count, there; /* instructions; those that the event has */
};

struct event_code build_php(const struct php_layout *layout, const struct build_php *code);

/*
 * Returns a file that has a text in .rodata, executor_globals of a size, and execute_ex with these
 * instructions in its FDE; free().
 */
unsigned char *build_php_file(const char *text, size_t globals_size, struct build_cfi_code loop,
			      size_t *ret_size);
/* Returns the image of such a file. Its FDE has no instructions. */
struct image *build_php_image(const char *text, size_t globals_size);

#endif
