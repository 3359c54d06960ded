/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/cpython_version.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/reader.h"
#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/accessor.h"

#define RELEASED      0xf0u /* PY_RELEASE_LEVEL_FINAL */
#define TEXT_BYTES    32u
#define CALLS_MAX     8u /* of Py_GetVersion, before it has the text */
#define VERSION_BYTES 4u

/* Python/getversion.c, 3.9 and 3.10 */
static const char format[] = "%.80s (%.80s) %.80s";

static size_t read_address(struct image *image, uint64_t address, void *to, size_t size)
{
	struct image_place place;

	if (image_address_place(image, address, &place) < 0)
		return 0;
	if (size > place.size)
		size = place.size;
	return image_read(image, place.offset, to, size);
}

/* ---- from 3.11 on: a variable ---- */

static int read_variable(struct image *image, const struct exported *exported,
			 uint32_t *ret_version)
{
	unsigned char bytes[VERSION_BYTES];
	struct exported_symbol symbol;
	struct reader reader;

	if (!exported_find(exported, "Py_Version", &symbol))
		return -ENOENT;
	if (read_address(image, symbol.address, bytes, sizeof(bytes)) != sizeof(bytes))
		return -ENOTSUP;
	reader_init(&reader, bytes, sizeof(bytes));
	*ret_version = reader_u32(&reader);
	if ((*ret_version & 0xf0) != RELEASED)
		return -ENOTSUP;
	return 0;
}

/* ---- before: a text that Py_GetVersion() hands to PyOS_snprintf() ---- */

static bool take_number(const char **text, uint32_t *ret_number)
{
	const char *at = *text;

	*ret_number = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		*ret_number = *ret_number * 10 + (uint32_t)(*at - '0');
		if (*ret_number > UINT8_MAX)
			return false;
	}
	if (at == *text)
		return false;
	*text = at;
	return true;
}

int cpython_version_read(const char *text, uint32_t *ret_version)
{
	uint32_t part[3] = {0};

	for (size_t i = 0; i < 3; i++) {
		if (!take_number(&text, &part[i]))
			return -ENOTSUP;
		if (i < 2 && *text++ != '.')
			return -ENOTSUP;
	}
	if (*text == '+') /* built from a tree that is newer than the release */
		text++;
	if (*text != '\0')
		return -ENOTSUP;
	*ret_version = part[0] << 24 | part[1] << 16 | part[2] << 8 | RELEASED;
	return 0;
}

/* Reads the text at the address that a register has. */
static bool read_text(const struct accessor *accessor, unsigned int reg, char ret_text[TEXT_BYTES])
{
	const struct accessor_value *value = &accessor->reg[reg];
	size_t size;

	if (value->base != ACCESSOR_NUMBER || value->loaded)
		return false;
	size = read_address(accessor->image, value->number, ret_text, TEXT_BYTES);
	return memchr(ret_text, '\0', size) != NULL;
}

static bool is_print(const struct accessor *accessor, uint32_t *ret_version)
{
	char text[TEXT_BYTES];

	if (!read_text(accessor, ACCESSOR_RDX, text) || strcmp(text, format) != 0)
		return false;
	return read_text(accessor, ACCESSOR_RCX, text) &&
	       cpython_version_read(text, ret_version) == 0;
}

static int read_function(struct image *image, const struct exported *exported,
			 uint32_t *ret_version)
{
	struct exported_symbol symbol;
	struct accessor accessor;

	if (!exported_find(exported, "Py_GetVersion", &symbol))
		return -ENOTSUP;
	accessor_init(&accessor, image, exported, symbol.address);
	for (unsigned int i = 0; i < CALLS_MAX; i++) {
		if (accessor_next(&accessor) != ACCESSOR_CALL)
			return -ENOTSUP;
		if (is_print(&accessor, ret_version))
			return 0;
	}
	return -ENOTSUP;
}

int cpython_version(struct image *image, const struct exported *exported, uint32_t *ret_version)
{
	int r = read_variable(image, exported, ret_version);

	if (r != -ENOENT)
		return r;
	return read_function(image, exported, ret_version);
}
