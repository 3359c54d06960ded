/* SPDX-License-Identifier: Apache-2.0 */
/* What the running kernel offers to BPF programs: probed, never inferred from its version. */
#ifndef KEYHOLE_LOADER_FEATURES_H
#define KEYHOLE_LOADER_FEATURES_H

#include <stdbool.h>

/* Whether programs of the floor, Linux 5.10, can be loaded. */
bool features_suffice(void);

/* Whether the object of new kernels can be: bpf/walk_loop.bpf.c. Logs what is done without. */
bool features_have_callbacks(void);

#endif
