/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/memory.h"

#include <errno.h>
#include <string.h>

#define ADDRESS_END (1ull << 47) /* of user space */

int memory_add(struct memory *memory, uint64_t address, const void *bytes, size_t size)
{
	if (address >= ADDRESS_END || size > ADDRESS_END - address)
		return -EFAULT;
	if (memory->count == MEMORY_RANGES_MAX)
		return -ENOSPC;
	memory->range[memory->count++] = (struct memory_range){address, bytes, size};
	return 0;
}

/* Returns how many bytes of the range are at an address and behind it. */
static size_t left_in(const struct memory_range *range, uint64_t address)
{
	if (address < range->address || address - range->address >= range->size)
		return 0;
	return range->size - (size_t)(address - range->address);
}

/* Returns the range that has most bytes at an address, or NULL. */
static const struct memory_range *find(const struct memory *memory, uint64_t address)
{
	const struct memory_range *found = NULL;
	size_t most = 0;

	for (size_t i = 0; i < memory->count; i++) {
		const size_t left = left_in(&memory->range[i], address);

		if (left > most) {
			found = &memory->range[i];
			most = left;
		}
	}
	return found;
}

size_t memory_left(const struct memory *memory, uint64_t address)
{
	const struct memory_range *range = find(memory, address);

	if (!range)
		return 0;
	return left_in(range, address);
}

int memory_read(const struct memory *memory, uint64_t address, void *ret_bytes, size_t size)
{
	const struct memory_range *range = find(memory, address);

	if (size == 0)
		return 0;
	if (!range || left_in(range, address) < size)
		return -EFAULT;
	memcpy(ret_bytes, range->bytes + (address - range->address), size);
	return 0;
}

int memory_word(const struct memory *memory, uint64_t address, uint64_t *ret_word)
{
	return memory_read(memory, address, ret_word, sizeof(*ret_word));
}
