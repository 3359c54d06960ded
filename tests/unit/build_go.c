/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_go.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_elf.h"

#define TABLE_AT     0x100000ull
#define CALLS_AT     0x200000ull
#define MODULE_AT    0x300000ull
#define MERGED_BYTES 4160 /* more than one look covers */
#define MODULE_WORDS 41

struct bytes {
	unsigned char data[1 << 17];
	size_t size;
};

static void put(struct bytes *bytes, uint64_t value, size_t size)
{
	memcpy(bytes->data + bytes->size, &value, size); /* little endian */
	bytes->size += size;
}

static void put_zeros(struct bytes *bytes, size_t size)
{
	memset(bytes->data + bytes->size, 0, size);
	bytes->size += size;
}

static void put_bytes(struct bytes *bytes, const void *from, size_t size)
{
	memcpy(bytes->data + bytes->size, from, size);
	bytes->size += size;
}

static const char names[] = "\0main.main\0main.add\0main.other";
static const char files[] = "\0/src/main.go\0/src/add.go";
static const uint32_t units[] = {1, 14};

/* Steps of {value, zigzag; pc}. The files of main.main begin at 1, and so on. */
static const unsigned char tables[] = {
	0,				    /* no table begins here */
	2,  0x20, 2,  0x10, 1,	0xd0, 1, 0, /* files at 1: 0, 1, 0 */
	22, 0x20, 90, 0x10, 85, 0xd0, 1, 0, /* lines at 9: 10, 55, 12 */
	0,  0x20, 2,  0x10, 1,	0xd0, 1, 0, /* calls at 17: -1, 0, -1 */
	2,  0x80, 1,  0,		    /* files at 25: 0 */
	42, 0x80, 1,  0,		    /* lines at 29: 20 */
};

struct record {
	uint32_t start, name, files, lines, calls, first_line;
};

static const struct record records[] = {
	{0, 1, 1, 9, 17, 9},
	{0x100, 20, 25, 29, 0, 20},
};

static void put_record(const struct build_go *build, struct bytes *bytes,
		       const struct record *record)
{
	if (build->version == 16)
		put(bytes, BUILD_GO_TEXT + record->start, 8);
	else
		put(bytes, record->start, 4);
	put(bytes, record->name, 4);
	put_zeros(bytes, 12);
	put(bytes, record->files, 4);
	put(bytes, record->lines, 4);
	put(bytes, 3, 4);    /* tables of pcdata */
	put_zeros(bytes, 4); /* unit */
	if (build->version == 20)
		put(bytes, record->first_line, 4);
	put(bytes, 4u << 24, 4); /* offsets of funcdata */
	put_zeros(bytes, 8);
	put(bytes, record->calls, 4);
	if (build->version == 16) {
		while (bytes->size % 8)
			put_zeros(bytes, 1);
		put_zeros(bytes, 8);
		put_zeros(bytes, 16);
		put(bytes, CALLS_AT + 4, 8);
	} else {
		put(bytes, UINT64_MAX, 8);
		put(bytes, UINT32_MAX, 4);
		put(bytes, 4, 4);
	}
	while (bytes->size % 8)
		put_zeros(bytes, 1);
}

static void put_functions(const struct build_go *build, struct bytes *bytes)
{
	struct bytes *own = calloc(1, sizeof(*own));
	size_t pointer = build->version == 16 ? 8 : 4, pairs = 6 * pointer;
	uint64_t base = build->version == 16 ? BUILD_GO_TEXT : 0;

	pairs = (pairs + 7) & ~(size_t)7;
	own->size = pairs;
	put_record(build, own, &records[0]);
	put(bytes, base, pointer);
	put(bytes, pairs, pointer);
	put(bytes, base + 0x100, pointer);
	put(bytes, own->size, pointer);
	put(bytes, base + 0x180, pointer);
	put_zeros(bytes, pairs - 5 * pointer);
	put_record(build, own, &records[1]);
	put_bytes(bytes, own->data + pairs, own->size - pairs);
	free(own);
}

static void put_strings(const struct build_go *build, struct bytes *bytes, const void *usual,
			size_t size)
{
	if (build->strings)
		put_bytes(bytes, build->strings, build->strings_size);
	else
		put_bytes(bytes, usual, size);
}

/* Returns where the names are. */
static uint64_t put_table(const struct build_go *build, struct bytes *bytes)
{
	static const uint32_t magic[] = {[16] = 0xfffffffa, [18] = 0xfffffff0, [20] = 0xfffffff1};
	size_t header = build->version == 16 ? 64 : 72, at = 24;
	uint64_t offsets[6];

	put(bytes, magic[build->version], 4);
	put(bytes, 0x08010000, 4);
	put(bytes, 2, 8);
	put(bytes, 2, 8);
	bytes->size = header;
	offsets[0] = build->no_module ? BUILD_GO_TEXT : 0;
	offsets[1] = bytes->size;
	put_strings(build, bytes, names, sizeof(names));
	offsets[2] = bytes->size;
	put_bytes(bytes, units, sizeof(units));
	offsets[3] = bytes->size;
	put_strings(build, bytes, files, sizeof(files));
	offsets[4] = bytes->size;
	if (build->tables)
		put_bytes(bytes, build->tables, build->tables_size);
	else
		put_bytes(bytes, tables, sizeof(tables));
	bytes->size = (bytes->size + 7) & ~(size_t)7;
	offsets[5] = bytes->size;
	if (build->functions)
		put_bytes(bytes, build->functions, build->functions_size);
	else
		put_functions(build, bytes);
	if (build->version == 16)
		memcpy(bytes->data + at, offsets + 1, 5 * 8);
	else
		memcpy(bytes->data + at, offsets, 6 * 8);
	return offsets[1];
}

/* Four unrelated bytes come first. */
static void put_calls(const struct build_go *build, struct bytes *bytes)
{
	put_zeros(bytes, 4);
	put_zeros(bytes, build->version == 20 ? 4 : 8);
	if (build->version < 20)
		put(bytes, 99, 4); /* line */
	put(bytes, 11, 4);
	put(bytes, (uint32_t)(build->parent ? build->parent : 0x1f), 4);
	if (build->version == 20)
		put(bytes, 50, 4);
}

static void put_module(const struct build_go *build, struct build_elf *elf, uint64_t name_offset)
{
	const size_t count = build->decoys + MODULE_WORDS + 1;
	uint64_t *words = calloc(count, sizeof(*words)), *module = words + build->decoys + 1;
	Elf64_Rela relocations[4];
	const unsigned int used[] = {0, 1, 22, build->version == 20 ? 40 : 38};

	for (size_t i = 0; i < build->decoys; i++)
		words[i] = TABLE_AT;
	module[0] = TABLE_AT;
	module[1] = TABLE_AT + name_offset;
	module[22] = BUILD_GO_TEXT;
	module[used[3]] = CALLS_AT;
	for (size_t i = 0; i < 4; i++)
		relocations[i] = (Elf64_Rela){.r_offset = MODULE_AT + 8 + 8 * used[i],
					      .r_info = R_X86_64_RELATIVE,
					      .r_addend = (int64_t)module[used[i]]};
	if (build->relocated)
		build_elf_section(elf, ".rela.dyn", SHT_RELA, 0x400, relocations,
				  sizeof(relocations));
	else
		build_elf_section(elf, ".noptrdata", SHT_PROGBITS, MODULE_AT, words,
				  count * sizeof(*words));
	free(words);
}

static void put_section(const struct build_go *build, struct build_elf *elf,
			const struct bytes *table)
{
	const size_t before = build->merged ? MERGED_BYTES : 0;
	unsigned char *bytes = calloc(before + table->size, 1);

	memcpy(bytes + before, table->data, table->size);
	if (build->merged)
		build_elf_section(elf, ".go.buildinfo", SHT_PROGBITS, 0x500, "", 0);
	build_elf_section(elf,
			  build->merged	     ? ".data.rel.ro"
			  : build->relocated ? ".data.rel.ro.gopclntab"
					     : ".gopclntab",
			  SHT_PROGBITS, TABLE_AT - before, bytes, before + table->size);
	free(bytes);
}

unsigned char *build_go(const struct build_go *build, size_t *ret_size)
{
	struct bytes *table = calloc(1, sizeof(*table)), *calls = calloc(1, sizeof(*calls));
	struct build_elf elf;
	uint64_t name_offset;

	build_elf_init(&elf);
	build_elf_text(&elf, BUILD_GO_TEXT, 0x180);
	name_offset = put_table(build, table);
	put_calls(build, calls);
	build_elf_segment(&elf, PT_LOAD, PF_R, CALLS_AT, calls->data, calls->size);
	put_section(build, &elf, table);
	if (!build->no_module)
		put_module(build, &elf, name_offset);
	free(table);
	free(calls);
	return build_elf_finish(&elf, ret_size);
}
