/* SPDX-License-Identifier: Apache-2.0 */
#define WORK	    only_in_a
#define OTHER	    "exec_b"
#define EXTRA_DEPTH 2
#include "exec_chain.h"
