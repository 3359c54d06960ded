/* SPDX-License-Identifier: Apache-2.0 */
/* framepointer [SECONDS] */
#include "work.h"

void framepointer_outer(void);

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));

	while (is_left(&time))
		framepointer_outer();
	return 0;
}
