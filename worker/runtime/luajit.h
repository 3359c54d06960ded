/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF walks the frames of LuaJIT 2.1. */
#ifndef KEYHOLE_WORKER_RUNTIME_LUAJIT_H
#define KEYHOLE_WORKER_RUNTIME_LUAJIT_H

#include "worker/runtime/runtime.h"

extern const struct runtime_handler luajit_handler;

#endif
