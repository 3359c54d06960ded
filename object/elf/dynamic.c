/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/dynamic.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/reader.h"
#include "object/elf/image.h"

#define NAME_MAX_BYTES 64u
#define BATCH	       128u /* relocations that are read at once */

/* ---- needed libraries ---- */

static bool begins_with(const struct image *image, const struct image_place *strings, uint64_t at,
			const char *bytes, size_t size)
{
	char name[NAME_MAX_BYTES];

	if (size > sizeof(name) || at > strings->size || size > strings->size - at)
		return false;
	if (image_read(image, strings->offset + at, name, size) != size)
		return false;
	return memcmp(name, bytes, size) == 0;
}

static bool read_entry(const struct image *image, const struct image_place *dynamic, uint64_t at,
		       Elf64_Dyn *ret_entry)
{
	unsigned char bytes[sizeof(*ret_entry)];
	struct reader reader;

	if (dynamic->size < sizeof(bytes) || at > dynamic->size - sizeof(bytes))
		return false;
	if (image_read(image, dynamic->offset + at, bytes, sizeof(bytes)) != sizeof(bytes))
		return false;
	reader_init(&reader, bytes, sizeof(bytes));
	ret_entry->d_tag = (Elf64_Sxword)reader_u64(&reader);
	ret_entry->d_un.d_val = reader_u64(&reader);
	return ret_entry->d_tag != DT_NULL;
}

bool dynamic_needs(struct image *image, const char *bytes, size_t size)
{
	struct image_place dynamic, strings;
	Elf64_Dyn entry;

	if (image_section_place(image, ".dynamic", &dynamic) < 0)
		return false;
	if (image_section_place(image, ".dynstr", &strings) < 0)
		return false;
	for (uint64_t i = 0; i < DYNAMIC_ENTRIES_MAX; i++) {
		if (!read_entry(image, &dynamic, i * sizeof(entry), &entry))
			return false;
		if (entry.d_tag != DT_NEEDED)
			continue;
		if (begins_with(image, &strings, entry.d_un.d_val, bytes, size))
			return true;
	}
	return false;
}

bool dynamic_needs_musl(struct image *image)
{
	static const char alpine[] = "libc.musl-", other[] = "libc.so"; /* glibc: libc.so.6 */

	return dynamic_needs(image, alpine, strlen(alpine)) ||
	       dynamic_needs(image, other, sizeof(other));
}

/* ---- relocations ---- */

struct search {
	bool (*fits)(const struct dynamic_relocation *relocation, const void *context);
	const void *context;
};

/* Looks through `count` relocations. */
static bool find_in(const unsigned char *bytes, size_t count, const struct search *search,
		    struct dynamic_relocation *ret_relocation)
{
	struct reader reader;

	reader_init(&reader, bytes, count * sizeof(Elf64_Rela));
	for (size_t i = 0; i < count; i++) {
		ret_relocation->address = reader_u64(&reader);
		ret_relocation->type = reader_u32(&reader);
		ret_relocation->symbol = reader_u32(&reader);
		ret_relocation->addend = (int64_t)reader_u64(&reader);
		if (search->fits(ret_relocation, search->context))
			return true;
	}
	return false;
}

static int find_in_section(struct image *image, const char *section, const struct search *search,
			   struct dynamic_relocation *ret_relocation)
{
	unsigned char bytes[BATCH * sizeof(Elf64_Rela)];
	struct image_place place;
	uint64_t left;
	int r = image_section_place(image, section, &place);

	if (r < 0)
		return -ENOENT;
	left = place.size / sizeof(Elf64_Rela);
	if (left > DYNAMIC_RELOCATIONS_MAX)
		left = DYNAMIC_RELOCATIONS_MAX;
	while (left > 0) {
		size_t count = left > BATCH ? BATCH : (size_t)left, got;

		got = image_read(image, place.offset, bytes, count * sizeof(Elf64_Rela));
		if (find_in(bytes, got / sizeof(Elf64_Rela), search, ret_relocation))
			return 0;
		place.offset += count * sizeof(Elf64_Rela);
		left -= count;
	}
	return -ENOENT;
}

/* The linker of binutils puts the descriptors of thread-local memory into .rela.plt. */
int dynamic_find_relocation(struct image *image,
			    bool (*fits)(const struct dynamic_relocation *relocation,
					 const void *context),
			    const void *context, struct dynamic_relocation *ret_relocation)
{
	const struct search search = {fits, context};
	int r = find_in_section(image, ".rela.dyn", &search, ret_relocation);

	if (r == -ENOENT)
		r = find_in_section(image, ".rela.plt", &search, ret_relocation);
	return r;
}

static bool is_at(const struct dynamic_relocation *relocation, const void *context)
{
	return relocation->address == *(const uint64_t *)context;
}

int dynamic_relocation(struct image *image, uint64_t address,
		       struct dynamic_relocation *ret_relocation)
{
	return dynamic_find_relocation(image, is_at, &address, ret_relocation);
}
