/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/build_symbols.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"
#include "object/symbol/symtab.h"

#define FUNC(binding) ELF64_ST_INFO(STB_##binding, STT_FUNC)
#define LABEL	      ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE)
#define STRINGS_MAX   65536

struct symbol {
	const char *name;
	unsigned char info;
	uint16_t section;
	uint64_t value, size;
};

struct table {
	Elf64_Sym symbols[64];
	char strings[STRINGS_MAX];
	size_t strings_size;
	struct build_symbols_table built;
};

static void table_fill(struct table *table, const struct symbol *symbols, size_t count)
{
	memset(table, 0, sizeof(*table));
	table->strings_size = 1;
	for (size_t i = 0; i < count; i++) {
		table->symbols[i + 1] = (Elf64_Sym){.st_name = (Elf64_Word)table->strings_size,
						    .st_info = symbols[i].info,
						    .st_shndx = symbols[i].section,
						    .st_value = symbols[i].value,
						    .st_size = symbols[i].size};
		memcpy(table->strings + table->strings_size, symbols[i].name,
		       strlen(symbols[i].name));
		table->strings_size += strlen(symbols[i].name) + 1;
	}
	table->built = (struct build_symbols_table){
		.symbols = table->symbols,
		.symbols_size = (count + 1) * sizeof(table->symbols[0]),
		.strings = table->strings,
		.strings_size = table->strings_size,
	};
}

static int resolve(const struct build_symbols_table *symtab,
		   const struct build_symbols_table *dynsym, const uint64_t *pcs, size_t count,
		   struct symbol_match *ret_matches)
{
	static const struct build_symbols_table none;
	struct symbol_cache *cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	struct image *image;
	size_t size;
	unsigned char *bytes =
		build_symbols(symtab ? symtab : &none, dynsym ? dynsym : &none, &size);
	int r;

	assert_non_null(bytes);
	assert_int_equal(image_open_memory(bytes, size, &image), 0);
	free(bytes);
	r = symtab_resolve(cache, image, pcs, count, ret_matches);
	symbol_cache_free(cache);
	image_close(image);
	return r;
}

static void assert_name(const struct symbol *symbols, size_t count, uint64_t pc, const char *name,
			uint64_t start)
{
	struct symbol_match match;
	struct table table;

	table_fill(&table, symbols, count);
	assert_int_equal(resolve(&table.built, NULL, &pc, 1, &match), 0);
	if (!name) {
		assert_null(match.name);
		return;
	}
	assert_non_null(match.name);
	assert_string_equal(match.name, name);
	assert_int_equal(match.start, start);
	free(match.name);
}

#define ASSERT_NAME(symbols, pc, name, start) \
	assert_name(symbols, sizeof(symbols) / sizeof((symbols)[0]), pc, name, start)

static void test_symtab__sized_symbols_cover_their_range(void **state)
{
	static const struct symbol symbols[] = {{"b", FUNC(GLOBAL), 1, 0x2000, 0x10},
						{"a", FUNC(LOCAL), 1, 0x1000, 0x10}};

	(void)state;
	ASSERT_NAME(symbols, 0xfff, NULL, 0);
	ASSERT_NAME(symbols, 0x1000, "a", 0x1000);
	ASSERT_NAME(symbols, 0x100f, "a", 0x1000);
	ASSERT_NAME(symbols, 0x1010, NULL, 0);
	ASSERT_NAME(symbols, 0x200f, "b", 0x2000);
	ASSERT_NAME(symbols, 0x2010, NULL, 0);
}

static void test_symtab__sizeless_symbols_match_their_address_only(void **state)
{
	static const struct symbol symbols[] = {{"_start", FUNC(GLOBAL), 1, 0x1000, 0},
						{"whole", FUNC(GLOBAL), 1, 0x2000, 0x20},
						{"inside", FUNC(GLOBAL), 1, 0x2010, 0}};

	(void)state;
	ASSERT_NAME(symbols, 0x1000, "_start", 0x1000);
	ASSERT_NAME(symbols, 0x1001, NULL, 0);
	ASSERT_NAME(symbols, 0x2010, "whole", 0x2000);
}

static void test_symtab__the_innermost_covering_symbol_wins(void **state)
{
	static const struct symbol symbols[] = {{"inner", FUNC(LOCAL), 1, 0x1010, 0x10},
						{"outer", FUNC(GLOBAL), 1, 0x1000, 0x100}};

	(void)state;
	ASSERT_NAME(symbols, 0x1008, "outer", 0x1000);
	ASSERT_NAME(symbols, 0x1018, "inner", 0x1010);
	ASSERT_NAME(symbols, 0x1020, "outer", 0x1000);
}

static void test_symtab__aliases_are_ranked(void **state)
{
	static const struct symbol binding[] = {{"a", FUNC(LOCAL), 1, 0x1000, 16},
						{"weak", FUNC(WEAK), 1, 0x1000, 16},
						{"__global", FUNC(GLOBAL), 1, 0x1000, 16}};
	static const struct symbol underscores[] = {{"__read", FUNC(WEAK), 1, 0x1000, 16},
						    {"read_it", FUNC(WEAK), 1, 0x1000, 16},
						    {"_rd", FUNC(WEAK), 1, 0x1000, 16}};
	static const struct symbol length[] = {{"memcpy_generic", FUNC(GLOBAL), 1, 0x1000, 16},
					       {"memcpy", FUNC(GLOBAL), 1, 0x1000, 16},
					       {"memcpz", FUNC(GLOBAL), 1, 0x1000, 16}};

	(void)state;
	ASSERT_NAME(binding, 0x1004, "__global", 0x1000);

	ASSERT_NAME(underscores, 0x1004, "read_it", 0x1000);
	ASSERT_NAME(length, 0x1004, "memcpy", 0x1000);
	assert_name(binding, 2, 0x1004, "weak", 0x1000);
}

static void test_symtab__versions_are_stripped(void **state)
{
	static const struct symbol symbols[] = {{"memcpy@@GLIBC_2.14", FUNC(GLOBAL), 1, 0x1000, 16},
						{"old@VERS_1", FUNC(GLOBAL), 1, 0x2000, 16},
						{"@odd", FUNC(GLOBAL), 1, 0x3000, 16}};

	(void)state;
	ASSERT_NAME(symbols, 0x1000, "memcpy", 0x1000);
	ASSERT_NAME(symbols, 0x2000, "old", 0x2000);
	ASSERT_NAME(symbols, 0x3000, "@odd", 0x3000);
}

static void test_symtab__only_code_has_names(void **state)
{
	static const struct symbol symbols[] = {
		{"undefined", FUNC(GLOBAL), SHN_UNDEF, 0x1000, 16},
		{"object", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1, 0x1100, 16},
		{"tls", ELF64_ST_INFO(STB_GLOBAL, STT_TLS), 1, 0x1200, 16},
		{"ifunc", ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), 1, 0x1300, 16},
		{"label", LABEL, 1, 0x1400, 0},
		{"number", LABEL, SHN_ABS, 0x1500, 0},
		{".Lnoise", LABEL, 1, 0x1600, 0},
		{"data_label", LABEL, 1, 0x20000, 0},
		{"", FUNC(GLOBAL), 1, 0x1700, 16},
		{"label_beside", LABEL, 1, 0x1800, 16},
		{"__function", FUNC(LOCAL), 1, 0x1800, 16},
	};

	(void)state;
	ASSERT_NAME(symbols, 0x1000, NULL, 0);
	ASSERT_NAME(symbols, 0x1100, NULL, 0);
	ASSERT_NAME(symbols, 0x1200, NULL, 0);
	ASSERT_NAME(symbols, 0x1300, "ifunc", 0x1300);
	ASSERT_NAME(symbols, 0x1400, "label", 0x1400);
	ASSERT_NAME(symbols, 0x1500, NULL, 0);
	ASSERT_NAME(symbols, 0x1600, NULL, 0);
	ASSERT_NAME(symbols, 0x20000, NULL, 0);
	ASSERT_NAME(symbols, 0x1700, NULL, 0);
	ASSERT_NAME(symbols, 0x1800, "__function", 0x1800);
}

static void test_symtab__many_pcs_in_one_pass(void **state)
{
	static const struct symbol symbols[] = {{"c", FUNC(GLOBAL), 1, 0x3000, 0x10},
						{"a", FUNC(GLOBAL), 1, 0x1000, 0x10},
						{"b", FUNC(GLOBAL), 1, 0x2000, 0x10}};
	static const uint64_t pcs[] = {0, 0x1000, 0x1000, 0x100f, 0x1010, 0x2001, 0x3008, ~0ull};
	static const char *const names[] = {NULL, "a", "a", "a", NULL, "b", "c", NULL};
	struct symbol_match matches[8];
	struct table table;

	(void)state;
	table_fill(&table, symbols, 3);
	assert_int_equal(resolve(&table.built, NULL, pcs, 8, matches), 0);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(!names[i], !matches[i].name);
		if (names[i])
			assert_string_equal(matches[i].name, names[i]);
	}
	/* each symbol's name is there once */
	assert_ptr_equal(matches[1].name, matches[3].name);
	symbol_matches_free(matches, 8);
	assert_null(matches[1].name);
}

static void test_symtab__dynsym_fills_in(void **state)
{
	static const struct symbol local[] = {{"local", FUNC(LOCAL), 1, 0x1000, 16}};
	static const struct symbol dynamic[] = {{"exported", FUNC(GLOBAL), 1, 0x2000, 16}};
	static const uint64_t pcs[] = {0x1000, 0x2000};
	struct symbol_match matches[2];
	struct table symtab, dynsym;

	(void)state;
	table_fill(&symtab, local, 1);
	table_fill(&dynsym, dynamic, 1);
	assert_int_equal(resolve(&symtab.built, &dynsym.built, pcs, 2, matches), 0);
	assert_string_equal(matches[0].name, "local");
	assert_string_equal(matches[1].name, "exported");
	free(matches[0].name);
	free(matches[1].name);
	symtab.built.entry_size = 23; /* damaged: what is left still counts */
	assert_int_equal(resolve(&symtab.built, &dynsym.built, pcs, 2, matches), 0);
	assert_null(matches[0].name);
	assert_string_equal(matches[1].name, "exported");
	free(matches[1].name);
}

static void test_symtab__no_table_is_no_error_but_damage_is(void **state)
{
	static const struct symbol symbols[] = {{"a", FUNC(GLOBAL), 1, 0x1000, 16}};
	static const uint64_t pc = 0x1000;
	struct symbol_match match;
	struct table table;

	(void)state;
	assert_int_equal(resolve(NULL, NULL, &pc, 1, &match), 0);
	assert_null(match.name);
	table_fill(&table, symbols, 1);
	table.built.entry_size = 16;
	assert_int_equal(resolve(&table.built, NULL, &pc, 1, &match), -EBADMSG);
	assert_null(match.name);
}

static void test_symtab__names_outside_the_strings_are_ignored(void **state)
{
	static const struct symbol symbols[] = {{"a", FUNC(GLOBAL), 1, 0x1000, 16}};
	static const uint64_t pc = 0x1000;
	struct symbol_match match;
	struct table table;

	(void)state;
	table_fill(&table, symbols, 1);
	table.symbols[1].st_name = 1u << 30;
	assert_int_equal(resolve(&table.built, NULL, &pc, 1, &match), 0);
	assert_null(match.name);
}

static void test_symtab__long_and_unterminated_names_are_cut(void **state)
{
	static const struct symbol symbols[] = {{"a", FUNC(GLOBAL), 1, 0x1000, 16}};
	static const uint64_t pc = 0x1000;
	struct symbol_match match;
	struct table table;

	(void)state;
	table_fill(&table, symbols, 1);
	memset(table.strings + 1, 'x', STRINGS_MAX - 1);
	table.built.strings_size = STRINGS_MAX;
	assert_int_equal(resolve(&table.built, NULL, &pc, 1, &match), 0);
	assert_int_equal(strlen(match.name), SYMBOL_NAME_MAX);
	free(match.name);
}

static void test_symtab__ranges_that_wrap_are_ignored(void **state)
{
	static const struct symbol symbols[] = {{"wraps", FUNC(GLOBAL), 1, 0x1000, ~0ull}};

	(void)state;
	ASSERT_NAME(symbols, 0x1008, NULL, 0);
}

/* Makes a file's image. Its .symtab claims that many bytes, if any, most of them a hole. */
static struct image *open_file(const struct build_symbols_table *table, uint64_t bytes, int *ret_fd)
{
	static const struct build_symbols_table none;
	struct image *image;
	Elf64_Shdr *section;
	size_t size;
	unsigned char *built = build_symbols(table, &none, &size);

	section = (Elf64_Shdr *)(built + ((Elf64_Ehdr *)built)->e_shoff);
	while (section->sh_type != SHT_SYMTAB)
		section++;
	if (bytes > 0)
		section->sh_size = bytes;
	*ret_fd = memfd_create("sparse", MFD_CLOEXEC);
	assert_int_equal(write(*ret_fd, built, size), size);
	if (bytes > 0)
		assert_int_equal(ftruncate(*ret_fd, (off_t)(section->sh_offset + bytes)), 0);
	free(built);
	assert_int_equal(image_open(*ret_fd, &image), 0);
	return image;
}

static void test_symtab__a_table_larger_than_any_is_not_read(void **state)
{
	static const struct symbol symbols[] = {{"a", FUNC(GLOBAL), 1, 0x1000, 16}};
	static const uint64_t pc = 0x1000;
	struct symbol_cache *cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	struct symbol_cache_counts counts;
	struct symbol_match match;
	struct image *image;
	struct table table;
	int fd;

	(void)state;
	table_fill(&table, symbols, 1);
	image = open_file(&table.built, 1ull << 40, &fd);
	assert_int_equal(symtab_resolve(cache, image, &pc, 1, &match), -EFBIG);
	assert_null(match.name);
	symbol_cache_counts(cache, &counts);
	assert_int_equal(counts.refused, 1);
	symbol_cache_forget(cache, image);
	image_close(image);
	close(fd);
	symbol_cache_free(cache);
}

/* One place has many names, each far from the one before. Reading them takes long. */
static void test_symtab__names_far_apart_are_bounded(void **state)
{
	enum {
		SYMBOLS = 400000,
		STRINGS = 4 << 20,
		FAR = (1 << 20) + 1
	};
	Elf64_Sym *symbols = calloc(SYMBOLS, sizeof(*symbols));
	char *strings = calloc(STRINGS, 1);
	const struct build_symbols_table table = {.symbols = symbols,
						  .symbols_size = SYMBOLS * sizeof(*symbols),
						  .strings = strings,
						  .strings_size = STRINGS};
	struct symbol_cache *cache = symbol_cache_new(40u << 10); /* two blocks */
	const uint64_t pc = 0x1000;
	struct symbol_cache_counts counts;
	struct symbol_match match;
	struct image *image;
	int fd;

	(void)state;
	memset(strings, 'x', STRINGS);
	for (size_t i = 1; i < STRINGS; i += 2)
		strings[i] = '\0';
	for (size_t i = 0; i < SYMBOLS; i++)
		symbols[i] =
			(Elf64_Sym){.st_name = (Elf64_Word)(i * FAR % (STRINGS - 2) & ~1ull) + 2,
				    .st_info = FUNC(GLOBAL),
				    .st_shndx = 1,
				    .st_value = pc,
				    .st_size = 16};
	image = open_file(&table, 0, &fd);
	assert_int_equal(symtab_resolve(cache, image, &pc, 1, &match), 0);
	assert_string_equal(match.name, "x");
	symbol_matches_free(&match, 1);
	symbol_cache_counts(cache, &counts);
	/* 64 Mi steps of 64 bytes are 256 Ki blocks */
	assert_in_range(counts.missed, 200000, (1u << 18) + 2);
	symbol_cache_forget(cache, image);
	image_close(image);
	close(fd);
	symbol_cache_free(cache);
	free(symbols);
	free(strings);
}

/* 5,000 places have names of 16 KB. There is no room for all of them at once. */
static void test_symtab__bytes_of_names_are_bounded(void **state)
{
	enum {
		SYMBOLS = 5000
	};
	Elf64_Sym *symbols = calloc(SYMBOLS, sizeof(*symbols));
	uint64_t *pcs = calloc(SYMBOLS, sizeof(*pcs));
	struct symbol_match *matches = calloc(SYMBOLS, sizeof(*matches));
	char *strings = calloc(2 * SYMBOL_NAME_MAX, 1);
	const struct build_symbols_table table = {.symbols = symbols,
						  .symbols_size = SYMBOLS * sizeof(*symbols),
						  .strings = strings,
						  .strings_size = 2 * SYMBOL_NAME_MAX};
	size_t named = 0;

	(void)state;
	memset(strings, 'x', 2 * SYMBOL_NAME_MAX);
	for (size_t i = 0; i < SYMBOLS; i++) {
		pcs[i] = 0x1000 + 16 * i;
		symbols[i] = (Elf64_Sym){.st_name = (Elf64_Word)i + 1,
					 .st_info = FUNC(GLOBAL),
					 .st_shndx = 1,
					 .st_value = pcs[i],
					 .st_size = 16};
	}
	assert_int_equal(resolve(&table, NULL, pcs, SYMBOLS, matches), 0);
	while (named < SYMBOLS && matches[named].name)
		named++;
	assert_int_equal(named, SYMTAB_NAMES_MAX / (SYMBOL_NAME_MAX + 1));
	symbol_matches_free(matches, SYMBOLS);
	free(symbols);
	free(pcs);
	free(matches);
	free(strings);
}

/* Every symbol covers every pc: names may be lost, time may not. */
static void test_symtab__hostile_overlap_is_bounded(void **state)
{
	enum {
		SYMBOLS = 100000,
		PCS = 10000
	};
	Elf64_Sym *symbols = calloc(SYMBOLS, sizeof(*symbols));
	uint64_t *pcs = calloc(PCS, sizeof(*pcs));
	struct symbol_match *matches = calloc(PCS, sizeof(*matches));
	static const char strings[] = "\0a";
	struct build_symbols_table table = {.symbols = symbols,
					    .symbols_size = SYMBOLS * sizeof(*symbols),
					    .strings = strings,
					    .strings_size = sizeof(strings)};

	(void)state;
	for (size_t i = 0; i < SYMBOLS; i++)
		symbols[i] = (Elf64_Sym){.st_name = 1,
					 .st_info = FUNC(GLOBAL),
					 .st_shndx = 1,
					 .st_value = i,
					 .st_size = 1u << 30};
	for (size_t i = 0; i < PCS; i++)
		pcs[i] = SYMBOLS + i;
	assert_int_equal(resolve(&table, NULL, pcs, PCS, matches), 0);
	symbol_matches_free(matches, PCS);
	free(symbols);
	free(pcs);
	free(matches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symtab__sized_symbols_cover_their_range),
		cmocka_unit_test(test_symtab__sizeless_symbols_match_their_address_only),
		cmocka_unit_test(test_symtab__the_innermost_covering_symbol_wins),
		cmocka_unit_test(test_symtab__aliases_are_ranked),
		cmocka_unit_test(test_symtab__versions_are_stripped),
		cmocka_unit_test(test_symtab__only_code_has_names),
		cmocka_unit_test(test_symtab__many_pcs_in_one_pass),
		cmocka_unit_test(test_symtab__dynsym_fills_in),
		cmocka_unit_test(test_symtab__no_table_is_no_error_but_damage_is),
		cmocka_unit_test(test_symtab__names_outside_the_strings_are_ignored),
		cmocka_unit_test(test_symtab__long_and_unterminated_names_are_cut),
		cmocka_unit_test(test_symtab__ranges_that_wrap_are_ignored),
		cmocka_unit_test(test_symtab__a_table_larger_than_any_is_not_read),
		cmocka_unit_test(test_symtab__names_far_apart_are_bounded),
		cmocka_unit_test(test_symtab__bytes_of_names_are_bounded),
		cmocka_unit_test(test_symtab__hostile_overlap_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
