/* SPDX-License-Identifier: GPL-2.0-only */
/* The deadline of a walk. Pure C, see bpf/walk/walk.bpf.h. The includer supplies walk_clock(). */
#ifndef KEYHOLE_BPF_WALK_LATE_BPF_H
#define KEYHOLE_BPF_WALK_LATE_BPF_H

#include "bpf/walk/walk.bpf.h"

/*
 * Looks at the clock: returns whether the deadline is over. First moves the deadline by stalls that
 * are forgiven, and by the extension, if this CPU did not extend too many walks lately.
 */
GLOBAL int walk_late(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	u64 now = walk_clock(), since = now - walk->extended_at, wait = WALK_EXTEND_EVERY_NS, part;

	walk->look_at = walk_work(walk) + WALK_CLOCK_FRAMES;
	if (now - walk->looked > WALK_STALL_NS && walk->forgiving) {
		walk->forgiving--;
		walk->deadline += now - walk->looked;
	}
	walk->looked = now;
	/* the stack of a deep recursion leaves half of the extensions to lists */
	if ((walk->reserved || (walk->is_list_first && walk->marks >= RUNTIME_MARKS_MANY)) &&
	    !walk->list.on)
		wait *= WALK_EXTENSIONS / 2;
	if (now > walk->deadline && walk->extension && since >= wait) {
		if (since > WALK_EXTENSIONS * WALK_EXTEND_EVERY_NS)
			since = WALK_EXTENSIONS * WALK_EXTEND_EVERY_NS;
		walk->extended_at = now - since + WALK_EXTEND_EVERY_NS;
		part = walk->reserved / 2; /* of the extension, for the list */
		if (part > walk->extension)
			part = walk->extension;
		walk->reserved += part;
		walk->deadline += walk->extension - part;
		walk->extension = 0;
	}
	return now > walk->deadline;
}

#endif
