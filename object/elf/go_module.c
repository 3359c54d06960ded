/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_module.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "ipc/guard.h"
#include "base/reader.h"
#include "object/elf/image.h"

#define PIECE_BYTES   (48u << 10) /* a multiple of the size of a relocation and of a word */
#define WORD	      8u
#define CANDIDATES    16u
#define WORD_START    20u /* struct moduledata of runtime/symtab.go, in words */
#define WORD_END      21u
#define WORD_TEXT     22u
#define WORD_GOFUNC   38u
#define WORDS_COVERED 2u /* covctrs, ecovctrs */

struct search {
	struct image *image;
	uint64_t table, names;
	uint32_t gofunc; /* index of a word */
	struct go_module module;
	uint32_t tried;
	uint64_t at[CANDIDATES]; /* addresses that the table's is relocated to */
	uint32_t count;
	bool found[CANDIDATES]; /* the names' address follows */
	struct go_module relocated[CANDIDATES];
	unsigned char piece[PIECE_BYTES];
};

static uint64_t word_at(const struct search *search, uint64_t offset)
{
	unsigned char bytes[WORD];
	struct reader reader;

	reader_init(&reader, bytes, image_read(search->image, offset, bytes, sizeof(bytes)));
	return reader_u64(&reader);
}

static bool is_module(struct search *search, uint64_t offset)
{
	if (search->tried == GO_MODULES_MAX)
		return false;
	search->tried++;
	if (word_at(search, offset + WORD) != search->names)
		return false;
	search->module.start = word_at(search, offset + WORD_START * WORD);
	search->module.end = word_at(search, offset + WORD_END * WORD);
	search->module.text = word_at(search, offset + WORD_TEXT * WORD);
	search->module.functions = word_at(search, offset + search->gofunc * WORD);
	return search->module.text != 0;
}

static bool scan_section(struct search *search, const char *name)
{
	struct image_place place;
	struct reader reader;

	if (image_section_place(search->image, name, &place) < 0)
		return false;
	for (uint64_t at = 0; at < place.size && at < GO_MODULE_SCAN_MAX; at += PIECE_BYTES) {
		uint64_t left = place.size - at, next = place.offset + at;

		reader_init(&reader, search->piece,
			    image_read(search->image, next, search->piece,
				       left < PIECE_BYTES ? (size_t)left : PIECE_BYTES));
		for (; reader_left(&reader) >= WORD; next += WORD)
			if (reader_u64(&reader) == search->table && is_module(search, next))
				return true;
	}
	return false;
}

/* ---- relocations ---- */

static void note_table(struct search *search, uint64_t at, uint64_t value)
{
	if (value == search->table && search->count < CANDIDATES)
		search->at[search->count++] = at;
}

static void note_rest(struct search *search, uint64_t at, uint64_t value)
{
	for (uint32_t i = 0; i < search->count; i++) {
		uint64_t word = (at - search->at[i]) / WORD;

		if (word == 1)
			search->found[i] = value == search->names;
		else if (word == WORD_START)
			search->relocated[i].start = value;
		else if (word == WORD_END)
			search->relocated[i].end = value;
		else if (word == WORD_TEXT)
			search->relocated[i].text = value;
		else if (word == search->gofunc)
			search->relocated[i].functions = value;
	}
}

static void scan_relocations(struct search *search, const struct image_place *place,
			     void (*note)(struct search *search, uint64_t at, uint64_t value))
{
	struct reader reader;

	for (uint64_t at = 0; at < place->size && at < GO_MODULE_SCAN_MAX; at += PIECE_BYTES) {
		uint64_t left = place->size - at;

		reader_init(&reader, search->piece,
			    image_read(search->image, place->offset + at, search->piece,
				       left < PIECE_BYTES ? (size_t)left : PIECE_BYTES));
		while (reader_left(&reader) >= sizeof(Elf64_Rela)) {
			uint64_t address = reader_u64(&reader), info = reader_u64(&reader);
			uint64_t addend = reader_u64(&reader);

			if (info == R_X86_64_RELATIVE)
				note(search, address, addend);
		}
	}
}

static bool find_relocated(struct search *search)
{
	struct image_place place;

	if (image_section_place(search->image, ".rela.dyn", &place) < 0)
		return false;
	scan_relocations(search, &place, note_table);
	scan_relocations(search, &place, note_rest);
	for (uint32_t i = 0; i < search->count; i++) {
		search->module = search->relocated[i];
		if (search->found[i] && search->module.text != 0)
			return true;
	}
	return false;
}

static bool find(struct search *search)
{
	/* by version of Go and way of linking, the newest first */
	static const char *const sections[] = {".go.module", ".noptrdata", ".data", ".data.rel.ro"};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (scan_section(search, sections[i]))
			return true;
	return find_relocated(search);
}

int go_module_find(struct image *image, uint64_t table, uint64_t names, bool coverage,
		   struct go_module *ret_module)
{
	struct search *search guard_free = calloc(1, sizeof(*search));

	if (!search)
		return -ENOMEM;
	search->image = image;
	search->table = table;
	search->names = names;
	search->gofunc = WORD_GOFUNC;
	if (coverage)
		search->gofunc += WORDS_COVERED;
	if (!find(search))
		return -ENOENT;
	*ret_module = search->module;
	return 0;
}
