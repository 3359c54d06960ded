/* SPDX-License-Identifier: Apache-2.0 */
/* The input is an unpacked pprof file. A profile that was read can be written in each format. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/format/format.h"
#include "profile/read/pprof_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_strings(const struct profile *profile)
{
	for (uint32_t id = 0; id < profile_strings(profile); id++)
		for (const char *c = profile_string_get(profile, id); *c; c++)
			if ((unsigned char)*c < 0x20 || *c == 0x7f)
				__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pprof_options options = {.base = size & 1};
	const struct format_options how = {0};
	struct profile *profile = profile_new();
	struct pprof_info info;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (!profile || fd < 0)
		abort();
	if (pprof_read(data, size, &options, profile, &info) == 0) {
		check_strings(profile);
		for (uint32_t id = 0; id < 32; id++)
			if (format_find(id))
				format_find(id)->render(profile, &info.times, &how, fd);
	}
	close(fd);
	profile_free(profile);
	return 0;
}
