/* SPDX-License-Identifier: Apache-2.0 */
/* debugframe [SECONDS]. Its .eh_frame is that of the C library's pieces alone. */
#include "work.h"

FUNCTION void debugframe_leaf(void)
{
	burn_rounds(20000);
	KEEP_FRAME();
}

/* Keeps values in saved registers and on the stack. */
FUNCTION uint64_t debugframe_step(unsigned int depth, uint64_t *before)
{
	uint64_t here[4] = {depth, before[0], before[1], depth ^ before[2]};

	if (depth > 0)
		here[0] += debugframe_step(depth - 1, here);
	else
		debugframe_leaf();
	KEEP_FRAME();
	return here[0] + before[3] + depth;
}

FUNCTION void debugframe_outer(void)
{
	uint64_t start[4] = {work_sink, 1, 2, 3};

	work_sink += debugframe_step(9, start);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));

	while (is_left(&time))
		debugframe_outer();
	return 0;
}
