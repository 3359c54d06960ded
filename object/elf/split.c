/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/split.h"

#include <stdint.h>
#include <stdlib.h>

#include "ipc/guard.h"
#include "base/reader.h"
#include "object/elf/image.h"

#define AT_DWO_NAME	    0x76u
#define AT_GNU_DWO_NAME	    0x2130u
#define FORM_IMPLICIT_CONST 0x21u

/* Reads one declaration (DWARF 5, 7.5.3). Returns whether it names a .dwo file. */
static bool names_a_file(struct reader *reader)
{
	bool found = false;

	reader_uleb(reader); /* tag */
	reader_u8(reader);   /* has children */
	while (!reader_failed(reader)) {
		uint64_t name = reader_uleb(reader), form = reader_uleb(reader);

		if (form == FORM_IMPLICIT_CONST)
			reader_sleb(reader);
		if (name == 0 && form == 0)
			break;
		found |= name == AT_DWO_NAME || name == AT_GNU_DWO_NAME;
	}
	return found && !reader_failed(reader);
}

bool split_is(struct image *image)
{
	unsigned char *bytes guard_free = NULL;
	struct image_place place;
	struct reader reader;

	if (image_section_place(image, ".debug_abbrev", &place) < 0)
		return false;
	if (place.size > SPLIT_BYTES_MAX)
		place.size = SPLIT_BYTES_MAX;
	bytes = malloc(place.size + 1);
	if (!bytes)
		return false;
	reader_init(&reader, bytes, image_read(image, place.offset, bytes, place.size));
	while (reader_left(&reader) > 0) {
		if (reader_uleb(&reader) == 0) /* a unit's end */
			continue;
		if (names_a_file(&reader))
			return true;
	}
	return false;
}
