/* SPDX-License-Identifier: Apache-2.0 */
/* depths [SECONDS]: recursion of 1 to 500 frames, so that hardly two stacks are the same. */
#include "work.h"

FUNCTION void depths_leaf(void)
{
	burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void depths_step(int depth)
{
	if (depth > 1)
		depths_step(depth - 1);
	else
		depths_leaf();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 1e9 * seconds_argument(argc, argv, 1, 2);

	for (int depth = 0; clock_ns(CLOCK_MONOTONIC) < end; depth++)
		depths_step(1 + depth % 500);
	return 0;
}
