/* SPDX-License-Identifier: Apache-2.0 */
/* framepointer [SECONDS] */
#include "work.h"

void framepointer_outer(void);

int main(int argc, char **argv)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 1e9 * seconds_argument(argc, argv, 1, 2);

	while (clock_ns(CLOCK_MONOTONIC) < end)
		framepointer_outer();
	return 0;
}
