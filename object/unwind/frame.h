/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records of .eh_frame (LSB Core, "Exception Frames") and of .debug_frame (DWARF 5,
 * 6.4.1). An FDE describes one range of text, and a CIE has the common part of several FDEs.
 *
 *                      .eh_frame                        .debug_frame
 *   id of a CIE        0                                all bits set
 *   CIE of an FDE      so many bytes before the id      offset in the section
 *   addresses          encoded as the CIE says          absolute, 8 bytes
 */
#ifndef KEYHOLE_OBJECT_UNWIND_FRAME_H
#define KEYHOLE_OBJECT_UNWIND_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

#define FRAME_CIES 256u

enum frame_format {
	FRAME_EH,
	FRAME_DEBUG,
};

struct frame_cie {
	size_t offset; /* in the section */
	uint32_t slot; /* of the section's cache, < FRAME_CIES */
	bool cached;
	bool valid;
	bool has_data;	  /* augmentation 'z': FDEs carry data with a length */
	bool signal;	  /* 'S': the frame of a signal, whose caller's pc is exact */
	uint8_t encoding; /* DW_EH_PE_* of addresses in FDEs */
	uint64_t code_alignment;
	int64_t data_alignment;
	uint64_t return_register;
	size_t instructions, instructions_end; /* offsets in the section */
};

struct frame_fde {
	size_t offset;	     /* in the section */
	uint64_t start, end; /* pcs, end exclusive, start < end */
	size_t instructions, instructions_end;
	const struct frame_cie *cie; /* valid until the next record is read */
};

struct frame_section {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
	enum frame_format format;
	uint64_t damaged; /* records that were skipped */
	uint64_t budget;  /* bytes of CIEs that may still be decoded: hostile FDEs share none */
	size_t next;	  /* offset of the record that frame_next() reads next */
	struct frame_cie cies[FRAME_CIES];
};

/* Begins to read .eh_frame, which is at an address. */
void frame_section_init(struct frame_section *section, const void *bytes, size_t size,
			uint64_t address);
/* Begins to read .debug_frame. */
void frame_section_init_debug(struct frame_section *section, const void *bytes, size_t size);
/* Reads the next FDE. Returns false at the end. Damaged records are skipped and counted. */
bool frame_next(struct frame_section *section, struct frame_fde *ret_fde);
/* Reads the FDE at an offset that frame_next() returned. Returns 0 or -EBADMSG. */
int frame_fde_at(struct frame_section *section, size_t offset, struct frame_fde *ret_fde);

/*
 * Reads an encoded pointer; the reader's base must be the section's first byte. A pointer relative
 * to an address that only a running process has fails. The caller handles the indirection bit.
 */
uint64_t frame_pointer(struct reader *reader, uint8_t encoding, uint64_t section_address);

#endif
