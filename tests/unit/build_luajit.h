/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an image that looks like LuaJIT. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_LUAJIT_H
#define KEYHOLE_TESTS_UNIT_BUILD_LUAJIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_LUAJIT_CALL	0x1000u
#define BUILD_LUAJIT_LOOP	0x1100u /* the interpreter's own code */
#define BUILD_LUAJIT_LOOP_BYTES 3100u
#define BUILD_LUAJIT_INSIDE	(BUILD_LUAJIT_LOOP + 0x45u) /* behind a call */
/* how the unwinder gets to know traces */
#define BUILD_LUAJIT_RULES "\x1c\0\0\0\0\0\0\0\1zPR\0"

struct image;

/* The parts of an image. */
struct build_luajit {
	const char *texts; /* between which there are NULs; borrowed */
	size_t texts_bytes;
	uint8_t shared;
	uint32_t panic, main;
	bool is_wide;
	uint32_t loop_bytes, call_to;
	uint32_t traces; /* from jit_base on; 0: the loop enters none */
};

extern const struct build_luajit build_luajit_2017, build_luajit_2022, build_luajit_2023,
	build_luajit_2025;

/* Returns the image. The bits of `data` change its code and symbols. */
struct image *build_luajit_image(const struct build_luajit *parts, const void *data, size_t size);

#endif
