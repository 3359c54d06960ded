/* SPDX-License-Identifier: Apache-2.0 */
/* Makes rows from the FDEs of .eh_frame or of .debug_frame, whose addresses are in any order. */
#ifndef KEYHOLE_OBJECT_UNWIND_FRAME_ROWS_H
#define KEYHOLE_OBJECT_UNWIND_FRAME_ROWS_H

#include "bpf/abi.h"
#include "object/unwind/frame.h"

struct dictionary;
struct image;
struct pace;
struct rows;

struct frame_range {
	u64 start, end; /* pcs, end exclusive */
};

struct frame_rows_of {
	struct image *image;
	u64 base; /* rows count from here; below all text */
	struct dictionary *dictionary;
	struct frame_range known; /* FDEs that start here are not taken; { 0 }: all are */
	struct pace *pace;	  /* borrowed; NULL is fine */
};

/*
 * Adds the rows of a section's FDEs to `rows`, which is empty. An FDE describes its own range and
 * padding behind that, up to the start of the next one. Damaged records are skipped and counted in
 * section->damaged, and so are FDEs outside of the object's text. *ret_frames is the number of
 * FDEs taken.
 *
 * Returns 0, -ENOENT without an FDE, -EBADMSG when no FDE is usable, or an errno of rows_reserve().
 */
int frame_rows(const struct frame_rows_of *of, struct frame_section *section, struct rows *rows,
	       u64 *ret_frames);

#endif
