/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last profiles of a stream, each as counted samples whose stacks are lists of functions. Names
 * are clean (profile/format/format.h).
 */
#ifndef KEYHOLE_VIEW_TOP_HISTORY_H
#define KEYHOLE_VIEW_TOP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern;

#define HISTORY_PORTIONS 64
/* With more names, functions or stacks than these the history begins anew; `forgotten` counts. */
#ifndef HISTORY_NAMES_MAX
#define HISTORY_NAMES_MAX  (1u << 17)
#define HISTORY_STACKS_MAX (1u << 18)
#endif

struct function { /* a name in an object, as many objects have a main() */
	uint32_t name, object;
};

struct history_runtime {  /* that stacks hold, see profile/runtime_finder.h */
	uint32_t runtime; /* enum runtime */
	uint32_t name;	  /* of its object */
};

struct entry { /* equal samples; texts are ids of names */
	uint32_t pid, tid;
	uint32_t process, thread;
	uint32_t stack;	  /* of history->stacks: ids of functions, innermost first */
	bool unproven;	  /* its stack is cut or guessed */
	uint32_t runtime; /* of history->runtimes; 0: none */
	uint64_t count;
};

struct portion { /* one profile */
	struct entry *entries;
	size_t count;
	uint64_t samples, unproven;
	uint64_t period_ns, duration_ns; /* period_ns: of a sample of time */
	uint64_t by;			 /* the worth of a sample of counted events */
};

#define HISTORY_SEVERAL UINT32_MAX /* in place of a name */

struct history {
	struct intern *names, *functions, *stacks, *runtimes;
	struct portion portions[HISTORY_PORTIONS]; /* a ring */
	size_t next, count;
	uint64_t elapsed_ns; /* since the start */
	uint64_t forgotten;
	char event[64];
	bool is_time;
};

int history_init(struct history *history); /* 0 or -ENOMEM */
void history_release(struct history *history);
void history_clear(struct history *history); /* keeps elapsed_ns */

/* Adds an unpacked pprof file. Returns 0, -ENOMEM, or an errno of pprof_read(). */
int history_add(struct history *history, const void *bytes, size_t size);

/* Returns a portion, of which the newest has index 0, or NULL for an index that is too large. */
const struct portion *history_portion(const struct history *history, size_t index);

const char *history_name(const struct history *history, uint32_t id);
const struct function *history_function(const struct history *history, uint32_t id);
const struct history_runtime *history_runtime(const struct history *history, uint32_t id);
size_t history_stack(const struct history *history, uint32_t stack, const uint32_t **ret_functions);

#endif
