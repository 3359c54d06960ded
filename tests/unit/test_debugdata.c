/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_elf.h"
#include "tests/unit/build_symbols.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"
#include "object/symbol/debugdata.h"
#include "object/symbol/symtab.h"

static unsigned char packed[1 << 20];

/* A file that names 0x1010, packed; `dictionary` 0: xz's own. */
static size_t pack(const void *bytes, size_t size, uint32_t dictionary)
{
	lzma_options_lzma options;
	lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
	size_t used = 0;

	assert_false(lzma_lzma_preset(&options, 6));
	if (dictionary)
		options.dict_size = dictionary;
	assert_int_equal(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, NULL, bytes, size,
						   packed, &used, sizeof(packed)),
			 LZMA_OK);
	return used;
}

static unsigned char *inner_file(size_t *ret_size)
{
	static const char strings[] = "\0hidden";
	static const Elf64_Sym symbols[] = {
		{0},
		{.st_name = 1,
		 .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
		 .st_shndx = 1,
		 .st_value = 0x1010,
		 .st_size = 0x20},
	};
	const struct build_symbols_table table = {symbols, sizeof(symbols), strings,
						  sizeof(strings), 0};
	const struct build_symbols_table none = {0};

	return build_symbols(&table, &none, ret_size);
}

static struct image *outer_image(size_t packed_size)
{
	struct build_elf elf;
	struct image *image;
	unsigned char *bytes;
	size_t size;

	build_elf_init(&elf);
	build_elf_section(&elf, ".gnu_debugdata", SHT_PROGBITS, 0, packed, packed_size);
	bytes = build_elf_finish(&elf, &size);
	assert_int_equal(image_adopt(bytes, size, &image), 0);
	return image;
}

/* Returns the answer of debugdata_open() about the packed file, in a cache of `most` bytes. */
static int open_packed(size_t packed_size, size_t most, uint64_t *ret_refused)
{
	struct symbol_cache *cache = symbol_cache_new(most);
	struct image *outer = outer_image(packed_size), *inner;
	struct symbol_cache_counts counts;
	size_t bytes = 0;
	int r = debugdata_open(cache, outer, &inner, &bytes);

	symbol_cache_counts(cache, &counts);
	*ret_refused = counts.refused;
	if (r == 0) {
		image_close(inner);
		symbol_cache_release(cache, bytes);
	}
	assert_int_equal(symbol_cache_room(cache), most);
	image_close(outer);
	symbol_cache_free(cache);
	return r;
}

static void test_debugdata__its_symbols_are_found(void **state)
{
	struct symbol_cache *cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	const uint64_t pcs[] = {0x100f, 0x1010, 0x102f, 0x1030};
	struct symbol_match matches[4];
	struct image *outer, *inner;
	unsigned char *bytes;
	size_t size, claimed;

	(void)state;
	bytes = inner_file(&size);
	outer = outer_image(pack(bytes, size, 0));
	free(bytes);
	assert_int_equal(debugdata_open(cache, outer, &inner, &claimed), 0);
	assert_int_equal(symbol_cache_room(cache), SYMBOL_BYTES_MAX - claimed);
	assert_int_equal(symtab_resolve(cache, inner, pcs, 4, matches), 0);
	assert_null(matches[0].name);
	assert_string_equal(matches[1].name, "hidden");
	assert_int_equal(matches[2].start, 0x1010);
	assert_null(matches[3].name);
	symbol_matches_free(matches, 4);
	image_close(inner);
	image_close(outer);
	symbol_cache_free(cache);
}

static void test_debugdata__limits(void **state)
{
	const size_t large = 40u << 20;
	unsigned char *zeros = calloc(large, 1);
	uint64_t refused;
	unsigned char *bytes;
	size_t size;

	(void)state;
	/* a bomb */
	assert_int_equal(open_packed(pack(zeros, large, 0), SYMBOL_BYTES_MAX, &refused), -EFBIG);
	assert_int_equal(refused, 1);
	/* a dictionary that is too large for the decoder, and one that fits a small cache */
	bytes = inner_file(&size);
	assert_int_equal(open_packed(pack(bytes, size, 64u << 20), SYMBOL_BYTES_MAX, &refused),
			 -EFBIG);
	assert_int_equal(refused, 1);
	assert_int_equal(open_packed(pack(bytes, size, 0), 1u << 20, &refused), -EFBIG);
	assert_int_equal(refused, 1);
	assert_int_equal(open_packed(pack(bytes, size, 4096), 1u << 20, &refused), 0);
	assert_int_equal(refused, 0);
	free(bytes);
	free(zeros);
}

static void test_debugdata__damage(void **state)
{
	unsigned char *bytes;
	uint64_t refused;
	size_t size, used;

	(void)state;
	bytes = inner_file(&size);
	used = pack(bytes, size, 0);
	assert_int_equal(open_packed(used - 1, SYMBOL_BYTES_MAX, &refused), -EBADMSG);
	assert_int_equal(open_packed(0, SYMBOL_BYTES_MAX, &refused), -EBADMSG);
	packed[used / 2] ^= 0x10;
	assert_int_equal(open_packed(used, SYMBOL_BYTES_MAX, &refused), -EBADMSG);
	assert_int_equal(open_packed(pack("no ELF", 6, 0), SYMBOL_BYTES_MAX, &refused), -ENOEXEC);
	assert_int_equal(open_packed(pack("", 0, 0), SYMBOL_BYTES_MAX, &refused), -ENOEXEC);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debugdata__its_symbols_are_found),
		cmocka_unit_test(test_debugdata__limits),
		cmocka_unit_test(test_debugdata__damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
