/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks for what sampled processes say of themselves: their OpenTelemetry process context, and the
 * variables of their environment that the policy names. A program publishes a context when it has
 * been running for a while, and may change it. So the module asks again, with growing gaps.
 */
#ifndef KEYHOLE_WORKER_CONTEXT_CONTEXTS_H
#define KEYHOLE_WORKER_CONTEXT_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/time.h"

struct contexts;
struct process;
struct processes;
struct target;

#define CONTEXTS_GAP_FIRST	     (2 * NS_PER_SECOND) /* between two questions; then doubled */
#define CONTEXTS_GAP_MAX	     (300 * NS_PER_SECOND)
#define CONTEXTS_LISTINGS_PER_SECOND 20 /* of all processes */
#ifndef CONTEXTS_BYTES_MAX
#define CONTEXTS_BYTES_MAX (4u << 20) /* of the texts of all processes */
#endif

struct contexts_parts { /* all borrowed */
	struct target *target;
	const struct processes *processes;
	/* Says that the process has other attributes now. NULL: nobody asks. */
	void (*told)(void *context, const struct process *process);
	void *context;
};

struct contexts *contexts_new(const struct contexts_parts *parts); /* NULL: no memory */
void contexts_free(struct contexts *contexts);			   /* NULL is fine */
/* Sets who is told. */
void contexts_tell(struct contexts *contexts,
		   void (*told)(void *context, const struct process *process), void *context);

/*
 * Called for every sample of a process. Returns whether the process should be listed anew, because
 * no mapping of a context is known.
 */
bool contexts_want(struct contexts *contexts, struct process *process, uint64_t now);

/*
 * Writes the attributes of a process, as of attributes.h: those of the context go first. Those
 * of the environment follow. ret_text has room for CONTEXTS_TEXT_MAX bytes. Returns whether there
 * are any.
 */
#define CONTEXTS_TEXT_MAX 16384u
bool contexts_text(const struct process *process, char ret_text[CONTEXTS_TEXT_MAX]);

struct contexts_counts {
	uint64_t contexts, environments; /* read */
	uint64_t malformed;
	uint64_t left_out; /* attributes, and whole texts, without room */
};
void contexts_counts(const struct contexts *contexts, struct contexts_counts *ret_counts);

#endif
