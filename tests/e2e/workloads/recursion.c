/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recursion [SECONDS [DEPTHS]]: 300 frames of one function above the leaf, or 1 to DEPTHS by turns,
 * so that hardly two stacks are the same.
 */
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
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));
	int depths = seconds_argument(argc, argv, 2, 1);

	for (int turn = 0; is_left(&time); turn++)
		recursion_step(argc > 2 ? 1 + turn % depths : 300);
	return 0;
}
