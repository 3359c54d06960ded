/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads off their CPU. A record has the stack with which a thread left its CPU, and an event says
 * when the thread ran again (bpf/abi.h). Either may come first. Both together make a wait, whose
 * time is worth the more, the less probable its stack was.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_WAITS_H
#define KEYHOLE_WORKER_SAMPLE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "profile/profile.h"

struct waits;

/* A record whose locations are known. */
struct waits_stack {
	struct record head;
	u64 word;		      /* OFF_WORD */
	bool left_out;		      /* by a filter: its wait counts nowhere */
	struct profile_sample sample; /* without stack and values */
	uint32_t *locations;	      /* leaf first */
	size_t depth;
};

struct waits_parts {
	uint64_t least; /* ns: shorter waits are left out */
	/*
	 * Takes a wait, or a part of one: ns and waits are estimates of all such waits. end NULL:
	 * the wait goes on. is_old: the sample is of an earlier profile, which is over.
	 */
	void (*take)(void *context, const struct waits_stack *stack, const struct event_wait *end,
		     uint64_t ns, uint64_t waits, bool is_old);
	/* Returns whether the process of a record is alive. */
	bool (*is_alive)(void *context, const struct record *head);
	void *context; /* borrowed */
};

struct waits_counts {
	uint64_t waits;	  /* whose time is in a profile, open ones at the end included */
	uint64_t ns;	  /* of these, estimated */
	uint64_t error;	  /* the standard error of that, ns; UINT64_MAX: 4000 s and more */
	uint64_t open;	  /* part of waits: they went on when the recording ended */
	uint64_t shorter; /* than the least */
	uint64_t lost;	  /* records and events whose other half was lost, or that had no room */
	uint32_t least_probability; /* OFF_PROBABILITY; 0: none yet */
};

#ifndef WAITS_MAX
#define WAITS_MAX 32768u /* records without their event, and events without their record */
#endif
#define WAITS_EVENT_FOR 5000000000ull /* ns: so long an event waits for its record */

struct waits *waits_new(const struct waits_parts *parts); /* NULL: no memory */
void waits_free(struct waits *waits);			  /* NULL is fine */

/* Takes a copy of all but the locations, which it copies as well. Returns 0 or -ENOMEM. */
int waits_begin(struct waits *waits, const struct waits_stack *stack);
/* Takes an event. One that is not well-formed is left out, and counts as lost. */
void waits_end(struct waits *waits, const struct event_wait *event);
/* Forgets events whose record did not come. */
void waits_turn(struct waits *waits, uint64_t now);

/* Notes until when all events have been taken: a wait whose event is later may be over by now. */
void waits_told_until(struct waits *waits, uint64_t time);
/*
 * Counts the time of open waits, until all events have been taken. They go on in the next profile,
 * whose samples are made anew. keeps_locations: the next profile has the locations of this one.
 */
void waits_close_window(struct waits *waits);
void waits_begin_profile(struct waits *waits, bool keeps_locations);
/* The same for the end of the recording: the open waits are over. */
void waits_finish(struct waits *waits, uint64_t now);
void waits_counts(const struct waits *waits, struct waits_counts *ret_counts);

/* Returns why a thread is off its CPU: enum profile_state. */
uint32_t waits_state(u64 word);

#endif
