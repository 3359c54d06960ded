/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places in code that Sparkplug makes: a piece for each instruction of the interpreter. A table has
 * the bytes of the pieces (baseline/bytecode-offset-iterator.h), and the interpreter's code the
 * bytes of the instructions.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_V8_BASELINE_H
#define KEYHOLE_WORKER_RUNTIME_V8_BASELINE_H

#include <stdint.h>

struct told_lines;

/*
 * Returns the offset of the instruction whose piece has a byte of the code, or RUNTIME_OFFSET_NONE.
 * The code before the first piece counts as the first instruction. The unit of `bytecode` is the
 * version of V8, as of struct runtime_setup.
 */
uint32_t v8_baseline_instruction(const struct told_lines *table, const struct told_lines *bytecode,
				 uint32_t offset);

#endif
