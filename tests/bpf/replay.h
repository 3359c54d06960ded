/* SPDX-License-Identifier: Apache-2.0 */
/* Walks of this very process, over tables compiled from its mapped objects. */
#ifndef KEYHOLE_TESTS_BPF_REPLAY_H
#define KEYHOLE_TESTS_BPF_REPLAY_H

#include "bpf/abi.h"

struct replay_stack {
	u32 reason, count;
	const u64 *frames;
};

/* Makes tables of all loaded objects. Returns the number of tables, or a negative errno. */
int replay_open(void);
void replay_close(void);
/* Memory that walks may read, besides the text of the objects. */
void replay_allow(const void *start, u64 bytes);
/* gregs: of a ucontext_t. Async-signal-safe. */
struct replay_stack replay_walk(const long long *gregs);
/* Returns whether an address is in an object with a table. */
int replay_knows(u64 address);

#endif
