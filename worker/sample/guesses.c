/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/guesses.h"

#include <stdbool.h>

#include "worker/made/names.h"
#include "worker/sample/frame.h"

/* Returns whether the code that a guess left proves the way, which follows the frame pointer. */
static bool is_kept(struct made_names *made, const struct process *process, u64 from, u64 to)
{
	if (!(to & FRAME_BY_POINTER) || !made || !process)
		return false;
	return made_names_keeps_frames(made, process, frame_pc(from), from & FRAME_EXACT);
}

unsigned int guesses_find(struct made_names *made, const struct process *process,
			  const struct record *head, const u64 *frames)
{
	for (unsigned int i = 0; i < head->user_frames; i++)
		if (frames[i] & FRAME_GUESSED &&
		    (i == 0 || !is_kept(made, process, frames[i - 1], frames[i])))
			return i;
	return head->user_frames;
}
