/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/account/zone.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/reader.h"
#include "ipc/guard.h"
#include "ipc/time.h"

/*
 * No zone takes more power, for longer than a second. A counter that goes back a little looks as if
 * it had gone through its whole range, which is 65 kJ or more.
 */
#define WATTS_MAX 10000u

/* ---- texts ---- */

static bool read_digits(struct reader *reader, uint64_t *ret_number)
{
	uint64_t number = 0;
	size_t digits = 0;

	while (reader_left(reader) > 0 && *reader->position >= '0' && *reader->position <= '9') {
		const uint64_t digit = reader_u8(reader) - '0';

		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			return false;
		digits++;
	}
	*ret_number = number;
	return digits > 0;
}

/* Returns whether nothing follows but the end of the line. */
static bool is_at_end(struct reader *reader)
{
	if (reader_left(reader) == 0)
		return true;
	return reader_u8(reader) == '\n' && reader_left(reader) == 0;
}

bool zone_parse_number(const void *text, size_t size, uint64_t *ret_number)
{
	struct reader reader;
	uint64_t number;

	reader_init(&reader, text, size);
	if (!read_digits(&reader, &number) || !is_at_end(&reader))
		return false;
	*ret_number = number;
	return true;
}

/* Moves past a word. Returns false, and stays, where another one is. */
static bool skip_word(struct reader *reader, const char *word)
{
	const size_t length = strlen(word);

	if (reader_left(reader) < length || memcmp(reader->position, word, length))
		return false;
	reader_skip(reader, length);
	return true;
}

/* A package has its number, and where it has several dies the number of one. */
static bool skip_package(struct reader *reader)
{
	uint64_t number;

	if (!read_digits(reader, &number))
		return false;
	if (!skip_word(reader, "-die-"))
		return true;
	return read_digits(reader, &number);
}

bool zone_parse_name(struct zone *zone, const void *text, size_t size)
{
	static const char *const words[ZONE_KINDS] = {
		[ZONE_PACKAGE] = "package-", [ZONE_DRAM] = "dram", [ZONE_CORE] = "core",
		[ZONE_UNCORE] = "uncore",    [ZONE_PSYS] = "psys",
	};
	struct reader reader;
	unsigned int kind = 0;
	size_t length;

	reader_init(&reader, text, size);
	while (kind < ZONE_KINDS && !skip_word(&reader, words[kind]))
		kind++;
	if (kind == ZONE_KINDS || (kind == ZONE_PACKAGE && !skip_package(&reader)))
		return false;
	length = reader_offset(&reader);
	if (!is_at_end(&reader) || length >= sizeof(zone->name))
		return false;
	zone->kind = (enum zone_kind)kind;
	memcpy(zone->name, text, length);
	zone->name[length] = '\0';
	return true;
}

/* ---- readings ---- */

bool zone_is_summed(const struct zone *zone)
{
	return zone->kind == ZONE_PACKAGE || zone->kind == ZONE_DRAM;
}

void zone_leave_out(struct zone *zone, const char *reason)
{
	if (!zone->reason)
		zone->reason = reason;
	close_fd(&zone->fd);
}

/* Returns whether a zone can have taken so much energy. */
static bool is_possible(uint64_t microjoules, uint64_t ns)
{
	const uint64_t seconds = ns / NS_PER_SECOND + 2;

	return microjoules / 1000000 < seconds * WATTS_MAX;
}

void zone_advance(struct zone *zone, uint64_t value, uint64_t now)
{
	uint64_t growth;

	if (zone->reason)
		return;
	if (value > zone->range) {
		zone_leave_out(zone, "its reading is above its range");
		return;
	}
	growth = value - zone->last;
	if (value < zone->last)
		growth = zone->range - zone->last + value;
	if (zone->read_at && !is_possible(growth, now - zone->read_at)) {
		zone_leave_out(zone, "its readings jump or go back");
		return;
	}
	if (zone->read_at)
		zone->total += growth;
	zone->last = value;
	zone->read_at = now;
}

int zone_read_file(int fd, char *ret_text)
{
	const ssize_t size = pread(fd, ret_text, ZONE_TEXT_BYTES, 0);

	if (size < 0)
		return -errno;
	if (size == ZONE_TEXT_BYTES)
		return -EFBIG;
	return (int)size;
}

bool zone_read(struct zone *zone, uint64_t now)
{
	char text[ZONE_TEXT_BYTES];
	uint64_t value;
	int size;

	if (zone->reason)
		return false;
	size = zone_read_file(zone->fd, text);
	if (size < 0)
		zone_leave_out(zone, "its counter cannot be read");
	else if (!zone_parse_number(text, (size_t)size, &value))
		zone_leave_out(zone, "its reading is no number");
	else
		zone_advance(zone, value, now);
	return !zone->reason;
}
