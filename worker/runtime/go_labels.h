/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where goroutines of a Go program have their labels (runtime/pprof: Do, SetGoroutineLabels)
 * and their number. The offsets are those of a version (go_labels.def).
 */
#ifndef KEYHOLE_WORKER_RUNTIME_GO_LABELS_H
#define KEYHOLE_WORKER_RUNTIME_GO_LABELS_H

#include "bpf/abi.h"

struct image;
struct unwind_table;

/*
 * Returns 0. -ENOENT: no Go program, or one that does not show how it finds its goroutines.
 * -ENOTSUP: a version of unknown layout, or one whose code shows another layout.
 */
int go_labels_find(struct image *image, const struct unwind_table *table,
		   struct go_labels *ret_labels);

#endif
