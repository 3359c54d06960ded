/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_cfi.h"

#include <stdlib.h>
#include <string.h>

void build_cfi_release(struct build_cfi *cfi)
{
	free(cfi->bytes);
	*cfi = (struct build_cfi){0};
}

void build_cfi_bytes(struct build_cfi *cfi, const void *bytes, size_t size)
{
	if (cfi->size + size > cfi->capacity) {
		cfi->capacity = 2 * (cfi->size + size);
		cfi->bytes = realloc(cfi->bytes, cfi->capacity);
		if (!cfi->bytes)
			abort();
	}
	if (size > 0)
		memcpy(cfi->bytes + cfi->size, bytes, size);
	cfi->size += size;
}

void build_cfi_number(struct build_cfi *cfi, uint64_t value, size_t size)
{
	build_cfi_bytes(cfi, &value, size);
}

void build_cfi_uleb(struct build_cfi *cfi, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		build_cfi_number(cfi, (value & 0x7f) | 0x80, 1);
	build_cfi_number(cfi, value, 1);
}

void build_cfi_sleb(struct build_cfi *cfi, int64_t value)
{
	for (; value < -0x40 || value >= 0x40; value >>= 7)
		build_cfi_number(cfi, ((uint64_t)value & 0x7f) | 0x80, 1);
	build_cfi_number(cfi, (uint64_t)value & 0x7f, 1);
}

size_t build_cfi_begin(struct build_cfi *cfi, uint32_t id)
{
	cfi->record = cfi->size;
	build_cfi_number(cfi, 0, 4);
	build_cfi_number(cfi, id, 4);
	return cfi->record;
}

void build_cfi_end(struct build_cfi *cfi)
{
	uint32_t length = (uint32_t)(cfi->size - cfi->record - 4);

	memcpy(cfi->bytes + cfi->record, &length, sizeof(length));
}

size_t build_cfi_cie(struct build_cfi *cfi, const char *augmentation, struct build_cfi_code code)
{
	size_t offset = build_cfi_begin(cfi, 0);

	build_cfi_number(cfi, 1, 1);
	build_cfi_bytes(cfi, augmentation, strlen(augmentation) + 1);
	build_cfi_uleb(cfi, 1);
	build_cfi_sleb(cfi, -8);
	build_cfi_number(cfi, 16, 1);
	if (*augmentation == 'z') {
		build_cfi_uleb(cfi, strchr(augmentation, 'R') != NULL);
		if (strchr(augmentation, 'R'))
			build_cfi_number(cfi, 0, 1);
	}
	build_cfi_bytes(cfi, code.bytes, code.size);
	build_cfi_end(cfi);
	return offset;
}

size_t build_cfi_usual_cie(struct build_cfi *cfi)
{
	return build_cfi_cie(cfi, "zR", INSTRUCTIONS(0x0c, 7, 8, 0x90, 1));
}

size_t build_cfi_fde(struct build_cfi *cfi, size_t cie, uint64_t start, uint64_t size,
		     struct build_cfi_code code)
{
	size_t offset = build_cfi_begin(cfi, (uint32_t)(cfi->size + 4 - cie));

	build_cfi_number(cfi, start, 8);
	build_cfi_number(cfi, size, 8);
	if (cfi->bytes[cie + 9] == 'z')
		build_cfi_uleb(cfi, 0);
	build_cfi_bytes(cfi, code.bytes, code.size);
	build_cfi_end(cfi);
	return offset;
}

size_t build_cfi_debug_cie(struct build_cfi *cfi, unsigned int version, const char *augmentation)
{
	size_t offset = build_cfi_begin(cfi, UINT32_MAX);
	struct build_cfi_code code = INSTRUCTIONS(0x0c, 7, 8, 0x90, 1);

	build_cfi_number(cfi, version, 1);
	build_cfi_bytes(cfi, augmentation, strlen(augmentation) + 1);
	if (version >= 4)
		build_cfi_number(cfi, 8, 2); /* bytes of an address, and of a segment */
	build_cfi_uleb(cfi, 1);
	build_cfi_sleb(cfi, -8);
	build_cfi_number(cfi, 16, 1);
	build_cfi_bytes(cfi, code.bytes, code.size);
	build_cfi_end(cfi);
	return offset;
}

size_t build_cfi_debug_fde(struct build_cfi *cfi, size_t cie, uint64_t start, uint64_t size,
			   struct build_cfi_code code)
{
	size_t offset = build_cfi_begin(cfi, (uint32_t)cie);

	build_cfi_number(cfi, start, 8);
	build_cfi_number(cfi, size, 8);
	build_cfi_bytes(cfi, code.bytes, code.size);
	build_cfi_end(cfi);
	return offset;
}
