/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the code of a CPython interpreter's loop: the function _PyEval_EvalFrameDefault. */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_LOOP_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_LOOP_H

#include "worker/runtime/runtime.h"

struct exported;
struct image;

/*
 * Finds the function, and the parts of it that the compiler has put elsewhere (GCC's .cold). A part
 * has no symbol in a stripped image. It has an FDE of its own. The function jumps to it, and it
 * jumps into the middle of the function. Returns 0 or -ENOTSUP, -ENOMEM.
 */
int cpython_loop_find(struct image *image, const struct exported *exported,
		      struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES]);

#endif
