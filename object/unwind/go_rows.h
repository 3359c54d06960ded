/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes rules from the table by which Go programs unwind themselves (.gopclntab, Go 1.16 and
 * newer). The table says how far the stack pointer is from the return address at each instruction.
 * The linker of C keeps Go's code in one piece, and moves the piece. Then the program's description
 * of itself (go_module.h) gives the start of the piece. The description must also have the first
 * and the last address of the table's functions.
 *
 *   functions     rules
 *   ordinary      CFA = rsp + distance + 8; rbp as the first instructions save it
 *   SP written    RULE_SWITCH where a known function is on another stack (go_switch.h); RULE_NONE
 *                 in other functions
 *   signals       RULE_SIGNAL: the code to which a handler returns
 *   roots         RULE_END: runtime.goexit, to which each goroutine's function returns;
 *                 runtime.rt0_go, where the program begins; runtime.mstart on a thread of C,
 *                 whose caller has no rules; crosscall1, which calls runtime.mstart there, if
 *                 Go's linker took that from C; runtime.clone behind the switch to a new stack;
 *                 without a known layout, the call in runtime.mcall that begins a scheduler
 */
#ifndef KEYHOLE_OBJECT_UNWIND_GO_ROWS_H
#define KEYHOLE_OBJECT_UNWIND_GO_ROWS_H

#include "bpf/abi.h"

struct go_layout;
struct image;
struct image_bytes;

#define GO_FUNCTIONS_MAX (4u << 20)

/*
 * Takes a rule, which holds from its pc to the next one; the last rule is RULE_NONE. Pcs never fall
 * and lie in the object's text. Returns 0, or a negative errno that ends go_rows().
 */
typedef int go_row(void *context, u64 pc, u64 rule);

/*
 * Makes the rows of a table, which pclntab_bytes() gave. Returns 0 with the number of functions and
 * the layout, which is zeros where it is not known. Returns -ENOENT for another program, -EBADMSG
 * for damage or too many functions, or an errno of a row or of image_section_place(). A failure may
 * come after some rows.
 */
int go_rows(struct image *image, const struct image_bytes *bytes, go_row *row, void *context,
	    u64 *ret_functions, struct go_layout *ret_layout);

#endif
