/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/kernel/kernel_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ksyms_file.h"
#include "base/reader.h"
#include "object/symbol/alias.h"

#define CHUNK_SYMBOLS	 1024u
#define RANGE_NAME_BYTES 64u

struct range_name {
	char text[RANGE_NAME_BYTES];
};

struct kernel_symbols {
	struct ksyms_file_head head;
	struct range_name *ranges;
	struct ksyms_file_symbol *symbols; /* one per place, with the best of its names */
	size_t count;
	char *names;
};

static int kernel_symbols_pread(int fd, void *ret_bytes, size_t size, uint64_t offset)
{
	unsigned char *to = ret_bytes;
	ssize_t got;

	while (size > 0) {
		got = pread(fd, to, size, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -EIO;
		if (got == 0)
			return -EBADMSG;
		to += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}

static int kernel_symbols_head(struct kernel_symbols *symbols, int fd, uint64_t *offset)
{
	unsigned char bytes[sizeof(struct ksyms_file_head)];
	struct ksyms_file_head *head = &symbols->head;
	struct reader reader;
	int r = kernel_symbols_pread(fd, bytes, sizeof(bytes), *offset);

	if (r < 0)
		return r;
	reader_init(&reader, bytes, sizeof(bytes));
	head->magic = reader_u32(&reader);
	head->ranges = reader_u32(&reader);
	head->symbols = reader_u32(&reader);
	head->name_bytes = reader_u32(&reader);
	if (head->magic != KSYMS_MAGIC || head->ranges > KSYMS_RANGES_MAX ||
	    head->symbols > KSYMS_SYMBOLS_MAX || head->name_bytes > KSYMS_NAME_BYTES_MAX)
		return -EBADMSG;
	*offset += sizeof(bytes);
	return 0;
}

static int kernel_symbols_names(struct kernel_symbols *symbols, int fd)
{
	const struct ksyms_file_head *head = &symbols->head;
	uint64_t offset =
		sizeof(*head) + head->symbols * (uint64_t)sizeof(struct ksyms_file_symbol);
	int r;

	symbols->names = malloc(head->name_bytes + 1u);
	if (!symbols->names)
		return -ENOMEM;
	r = kernel_symbols_pread(fd, symbols->names, head->name_bytes, offset);
	if (r < 0)
		return r;
	symbols->names[head->name_bytes] = '\0';
	if (head->name_bytes > 0 && symbols->names[head->name_bytes - 1] != '\0')
		return -EBADMSG;
	return 0;
}

static int kernel_symbols_range_names(struct kernel_symbols *symbols)
{
	uint32_t name = 0;

	symbols->ranges = calloc(symbols->head.ranges + 1u, sizeof(*symbols->ranges));
	if (!symbols->ranges)
		return -ENOMEM;
	for (uint32_t i = 0; i < symbols->head.ranges; i++) {
		const char *from = symbols->names + name;
		char *to = symbols->ranges[i].text;

		if (name >= symbols->head.name_bytes)
			return -EBADMSG;
		to[0] = '[';
		memcpy(to + 1, from, strnlen(from, RANGE_NAME_BYTES - 3));
		to[strlen(to)] = ']';
		name += (uint32_t)strlen(from) + 1;
	}
	return 0;
}

static bool kernel_symbols_name_is_better(const char *a, const char *b)
{
	struct alias first = alias_make(a, strlen(a)), second = alias_make(b, strlen(b));

	return alias_is_better(&first, &second);
}

static int kernel_symbols_compare(const struct ksyms_file_symbol *a, uint32_t range,
				  uint32_t offset)
{
	if (a->range != range)
		return a->range < range ? -1 : 1;
	if (a->offset != offset)
		return a->offset < offset ? -1 : 1;
	return 0;
}

static int kernel_symbols_append(struct kernel_symbols *symbols,
				 const struct ksyms_file_symbol *symbol)
{
	struct ksyms_file_symbol *last = symbols->symbols;
	int order = -1;

	if (symbol->range >= symbols->head.ranges || symbol->name >= symbols->head.name_bytes)
		return -EBADMSG;
	if (symbols->count > 0) {
		last += symbols->count - 1;
		order = kernel_symbols_compare(last, symbol->range, symbol->offset);
	}
	if (order > 0)
		return -EBADMSG;
	if (order < 0)
		symbols->symbols[symbols->count++] = *symbol;
	else if (kernel_symbols_name_is_better(symbols->names + symbol->name,
					       symbols->names + last->name))
		*last = *symbol;
	return 0;
}

static int kernel_symbols_chunk(struct kernel_symbols *symbols, const void *bytes, size_t size)
{
	struct ksyms_file_symbol symbol;
	struct reader reader;
	int r = 0;

	reader_init(&reader, bytes, size);
	while (reader_left(&reader) > 0 && r == 0) {
		symbol.range = reader_u32(&reader);
		symbol.offset = reader_u32(&reader);
		symbol.name = reader_u32(&reader);
		r = kernel_symbols_append(symbols, &symbol);
	}
	return r;
}

static int kernel_symbols_table(struct kernel_symbols *symbols, int fd, uint64_t offset)
{
	unsigned char bytes[CHUNK_SYMBOLS * sizeof(struct ksyms_file_symbol)];
	size_t left = symbols->head.symbols * sizeof(struct ksyms_file_symbol), size;
	int r = 0;

	symbols->symbols = malloc(left + 1);
	if (!symbols->symbols)
		return -ENOMEM;
	for (; left > 0 && r == 0; left -= size, offset += size) {
		size = left < sizeof(bytes) ? left : sizeof(bytes);
		r = kernel_symbols_pread(fd, bytes, size, offset);
		if (r == 0)
			r = kernel_symbols_chunk(symbols, bytes, size);
	}
	return r;
}

static int kernel_symbols_load(struct kernel_symbols *symbols, int fd)
{
	uint64_t offset = 0;
	int r;

	r = kernel_symbols_head(symbols, fd, &offset);
	if (r == 0)
		r = kernel_symbols_names(symbols, fd);
	if (r == 0)
		r = kernel_symbols_range_names(symbols);
	if (r == 0)
		r = kernel_symbols_table(symbols, fd, offset);
	return r;
}

int kernel_symbols_new(int fd, struct kernel_symbols **ret_symbols)
{
	struct kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	int r;

	if (!symbols)
		return -ENOMEM;
	r = kernel_symbols_load(symbols, fd);
	if (r < 0) {
		kernel_symbols_free(symbols);
		return r;
	}
	*ret_symbols = symbols;
	return 0;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->ranges);
	free(symbols->symbols);
	free(symbols->names);
	free(symbols);
}

size_t kernel_symbols_bytes(const struct kernel_symbols *symbols)
{
	const struct ksyms_file_head *head = &symbols->head;

	return sizeof(*symbols) + head->ranges * sizeof(*symbols->ranges) +
	       head->symbols * sizeof(*symbols->symbols) + head->name_bytes;
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint32_t range,
				uint32_t offset, uint32_t *ret_start)
{
	size_t low = 0, high = symbols->count; /* the answer is the one before the first above */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (kernel_symbols_compare(&symbols->symbols[middle], range, offset) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || symbols->symbols[low - 1].range != range)
		return NULL;
	if (ret_start)
		*ret_start = symbols->symbols[low - 1].offset;
	return symbols->names + symbols->symbols[low - 1].name;
}

const char *kernel_symbols_range(const struct kernel_symbols *symbols, uint32_t range)
{
	if (range >= symbols->head.ranges)
		return NULL;
	return symbols->ranges[range].text;
}
