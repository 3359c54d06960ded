/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a process in the tracker, and the events that lead from one state to another.
 *
 * A state answers three questions: are the mappings of the process known, is a listing of them
 * under way, and has the process ended? Two things about a process are no states. A change that
 * waits for the publisher belongs to `struct mappings`, because forked processes share one. The
 * member put_off of `struct process` says only whether a count holds the process already.
 */
#ifndef KEYHOLE_WORKER_PROCESS_STATE_H
#define KEYHOLE_WORKER_PROCESS_STATE_H

#include <stdbool.h>

enum process_state {
	PROCESS_IMPOSSIBLE,   /* in the table of transitions alone */
	PROCESS_UNLISTED,     /* new, or the listing showed nothing */
	PROCESS_LISTING,      /* the target was asked for the mappings */
	PROCESS_LIST_AGAIN,   /* the listing came too early: the next turn asks again */
	PROCESS_READY,	      /* all mappings are known, so that the publisher shows them to BPF */
	PROCESS_RELISTING,    /* as PROCESS_READY, and the target was asked */
	PROCESS_RELIST_AGAIN, /* as PROCESS_READY, and the listing came too early */
	PROCESS_ENDED,	      /* stays for samples of its life: roster.h */
	PROCESS_ENDED_UNLISTED, /* as PROCESS_ENDED; its mappings never became known */
	PROCESS_STATES
};

enum process_event {
	PROCESS_WAS_TOLD, /* the side-band or the parent told all mappings at the start */
	PROCESS_WAS_ASKED,
	PROCESS_TOO_EARLY, /* a listing, but records that are older cannot be read yet */
	PROCESS_LISTED,
	PROCESS_NOT_LISTED, /* a listing without mappings, or an error */
	PROCESS_EXITED,	    /* or another program runs under the pid, or the program is denied */
	PROCESS_EVENTS
};

/* Returns the state that follows. Aborts if the event is impossible, which is a defect. */
enum process_state process_state_after(enum process_state state, enum process_event event);

bool process_state_is_complete(enum process_state state); /* all mappings are known */
bool process_state_is_asked(enum process_state state);	  /* an answer is under way */
bool process_state_is_early(enum process_state state);	  /* the next turn asks again */
bool process_state_is_ended(enum process_state state);

#endif
