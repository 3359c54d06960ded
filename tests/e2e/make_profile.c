/* SPDX-License-Identifier: Apache-2.0 */
/* make_profile FORMAT: writes the profile of tests/unit/build_profile.c to standard output. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/formats.h"
#include "tests/unit/build_profile.h"
#include "profile/format/format.h"
#include "profile/profile.h"

int main(int argc, char **argv)
{
	const struct format_options options = {0};
	struct profile *profile = build_profile();
	const struct format *format = NULL;
	int r = -1;

	if (argc == 2)
		format = format_find(formats_by_name(argv[1]));
	if (format && profile)
		r = format->render(profile, &build_profile_times, &options, STDOUT_FILENO);
	profile_free(profile);
	if (r < 0)
		fprintf(stderr, "make_profile: failed: %s\n", strerror(-r));
	return r < 0;
}
