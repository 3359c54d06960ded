/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_jitdump.h"

#include <stdlib.h>
#include <string.h>

static void put(struct build_jitdump *dump, const void *bytes, size_t size)
{
	if (dump->size + size > BUILD_JITDUMP_BYTES)
		abort();
	memcpy(dump->bytes + dump->size, bytes, size);
	dump->size += size;
}

static void put_u32(struct build_jitdump *dump, uint32_t value)
{
	put(dump, &value, sizeof(value));
}

static void put_u64(struct build_jitdump *dump, uint64_t value)
{
	put(dump, &value, sizeof(value));
}

static void put_prefix(struct build_jitdump *dump, uint32_t id, size_t body, uint64_t time)
{
	put_u32(dump, id);
	put_u32(dump, (uint32_t)(16 + body));
	put_u64(dump, time);
}

static void put_zeros(struct build_jitdump *dump, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		put(dump, "", 1);
}

void build_jitdump_begin(struct build_jitdump *dump, uint64_t flags)
{
	dump->size = 0;
	put_u32(dump, 0x4a695444);
	put_u32(dump, 1);
	put_u32(dump, 40);
	put_u32(dump, 62);
	put_u32(dump, 0);
	put_u32(dump, 42);
	put_u64(dump, 7);
	put_u64(dump, flags);
}

void build_jitdump_load(struct build_jitdump *dump, uint64_t time, uint64_t start, uint64_t size,
			const char *name)
{
	put_prefix(dump, 0, 40 + strlen(name) + 1 + size, time);
	put_u32(dump, 42);
	put_u32(dump, 42);
	put_u64(dump, start);
	put_u64(dump, start);
	put_u64(dump, size);
	put_u64(dump, 0);
	put(dump, name, strlen(name) + 1);
	put_zeros(dump, size);
}

void build_jitdump_move(struct build_jitdump *dump, uint64_t time, uint64_t from, uint64_t to,
			uint64_t size)
{
	put_prefix(dump, 1, 48, time);
	put_u32(dump, 42);
	put_u32(dump, 42);
	put_u64(dump, to);
	put_u64(dump, from);
	put_u64(dump, to);
	put_u64(dump, size);
	put_u64(dump, 0);
}

void build_jitdump_lines(struct build_jitdump *dump, uint64_t time, uint64_t start,
			 const struct build_jitdump_line *lines, size_t count)
{
	const size_t at = dump->size;
	uint32_t bytes;

	put_prefix(dump, 2, 0, time);
	put_u64(dump, start);
	put_u64(dump, count);
	for (size_t i = 0; i < count; i++) {
		const char *file = lines[i].file ? lines[i].file : "\xff";

		put_u64(dump, lines[i].address);
		put_u32(dump, lines[i].line);
		put_u32(dump, 0);
		put(dump, file, strlen(file) + 1);
	}
	bytes = (uint32_t)(dump->size - at);
	memcpy(dump->bytes + at + sizeof(uint32_t), &bytes, sizeof(bytes));
}

void build_jitdump_other(struct build_jitdump *dump, uint64_t time, uint32_t body)
{
	put_prefix(dump, 3, body, time);
	put_zeros(dump, body);
}
