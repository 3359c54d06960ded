/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules from the table by which Go programs unwind themselves (.gopclntab, Go 1.18 and newer): how
 * far the stack pointer is from the return address at each instruction. Of programs that Go's own
 * linker made; another one puts the code elsewhere than they say. Its functions:
 *
 *   ordinary      CFA = rsp + distance + 8; rbp as their first instructions save it
 *   SP written    RULE_NONE (they change the stack: runtime.systemstack and the like)
 *   roots         RULE_END: runtime.goexit, to which each goroutine's function returns;
 *                 runtime.rt0_go, where the program begins; the call in runtime.clone by which a
 *                 thread begins, and that in runtime.mcall by which its scheduler does: whoever
 *                 came there may run on another thread by then (frame pointers end there, too)
 */
#ifndef KEYHOLE_OBJECT_UNWIND_GO_ROWS_H
#define KEYHOLE_OBJECT_UNWIND_GO_ROWS_H

#include "bpf/abi.h"

struct image;

#define GO_FUNCTIONS_MAX (4u << 20)

/* Each rule holds from its pc to the next one, the last one is RULE_NONE; pcs never fall and are in
 * the object's text. 0, or a negative errno, which ends it. */
typedef int go_row(void *context, u64 pc, u64 rule);

/*
 * 0 with the number of functions; -ENOENT: no such program; -EBADMSG: damaged, or too many
 * functions, before the first row or behind some; or what a row or image_section() came back with.
 */
int go_rows(struct image *image, go_row *row, void *context, u64 *ret_functions);

#endif
