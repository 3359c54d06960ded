/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers are those of protobuf: signed ones as "zigzag", seven bits a byte, the lowest first. */
#include "profile/moment_list.h"

#include <errno.h>
#include <string.h>

#define NUMBER_BYTES 10 /* of 64 bits, at most */

void moment_list_release(struct moment_list *list)
{
	chunks_release(&list->bytes);
	*list = (struct moment_list){0};
}

/* Writes the difference of two numbers, modulo 2^64, and returns how many bytes that took. */
static size_t put_difference(unsigned char *to, uint64_t number, uint64_t before)
{
	const uint64_t difference = number - before;
	uint64_t left = difference << 1;
	size_t size = 0;

	if (difference >> 63)
		left = ~left;
	for (; left >= 0x80; left >>= 7)
		to[size++] = (unsigned char)(left | 0x80);
	to[size++] = (unsigned char)left;
	return size;
}

/* Reads what put_difference() wrote, and returns how many bytes that was. */
static size_t get_difference(const unsigned char *from, uint64_t *number)
{
	uint64_t value = 0;
	size_t size = 0;

	do
		value |= (uint64_t)(from[size] & 0x7f) << (7 * size);
	while (from[size++] & 0x80);
	if (value & 1)
		*number += ~(value >> 1);
	else
		*number += value >> 1;
	return size;
}

int moment_list_add(struct moment_list *list, const struct profile_moment *moment)
{
	unsigned char bytes[2 * NUMBER_BYTES];
	size_t size = put_difference(bytes, moment->time, list->last.time);
	void *to;

	size += put_difference(bytes + size, moment->sample, list->last.sample);
	to = chunks_add(&list->bytes, size);
	if (!to)
		return -ENOMEM;
	memcpy(to, bytes, size);
	list->last = *moment;
	list->count++;
	return 0;
}

bool moment_list_next(const struct moment_list *list, struct profile_moment_walk *walk)
{
	const struct chunk *chunk;
	const unsigned char *from;
	uint64_t sample = walk->moment.sample;

	if (walk->done == list->count)
		return false;
	chunk = &list->bytes.items[walk->chunk];
	if (walk->at == chunk->used) {
		chunk = &list->bytes.items[++walk->chunk];
		walk->at = 0;
	}
	from = chunk->bytes + walk->at;
	from += get_difference(from, &walk->moment.time);
	from += get_difference(from, &sample);
	walk->moment.sample = (uint32_t)sample;
	walk->at = (uint32_t)(from - chunk->bytes);
	walk->done++;
	return true;
}
