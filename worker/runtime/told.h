/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an event about code tells of a function: struct event_code of bpf/abi.h. */
#ifndef KEYHOLE_WORKER_RUNTIME_TOLD_H
#define KEYHOLE_WORKER_RUNTIME_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "worker/runtime/cpython_code.h"
#include "worker/runtime/cpython_lines.h"

struct cpython_layout;
struct cpython_types;

#define TOLD_TABLE_BYTES (CODE_BYTES - CODE_PART_3)

struct told {
	struct cpython_code code;
	enum cpython_lines lines;
	uint32_t instruction_unit;
	bool is_cut; /* the table: see cpython_lines_reach() */
	size_t table_size;
	unsigned char table[TOLD_TABLE_BYTES];
};

/*
 * Reads the event by the layout of the interpreter, whose types have these addresses in the
 * process. A function without a readable line table has no lines.
 *   0         done
 *   -EFAULT   the event lacks a name
 *   -EBADMSG  what it has cannot be
 *   -EPROTO   an object is of another type: the layout is wrong, or this is no code
 */
int told_read(const struct cpython_layout *layout, const struct cpython_types *types,
	      const struct event_code *event, struct told *ret_told);

#endif
