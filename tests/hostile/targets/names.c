/* SPDX-License-Identifier: Apache-2.0 */
/* names SECONDS FILE OFFSET COMM: runs the code at OFFSET of FILE under a name. */
#include <sys/prctl.h>

#include "tests/hostile/targets/hostile.h"

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_argument(argc, argv, 1, 2));
	size_t size, offset = argc > 4 ? strtoul(argv[3], NULL, 16) : 0;
	char *code = argc > 4 ? map_code(argv[2], &size) : NULL;

	if (!code || prctl(PR_SET_NAME, argv[4]))
		fail("names");
	while (before(end))
		((body_function *)(code + offset))(20000);
	return 0;
}
