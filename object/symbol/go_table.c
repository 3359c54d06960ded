/* SPDX-License-Identifier: Apache-2.0 */
#include "object/symbol/go_table.h"

#include <errno.h>
#include <stdlib.h>

#include "ipc/guard.h"
#include "base/reader.h"
#include "object/elf/image.h"
#include "object/elf/pclntab.h"
#include "object/symbol/cache.h"
#include "object/elf/go_module.h"

#define RECORD_MAX    44u
#define VARINT_BYTES  1024u /* of a table of them, at a time */
#define PAIR_MAX      20u   /* bytes of two varints */
#define PCDATA_INLINE 2u    /* PCDATA_InlTreeIndex, FUNCDATA_InlTree of runtime/funcdata.h */
#define FUNCDATA_TREE 3u
#define NO_OFFSET     UINT32_MAX

struct layout {
	uint32_t magic;
	bool pointers;	    /* addresses where later ones have offsets of 32 bits */
	bool first_lines;   /* of functions, in their records and those of inlined calls */
	uint32_t call_size; /* record of an inlined call */
};

static const struct layout layouts[] = {
	{.magic = PCLNTAB_116, .pointers = true, .call_size = 20},
	{.magic = PCLNTAB_118, .call_size = 20},
	{.magic = PCLNTAB_120, .first_lines = true, .call_size = 16},
};

struct go_table {
	struct image *image;
	struct symbol_cache *cache;
	const struct layout *layout;
	struct window names, units, files, tables, functions;
	struct window calls; /* go:func.*; empty: not found */
	uint64_t count;	     /* functions */
	uint64_t text;
	uint64_t steps, cached; /* cached: those of the cache when it began */
	char name[GO_NAME_MAX], file[GO_NAME_MAX];
};

#define STEP_NAME 8u /* bytes: whoever is shown a name copies and hashes it */

struct function {
	uint64_t start, record; /* record: its offset in functions */
	uint32_t name, files, lines, unit;
	uint32_t first_line;
	uint32_t pcdata_count, funcdata_count;
	uint64_t pcdata;  /* offset in functions */
	uint32_t inlined; /* table: index of the innermost inlined call, 0: none */
	struct window tree;
};

struct call {
	uint32_t name, first_line;
	int32_t parent; /* code that has the position of the call, from the function's start */
};

/* ---- the table ---- */

static const struct layout *find_layout(uint32_t magic)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].magic == magic)
			return &layouts[i];
	return NULL;
}

static uint64_t pair_bytes(const struct go_table *table)
{
	if (table->layout->pointers)
		return 2 * PCLNTAB_POINTER_BYTES;
	return 2 * sizeof(uint32_t);
}

/* Finds the base of functions' starts, which are addresses in the oldest layout. */
static int find_text(struct go_table *table, uint64_t said, const struct go_module *module)
{
	struct image_place text;

	if (table->layout->pointers)
		return 0;
	table->text = module->text;
	if (table->text == 0)
		table->text = said;
	if (table->text == 0 && image_section_place(table->image, ".text", &text) == 0)
		table->text = text.address;
	if (table->text == 0)
		return -EBADMSG;
	return 0;
}

static int find_module(struct go_table *table, const struct image_place *place, uint64_t names,
		       uint64_t said)
{
	struct go_module module = {0};
	struct image_place calls;

	if (!table->layout->pointers &&
	    go_module_find(table->image, place->address, place->address + names,
			   table->layout->first_lines, &module) == 0 &&
	    image_address_place(table->image, module.functions, &calls) == 0)
		table->calls = window_make(table->cache, table->image, &calls);
	return find_text(table, said, &module);
}

static int read_header(struct go_table *table, const struct image_place *place)
{
	unsigned char bytes[PCLNTAB_HEADER_MAX];
	struct window all = window_make(table->cache, table->image, place);
	struct pclntab_header header;
	int r = pclntab_read_header(bytes, window_read(&all, 0, bytes, sizeof(bytes)), &header);

	if (r < 0)
		return r;
	table->layout = find_layout(header.magic);
	if (!table->layout)
		return -ENOTSUP;
	table->count = header.count;
	table->names = window_from(&all, header.names);
	table->units = window_from(&all, header.units);
	table->files = window_from(&all, header.files);
	table->tables = window_from(&all, header.tables);
	table->functions = window_from(&all, header.functions);
	if (table->count >= table->functions.size / pair_bytes(table))
		return -EBADMSG;
	return find_module(table, place, header.names, header.text);
}

int go_table_open(struct symbol_cache *cache, struct image *image, struct go_table **ret_table)
{
	struct go_table *table guard_free = NULL;
	struct image_place place;
	int r = pclntab_place(image, &place);

	if (r < 0)
		return r;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->cache = cache;
	table->cached = symbol_cache_steps(cache);
	table->image = image;
	r = read_header(table, &place);
	if (r == 0)
		*ret_table = take_pointer(table);
	return r;
}

void go_table_close(struct go_table *table)
{
	free(table);
}

/* ---- tables of varints ---- */

static bool is_over(const struct go_table *table)
{
	return table->steps + symbol_cache_steps(table->cache) - table->cached >= GO_STEPS_MAX;
}

struct varints {
	const struct window *window;
	uint64_t next; /* to be read */
	struct reader reader;
	unsigned char bytes[VARINT_BYTES];
};

static void refill(struct varints *varints)
{
	size_t left = reader_left(&varints->reader);
	uint64_t at = varints->next - left;
	size_t got = window_read(varints->window, at, varints->bytes, VARINT_BYTES);

	varints->next = at + got;
	reader_init(&varints->reader, varints->bytes, got);
}

static int32_t unzigzag(uint32_t value)
{
	return (int32_t)(value >> 1 ^ -(value & 1));
}

/* A table's value at a pc; -1: none. */
static int32_t value_at(struct go_table *table, const struct function *function, uint32_t offset,
			uint64_t pc)
{
	struct varints varints = {.window = &table->tables, .next = offset};
	uint64_t end = function->start;
	uint32_t value = UINT32_MAX, more;

	reader_init(&varints.reader, varints.bytes, 0);
	for (bool first = true; offset != 0 && !is_over(table); first = false) {
		if (reader_left(&varints.reader) < PAIR_MAX) {
			refill(&varints);
			table->steps += VARINT_BYTES / 64;
		}
		more = (uint32_t)reader_uleb(&varints.reader);
		if (more == 0 && !first)
			break;
		value += (uint32_t)unzigzag(more);
		end += (uint32_t)reader_uleb(&varints.reader);
		table->steps++;
		if (reader_failed(&varints.reader))
			break;
		if (pc < end)
			return (int32_t)value;
	}
	return -1;
}

/* ---- functions ---- */

static int read_pair(const struct go_table *table, uint64_t index, uint64_t *ret_start,
		     uint64_t *ret_record)
{
	unsigned char bytes[2 * PCLNTAB_POINTER_BYTES];
	uint64_t size = pair_bytes(table);
	struct reader reader;

	reader_init(&reader, bytes, window_read(&table->functions, index * size, bytes, size));
	if (table->layout->pointers) {
		*ret_start = reader_u64(&reader);
		*ret_record = reader_u64(&reader);
	} else {
		*ret_start = table->text + reader_u32(&reader);
		*ret_record = reader_u32(&reader);
	}
	return 0;
}

/* The last one that does not begin above the pc; the last pair of all is where they end. */
static int find_function(const struct go_table *table, uint64_t pc, struct function *ret_function)
{
	uint64_t low = 0, high = table->count, start, record;

	read_pair(table, high, &start, &record);
	if (pc >= start)
		return -ENOENT;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		read_pair(table, middle, &start, &record);
		if (start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return -ENOENT;
	read_pair(table, low - 1, &ret_function->start, &ret_function->record);
	return 0;
}

static uint32_t read_u32(const struct window *window, uint64_t at)
{
	unsigned char bytes[4];
	struct reader reader;

	reader_init(&reader, bytes, window_read(window, at, bytes, sizeof(bytes)));
	return reader_u32(&reader);
}

/* Inlined calls, by address (until 1.17) or by offset in go:func.* */
static void find_tree(const struct go_table *table, struct function *function)
{
	uint64_t at = function->pcdata + 4ull * function->pcdata_count;
	struct image_place place;
	uint64_t address;

	if (function->funcdata_count <= FUNCDATA_TREE || function->pcdata_count <= PCDATA_INLINE)
		return;
	function->inlined = read_u32(&table->functions, function->pcdata + 4ull * PCDATA_INLINE);
	if (!table->layout->pointers) {
		uint32_t offset = read_u32(&table->functions, at + 4ull * FUNCDATA_TREE);

		if (offset != NO_OFFSET)
			function->tree = window_from(&table->calls, offset);
		return;
	}
	at = ((at + 7) & ~7ull) + (uint64_t)PCLNTAB_POINTER_BYTES * FUNCDATA_TREE;
	address = read_u32(&table->functions, at) | (uint64_t)read_u32(&table->functions, at + 4)
							    << 32;
	if (address != 0 && image_address_place(table->image, address, &place) == 0)
		function->tree = window_make(table->cache, table->image, &place);
}

static int read_function(const struct go_table *table, struct function *function)
{
	unsigned char bytes[RECORD_MAX];
	struct reader reader;

	reader_init(&reader, bytes,
		    window_read(&table->functions, function->record, bytes, sizeof(bytes)));
	reader_skip(&reader, pair_bytes(table) / 2); /* the function's start */
	function->name = reader_u32(&reader);
	reader_skip(&reader, 12); /* arguments, deferreturn, depths of the stack */
	function->files = reader_u32(&reader);
	function->lines = reader_u32(&reader);
	function->pcdata_count = reader_u32(&reader);
	function->unit = reader_u32(&reader);
	if (table->layout->first_lines)
		function->first_line = reader_u32(&reader);
	reader_skip(&reader, 3); /* kind, flags, padding */
	function->funcdata_count = reader_u8(&reader);
	function->pcdata = function->record + reader_offset(&reader);
	if (reader_failed(&reader))
		return -EBADMSG;
	find_tree(table, function);
	return 0;
}

/*
 * Reads funcID, padding, name, parentPc, startLine. Before 1.20: parent, funcID, file, line, name,
 * parentPc.
 */
static bool read_call(const struct go_table *table, const struct function *function, int32_t index,
		      struct call *ret_call)
{
	const uint32_t size = table->layout->call_size;
	unsigned char bytes[20];
	struct reader reader;

	reader_init(&reader, bytes,
		    window_read(&function->tree, (uint64_t)(uint32_t)index * size, bytes, size));
	reader_skip(&reader, table->layout->first_lines ? 4 : 12);
	ret_call->name = reader_u32(&reader);
	ret_call->parent = (int32_t)reader_u32(&reader);
	ret_call->first_line = 0;
	if (table->layout->first_lines)
		ret_call->first_line = reader_u32(&reader);
	return !reader_failed(&reader);
}

/* ---- frames ---- */

static void read_file(struct go_table *table, const struct function *function, int32_t number)
{
	uint32_t offset = NO_OFFSET;

	table->file[0] = '\0';
	if (number >= 0)
		offset = read_u32(&table->units,
				  4ull * ((uint64_t)function->unit + (uint32_t)number));
	if (offset != NO_OFFSET)
		table->steps +=
			window_string(&table->files, offset, table->file, sizeof(table->file)) /
			STEP_NAME;
}

static void read_name(struct go_table *table, uint32_t offset)
{
	size_t length = window_string(&table->names, offset, table->name, sizeof(table->name));

	table->steps += length / STEP_NAME;
}

/* Visits an inlined call, or the function itself where call is NULL. */
static void show_frame(struct go_table *table, const struct function *function,
		       const struct call *call, uint64_t pc, go_visit *visit, void *context)
{
	int32_t line = value_at(table, function, function->lines, pc);
	struct go_frame frame = {
		.name = table->name,
		.file = table->file,
		.first_line = function->first_line,
		.start = function->start,
	};

	if (line > 0)
		frame.line = (uint32_t)line;
	if (call) {
		frame.first_line = call->first_line;
		frame.start = 0;
		frame.inlined = true;
	}
	read_name(table, call ? call->name : function->name);
	read_file(table, function, value_at(table, function, function->files, pc));
	visit(context, &frame);
}

int go_table_find(struct go_table *table, uint64_t pc, go_visit *visit, void *context)
{
	struct function function = {0};
	struct call call;
	int r;

	if (is_over(table))
		return -ETIME;
	r = find_function(table, pc, &function);
	if (r < 0)
		return r;
	r = read_function(table, &function);
	if (r < 0)
		return r;
	for (size_t i = 0; i < GO_INLINE_MAX && function.tree.size > 0 && !is_over(table); i++) {
		int32_t index = value_at(table, &function, function.inlined, pc);

		if (index < 0 || !read_call(table, &function, index, &call))
			break;
		show_frame(table, &function, &call, pc, visit, context);
		pc = function.start + (uint64_t)(int64_t)call.parent;
	}
	show_frame(table, &function, NULL, pc, visit, context);
	if (is_over(table))
		return -ETIME;
	return 0;
}
