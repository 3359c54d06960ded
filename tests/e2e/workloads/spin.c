/* SPDX-License-Identifier: Apache-2.0 */
/* spin [SECONDS]: the plainest case. */
#include "work.h"

FUNCTION void spin_inner(void)
{
	burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void spin_outer(void)
{
	spin_inner();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));

	while (is_left(&time))
		spin_outer();
	return 0;
}
