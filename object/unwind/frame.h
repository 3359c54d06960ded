/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of .eh_frame: CIEs (what several functions share) and FDEs (one range of text each).
 * LSB Core, "Exception Frames"; DWARF 5, 6.4.1. Pointers to instructions point into the section.
 */
#ifndef KEYHOLE_OBJECT_UNWIND_FRAME_H
#define KEYHOLE_OBJECT_UNWIND_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

#define FRAME_CIES 256u

struct frame_cie {
	size_t offset; /* in the section */
	uint32_t slot; /* of the section's cache, < FRAME_CIES */
	bool cached;
	bool valid;
	bool has_data;	  /* augmentation 'z': FDEs carry data with a length */
	bool signal;	  /* 'S': the frame was interrupted, its caller's pc is exact */
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
	const struct frame_cie *cie; /* until the next record is read */
};

struct frame_section {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
	uint64_t damaged; /* records that were skipped */
	uint64_t budget;  /* bytes of CIEs that may still be decoded, against hostile sharing */
	size_t next;	  /* where frame_next() goes on */
	struct frame_cie cies[FRAME_CIES];
};

void frame_section_init(struct frame_section *section, const void *bytes, size_t size,
			uint64_t address);
/* The next FDE: true, or false at the end. Damaged records are skipped and counted. */
bool frame_next(struct frame_section *section, struct frame_fde *ret_fde);
/* The FDE at an offset that frame_next() returned: 0 or -EBADMSG. */
int frame_fde_at(struct frame_section *section, size_t offset, struct frame_fde *ret_fde);

/*
 * An encoded pointer; the reader's base must be the section's first byte. What is relative to
 * something only a running program has, fails. The indirection bit is the caller's business.
 */
uint64_t frame_pointer(struct reader *reader, uint8_t encoding, uint64_t section_address);

#endif
