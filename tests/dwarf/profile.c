/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile make NAME FILE < ADDRESSES: writes a profile as `keyhole record` would. The profile has a
 * sample at each address (hexadecimal) of NAME, whose build id is that of FILE.
 *
 * profile show < PROFILE: prints each location as addr2line -a -i -f does.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object/elf/image.h"
#include "profile/format/format.h"
#include "profile/read/pprof_read.h"
#include "profile/read/unpack.h"
#include "profile/profile.h"

static const struct profile_times times = {
	.period = 10101010, .start_realtime_ns = 1, .duration_ns = 1, .walked = true};

static uint32_t build_id_of(struct profile *profile, const char *file)
{
	unsigned char id[IMAGE_BUILD_ID_MAX];
	char hex[2 * IMAGE_BUILD_ID_MAX + 1] = "";
	struct image *image;
	int fd = open(file, O_RDONLY);
	size_t size;

	if (fd < 0 || image_open(fd, &image) < 0)
		return PROFILE_FAILED;
	size = image_build_id(image, id);
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	image_close(image);
	close(fd);
	return profile_string(profile, hex);
}

static int make(const char *name, const char *file)
{
	static const struct format_options options;
	struct profile *profile = profile_new();
	struct profile_object object = {.limit = UINT64_MAX, .kind = KIND_NATIVE};
	uint32_t id;
	uint64_t address;

	object.name = profile_string(profile, name);
	object.build_id = build_id_of(profile, file);
	if (object.build_id == PROFILE_FAILED)
		return 2;
	id = profile_object_add(profile, &object);
	while (scanf("%" SCNx64, &address) == 1) {
		uint32_t location = profile_location_add(profile, id, address);
		struct profile_sample sample = {.pid = 1, .tid = 1, .count = 1};

		sample.stack = profile_stack_add(profile, &location, 1);
		profile_sample_add(profile, &sample);
	}
	return format_pprof.render(profile, &times, &options, STDOUT_FILENO) < 0;
}

static void print(const struct profile *profile, uint32_t id)
{
	struct profile_line lines[PROFILE_LINES_MAX];
	size_t count = profile_location_lines(profile, id, lines);

	printf("0x%" PRIx64 "\n", profile_location_get(profile, id)->address);
	for (size_t i = 0; i < count; i++) {
		const struct profile_function *function =
			profile_function_get(profile, lines[i].function);
		const char *file = profile_string_get(profile, function->file);

		printf("%s\n%s:%" PRIu32 "\n", profile_string_get(profile, function->system_name),
		       file[0] ? file : "??", lines[i].line);
	}
}

static int show(void)
{
	static const struct pprof_options options;
	struct profile *profile = profile_new();
	struct pprof_info info = {.ours = false};
	unsigned char *bytes;
	size_t size;

	if (unpack_file(STDIN_FILENO, &bytes, &size) < 0 ||
	    pprof_read(bytes, size, &options, profile, &info) < 0)
		return 2;
	for (uint32_t id = 1; id <= profile_locations(profile); id++)
		print(profile, id);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "make"))
		return make(argv[2], argv[3]);
	return argc == 2 && !strcmp(argv[1], "show") ? show() : 2;
}
