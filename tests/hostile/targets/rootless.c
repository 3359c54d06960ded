/* SPDX-License-Identifier: Apache-2.0 */
/* rootless SECONDS FOLDER: leaves its mount namespace and its root, where its own program lies. */
#include <sched.h>

#include "tests/hostile/targets/hostile.h"

FUNCTION static void rootless_inner(void)
{
	burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION static void rootless_outer(void)
{
	rootless_inner();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_argument(argc, argv, 1, 2));

	if (argc < 3 || unshare(CLONE_NEWNS) || chroot(argv[2]) || chdir("/"))
		fail("rootless");
	say("running");
	while (before(end))
		rootless_outer();
	return 0;
}
