/* SPDX-License-Identifier: Apache-2.0 */
/* paths [SECONDS]: another way down each time, so that hardly two samples have the same stack. */
#include "work.h"

#define DEPTH 24

void paths_left(uint64_t way, unsigned int depth);
void paths_right(uint64_t way, unsigned int depth);

static inline void go_down(uint64_t way, unsigned int depth)
{
	if (depth == 0)
		burn_rounds(20000);
	else if (way & 1)
		paths_left(way >> 1, depth - 1);
	else
		paths_right(way >> 1, depth - 1);
}

FUNCTION void paths_left(uint64_t way, unsigned int depth)
{
	go_down(way, depth);
	KEEP_FRAME();
}

FUNCTION void paths_right(uint64_t way, unsigned int depth)
{
	go_down(way, depth);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 1e9 * seconds_argument(argc, argv, 1, 2);
	uint64_t way = 88172645463325252u;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		way ^= way << 13;
		way ^= way >> 7;
		way ^= way << 17;
		go_down(way, DEPTH);
	}
	return 0;
}
