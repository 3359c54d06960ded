/* SPDX-License-Identifier: Apache-2.0 */
/* recursion [SECONDS]: 300 frames of one function above the leaf. */
#include "work.h"

FUNCTION void recursion_leaf(void)
{
	burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void recursion_step(int depth)
{
	if (depth > 1)
		recursion_step(depth - 1);
	else
		recursion_leaf();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 1e9 * seconds_argument(argc, argv, 1, 2);

	while (clock_ns(CLOCK_MONOTONIC) < end)
		recursion_step(300);
	return 0;
}
