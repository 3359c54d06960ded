/* SPDX-License-Identifier: Apache-2.0 */
/* Which names of processes and threads are asked for: an expression, and what it said of each. */
#ifndef KEYHOLE_WORKER_SAMPLE_COMM_H
#define KEYHOLE_WORKER_SAMPLE_COMM_H

#include <stdbool.h>

#include "bpf/abi.h"

struct comm_filter;

/* POSIX extended, matched byte by byte. 0, -EINVAL or -ENOMEM. */
int comm_filter_new(const char *expression, struct comm_filter **ret_filter);
void comm_filter_free(struct comm_filter *filter); /* NULL is fine */

/* NUL padded. Without memory to tell, it matches. */
bool comm_filter_matches(struct comm_filter *filter, const char name[ABI_COMM_BYTES]);

#endif
