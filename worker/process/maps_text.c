/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/maps_text.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

static int digit(unsigned char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	return 255;
}

/* A number that ends with a certain byte. */
static uint64_t number(struct reader *line, unsigned int base, unsigned char stop)
{
	uint64_t value = 0;
	unsigned char byte;
	size_t digits = 0;

	for (byte = reader_u8(line); byte != stop; byte = reader_u8(line)) {
		unsigned int next = (unsigned int)digit(byte);

		if (next >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, next, &value)) {
			reader_fail(line);
			return 0;
		}
		digits++;
	}
	if (digits == 0)
		reader_fail(line);
	return value;
}

static bool executable(struct reader *line)
{
	const unsigned char *letters = reader_bytes(line, 5);

	if (!letters)
		return false;
	if (letters[4] != ' ' || (letters[2] != 'x' && letters[2] != '-'))
		reader_fail(line);
	return letters[2] == 'x';
}

static uint64_t inode(struct reader *line)
{
	struct reader rest = *line;
	uint64_t value = number(line, 10, ' ');

	/* A line without a path may end behind the number. */
	if (!reader_failed(line))
		return value;
	*line = rest;
	value = 0;
	while (reader_left(line) > 0) {
		unsigned int next = (unsigned int)digit(reader_u8(line));

		if (next >= 10 || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, next, &value))
			reader_fail(line);
	}
	return value;
}

/* seq_path() writes a newline as \012 and leaves everything else alone. */
static bool escaped_newline(const struct reader *line)
{
	return reader_left(line) >= 4 && memcmp(line->position, "\\012", 4) == 0;
}

/* In long pieces: a listing may hold thousands of paths of 4 KB. */
static void path(struct reader *line, char *ret_path)
{
	size_t length = 0;

	while (reader_left(line) > 0 && *line->position == ' ')
		reader_skip(line, 1);
	while (reader_left(line) > 0 && length < MAPS_PATH_MAX - 1) {
		size_t most = MAPS_PATH_MAX - 1 - length, left = reader_left(line);
		const void *piece = line->position, *escape;
		size_t size = left < most ? left : most;

		if (escaped_newline(line)) {
			reader_skip(line, 4);
			ret_path[length++] = '\n';
			continue;
		}
		/* a first one that escapes nothing is a part of the piece */
		escape = memchr(line->position + 1, '\\', size - 1);
		if (escape)
			size = (size_t)((const char *)escape - (const char *)piece);
		memcpy(ret_path + length, piece, size);
		reader_skip(line, size);
		length += size;
	}
	ret_path[length] = '\0';
}

int maps_text_next(struct reader *reader, struct maps_line *ret_line)
{
	struct reader line;
	const char *text;
	uint64_t major;
	size_t length;

	if (reader_left(reader) == 0)
		return 0;
	text = reader_until(reader, '\n', &length);
	reader_init(&line, text, length);
	ret_line->start = number(&line, 16, '-');
	ret_line->end = number(&line, 16, ' ');
	ret_line->executable = executable(&line);
	ret_line->offset = number(&line, 16, ' ');
	major = number(&line, 16, ':');
	ret_line->device = makedev((unsigned int)major, (unsigned int)number(&line, 16, ' '));
	ret_line->inode = inode(&line);
	path(&line, ret_line->path);
	if (reader_failed(&line) || major > UINT32_MAX || ret_line->start >= ret_line->end)
		return -EBADMSG;
	return 1;
}
