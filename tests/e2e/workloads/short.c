/* SPDX-License-Identifier: Apache-2.0 */
/* short [MILLISECONDS]: a process of so much CPU time (50), three frames deep. */
#include "work.h"

FUNCTION void short_leaf(uint64_t end)
{
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		burn_rounds(2000);
	KEEP_FRAME();
}

FUNCTION void short_outer(uint64_t end)
{
	short_leaf(end);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	short_outer((uint64_t)(1e6 * seconds_argument(argc, argv, 1, 50)));
	return 0;
}
