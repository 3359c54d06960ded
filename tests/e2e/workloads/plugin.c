/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

void plugin_work(void);

FUNCTION void plugin_leaf(void)
{
	burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void plugin_work(void)
{
	plugin_leaf();
	KEEP_FRAME();
}
