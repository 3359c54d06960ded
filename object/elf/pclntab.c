/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/pclntab.h"

#include <errno.h>
#include <stdbool.h>

#include "base/reader.h"
#include "object/elf/image.h"

#define REST_X86    0x08010000u /* behind the magic: zeros, quantum 1, pointers of 8 bytes */
#define SCAN_MAX    (64u << 20) /* bytes of a section that may have the table in it */
#define PIECE_BYTES 4096u	/* that are looked at, of what is gone through */

#define SECTION	    ".gopclntab"
#define SECTION_PIE ".data.rel.ro.gopclntab" /* of position independent programs, until 1.25 */

static bool is_magic(uint32_t word)
{
	return word == PCLNTAB_116 || word == PCLNTAB_118 || word == PCLNTAB_120;
}

int pclntab_section(struct image *image, struct image_bytes *ret_bytes)
{
	int r = image_section(image, SECTION, ret_bytes);

	return r == -ENOENT ? image_section(image, SECTION_PIE, ret_bytes) : r;
}

/* By its first eight bytes. */
static int find_header(const struct image *image, struct image_place *place)
{
	unsigned char piece[PIECE_BYTES];
	struct reader reader;
	uint64_t most = place->size < SCAN_MAX ? place->size : SCAN_MAX, word, inside;

	for (uint64_t at = 0; at < most; at += sizeof(piece)) {
		reader_init(&reader, piece,
			    image_read(image, place->offset + at, piece,
				       most - at < sizeof(piece) ? (size_t)(most - at)
								 : sizeof(piece)));
		while (reader_left(&reader) >= sizeof(word)) {
			inside = at + reader_offset(&reader);
			word = reader_u64(&reader);
			if (word >> 32 != REST_X86 || !is_magic((uint32_t)word))
				continue;
			place->offset += inside;
			place->address += inside;
			place->size -= inside;
			return 0;
		}
	}
	return -ENOENT;
}

int pclntab_place(struct image *image, struct image_place *ret_place)
{
	struct image_place place;
	int r = image_section_place(image, SECTION, ret_place);

	if (r == -ENOENT)
		r = image_section_place(image, SECTION_PIE, ret_place);
	if (r != -ENOENT || image_section_place(image, ".go.buildinfo", &place) < 0)
		return r;
	r = image_section_place(image, ".data.rel.ro", ret_place);
	return r < 0 ? r : find_header(image, ret_place);
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
