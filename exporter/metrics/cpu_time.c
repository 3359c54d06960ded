/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/cpu_time.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/reader.h"

#define LINE_BYTES 256 /* more than the first line has */
#define COLUMNS	   3   /* user, nice, system */

static const char begin[] = "cpu  ";

static bool add_column(struct reader *line, uint64_t *ticks)
{
	uint64_t number = 0;
	size_t length;
	const char *digits = reader_until(line, ' ', &length);

	for (size_t i = 0; i < length; i++) {
		if (digits[i] < '0' || digits[i] > '9' || number > UINT64_MAX / 100)
			return false;
		number = number * 10 + (uint64_t)(digits[i] - '0');
	}
	*ticks += number;
	return length > 0;
}

int cpu_time_parse(const char *text, size_t size, uint64_t *ret_ticks)
{
	struct reader reader;
	const char *name;

	*ret_ticks = 0;
	reader_init(&reader, text, size);
	name = reader_bytes(&reader, strlen(begin));
	if (!name || memcmp(name, begin, strlen(begin)) != 0)
		return -EBADMSG;
	for (int i = 0; i < COLUMNS; i++)
		if (!add_column(&reader, ret_ticks))
			return -EBADMSG;
	return 0;
}

int cpu_time_read(int fd, uint64_t *ret_ticks)
{
	char text[LINE_BYTES];
	ssize_t size = pread(fd, text, sizeof(text), 0);

	if (size < 0)
		return -errno;
	return cpu_time_parse(text, (size_t)size, ret_ticks);
}
