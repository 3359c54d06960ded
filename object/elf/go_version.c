/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_version.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/reader.h"
#include "object/elf/image.h"

/* debug/buildinfo of Go's library: a magic, the size of a pointer, flags; 32 bytes in all */
#define MAGIC	     "\xff Go buildinf:"
#define MAGIC_BYTES  14u
#define HEAD_BYTES   32u
#define FLAG_INLINE  2u /* Go 1.18 and newer: the text follows; before, the head has its address */
#define PREFIX	     "go1."
#define PREFIX_BYTES 4u
#define MINOR_MAX    999u
#define TEXT_BYTES   16u

static int parse(const char text[TEXT_BYTES], uint32_t *ret_minor)
{
	uint32_t minor = 0;
	size_t at = PREFIX_BYTES;

	if (memcmp(text, PREFIX, PREFIX_BYTES) != 0 || text[at] < '1' || text[at] > '9')
		return -ENOENT;
	for (; at < TEXT_BYTES && text[at] >= '0' && text[at] <= '9' && minor <= MINOR_MAX; at++)
		minor = minor * 10 + (uint32_t)(text[at] - '0');
	if (minor > MINOR_MAX)
		return -ENOENT;
	*ret_minor = minor;
	return 0;
}

/* Reads bytes at an address of the image; zeros follow what there is. */
static int read_at(struct image *image, uint64_t address, void *to, size_t size)
{
	struct image_place place;

	memset(to, 0, size);
	if (address == 0 || image_address_place(image, address, &place) < 0)
		return -ENOENT;
	image_read(image, place.offset, to, size);
	return 0;
}

/* Follows the address of a string, which is an address and a length. */
static int read_pointed(struct image *image, uint64_t address, char ret_text[TEXT_BYTES])
{
	uint64_t string[2];

	if (read_at(image, address, string, sizeof(string)) < 0 || string[1] < PREFIX_BYTES)
		return -ENOENT;
	if (read_at(image, string[0], ret_text, TEXT_BYTES) < 0)
		return -ENOENT;
	if (string[1] < TEXT_BYTES)
		memset(ret_text + string[1], 0, TEXT_BYTES - (size_t)string[1]);
	return 0;
}

int go_version(struct image *image, uint32_t *ret_minor)
{
	unsigned char bytes[HEAD_BYTES + 1 + TEXT_BYTES] = {0};
	char text[TEXT_BYTES] = "";
	struct image_place place;
	struct reader reader;
	uint8_t flags, length;

	if (image_section_place(image, ".go.buildinfo", &place) < 0 || place.size < HEAD_BYTES)
		return -ENOENT;
	image_read(image, place.offset, bytes, sizeof(bytes));
	if (memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
		return -ENOENT;
	reader_init(&reader, bytes, sizeof(bytes));
	reader_skip(&reader, MAGIC_BYTES + 1);
	flags = reader_u8(&reader);
	if (!(flags & FLAG_INLINE)) {
		if (read_pointed(image, reader_u64(&reader), text) < 0)
			return -ENOENT;
		return parse(text, ret_minor);
	}
	length = bytes[HEAD_BYTES];
	if (length > TEXT_BYTES)
		length = TEXT_BYTES;
	memcpy(text, bytes + HEAD_BYTES + 1, length);
	return parse(text, ret_minor);
}
