/* SPDX-License-Identifier: Apache-2.0 */
/* Optimized code of V8: which functions the compiler has put in, and where. */
#ifndef KEYHOLE_WORKER_RUNTIME_V8_OPTIMIZED_H
#define KEYHOLE_WORKER_RUNTIME_V8_OPTIMIZED_H

#include <stddef.h>
#include <stdint.h>

#include "worker/runtime/told.h"

struct memory;
struct v8_layout;

/* Reads an event about such code, which may have no functions put in. */
void v8_optimized_read(const struct v8_layout *layout, const struct memory *memory,
		       struct told *told);
/*
 * Reads an event about the functions that are put in. Returns 0, or -EPROTO: the event has none.
 */
int v8_optimized_read_functions(const struct memory *memory, struct told *told);
/* As of struct runtime_handler. */
size_t v8_optimized_find(const struct told_lines *lines, uint32_t offset,
			 struct told_put_in ret_functions[TOLD_PUT_IN_MAX]);

#endif
