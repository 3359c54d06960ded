/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the layers of a process's confinement, as they show from outside. Landlock does not show:
 * the process proved Landlock itself, before it was given anything of value.
 */
#ifndef KEYHOLE_VIEW_CHECK_LAYERS_H
#define KEYHOLE_VIEW_CHECK_LAYERS_H

#include <stdint.h>

struct process;

/*
 * Sets missing and unseen of the process, and adds findings. `lacking`: the layers that this
 * machine cannot have.
 */
void layers_test(struct process *process, uint32_t lacking);

#endif
