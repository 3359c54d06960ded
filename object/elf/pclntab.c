/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/pclntab.h"

#include <errno.h>
#include <stdbool.h>

#include "base/reader.h"
#include "object/elf/image.h"

#define REST_X86    0x08010000u /* behind the magic: zeros, quantum 1, pointers of 8 bytes */
#define SCAN_MAX    (64u << 20) /* bytes of a section that are searched for the table */
#define PIECE_BYTES 4096u	/* read at a time */

#define SECTION	    ".gopclntab"
#define SECTION_PIE ".data.rel.ro.gopclntab" /* of position independent programs, until 1.25 */

static bool is_magic(uint32_t word)
{
	return word == PCLNTAB_116 || word == PCLNTAB_118 || word == PCLNTAB_120;
}

/* Searches a piece of the file for the header's first eight bytes. */
static bool find_in_piece(const void *piece, size_t size, uint64_t *ret_offset)
{
	struct reader reader;
	uint64_t word;

	reader_init(&reader, piece, size);
	while (reader_left(&reader) >= sizeof(word)) {
		*ret_offset = reader_offset(&reader);
		word = reader_u64(&reader);
		if (word >> 32 == REST_X86 && is_magic((uint32_t)word))
			return true;
	}
	return false;
}

/* Moves the place of a section to the header in it. */
static int find_header(const struct image *image, struct image_place *place)
{
	unsigned char piece[PIECE_BYTES];
	uint64_t most = place->size, inside;
	size_t size;

	if (most > SCAN_MAX)
		most = SCAN_MAX;
	for (uint64_t at = 0; at < most; at += sizeof(piece)) {
		size = sizeof(piece);
		if (size > most - at)
			size = (size_t)(most - at);
		size = image_read(image, place->offset + at, piece, size);
		if (!find_in_piece(piece, size, &inside))
			continue;
		inside += at;
		place->offset += inside;
		place->address += inside;
		place->size -= inside;
		return 0;
	}
	return -ENOENT;
}

int pclntab_place(struct image *image, struct image_place *ret_place)
{
	struct image_place place;
	int r = image_section_place(image, SECTION, ret_place);

	if (r == -ENOENT)
		r = image_section_place(image, SECTION_PIE, ret_place);
	if (r != -ENOENT)
		return r;
	if (image_section_place(image, ".go.buildinfo", &place) < 0)
		return -ENOENT;
	r = image_section_place(image, ".data.rel.ro", ret_place);
	if (r < 0)
		return r;
	return find_header(image, ret_place);
}

int pclntab_bytes(struct image *image, struct image_bytes *ret_bytes)
{
	struct image_place place;
	int r = pclntab_place(image, &place);

	if (r < 0)
		return r;
	r = image_part(image, place.offset, place.size, ret_bytes);
	if (r < 0)
		return r;
	ret_bytes->address = place.address;
	return 0;
}

int pclntab_read_header(const void *bytes, size_t size, struct pclntab_header *ret_header)
{
	struct pclntab_header header = {0};
	struct reader reader;
	uint16_t zeros;
	uint8_t pointer;

	reader_init(&reader, bytes, size);
	header.magic = reader_u32(&reader);
	zeros = reader_u16(&reader);
	header.quantum = reader_u8(&reader);
	pointer = reader_u8(&reader);
	if (!is_magic(header.magic) || zeros != 0 || pointer != PCLNTAB_POINTER_BYTES)
		return -ENOTSUP;
	header.count = reader_u64(&reader);
	reader_skip(&reader, 8); /* the count of files */
	if (header.magic != PCLNTAB_116)
		header.text = reader_u64(&reader);
	header.names = reader_u64(&reader);
	header.units = reader_u64(&reader);
	header.files = reader_u64(&reader);
	header.tables = reader_u64(&reader);
	header.functions = reader_u64(&reader);
	if (reader_failed(&reader) || header.count == 0)
		return -EBADMSG;
	*ret_header = header;
	return 0;
}
