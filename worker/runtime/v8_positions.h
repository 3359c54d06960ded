/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of V8, which lead from places in code to places in the text of a script. */
#ifndef KEYHOLE_WORKER_RUNTIME_V8_POSITIONS_H
#define KEYHOLE_WORKER_RUNTIME_V8_POSITIONS_H

#include <stdint.h>

struct reader;
struct told_lines;

/*
 * Finds the place of an instruction, or of a byte of compiled code. A table has pairs of distances:
 * of an instruction and of a place. `unit` of the lines is the number of flag bits of a distance.
 * Returns a raw place, or -1.
 */
int64_t v8_positions_find(struct reader *reader, const struct told_lines *lines,
			  uint32_t instruction);
/* Returns a raw place as one in the text of a script, as of struct told_script, or 0. */
uint32_t v8_positions_in_script(int64_t place);

#endif
