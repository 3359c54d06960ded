/* SPDX-License-Identifier: Apache-2.0 */
#define WORK	    only_in_b
#define OTHER	    "exec_a"
#define EXTRA_DEPTH 5
#include "exec_chain.h"

/* Moves what follows and changes nothing else. */
FUNCTION void padding_of_b(volatile int *values)
{
	for (int i = 0; i < 64; i++)
		values[i] += values[63 - i] * i;
}
