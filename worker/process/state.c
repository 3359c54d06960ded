/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/state.h"

#include <stdlib.h>

static const struct {
	bool complete, asked, early, ended;
} properties[PROCESS_STATES] = {
	[PROCESS_LISTING] = {.asked = true},
	[PROCESS_LIST_AGAIN] = {.early = true},
	[PROCESS_READY] = {.complete = true},
	[PROCESS_RELISTING] = {.complete = true, .asked = true},
	[PROCESS_RELIST_AGAIN] = {.complete = true, .early = true},
	[PROCESS_ENDED] = {.complete = true, .ended = true},
	[PROCESS_ENDED_UNLISTED] = {.ended = true},
};

static const enum process_state next[PROCESS_STATES][PROCESS_EVENTS] = {
	[PROCESS_UNLISTED] =
		{
			[PROCESS_WAS_TOLD] = PROCESS_READY,
			[PROCESS_WAS_ASKED] = PROCESS_LISTING,
			[PROCESS_EXITED] = PROCESS_ENDED_UNLISTED,
		},
	[PROCESS_LISTING] =
		{
			[PROCESS_TOO_EARLY] = PROCESS_LIST_AGAIN,
			[PROCESS_LISTED] = PROCESS_READY,
			[PROCESS_NOT_LISTED] = PROCESS_UNLISTED,
			[PROCESS_EXITED] = PROCESS_ENDED_UNLISTED,
		},
	[PROCESS_LIST_AGAIN] =
		{
			[PROCESS_WAS_ASKED] = PROCESS_LISTING,
			[PROCESS_EXITED] = PROCESS_ENDED_UNLISTED,
		},
	[PROCESS_READY] =
		{
			[PROCESS_WAS_ASKED] = PROCESS_RELISTING,
			[PROCESS_EXITED] = PROCESS_ENDED,
		},
	[PROCESS_RELISTING] =
		{
			[PROCESS_TOO_EARLY] = PROCESS_RELIST_AGAIN,
			[PROCESS_LISTED] = PROCESS_READY,
			[PROCESS_NOT_LISTED] = PROCESS_READY,
			[PROCESS_EXITED] = PROCESS_ENDED,
		},
	[PROCESS_RELIST_AGAIN] =
		{
			[PROCESS_WAS_ASKED] = PROCESS_RELISTING,
			[PROCESS_EXITED] = PROCESS_ENDED,
		},
};

enum process_state process_state_after(enum process_state state, enum process_event event)
{
	enum process_state after = next[state][event];

	if (after == PROCESS_IMPOSSIBLE)
		abort();
	return after;
}

bool process_state_is_complete(enum process_state state)
{
	return properties[state].complete;
}

bool process_state_is_asked(enum process_state state)
{
	return properties[state].asked;
}

bool process_state_is_early(enum process_state state)
{
	return properties[state].early;
}

bool process_state_is_ended(enum process_state state)
{
	return properties[state].ended;
}
