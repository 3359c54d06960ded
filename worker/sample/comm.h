/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of names of processes and threads: an expression, and its verdicts so far. */
#ifndef KEYHOLE_WORKER_SAMPLE_COMM_H
#define KEYHOLE_WORKER_SAMPLE_COMM_H

#include <stdbool.h>

#include "bpf/abi.h"

struct comm_filter;

/* Takes a POSIX extended expression, matched byte by byte. Returns 0, -EINVAL or -ENOMEM. */
int comm_filter_new(const char *expression, struct comm_filter **ret_filter);
void comm_filter_free(struct comm_filter *filter); /* NULL is fine */

/* The name is padded with NULs. Without memory for a verdict the name matches. */
bool comm_filter_matches(struct comm_filter *filter, const char name[ABI_COMM_BYTES]);

#endif
