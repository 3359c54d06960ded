/* SPDX-License-Identifier: Apache-2.0 */
/* bigframe [SECONDS]: eight frames of 12 KB each. */
#include "work.h"

FUNCTION void bigframe_step(int depth, char *above)
{
	char buffer[12 * 1024];

	__asm__ volatile("" : : "r"(buffer), "r"(above) : "memory");
	if (depth > 1)
		bigframe_step(depth - 1, buffer);
	else
		burn_rounds(20000);
	__asm__ volatile("" : : "r"(buffer) : "memory");
}

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));

	while (is_left(&time))
		bigframe_step(8, NULL);
	return 0;
}
