/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a jit-PID.dump. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_JITDUMP_H
#define KEYHOLE_TESTS_UNIT_BUILD_JITDUMP_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_JITDUMP_BYTES 65536

struct build_jitdump {
	unsigned char bytes[BUILD_JITDUMP_BYTES];
	size_t size;
};

/* flags: 1: no times of CLOCK_MONOTONIC. */
void build_jitdump_begin(struct build_jitdump *dump, uint64_t flags);
/* Code of `size` bytes is there, too. */
void build_jitdump_load(struct build_jitdump *dump, uint64_t time, uint64_t start, uint64_t size,
			const char *name);
void build_jitdump_move(struct build_jitdump *dump, uint64_t time, uint64_t from, uint64_t to,
			uint64_t size);
/* Lines of the code that comes next. file: of each one, or NULL: that of the line before. */
struct build_jitdump_line {
	uint64_t address;
	uint32_t line;
	const char *file;
};
void build_jitdump_lines(struct build_jitdump *dump, uint64_t time, uint64_t start,
			 const struct build_jitdump_line *lines, size_t count);
/* A record of another kind, with `body` bytes of nothing. */
void build_jitdump_other(struct build_jitdump *dump, uint64_t time, uint32_t body);

#endif
