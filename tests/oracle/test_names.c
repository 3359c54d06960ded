/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_names go|tables|debugdata FILE: what one source of names says of the addresses (hex, without
 * 0x, ascending) on standard input. A line each: the address, then "|name|start|file:line" for what
 * is inlined there, the innermost first, and for the function itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/elf/image.h"
#include "object/symbol/cache.h"
#include "object/symbol/debugdata.h"
#include "object/symbol/go_table.h"
#include "object/symbol/symtab.h"

#define ADDRESSES_MAX (1u << 20)

static uint64_t pcs[ADDRESSES_MAX];
static struct symbol_match matches[ADDRESSES_MAX];

static void print_frame(void *context, const struct go_frame *frame)
{
	(void)context;
	printf("|%s|%" PRIx64 "|%s:%" PRIu32, frame->name, frame->start, frame->file, frame->line);
}

static int print_go(struct symbol_cache *cache, struct image *image, size_t count)
{
	struct go_table *table;
	int r = go_table_open(cache, image, &table);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		printf("%" PRIx64, pcs[i]);
		go_table_find(table, pcs[i], print_frame, NULL);
		putchar('\n');
	}
	go_table_close(table);
	return 0;
}

static int print_symbols(struct symbol_cache *cache, struct image *image, size_t count)
{
	int r = symtab_resolve(cache, image, pcs, count, matches);

	for (size_t i = 0; i < count && r == 0; i++)
		printf("%" PRIx64 "|%s|%" PRIx64 "|\n", pcs[i],
		       matches[i].name ? matches[i].name : "", matches[i].start);
	return r;
}

static int print_debugdata(struct symbol_cache *cache, struct image *image, size_t count)
{
	struct image *inner;
	size_t bytes;
	int r = debugdata_open(cache, image, &inner, &bytes);

	return r < 0 ? r : print_symbols(cache, inner, count);
}

int main(int argc, char **argv)
{
	struct symbol_cache *cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	struct symbol_cache_counts counts;
	struct image *image;
	size_t count = 0;
	int r;

	if (argc != 3 || image_open(open(argv[2], O_RDONLY | O_CLOEXEC), &image) < 0)
		return 2;
	while (count < ADDRESSES_MAX && scanf("%" SCNx64, &pcs[count]) == 1)
		count++;
	if (strcmp(argv[1], "go") == 0)
		r = print_go(cache, image, count);
	else if (strcmp(argv[1], "tables") == 0)
		r = print_symbols(cache, image, count);
	else
		r = print_debugdata(cache, image, count);
	symbol_cache_counts(cache, &counts);
	fprintf(stderr,
		"%zu addresses: %s; at most %zu KiB, %" PRIu64 " evicted, %" PRIu64 " refused\n",
		count, strerror(-r), counts.peak >> 10, counts.evicted, counts.refused);
	return r < 0;
}
