/* SPDX-License-Identifier: Apache-2.0 */
/* Files of an energy zone: three names, a range and then readings, each a line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/time.h"
#include "worker/account/energy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes a line, with its end, or all that is left. */
static size_t take_line(const uint8_t **data, size_t *size, const uint8_t **ret_line)
{
	const uint8_t *end = NULL;
	size_t length = *size;

	if (*size > 0)
		end = memchr(*data, '\n', *size);
	if (end)
		length = (size_t)(end - *data) + 1;
	*ret_line = *data;
	if (length > 0)
		*data += length;
	*size -= length;
	return length;
}

static int file_of(const uint8_t *line, size_t length)
{
	int fd = memfd_create("zone", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, line, length, 0) != (ssize_t)length)
		abort();
	return fd;
}

/* A name that is accepted has no byte that a terminal could act on. */
static void look(const struct energy *energy)
{
	for (size_t i = 0; i < energy->count; i++) {
		char label[ENERGY_LABEL_BYTES];

		energy_label(energy, &energy->zones[i], label);
		if (strspn(label, "abcdefghijklmnopqrstuvwxyz0123456789-/:") != strlen(label))
			abort();
	}
}

static void advance(struct zone *zone, const uint8_t *data, size_t size)
{
	uint64_t now = NS_PER_SECOND;

	while (size > 0) {
		const uint64_t before = zone->total;
		const uint8_t *line;
		size_t length = take_line(&data, &size, &line);
		uint64_t value;

		if (zone_parse_number(line, length, &value))
			zone_advance(zone, value, now);
		if (zone->total < before || zone->total - before > zone->range)
			abort();
		now += NS_PER_SECOND / 4;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct energy energy;
	const uint8_t *name[3], *range;
	size_t name_length[3], range_length;

	energy_init(&energy, 0);
	for (int i = 0; i < 3; i++)
		name_length[i] = take_line(&data, &size, &name[i]);
	range_length = take_line(&data, &size, &range);
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t number = ZONE_NUMBER(i / 2, i % 2);

		if (energy_add(&energy, ZONE_INDEX(number, ZONE_FILE_NAME),
			       file_of(name[i], name_length[i])) ||
		    energy_add(&energy, ZONE_INDEX(number, ZONE_FILE_RANGE),
			       file_of(range, range_length)) ||
		    energy_add(&energy, ZONE_INDEX(number, ZONE_FILE_ENERGY), file_of(data, size)))
			abort();
	}
	energy_read(&energy, NS_PER_SECOND);
	look(&energy);
	advance(&energy.zones[0], data, size);
	energy_release(&energy);
	return 0;
}
