/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/image_eh_frame.h"

#include <elf.h>
#include <errno.h>

#include "base/reader.h"

#define HEADER_VERSION	   1
#define EH_PE_PCREL_SDATA4 0x1b
#define EH_PE_ABSPTR	   0x00

/* Reads eh_frame_ptr of PT_GNU_EH_FRAME: LSB Core, "The .eh_frame_hdr section". */
static int eh_frame_address(struct image *image, const struct image_place *header,
			    uint64_t *ret_address)
{
	struct image_bytes bytes;
	struct reader reader;
	uint8_t encoding;
	int r = image_part(image, header->offset, header->size, &bytes);

	if (r < 0)
		return r;
	reader_init(&reader, bytes.bytes, bytes.size);
	if (reader_u8(&reader) != HEADER_VERSION)
		return -EBADMSG;
	encoding = reader_u8(&reader);
	reader_skip(&reader, 2);
	if (encoding == EH_PE_PCREL_SDATA4)
		*ret_address = header->address + 4 + (uint64_t)(int32_t)reader_u32(&reader);
	else if (encoding == EH_PE_ABSPTR)
		*ret_address = reader_u64(&reader);
	else
		return -ENOENT;
	if (reader_failed(&reader))
		return -EBADMSG;
	return 0;
}

/* Returns the bytes up to the first record of length 0, as no header says how many there are. */
static size_t eh_frame_size(const struct image_bytes *bytes)
{
	struct reader reader;
	uint64_t length;

	reader_init(&reader, bytes->bytes, bytes->size);
	do {
		length = reader_u32(&reader);
		if (length == UINT32_MAX)
			length = reader_u64(&reader);
		reader_skip(&reader, length);
	} while (length != 0 && !reader_failed(&reader));
	return reader_offset(&reader);
}

int image_eh_frame(struct image *image, struct image_bytes *ret_bytes)
{
	struct image_place header;
	size_t cursor = 0;
	uint64_t address;
	int r = image_section(image, ".eh_frame", ret_bytes);

	if (r != -ENOENT)
		return r;
	if (!image_next_header(image, PT_GNU_EH_FRAME, &cursor, &header))
		return -ENOENT;
	r = eh_frame_address(image, &header, &address);
	if (r < 0)
		return r;
	r = image_text(image, address, UINT64_MAX, ret_bytes);
	if (r < 0)
		return r;
	ret_bytes->size = eh_frame_size(ret_bytes);
	return 0;
}
