/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/v8_layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/layout.h"

#define COLUMNS		      6u
#define VERSION(major, minor) ((major) << 24 | (minor) << 16)
#define SMALL_SHIFT	      31 /* v8dbg_SmiShiftSize: the number is in the upper half of a word */

static const uint16_t rows[][COLUMNS] = {
#define O(name, symbol, ...) {__VA_ARGS__},
#include "worker/runtime/v8_layout.def"
#undef O
};

static const char *const symbols[] = {
#define O(name, symbol, ...) symbol,
#include "worker/runtime/v8_layout.def"
#undef O
};

static const uint32_t columns[COLUMNS] = {
	VERSION(9u, 4u),  VERSION(10u, 2u), VERSION(11u, 3u),
	VERSION(12u, 4u), VERSION(13u, 6u), VERSION(14u, 6u),
};

/* Reads a number that the image exports. Returns false: there is none. */
static bool read_number(struct image *image, const struct exported *exported, const char *name,
			int32_t *ret_number)
{
	struct exported_symbol symbol;
	struct image_place place;

	return exported_find(exported, name, &symbol) && !symbol.is_thread_local &&
	       image_address_place(image, symbol.address, &place) == 0 &&
	       image_read(image, place.offset, ret_number, sizeof(*ret_number)) ==
		       sizeof(*ret_number);
}

static bool find_version(struct image *image, const struct exported *exported,
			 uint32_t *ret_version)
{
	int32_t major, minor;

	if (!read_number(image, exported, "_ZN2v88internal7Version6major_E", &major) ||
	    !read_number(image, exported, "_ZN2v88internal7Version6minor_E", &minor) || major < 0 ||
	    major > UINT8_MAX || minor < 0 || minor > UINT8_MAX)
		return false;
	*ret_version = VERSION((uint32_t)major, (uint32_t)minor);
	return true;
}

int v8_layout_of_version(uint32_t version, struct v8_layout *ret_layout)
{
	size_t column = 0;

	while (column < COLUMNS && columns[column] != version)
		column++;
	if (column == COLUMNS)
		return -ENOTSUP;
	LAYOUT_COPY(rows, column, ret_layout);
	return 0;
}

int v8_layout_find(struct image *image, const struct exported *exported,
		   struct v8_layout *ret_layout, uint32_t *ret_version)
{
	int32_t number;
	uint16_t value;

	if (!find_version(image, exported, ret_version) ||
	    !read_number(image, exported, "v8dbg_SmiShiftSize", &number))
		return -ENOTSUP;
	if (number == 0)
		return -EOVERFLOW;
	if (number != SMALL_SHIFT || v8_layout_of_version(*ret_version, ret_layout) < 0)
		return -ENOTSUP;
	for (size_t i = 0; i < LAYOUT_ROWS(symbols); i++) {
		/* no symbol describes some fields */
		if (!symbols[i][0] || !read_number(image, exported, symbols[i], &number))
			continue;
		if (number < 0 || number > UINT16_MAX)
			return -ENOTSUP;
		value = (uint16_t)number;
		memcpy((char *)ret_layout + i * sizeof(value), &value, sizeof(value));
	}
	return 0;
}
