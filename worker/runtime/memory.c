/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_END (1ull << 47) /* of user space */

enum line_state {
	LINE_WANTED,
	LINE_ASKED,
	LINE_READ,
	LINE_REFUSED
};

struct line {
	uint64_t address;
	enum line_state state;
	unsigned char bytes[MEMORY_LINE];
};

struct memory {
	size_t count;
	struct line lines[MEMORY_LINES_MAX];
};

struct memory *memory_new(void)
{
	struct memory *memory = malloc(sizeof(*memory));

	if (memory)
		memory->count = 0;
	return memory;
}

void memory_free(struct memory *memory)
{
	free(memory);
}

void memory_reset(struct memory *memory)
{
	memory->count = 0;
}

/* ---- lines ---- */

static struct line *find(struct memory *memory, uint64_t address)
{
	for (size_t i = 0; i < memory->count; i++)
		if (memory->lines[i].address == address)
			return &memory->lines[i];
	return NULL;
}

/* Returns the line, which is wanted if it is new, or NULL: there is no room. */
static struct line *find_or_want(struct memory *memory, uint64_t address)
{
	struct line *line = find(memory, address);

	if (line || memory->count == MEMORY_LINES_MAX)
		return line;
	line = &memory->lines[memory->count++];
	line->address = address;
	line->state = LINE_WANTED;
	return line;
}

static uint64_t line_of(uint64_t address)
{
	return address & ~(uint64_t)(MEMORY_LINE - 1);
}

/* ---- reading ---- */

/* Copies the part of a range that is in one line. */
static int read_line(struct memory *memory, uint64_t address, void *ret_bytes, size_t size)
{
	const struct line *line = find_or_want(memory, line_of(address));

	if (!line)
		return -ENOSPC;
	if (line->state == LINE_REFUSED)
		return -EFAULT;
	if (line->state != LINE_READ)
		return -EAGAIN;
	memcpy(ret_bytes, line->bytes + (address - line->address), size);
	return 0;
}

static size_t size_in_line(uint64_t address, size_t size)
{
	const size_t left = MEMORY_LINE - (size_t)(address - line_of(address));

	if (size < left)
		return size;
	return left;
}

int memory_read(struct memory *memory, uint64_t address, void *ret_bytes, size_t size)
{
	bool is_missing = false;

	if (address >= ADDRESS_END || size > ADDRESS_END - address)
		return -EFAULT;
	/* all missing lines are wanted at once */
	for (size_t done = 0, part; done < size; done += part) {
		int r;

		part = size_in_line(address + done, size - done);
		r = read_line(memory, address + done, (char *)ret_bytes + done, part);
		if (r == -EAGAIN)
			is_missing = true;
		else if (r < 0)
			return r;
	}
	if (is_missing)
		return -EAGAIN;
	return 0;
}

int memory_word(struct memory *memory, uint64_t address, uint64_t *ret_word)
{
	return memory_read(memory, address, ret_word, sizeof(*ret_word));
}

/* ---- wants ---- */

static struct line *first_wanted(struct memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		if (memory->lines[i].state == LINE_WANTED)
			return &memory->lines[i];
	return NULL;
}

size_t memory_want(struct memory *memory, uint64_t *ret_address)
{
	struct line *line = first_wanted(memory);
	size_t size = 0;

	if (!line)
		return 0;
	*ret_address = line->address;
	while (line && line->state == LINE_WANTED && size < MEMORY_WANT_MAX) {
		line->state = LINE_ASKED;
		size += MEMORY_LINE;
		line = find(memory, *ret_address + size);
	}
	return size;
}

void memory_answer(struct memory *memory, uint64_t address, size_t size, const void *bytes,
		   size_t got)
{
	for (size_t done = 0; done + MEMORY_LINE <= size; done += MEMORY_LINE) {
		struct line *line = find(memory, address + done);

		if (!line || line->state != LINE_ASKED)
			continue;
		line->state = LINE_REFUSED;
		if (done + MEMORY_LINE > got)
			continue;
		memcpy(line->bytes, (const char *)bytes + done, MEMORY_LINE);
		line->state = LINE_READ;
	}
}
