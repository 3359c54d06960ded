/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framepointer [SECONDS]. main() keeps nothing in rbp, as the walk takes no other word than a frame
 * pointer there for true.
 */
#include "work.h"

void framepointer_outer(void);

static struct work_time framepointer_time;

FUNCTION int framepointer_left(void)
{
	return is_left(&framepointer_time);
}

int main(int argc, char **argv)
{
	framepointer_time = work_for(seconds_argument(argc, argv, 1, 2));
	while (framepointer_left())
		framepointer_outer();
	return 0;
}
