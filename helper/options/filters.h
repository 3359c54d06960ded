/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the filters, --uid, --comm and the like: they choose among the samples of the targets. */
#ifndef KEYHOLE_HELPER_OPTIONS_FILTERS_H
#define KEYHOLE_HELPER_OPTIONS_FILTERS_H

#include <stdbool.h>

#include "bpf/abi.h"
#include "ipc/messages.h"

struct filters {
	struct message_options *options; /* borrowed; filters_finish() writes options->filter */
	struct sample_filter filter;
};

/* Begins with a filter that leaves nothing out. */
void filters_init(struct filters *filters, struct message_options *options);

/* The following functions return NULL, or why the text is refused, valid until the next call. */

/* Takes a list of users, "1000,daemon". */
const char *filters_add_uids(struct filters *filters, const char *list);

/* Takes a list of processes that run, into options->excluded_pids. */
const char *filters_add_excluded_pids(struct filters *filters, const char *list);

/* Takes a list of directories of a cgroup v2 hierarchy, of which the ids are kept. */
const char *filters_add_excluded_cgroups(struct filters *filters, const char *list);

/* Checks a regular expression (base/expression.h) of at most 63 bytes. */
const char *filters_check_comm(const char *expression);

/* Hides FILTER_NO_*, or shows it again: the last call counts. */
void filters_hide(struct filters *filters, uint32_t hides, bool hide);

const char *filters_finish(const struct filters *filters);

#endif
