/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/frame.h"

#include <errno.h>
#include <string.h>

/* DW_EH_PE_*: the low nibble is the format, and the high one the base of a relative value. */
enum {
	ENCODING_ABSOLUTE = 0x00,
	ENCODING_ULEB = 0x01,
	ENCODING_U2 = 0x02,
	ENCODING_U4 = 0x03,
	ENCODING_U8 = 0x04,
	ENCODING_SLEB = 0x09,
	ENCODING_S2 = 0x0a,
	ENCODING_S4 = 0x0b,
	ENCODING_S8 = 0x0c,
	ENCODING_FORMAT = 0x0f,
	ENCODING_PCREL = 0x10,
	ENCODING_ALIGNED = 0x50,
	ENCODING_RELATIVE = 0x70,
	ENCODING_INDIRECT = 0x80,
	ENCODING_OMIT = 0xff,
};

#define LENGTH_64	 UINT32_MAX /* the length follows in 64 bits */
#define CIE_BUDGET_TIMES 32u	    /* the budget for CIEs, in sizes of the section */
#define CIE_COST	 64u	    /* of decoding a CIE, in bytes, besides its own */

void frame_section_init(struct frame_section *section, const void *bytes, size_t size,
			uint64_t address)
{
	memset(section, 0, sizeof(*section));
	section->bytes = bytes;
	section->size = size;
	section->address = address;
	section->budget = (uint64_t)size * CIE_BUDGET_TIMES + (64u << 10);
}

void frame_section_init_debug(struct frame_section *section, const void *bytes, size_t size)
{
	frame_section_init(section, bytes, size, 0);
	section->format = FRAME_DEBUG;
}

/* ---- pointers ---- */

static uint64_t pointer_value(struct reader *reader, uint8_t format)
{
	switch (format) {
	case ENCODING_ABSOLUTE:
	case ENCODING_U8:
	case ENCODING_S8:
		return reader_u64(reader);
	case ENCODING_ULEB:
		return reader_uleb(reader);
	case ENCODING_SLEB:
		return (uint64_t)reader_sleb(reader);
	case ENCODING_U2:
		return reader_u16(reader);
	case ENCODING_S2:
		return (uint64_t)(int16_t)reader_u16(reader);
	case ENCODING_U4:
		return reader_u32(reader);
	case ENCODING_S4:
		return (uint64_t)(int32_t)reader_u32(reader);
	default:
		reader_fail(reader);
		return 0;
	}
}

uint64_t frame_pointer(struct reader *reader, uint8_t encoding, uint64_t section_address)
{
	uint64_t here = section_address + reader_offset(reader);

	switch (encoding & ENCODING_RELATIVE) {
	case ENCODING_ABSOLUTE:
		return pointer_value(reader, encoding & ENCODING_FORMAT);
	case ENCODING_PCREL:
		return here + pointer_value(reader, encoding & ENCODING_FORMAT);
	case ENCODING_ALIGNED:
		reader_skip(reader, -here & 7);
		return reader_u64(reader);
	default:
		reader_fail(reader);
		return 0;
	}
}

/* ---- records ---- */

struct record {
	struct reader reader; /* behind the id, to the record's end; offsets are the section's */
	size_t offset, end;
	bool is_cie; /* or a record of length 0, which holds nothing */
	size_t cie;  /* where an FDE's CIE is said to be */
};

/* Reads the id, which says what a record is. */
static void read_id(const struct frame_section *section, bool wide, struct record *record)
{
	size_t here = reader_offset(&record->reader);
	uint64_t id, of_cie = 0;

	if (wide)
		id = reader_u64(&record->reader);
	else
		id = reader_u32(&record->reader);
	if (section->format == FRAME_DEBUG && wide)
		of_cie = UINT64_MAX;
	else if (section->format == FRAME_DEBUG)
		of_cie = UINT32_MAX;
	record->is_cie = id == of_cie;
	record->cie = id;
	if (section->format == FRAME_EH)
		record->cie = here - id;
}

/*
 * Reads the head of the record at an offset. Returns false where the length does not fit into the
 * section, so that the next record cannot be found. A record too short for an id has a failed
 * reader.
 */
static bool record_at(const struct frame_section *section, size_t offset, struct record *ret_record)
{
	struct reader *reader = &ret_record->reader;
	uint64_t length;
	bool wide;

	reader_init(reader, section->bytes, section->size);
	reader_seek(reader, offset);
	length = reader_u32(reader);
	wide = length == LENGTH_64;
	if (wide)
		length = reader_u64(reader);
	if (length > reader_left(reader))
		return false;
	ret_record->offset = offset;
	ret_record->end = reader_offset(reader) + length;
	reader->end = reader->position + length;
	ret_record->is_cie = true;
	if (length == 0)
		return !reader_failed(reader);
	read_id(section, wide, ret_record);
	return true;
}

/* Reads the data of one letter of an augmentation string. Returns false for an unknown letter. */
static bool cie_augmentation(struct reader *reader, char letter, uint64_t address,
			     struct frame_cie *cie)
{
	uint8_t encoding;

	switch (letter) {
	case 'R':
		cie->encoding = reader_u8(reader);
		return true;
	case 'P':
		encoding = reader_u8(reader);
		if (encoding != ENCODING_OMIT)
			frame_pointer(reader, encoding & (uint8_t)~ENCODING_INDIRECT, address);
		return true;
	case 'L':
		reader_skip(reader, 1);
		return true;
	case 'S':
		cie->signal = true;
		return true;
	case 'B': /* pointer authentication, arm64 */
		return true;
	default:
		return false;
	}
}

/* Reads the augmentations behind the fixed fields, and moves to the first instruction. */
static bool cie_augmentations(struct reader *reader, const char *letters, uint64_t address,
			      struct frame_cie *cie)
{
	struct reader data = *reader, *from = reader;
	size_t length;

	cie->has_data = *letters == 'z';
	if (cie->has_data) {
		length = reader_uleb(reader);
		data = *reader;
		reader_skip(reader, length);
		if (reader_failed(reader))
			return false;
		data.end = data.position + length;
		from = &data;
		letters++;
	}
	for (; *letters; letters++) {
		if (!cie_augmentation(from, *letters, address, cie))
			return false;
	}
	return !reader_failed(&data) && cie->encoding != ENCODING_OMIT;
}

static bool cie_decode(struct record *record, uint64_t address, struct frame_cie *cie)
{
	struct reader *reader = &record->reader;
	uint8_t version = reader_u8(reader);
	const char *letters = reader_string(reader);

	if (!letters || (version != 1 && version != 3 && version != 4))
		return false;
	if (strncmp(letters, "eh", 2) == 0) { /* GCC 2: a pointer of no use */
		reader_skip(reader, 8);
		letters += 2;
	}
	if (version == 4 && (reader_u8(reader) != 8 || reader_u8(reader) != 0))
		return false;
	cie->code_alignment = reader_uleb(reader);
	cie->data_alignment = reader_sleb(reader);
	cie->return_register = version == 1 ? reader_u8(reader) : reader_uleb(reader);
	if (!cie_augmentations(reader, letters, address, cie))
		return false;
	cie->instructions = reader_offset(reader);
	cie->instructions_end = record->end;
	return !reader_failed(reader);
}

static uint32_t cie_slot(size_t offset)
{
	return (uint32_t)offset * 2654435761u >> 24;
}
_Static_assert(FRAME_CIES == 1u << 8, "cie_slot() gives eight bits");

/* Returns a CIE, or NULL for a damaged one. Few CIEs serve all FDEs, so the last ones are kept. */
static const struct frame_cie *cie_at(struct frame_section *section, size_t offset)
{
	uint32_t slot = cie_slot(offset);
	struct frame_cie *cie = &section->cies[slot];
	struct record record;
	uint64_t cost;

	if (cie->cached && cie->offset == offset) {
		if (!cie->valid)
			return NULL;
		return cie;
	}
	*cie = (struct frame_cie){.cached = true, .offset = offset, .slot = slot};
	if (!record_at(section, offset, &record) || !record.is_cie)
		return NULL;
	cost = record.end - record.offset + CIE_COST;
	if (cost > section->budget)
		return NULL;
	section->budget -= cost;
	cie->valid = cie_decode(&record, section->address, cie);
	if (!cie->valid)
		return NULL;
	return cie;
}

static int fde_decode(struct frame_section *section, struct record *record,
		      struct frame_fde *ret_fde)
{
	struct reader *reader = &record->reader;
	const struct frame_cie *cie = cie_at(section, record->cie);
	uint64_t size;

	if (!cie)
		return -EBADMSG;
	if (cie->encoding & ENCODING_INDIRECT)
		return -EBADMSG;
	if (section->format == FRAME_DEBUG && cie->encoding != ENCODING_ABSOLUTE)
		return -EBADMSG;
	ret_fde->offset = record->offset;
	ret_fde->start = frame_pointer(reader, cie->encoding, section->address);
	size = frame_pointer(reader, cie->encoding & ENCODING_FORMAT, 0);
	if (cie->has_data)
		reader_skip(reader, reader_uleb(reader));
	if (reader_failed(reader) || __builtin_add_overflow(ret_fde->start, size, &ret_fde->end))
		return -EBADMSG;
	ret_fde->instructions = reader_offset(reader);
	ret_fde->instructions_end = record->end;
	ret_fde->cie = cie;
	return 0;
}

int frame_fde_at(struct frame_section *section, size_t offset, struct frame_fde *ret_fde)
{
	struct record record;

	if (!record_at(section, offset, &record) || record.is_cie)
		return -EBADMSG;
	return fde_decode(section, &record, ret_fde);
}

bool frame_next(struct frame_section *section, struct frame_fde *ret_fde)
{
	struct record record;

	while (section->next < section->size) {
		if (!record_at(section, section->next, &record)) {
			section->next = section->size;
			section->damaged++;
			return false;
		}
		section->next = record.end;
		if (reader_failed(&record.reader)) {
			section->damaged++;
			continue;
		}
		/*
		 * FDEs read their CIEs; a record of length 0 ends the records of one linker input
		 */
		if (record.is_cie)
			continue;
		if (fde_decode(section, &record, ret_fde) < 0)
			section->damaged++;
		else if (ret_fde->start < ret_fde->end)
			return true;
	}
	return false;
}
