/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of Ruby's structures in one version (ruby_layout.def). A version that is not there has
 * no layout: nothing is guessed from another version.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_RUBY_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_RUBY_LAYOUT_H

#include <stdint.h>

#define RUBY_NONE 65535u /* the version has no such field, or no use for it */

struct ruby_layout {
#define O(field, v27, v30, v31, v32, v33, v34, v40) uint16_t field;
#include "worker/runtime/ruby_layout.def"
#undef O
};

/*
 * Finds the layout of a version, as of struct runtime_setup. A release series has one layout.
 * Returns 0, or -ENOTSUP.
 */
int ruby_layout_find(uint32_t version, struct ruby_layout *ret_layout);

#endif
