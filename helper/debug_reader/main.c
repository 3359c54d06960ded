/* SPDX-License-Identifier: Apache-2.0 */
/* keyhole-debug-reader: answers one question for debug information, see object/debug/reader.h. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/decimal.h"
#include "generated/version.h"
#include "helper/debug_reader/read.h"
#include "ipc/time.h"

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = strchr(digits, c);

	if (!c || !at)
		return -1;
	return (int)(at - digits);
}

static bool read_id(const char *hex, struct reader_job *job)
{
	const size_t length = strlen(hex);

	if (length % 2 || length / 2 > sizeof(job->id))
		return false;
	for (size_t i = 0; i < length; i += 2) {
		const int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);

		if (high < 0 || low < 0)
			return false;
		job->id[i / 2] = (unsigned char)(high << 4 | low);
	}
	job->id_size = length / 2;
	return true;
}

static bool read_arguments(char **argv, struct reader_job *job)
{
	unsigned int purpose, alternates, milliseconds;
	const struct reader_limits *limits;

	if (!decimal_read32(argv[2], 0, READER_PURPOSES - 1, &purpose))
		return false;
	limits = &reader_limits[purpose];
	if (!decimal_read32(argv[3], 1, limits->addresses, &job->address_count) ||
	    !decimal_read32(argv[4], 0, limits->files, &job->file_count) ||
	    !decimal_read32(argv[5], 0, 1, &alternates) ||
	    !decimal_read32(argv[6], 0, limits->milliseconds, &milliseconds))
		return false;
	job->purpose = (enum reader_purpose)purpose;
	job->deadline = time_now() + milliseconds * NS_PER_MS;
	job->alternate = alternates ? READER_FILES + (int)job->file_count : -1;
	return read_id(argv[7], job);
}

/* The exit status is an errno. */
int main(int argc, char **argv)
{
	static struct reader_job job = {.addresses = READER_ADDRESSES, .answer = READER_ANSWER};

	if (argc != READER_ARGUMENTS || strcmp(argv[1], KEYHOLE_VERSION) != 0)
		return EPROTO;
	if (!read_arguments(argv, &job))
		return EINVAL;
	prctl(PR_SET_NAME, READER_PROGRAM);
	for (unsigned int i = 0; i < job.file_count; i++)
		job.files[i] = READER_FILES + (int)i;
	return -read_job(&job);
}
