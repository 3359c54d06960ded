/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ties the groups of a runtime's list to frames of the interpreter's loop, where the list does not
 * say to which. Each activation of the loop has a frame on the stack and a group of the list.
 *
 * A border with a number ends a segment: the groups before it belong to frames up to that one.
 * They are functions of a coroutine. The last segment has no such border.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_ACTIVATIONS_H
#define KEYHOLE_WORKER_SAMPLE_ACTIVATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

/*
 * Writes the numbers of frames in the borders that have none. loops: the numbers of the loop's
 * frames, ascending. is_whole: neither the stack nor the list is cut.
 *
 * The loop links its function into the list a little after it begins, and out of the list a little
 * before it ends. So the outermost group belongs to the outermost frame. A coroutine that was
 * resumed has further groups, outermost, whose activations begin when the inner ones have ended.
 */
void activations_tie(u64 *words, size_t count, const uint16_t *loops, size_t loop_count,
		     bool is_whole);

/*
 * Takes the innermost groups away for which there is no frame of the loop. They are of native code
 * that runs the loop for the same function again and again, and is between two runs. Returns the
 * number of words that are left. A list without frames of the loop stays.
 */
size_t activations_drop_idle(u64 *words, size_t count, size_t loop_count);

#endif
