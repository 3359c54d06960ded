/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the symbols once, in file order. Each symbol is compared with the few of the sorted pcs
 * that it covers. Only the best candidate of each pc is kept, with the offset of its name.
 */
#include "object/symbol/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "base/reader.h"
#include "object/elf/image.h"
#include "object/symbol/alias.h"
#include "object/symbol/cache.h"

/*
 * Bounds the work, because each symbol of a hostile file may cover all pcs. A step is a symbol, a
 * candidate, or 64 bytes of a name or of the file. Ordinary files need about one step a symbol and
 * some hundred a pc.
 */
#define SYMTAB_STEPS_MAX (64u << 20)

#define SYMBOLS_AT_ONCE 256u
#define TABLES		2

/* Compared by size, then by the nearest start, then by the alias that is known best. */
struct candidate {
	bool sized; /* by its size; else by its very address */
	uint64_t start;
	bool function; /* FUNC or IFUNC; else NOTYPE */
	unsigned int binding;
	const struct window *strings; /* NULL: no candidate */
	uint32_t name;
	bool looked_up;
	struct alias alias; /* without the name itself; length 0: none, or none to be shown */
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
	struct symbol_cache *cache;
	struct window strings[TABLES];
	uint64_t steps, cached;		/* cached: those of the cache when it began */
	char text[SYMBOL_NAME_MAX + 1]; /* of the symbol that is being looked at */
	char other[SYMBOL_NAME_MAX + 1];
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

static bool symtab_is_over(const struct symtab *symtab)
{
	return symtab->steps + symbol_cache_steps(symtab->cache) - symtab->cached >
	       SYMTAB_STEPS_MAX;
}

static size_t symtab_string(struct symtab *symtab, const struct candidate *candidate,
			    char ret_text[SYMBOL_NAME_MAX + 1])
{
	size_t length =
		window_string(candidate->strings, candidate->name, ret_text, SYMBOL_NAME_MAX + 1);

	symtab->steps += length / 64;
	return length;
}

/* Gets a name without the version of "name@@VERSION". Returns its length. */
static size_t symtab_text(struct symtab *symtab, const struct candidate *candidate, char *ret_text)
{
	size_t length = symtab_string(symtab, candidate, ret_text);
	const char *version = memchr(ret_text, '@', length);

	if (!version || version == ret_text)
		return length;
	return (size_t)(version - ret_text);
}

/* Looks the name up. ".L" begins labels that an assembler keeps for itself. */
static void symtab_name(struct symtab *symtab, struct candidate *candidate)
{
	size_t length = symtab_text(symtab, candidate, symtab->text);

	candidate->looked_up = true;
	if (length < 2 || memcmp(symtab->text, ".L", 2) != 0)
		candidate->alias = alias_make(symtab->text, length);
}

/* Returns a positive number where a is better; 0: their names decide. */
static int symtab_compare(const struct candidate *a, const struct candidate *b)
{
	if (!b->strings)
		return 1;
	if (a->sized != b->sized)
		return (int)a->sized - (int)b->sized;
	if (a->start != b->start)
		return (a->start > b->start) - (a->start < b->start);
	if (a->function != b->function)
		return (int)a->function - (int)b->function;
	return (int)a->binding - (int)b->binding;
}

/* Returns the index of the first pc that is not below the address. */
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

/* Says whether a has the better name of two equally good symbols of one place. */
static bool symtab_name_is_better(struct symtab *symtab, const struct candidate *a,
				  const struct candidate *b)
{
	struct alias first = a->alias, second = b->alias;

	if (first.underscores == second.underscores && first.length == second.length) {
		first.name = symtab->text;
		second.name = symtab->other;
		symtab_string(symtab, b, symtab->other);
	}
	return alias_is_better(&first, &second);
}

static void symtab_offer(struct symtab *symtab, struct candidate *candidate, struct candidate *best)
{
	int order = symtab_compare(candidate, best);

	symtab->steps++;
	if (order < 0)
		return;
	if (!candidate->looked_up)
		symtab_name(symtab, candidate);
	if (candidate->alias.length == 0)
		return;
	if (order > 0 || symtab_name_is_better(symtab, candidate, best))
		*best = *candidate;
}

static int symtab_symbol(struct symtab *symtab, const struct symtab_symbol *symbol,
			 const struct window *strings)
{
	uint64_t last = symbol->value;
	struct candidate candidate = {
		.sized = symbol->size > 0,
		.start = symbol->value,
		.function = symbol->type != STT_NOTYPE,
		.binding = binding_ranks[symbol->binding],
		.strings = strings,
		.name = symbol->name,
	};

	if (symbol->size > 0)
		last += symbol->size - 1;
	if (last < symbol->value) /* an overflow */
		return 0;
	if (symbol->value > symtab->pcs[symtab->count - 1] || last < symtab->pcs[0])
		return 0;
	if (!symtab_is_code(symtab, symbol))
		return 0;
	for (size_t i = symtab_first(symtab, symbol->value);
	     i < symtab->count && symtab->pcs[i] <= last; i++) {
		symtab_offer(symtab, &candidate, &symtab->best[i]);
		if (symtab_is_over(symtab))
			return -EBADMSG;
	}
	return 0;
}

/* Reads the table past the cache, as each symbol is read once. */
static int symtab_symbols(struct symtab *symtab, const struct image_place *table,
			  const struct window *strings)
{
	unsigned char bytes[SYMBOLS_AT_ONCE * sizeof(Elf64_Sym)];
	struct symtab_symbol symbol;
	struct reader reader;
	int r = 0;

	for (uint64_t at = 0; at < table->size && r == 0; at += sizeof(bytes)) {
		uint64_t left = table->size - at;

		reader_init(&reader, bytes,
			    image_read(symtab->image, table->offset + at, bytes,
				       left < sizeof(bytes) ? (size_t)left : sizeof(bytes)));
		while (reader_left(&reader) >= sizeof(Elf64_Sym) && r == 0) {
			symbol = symtab_read(&reader);
			r = symtab_symbol(symtab, &symbol, strings);
			symtab->steps++;
			if (symtab_is_over(symtab))
				r = -EBADMSG;
		}
	}
	return r;
}

static int symtab_scan(struct symtab *symtab, const char *section, struct window *strings)
{
	struct image_place table, names;
	int r = image_section_place(symtab->image, section, &table);

	if (r == 0)
		r = image_section_place_at(symtab->image, table.link, &names);
	if (r < 0)
		return r;
	if (table.entry_size != sizeof(Elf64_Sym))
		return -EBADMSG;
	/* a hole in a sparse file is read as well */
	if (table.size > IMAGE_SECTION_MAX) {
		symbol_cache_refuse(symtab->cache);
		return -EFBIG;
	}
	*strings = window_make(symtab->cache, symtab->image, &names);
	return symtab_symbols(symtab, &table, strings);
}

/* Reports damage where no table gave names. A file without symbols is in order. */
static int symtab_scan_all(struct symtab *symtab)
{
	static const char *const sections[TABLES] = {".symtab", ".dynsym"};
	bool usable = false;
	int r, damage = 0;

	for (size_t i = 0; i < TABLES; i++) {
		r = symtab_scan(symtab, sections[i], &symtab->strings[i]);
		if (r == 0)
			usable = true;
		else if (r != -ENOENT && damage == 0)
			damage = r;
	}
	if (usable || symtab_is_over(symtab))
		return 0;
	return damage;
}

static bool symtab_same(const struct candidate *a, const struct candidate *b)
{
	return a->strings == b->strings && a->name == b->name;
}

/* Looking names up again has as many steps as the scan had. */
static int symtab_copy(struct symtab *symtab, struct symbol_match *ret_matches)
{
	const struct candidate *best = symtab->best;
	size_t bytes = 0, length;

	symtab->steps = 0;
	symtab->cached = symbol_cache_steps(symtab->cache);
	for (size_t i = 0; i < symtab->count; i++) {
		if (!best[i].strings)
			continue;
		ret_matches[i].start = best[i].start;
		if (i > 0 && symtab_same(&best[i], &best[i - 1])) {
			ret_matches[i].name = ret_matches[i - 1].name;
			continue;
		}
		length = symtab_text(symtab, &best[i], symtab->text);
		bytes += length + 1;
		if (bytes > SYMTAB_NAMES_MAX || symtab_is_over(symtab)) {
			symbol_cache_refuse(symtab->cache);
			break;
		}
		ret_matches[i].name = strndup(symtab->text, length);
		if (!ret_matches[i].name)
			return -ENOMEM;
	}
	return 0;
}

void symbol_matches_free(struct symbol_match *matches, size_t count)
{
	char *last = NULL;

	for (size_t i = 0; i < count; i++) {
		if (matches[i].name != last)
			free(matches[i].name);
		last = matches[i].name;
		matches[i] = (struct symbol_match){0};
	}
}

int symtab_resolve(struct symbol_cache *cache, struct image *image, const uint64_t *pcs,
		   size_t count, struct symbol_match *ret_matches)
{
	struct symtab *symtab guard_free = NULL;
	int r;

	for (size_t i = 0; i < count; i++)
		ret_matches[i] = (struct symbol_match){0};
	if (count == 0)
		return 0;
	symtab = calloc(1, sizeof(*symtab));
	if (!symtab)
		return -ENOMEM;
	symtab->cache = cache;
	symtab->cached = symbol_cache_steps(cache);
	symtab->image = image;
	symtab->pcs = pcs;
	symtab->count = count;
	symtab->best = calloc(count, sizeof(*symtab->best));
	r = -ENOMEM;
	if (symtab->best)
		r = symtab_scan_all(symtab);
	if (r == 0)
		r = symtab_copy(symtab, ret_matches);
	if (r < 0)
		symbol_matches_free(ret_matches, count);
	free(symtab->best);
	return r;
}
