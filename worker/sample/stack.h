/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the frames of a record locations of the profile. A location in a file carries the offset in
 * the file until naming, so that no record waits for a parse.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_STACK_H
#define KEYHOLE_WORKER_SAMPLE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/runtimes.h"
#include "bpf/abi.h"
#include "profile/profile.h"
#include "worker/kernel/late_names.h"

struct functions;
struct kernel_symbols;
struct made_names;
struct mapping;
struct process;
struct redact;

/* Objects of the kernel: one for each range, one for all other addresses, then one for each module
 * of the late names. */
#define STACK_LATE	    (KERNEL_RANGES_MAX + 1)
#define STACK_KERNEL_RANGES (STACK_LATE + LATE_MODULES_MAX)

struct stack_parts { /* all borrowed */
	struct profile *profile;
	const struct kernel_symbols *symbols; /* NULL: none */
	const struct late_names *late_names;  /* NULL: none */
	const struct redact *redact;
	struct functions *functions; /* NULL: none, and runtimes have no frames */
	struct made_names *made;     /* NULL: none, and code made at run time has no names */
	bool native_frames; /* the interpreter's own frames stay beside those of its list */
};

struct stack {
	struct stack_parts parts;
	/* Ids in the profile, 0: none yet. */
	uint32_t kernel_object[STACK_KERNEL_RANGES];
	uint32_t unknown_object;
	uint32_t script_object[RUNTIME_COUNT];
	uint32_t made_object[RUNTIME_COUNT]; /* of code made at run time that has names */
	uint32_t kernel_cut, guessed, list_cut, elsewhere, cut[REASON_COUNT]; /* locations */
	uint32_t state[PROFILE_STATES];					      /* the same */
	uint64_t kernel_unknown;	      /* count of frames in no range */
	uint64_t malformed;		      /* count of lists of a runtime */
	bool failed;			      /* the last stack_make() had no memory */
	bool proven;			      /* no guess is left in the last stack_make() */
	uint32_t location[PROFILE_STACK_MAX]; /* of the last stack_make() */
	size_t depth;
	u64 words[RECORD_RUNTIME_WORDS_MAX]; /* of a record: those that are tied anew */
};

void stack_init(struct stack *stack, const struct stack_parts *parts);
/* Goes on with another, empty profile. */
void stack_use(struct stack *stack, struct profile *profile);

/*
 * Makes the locations of a record with its frames. process NULL: all user frames are unknown. The
 * functions of a runtime stand behind the frame of the loop that runs them.
 */
void stack_make(struct stack *stack, const struct record *head, const u64 *frames,
		const struct process *process);

/* Returns the mapping of a user frame at the time of the record, or NULL. */
const struct mapping *stack_mapping(const struct process *process, const struct record *head,
				    u64 frame);

#endif
