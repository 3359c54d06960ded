/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the targets' samples are wanted: what --uid, --comm and their like are given. */
#ifndef KEYHOLE_HELPER_OPTIONS_FILTERS_H
#define KEYHOLE_HELPER_OPTIONS_FILTERS_H

#include <stdbool.h>

#include "bpf/abi.h"
#include "ipc/messages.h"

struct filters {
	struct message_options *options; /* borrowed; filter is written at the end */
	struct sample_filter filter;
};

/* Everything is wanted. */
void filters_init(struct filters *filters, struct message_options *options);

/* These return NULL, or why the text is refused, valid until the next call. */

/* "1000,daemon" */
const char *filters_add_uids(struct filters *filters, const char *list);

/* Processes that run: into options->excluded_pids. */
const char *filters_add_excluded_pids(struct filters *filters, const char *list);

/* Folders of a cgroup v2 hierarchy: their ids. */
const char *filters_add_excluded_cgroups(struct filters *filters, const char *list);

/* A regular expression (base/expression.h) of at most 63 bytes. */
const char *filters_check_comm(const char *expression);

/* FILTER_NO_*: hidden or not; the last word counts. */
void filters_hide(struct filters *filters, uint32_t hides, bool hide);

const char *filters_finish(const struct filters *filters);

#endif
