/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .gnu.hash begins with four words: buckets, first symbol, words of the Bloom filter, and shift.
 * The filter follows in words of 64 bits, then the buckets. Last comes one word for each symbol
 * from the first on. The lowest bit of such a word ends the chain of a bucket (binutils,
 * bfd/elflink.c; glibc, elf/dl-lookup.c).
 */
#include "object/elf/exported.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/reader.h"

#define HEADER_BYTES 16u
#define BLOOM_BYTES  8u
#define BLOOM_BITS   64u
#define WORD_BYTES   4u

/* Reads bytes of a section. Returns false outside of the section. */
static bool read_at(const struct exported *exported, const struct image_place *place,
		    uint64_t offset, void *to, size_t size)
{
	if (offset > place->size || size > place->size - offset)
		return false;
	return image_read(exported->image, place->offset + offset, to, size) == size;
}

static bool read_word(const struct exported *exported, uint64_t offset, uint32_t *ret_word)
{
	unsigned char bytes[WORD_BYTES];
	struct reader reader;

	if (!read_at(exported, &exported->hash, offset, bytes, sizeof(bytes)))
		return false;
	reader_init(&reader, bytes, sizeof(bytes));
	*ret_word = reader_u32(&reader);
	return true;
}

int exported_open(struct image *image, struct exported *ret_exported)
{
	struct exported exported = {.image = image};
	int r;

	r = image_section_place(image, ".gnu.hash", &exported.hash);
	if (r < 0)
		return r;
	r = image_section_place(image, ".dynsym", &exported.symbols);
	if (r < 0)
		return r;
	r = image_section_place(image, ".dynstr", &exported.strings);
	if (r < 0)
		return r;
	if (!read_word(&exported, 0, &exported.buckets) ||
	    !read_word(&exported, 4, &exported.first) ||
	    !read_word(&exported, 8, &exported.blooms) ||
	    !read_word(&exported, 12, &exported.shift))
		return -EBADMSG;
	if (exported.buckets == 0 || exported.blooms == 0 || exported.shift >= 32)
		return -EBADMSG;
	*ret_exported = exported;
	return 0;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* Asks the Bloom filter, which answers no for nearly all names that the image lacks. */
static bool may_have(const struct exported *exported, uint32_t hash)
{
	uint64_t index = hash / BLOOM_BITS % exported->blooms;
	unsigned char bytes[BLOOM_BYTES];
	struct reader reader;
	uint64_t word;

	if (!read_at(exported, &exported->hash, HEADER_BYTES + index * BLOOM_BYTES, bytes,
		     sizeof(bytes)))
		return false;
	reader_init(&reader, bytes, sizeof(bytes));
	word = reader_u64(&reader);
	if (!(word >> hash % BLOOM_BITS & 1))
		return false;
	return word >> (hash >> exported->shift) % BLOOM_BITS & 1;
}

/* Reads a symbol, unless the image only wants it. *ret_name: in .dynstr. */
static bool read_symbol(const struct exported *exported, uint64_t index,
			struct exported_symbol *ret_symbol, uint32_t *ret_name)
{
	unsigned char bytes[sizeof(Elf64_Sym)];
	struct reader reader;

	if (!read_at(exported, &exported->symbols, index * sizeof(bytes), bytes, sizeof(bytes)))
		return false;
	reader_init(&reader, bytes, sizeof(bytes));
	*ret_name = reader_u32(&reader);
	ret_symbol->number = (uint32_t)index;
	ret_symbol->is_thread_local = ELF64_ST_TYPE(reader_u8(&reader)) == STT_TLS;
	reader_skip(&reader, 1); /* st_other */
	if (reader_u16(&reader) == SHN_UNDEF)
		return false;
	ret_symbol->address = reader_u64(&reader);
	ret_symbol->size = reader_u64(&reader);
	return true;
}

bool exported_get(const struct exported *exported, uint64_t index,
		  struct exported_symbol *ret_symbol)
{
	uint32_t name;

	if (index > UINT32_MAX)
		return false;
	return read_symbol(exported, index, ret_symbol, &name);
}

static bool is_symbol(const struct exported *exported, uint64_t index, const char *name,
		      struct exported_symbol *ret_symbol)
{
	const size_t size = strlen(name) + 1;
	char text[EXPORTED_NAME_MAX];
	uint32_t at;

	if (size > sizeof(text))
		return false;
	if (!read_symbol(exported, index, ret_symbol, &at))
		return false;
	if (!read_at(exported, &exported->strings, at, text, size))
		return false;
	return memcmp(text, name, size) == 0;
}

bool exported_has(const struct exported *exported, const char *name)
{
	struct exported_symbol symbol;

	return exported_find(exported, name, &symbol);
}

bool exported_find(const struct exported *exported, const char *name,
		   struct exported_symbol *ret_symbol)
{
	const uint32_t hash = hash_of(name);
	const uint64_t buckets = HEADER_BYTES + (uint64_t)exported->blooms * BLOOM_BYTES;
	const uint64_t chains = buckets + (uint64_t)exported->buckets * WORD_BYTES;
	uint32_t symbol, word;

	if (!may_have(exported, hash))
		return false;
	if (!read_word(exported, buckets + (uint64_t)(hash % exported->buckets) * WORD_BYTES,
		       &symbol))
		return false;
	if (symbol < exported->first)
		return false;
	for (uint32_t i = 0; i < EXPORTED_CHAIN_MAX; i++) {
		uint64_t index = (uint64_t)symbol + i;

		if (!read_word(exported, chains + (index - exported->first) * WORD_BYTES, &word))
			return false;
		if ((word | 1) == (hash | 1) && is_symbol(exported, index, name, ret_symbol))
			return true;
		if (word & 1)
			return false;
	}
	return false;
}
