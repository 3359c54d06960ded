/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/hotspot_layout.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "object/elf/dynamic.h"
#include "object/elf/exported.h"
#include "object/elf/image.h"

enum what {
	OFFSET,
	STATIC,
	SIZE,
	CONSTANT
};

#define NAMES 2u

static const struct row {
	size_t field; /* offset in struct hotspot_layout */
	enum what what;
	const char *type[NAMES], *name[NAMES]; /* "": any type, or no name */
} rows[] = {
#define F(field, what, type, name, other_type, other_name) \
	{offsetof(struct hotspot_layout, field), what, {type, other_type}, {name, other_name}},
#include "worker/runtime/hotspot_layout.def"
#undef F
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- tables ---- */

/* vmStructs.hpp: VMStructEntry, VMTypeEntry, VMIntConstantEntry, on x86-64 */
enum table_kind {
	TABLE_STRUCTS,
	TABLE_TYPES,
	TABLE_CONSTANTS,
	TABLES
};
#define ENTRY_TYPE     0u
#define ENTRY_NAME     8u
#define ENTRY_STATIC   24u
#define ENTRY_OFFSET   32u
#define ENTRY_ADDRESS  40u
#define TYPE_SIZE      32u
#define CONSTANT_VALUE 8u

static const struct {
	const char *symbol;
	size_t stride;
} kinds[TABLES] = {
	[TABLE_STRUCTS] = {"gHotSpotVMStructs", 48},
	[TABLE_TYPES] = {"gHotSpotVMTypes", 40},
	[TABLE_CONSTANTS] = {"gHotSpotVMIntConstants", 16},
};

#define ENTRIES_MAX 2048u
#define TEXT_BYTES  64u /* of a name */

struct table {
	uint64_t address;
	unsigned char *bytes; /* owned; as the dynamic linker leaves them */
	size_t size, count, stride;
};

struct tables {
	struct image *image;
	struct table table[TABLES];
	bool stored[ENTRIES_MAX]; /* an initialiser stores the offset of this entry */
};

static uint64_t word_at(const struct table *table, size_t entry, size_t offset)
{
	uint64_t word;

	memcpy(&word, table->bytes + entry * table->stride + offset, sizeof(word));
	return word;
}

static uint32_t half_at(const struct table *table, size_t entry, size_t offset)
{
	uint32_t half;

	memcpy(&half, table->bytes + entry * table->stride + offset, sizeof(half));
	return half;
}

/* Returns whether a table has the word at an address, and where. */
static bool is_in(const struct table *table, uint64_t address, size_t *ret_at)
{
	*ret_at = (size_t)(address - table->address);
	return address >= table->address && address - table->address < table->size &&
	       table->size - *ret_at >= sizeof(uint64_t);
}

/* Puts the addend of a relocation into the table that has its place. Always goes on. */
static bool relocate(const struct dynamic_relocation *relocation, const void *context)
{
	const struct tables *tables = context;
	size_t at;

	if (relocation->type != R_X86_64_RELATIVE)
		return false;
	for (size_t i = 0; i < TABLES; i++)
		if (is_in(&tables->table[i], relocation->address, &at))
			memcpy(tables->table[i].bytes + at, &relocation->addend, sizeof(uint64_t));
	return false;
}

/* Reads the word at an address, as the dynamic linker leaves it. */
static int read_pointer(struct image *image, uint64_t address, uint64_t *ret_word)
{
	struct dynamic_relocation relocation;
	struct image_place place;

	if (dynamic_relocation(image, address, &relocation) == 0 &&
	    relocation.type == R_X86_64_RELATIVE) {
		*ret_word = (uint64_t)relocation.addend;
		return 0;
	}
	/* DT_RELR: the addend is in its place */
	if (image_address_place(image, address, &place) < 0 ||
	    image_read(image, place.offset, ret_word, sizeof(*ret_word)) != sizeof(*ret_word))
		return -ENOTSUP;
	return 0;
}

static int read_table(struct tables *tables, const struct exported *exported, size_t kind)
{
	struct table *table = &tables->table[kind];
	struct exported_symbol symbol;
	struct image_place place;
	int r;

	if (!exported_find(exported, kinds[kind].symbol, &symbol))
		return -ENOTSUP;
	r = read_pointer(tables->image, symbol.address, &table->address);
	if (r < 0)
		return r;
	if (image_address_place(tables->image, table->address, &place) < 0)
		return -ENOTSUP;
	table->stride = kinds[kind].stride;
	table->bytes = calloc(ENTRIES_MAX, table->stride);
	if (!table->bytes)
		return -ENOMEM;
	table->size = ENTRIES_MAX * table->stride;
	if (table->size > place.size)
		table->size = (size_t)place.size;
	table->size = image_read(tables->image, place.offset, table->bytes, table->size);
	return 0;
}

/* Counts the entries before the one without a name, which is the last one. */
static int count_entries(struct table *table)
{
	while (table->count < table->size / table->stride && word_at(table, table->count, 0) != 0)
		table->count++;
	if (table->count == 0 || table->count == table->size / table->stride)
		return -ENOTSUP;
	return 0;
}

static int read_tables(struct tables *tables, const struct exported *exported)
{
	struct dynamic_relocation none;
	int r = 0;

	for (size_t i = 0; r == 0 && i < TABLES; i++)
		r = read_table(tables, exported, i);
	if (r < 0)
		return r;
	(void)dynamic_find_relocation(tables->image, relocate, tables, &none);
	for (size_t i = 0; r == 0 && i < TABLES; i++)
		r = count_entries(&tables->table[i]);
	return r;
}

/* ---- offsets that an initialiser stores ---- */

#define PIECE_BYTES 65536u
#define TEXT_MAX    (64u << 20) /* bytes of code that are looked through */

/* movq $imm32, disp32(%rip): Intel SDM, MOV r/m64, imm32 */
static const unsigned char store_code[] = {0x48, 0xc7, 0x05};
#define STORE_BYTES 11u

static size_t take_store(struct tables *tables, const unsigned char *code, uint64_t pc)
{
	struct table *structs = &tables->table[TABLE_STRUCTS];
	int32_t distance, value;
	uint64_t word;
	size_t at;

	memcpy(&distance, code + sizeof(store_code), sizeof(distance));
	memcpy(&value, code + sizeof(store_code) + sizeof(distance), sizeof(value));
	if (!is_in(structs, pc + STORE_BYTES + (uint64_t)(int64_t)distance, &at) ||
	    at % structs->stride != ENTRY_OFFSET || at / structs->stride >= structs->count ||
	    tables->stored[at / structs->stride] || value < 0)
		return 0;
	word = (uint64_t)value;
	memcpy(structs->bytes + at, &word, sizeof(word));
	tables->stored[at / structs->stride] = true;
	return 1;
}

/* Takes the stores in a piece of code. Returns how many there are. */
static size_t take_stores(struct tables *tables, const unsigned char *piece, size_t size,
			  uint64_t pc)
{
	const unsigned char *at = piece, *end = piece + size;
	size_t count = 0;

	while (at && (size_t)(end - at) >= STORE_BYTES) {
		at = memmem(at, (size_t)(end - at), store_code, sizeof(store_code));
		if (!at || (size_t)(end - at) < STORE_BYTES)
			break;
		count += take_store(tables, at, pc + (uint64_t)(at - piece));
		at++;
	}
	return count;
}

/* Looks for `wanted` stores in a segment. Returns how many are left. */
static size_t look_in(struct tables *tables, const struct image_segment *segment, size_t wanted,
		      unsigned char *piece)
{
	const uint64_t end = image_segment_end(tables->image, segment);
	uint64_t pc = segment->address, looked = 0;

	while (wanted > 0 && pc < end && looked < TEXT_MAX) {
		const uint64_t left = end - pc;
		size_t size = PIECE_BYTES;

		if (left < size)
			size = (size_t)left;
		size = image_read(tables->image, segment->file_offset + (pc - segment->address),
				  piece, size);
		if (size <= STORE_BYTES)
			break;
		wanted -= take_stores(tables, piece, size, pc);
		pc += size - STORE_BYTES; /* a store may be in two pieces */
		looked += size;
	}
	return wanted;
}

/* Returns how many offsets the initialiser has to store; 0: the image has them. */
static size_t count_wanted(const struct table *structs)
{
	size_t fields = 0;

	for (size_t i = 0; i < structs->count; i++) {
		if (half_at(structs, i, ENTRY_STATIC))
			continue;
		if (word_at(structs, i, ENTRY_OFFSET) != 0)
			return 0;
		fields++;
	}
	return fields;
}

static int take_offsets(struct tables *tables)
{
	size_t wanted = count_wanted(&tables->table[TABLE_STRUCTS]);
	const struct image_segment *segments;
	const size_t count = image_segments(tables->image, &segments);
	unsigned char *piece;

	if (wanted == 0)
		return 0;
	piece = malloc(PIECE_BYTES);
	if (!piece)
		return -ENOMEM;
	for (size_t i = 0; i < count && wanted > 0; i++)
		if (segments[i].executable)
			wanted = look_in(tables, &segments[i], wanted, piece);
	free(piece);
	if (wanted > 0)
		return -ENOTSUP;
	return 0;
}

/* ---- rows ---- */

static void read_text(struct image *image, uint64_t address, char ret_text[TEXT_BYTES])
{
	struct image_place place;

	memset(ret_text, 0, TEXT_BYTES);
	if (image_address_place(image, address, &place) == 0)
		(void)image_read(image, place.offset, ret_text, TEXT_BYTES - 1);
}

static bool is_named(const struct row *row, const char *type, const char *name)
{
	for (size_t i = 0; i < NAMES; i++)
		if ((row->type[i][0] || row->name[i][0]) && strcmp(row->type[i], type) == 0 &&
		    strcmp(row->name[i], name) == 0)
			return true;
	return false;
}

static void set_field(struct hotspot_layout *layout, const struct row *row, uint64_t value)
{
	if (value < HOTSPOT_ABSENT)
		memcpy((char *)layout + row->field, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
}

/* Sets the fields of one entry. */
static void take_entry(struct hotspot_layout *layout, enum what what, const char *type,
		       const char *name, uint64_t value)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].what == what && is_named(&rows[i], type, name))
			set_field(layout, &rows[i], value);
}

static bool has_type(const char *type)
{
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < NAMES; j++)
			if (type[0] && strcmp(rows[i].type[j], type) == 0)
				return true;
	return false;
}

static void take_structs(struct tables *tables, struct hotspot_layout *layout)
{
	const struct table *table = &tables->table[TABLE_STRUCTS];
	char type[TEXT_BYTES], name[TEXT_BYTES];

	for (size_t i = 0; i < table->count; i++) {
		read_text(tables->image, word_at(table, i, ENTRY_TYPE), type);
		if (!has_type(type))
			continue;
		read_text(tables->image, word_at(table, i, ENTRY_NAME), name);
		if (half_at(table, i, ENTRY_STATIC))
			take_entry(layout, STATIC, type, name, word_at(table, i, ENTRY_ADDRESS));
		else
			take_entry(layout, OFFSET, type, name, word_at(table, i, ENTRY_OFFSET));
	}
}

static void take_types(struct tables *tables, struct hotspot_layout *layout)
{
	const struct table *table = &tables->table[TABLE_TYPES];
	char type[TEXT_BYTES];

	for (size_t i = 0; i < table->count; i++) {
		read_text(tables->image, word_at(table, i, ENTRY_TYPE), type);
		take_entry(layout, SIZE, type, "", word_at(table, i, TYPE_SIZE));
	}
}

static void take_constants(struct tables *tables, struct hotspot_layout *layout)
{
	const struct table *table = &tables->table[TABLE_CONSTANTS];
	char name[TEXT_BYTES];

	for (size_t i = 0; i < table->count; i++) {
		read_text(tables->image, word_at(table, i, 0), name);
		take_entry(layout, CONSTANT, "", name, half_at(table, i, CONSTANT_VALUE));
	}
}

int hotspot_layout_read(struct image *image, const struct exported *exported,
			struct hotspot_layout *ret_layout)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	int r;

	if (!tables)
		return -ENOMEM;
	tables->image = image;
	r = read_tables(tables, exported);
	if (r == 0)
		r = take_offsets(tables);
	if (r == 0) {
		memset(ret_layout, 0xff, sizeof(*ret_layout));
		take_structs(tables, ret_layout);
		take_types(tables, ret_layout);
		take_constants(tables, ret_layout);
	}
	for (size_t i = 0; i < TABLES; i++)
		free(tables->table[i].bytes);
	free(tables);
	return r;
}
