/* SPDX-License-Identifier: Apache-2.0 */
/* make_profile FORMAT: writes the profile of tests/unit/build_profile.c to standard output. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/messages.h"
#include "tests/unit/build_profile.h"
#include "profile/format/format.h"
#include "profile/profile.h"

int main(int argc, char **argv)
{
	const struct format_options options = {0};
	struct profile *profile = build_profile();
	int r = -1;

	for (uint32_t id = FORMAT_NONE; argc == 2 && profile && id < FORMAT_COUNT; id++) {
		const struct format *format = format_find(id);

		if (format && !strcmp(format->name, argv[1]))
			r = format->render(profile, &build_profile_times, &options, STDOUT_FILENO);
	}
	profile_free(profile);
	if (r < 0)
		fprintf(stderr, "make_profile: failed: %s\n", strerror(-r));
	return r < 0;
}
