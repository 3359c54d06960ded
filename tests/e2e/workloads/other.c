/* SPDX-License-Identifier: Apache-2.0 */
/* other [SECONDS]: stands in for what a package upgrade puts in the place of spin. */
#include "work.h"

FUNCTION void other_inner(void)
{
	burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void other_outer(void)
{
	other_inner();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));

	while (is_left(&time))
		other_outer();
	return 0;
}
