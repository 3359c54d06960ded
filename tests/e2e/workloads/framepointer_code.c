/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled without .eh_frame and with frame pointers. */
#include "work.h"

void framepointer_outer(void);

FUNCTION void framepointer_leaf(void)
{
	burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void framepointer_middle(void)
{
	framepointer_leaf();
	KEEP_FRAME();
}

FUNCTION void framepointer_outer(void)
{
	framepointer_middle();
	KEEP_FRAME();
}
