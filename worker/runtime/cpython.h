/* SPDX-License-Identifier: Apache-2.0 */
/* CPython, 3.9 to 3.15. */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_H

#include "worker/runtime/runtime.h"

extern const struct runtime_handler cpython_handler;

#endif
