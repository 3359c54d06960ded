/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a runtime's list at the starts of coroutines. PHP's list goes on from a fiber's first
 * frame to those of whoever resumed the fiber. The stack ends with the fiber's.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_COROUTINES_H
#define KEYHOLE_WORKER_SAMPLE_COROUTINES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct functions;

/*
 * Puts a border in place of each frame that is a start (functions_is_start()), as of
 * activations_tie(). The border has the number of the last frame of the stack. Returns the number
 * of words that are left. family: as in struct function_key; time: of the sample.
 */
size_t coroutines_split(u64 *words, size_t count, uint32_t last, struct functions *functions,
			uint64_t family, uint64_t time);

#endif
