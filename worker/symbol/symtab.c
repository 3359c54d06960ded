/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols are read once, in file order; each is laid against the few of the sorted pcs that it
 * covers, and only the best candidate of each pc is kept. Candidates point into the string table,
 * which lives as long as the image.
 */
#include "worker/symbol/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "worker/base/reader.h"
#include "worker/elf/image.h"
#include "worker/symbol/alias.h"

/*
 * Symbols of a hostile file may all cover all pcs. One step is a candidate looked at or 64 bytes of
 * a name; ordinary files need about one per pc.
 */
#define SYMTAB_STEPS_MAX (32u << 20)

/* Compared from the top: what covers the pc, how near it starts, then which alias is best known. */
struct candidate {
	bool sized; /* by its size; else by its very address */
	uint64_t start;
	bool function; /* FUNC or IFUNC; else NOTYPE */
	unsigned int binding;
	struct alias alias; /* its name is NULL: no candidate */
};

struct symtab_symbol {
	uint32_t name;
	uint64_t value, size;
	unsigned int type, binding;
	uint16_t section;
};

struct symtab {
	struct image *image;
	const uint64_t *pcs;
	size_t count;
	struct candidate *best; /* per pc */
	struct reader strings;
	uint64_t steps;
};

static const unsigned int binding_ranks[16] = {
	[STB_GLOBAL] = 3, [STB_GNU_UNIQUE] = 3, [STB_WEAK] = 2, [STB_LOCAL] = 1};

static struct symtab_symbol symtab_read(struct reader *reader)
{
	struct symtab_symbol symbol = {.name = reader_u32(reader)};
	uint8_t info = reader_u8(reader);

	reader_skip(reader, 1); /* st_other: visibility */
	symbol.section = reader_u16(reader);
	symbol.value = reader_u64(reader);
	symbol.size = reader_u64(reader);
	symbol.type = ELF64_ST_TYPE(info);
	symbol.binding = ELF64_ST_BIND(info);
	return symbol;
}

static bool symtab_in_text(struct image *image, uint64_t address)
{
	const struct image_segment *segments;
	size_t count = image_segments(image, &segments);

	for (size_t i = 0; i < count; i++) {
		if (segments[i].executable && address >= segments[i].address &&
		    address - segments[i].address < segments[i].memory_size)
			return true;
	}
	return false;
}

static bool symtab_is_code(const struct symtab *symtab, const struct symtab_symbol *symbol)
{
	if (symbol->section == SHN_UNDEF || symbol->name == 0 ||
	    binding_ranks[symbol->binding] == 0)
		return false;
	if (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC)
		return true;
	/* Labels of hand-written assembly; an absolute one is a number, not a place. */
	return symbol->type == STT_NOTYPE && symbol->section != SHN_ABS &&
	       symtab_in_text(symtab->image, symbol->value);
}

/* Bounded even where the string table has no NUL; without the version of "name@@VERSION". */
static void symtab_name(struct symtab *symtab, uint32_t offset, struct candidate *candidate)
{
	struct reader reader = symtab->strings;
	const char *name, *end;
	size_t most, length;

	reader_seek(&reader, offset);
	most = reader_left(&reader) < SYMBOL_NAME_MAX ? reader_left(&reader) : SYMBOL_NAME_MAX;
	name = reader_bytes(&reader, most);
	if (!name || most == 0)
		return;
	end = memchr(name, '\0', most);
	length = end ? (size_t)(end - name) : most;
	symtab->steps += length / 64;
	end = memchr(name, '@', length);
	if (end && end > name)
		length = (size_t)(end - name);
	if (length > 0)
		candidate->alias = alias_make(name, length);
}

/* Labels that an assembler keeps for itself. */
static bool symtab_name_is_noise(const struct alias *alias)
{
	return !alias->name || (alias->length >= 2 && !memcmp(alias->name, ".L", 2));
}

/* Positive: a is better, 0: their names decide. */
static int symtab_compare(const struct candidate *a, const struct candidate *b)
{
	if (!b->alias.name)
		return 1;
	if (a->sized != b->sized)
		return a->sized ? 1 : -1;
	if (a->start != b->start)
		return a->start > b->start ? 1 : -1;
	if (a->function != b->function)
		return a->function ? 1 : -1;
	return (int)a->binding - (int)b->binding;
}

/* Index of the first pc that is not below the address. */
static size_t symtab_first(const struct symtab *symtab, uint64_t address)
{
	size_t low = 0, high = symtab->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symtab->pcs[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void symtab_offer(struct symtab *symtab, struct candidate *candidate, uint32_t name,
			 struct candidate *best)
{
	int order = symtab_compare(candidate, best);

	symtab->steps++;
	if (order < 0)
		return;
	if (!candidate->alias.name)
		symtab_name(symtab, name, candidate);
	if (symtab_name_is_noise(&candidate->alias))
		return;
	if (order > 0 || alias_is_better(&candidate->alias, &best->alias))
		*best = *candidate;
}

static int symtab_symbol(struct symtab *symtab, const struct symtab_symbol *symbol)
{
	uint64_t last = symbol->value + (symbol->size ? symbol->size - 1 : 0);
	struct candidate candidate = {
		.sized = symbol->size > 0,
		.start = symbol->value,
		.function = symbol->type != STT_NOTYPE,
		.binding = binding_ranks[symbol->binding],
	};

	if (symbol->value > symtab->pcs[symtab->count - 1] || last < symbol->value ||
	    last < symtab->pcs[0] || !symtab_is_code(symtab, symbol))
		return 0;
	for (size_t i = symtab_first(symtab, symbol->value);
	     i < symtab->count && symtab->pcs[i] <= last; i++) {
		symtab_offer(symtab, &candidate, symbol->name, &symtab->best[i]);
		if (symtab->steps > SYMTAB_STEPS_MAX)
			return -EBADMSG;
	}
	return 0;
}

static int symtab_scan(struct symtab *symtab, const char *section)
{
	struct image_bytes table, strings;
	struct symtab_symbol symbol;
	struct reader reader;
	int r;

	r = image_section(symtab->image, section, &table);
	if (r == 0)
		r = image_section_at(symtab->image, table.link, &strings);
	if (r < 0)
		return r;
	if (table.entry_size != sizeof(Elf64_Sym))
		return -EBADMSG;
	reader_init(&reader, table.bytes, table.size);
	reader_init(&symtab->strings, strings.bytes, strings.size);
	while (reader_left(&reader) >= sizeof(Elf64_Sym) && r == 0) {
		symbol = symtab_read(&reader);
		r = symtab_symbol(symtab, &symbol);
	}
	return r;
}

/* Damage counts only where nothing else gave names; a file without symbols is in order. */
static int symtab_scan_all(struct symtab *symtab)
{
	static const char *const sections[] = {".symtab", ".dynsym"};
	bool usable = false;
	int r, damage = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		r = symtab_scan(symtab, sections[i]);
		if (r == 0)
			usable = true;
		else if (r != -ENOENT && damage == 0)
			damage = r;
	}
	return usable || symtab->steps > SYMTAB_STEPS_MAX ? 0 : damage;
}

static int symtab_copy(const struct symtab *symtab, struct symbol_match *ret_matches)
{
	const struct candidate *best = symtab->best;

	for (size_t i = 0; i < symtab->count; i++) {
		if (!best[i].alias.name)
			continue;
		ret_matches[i].name = strndup(best[i].alias.name, best[i].alias.length);
		if (!ret_matches[i].name)
			return -ENOMEM;
		ret_matches[i].start = best[i].start;
	}
	return 0;
}

static void symtab_forget(struct symbol_match *matches, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(matches[i].name);
		matches[i] = (struct symbol_match){0};
	}
}

int symtab_resolve(struct image *image, const uint64_t *pcs, size_t count,
		   struct symbol_match *ret_matches)
{
	struct symtab symtab = {.image = image, .pcs = pcs, .count = count};
	int r;

	for (size_t i = 0; i < count; i++)
		ret_matches[i] = (struct symbol_match){0};
	if (count == 0)
		return 0;
	symtab.best = calloc(count, sizeof(*symtab.best));
	if (!symtab.best)
		return -ENOMEM;
	r = symtab_scan_all(&symtab);
	if (r == 0)
		r = symtab_copy(&symtab, ret_matches);
	if (r < 0)
		symtab_forget(ret_matches, count);
	free(symtab.best);
	return r;
}
