/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that programs make at run time. A program that wants its code named writes
 * /tmp/perf-PID.map while it runs, or jit-PID.dump. The target opens that file when the process is
 * first sampled in such code, and the names are read as samples ask for them.
 *
 * A map has no times. So a sample gets the name that its address has last when the sample is
 * resolved, which is a fraction of a second later. A dump has times, and is read up to the time of
 * the sample. Programs write a dump late: an address without a name gets its name at the end.
 */
#ifndef KEYHOLE_WORKER_MADE_NAMES_H
#define KEYHOLE_WORKER_MADE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/time.h"

struct made_names;
struct process;
struct processes;
struct target;

#define MADE_FILES_MAX	   128		/* open at once */
#define MADE_PROCESSES_MAX 4096		/* that were sampled in such code */
#define MADE_RANGES_MAX	   1048576u	/* of all files */
#define MADE_TEXT_MAX	   (32u << 20)	/* bytes of names of all functions that were sampled */
#define MADE_PENDING_MAX   65536u	/* addresses whose names may still come */
#define MADE_SOURCES_MAX   65536u	/* addresses of a process whose lines are kept */
#define MADE_BYTES_RATE	   (4u << 20)	/* read of all files in a second */
#define MADE_BYTES_AHEAD   (4u << 20)	/* of that at once */
#define MADE_FILE_BYTES	   (256u << 10) /* of one file at once */
#define MADE_SETTLE_BYTES  (64u << 20)	/* read of all files at the end */
#define MADE_GAP_FIRST	   (NS_PER_SECOND / 4) /* after a refusal; then doubled */
#define MADE_GAP_MAX	   (8 * NS_PER_SECOND)

struct made_counts {
	uint64_t files;	  /* that were opened */
	uint64_t without; /* frames in such code that no name was found for */
	uint64_t refused; /* lines, names and processes beyond limits, and lines that are none */
};

/* All borrowed. clock: CLOCK_MONOTONIC, ns. NULL: no memory. */
struct made_names *made_names_new(struct target *target, const struct processes *processes,
				  uint64_t (*clock)(void));
void made_names_free(struct made_names *names); /* NULL is fine */

/*
 * A process was sampled in such code at a time. Asks for its file, or reads what is new there.
 * True: an answer is under way, or more is to be read, for which the sample may wait.
 */
bool made_names_want(struct made_names *names, const struct process *process, uint64_t time,
		     uint64_t now);
/* Reads on, and forgets processes that are gone. True: more is to be read soon. */
bool made_names_turn(struct made_names *names, uint64_t now);
/* Counts what came: a sample that waits need not look again before the next change. */
uint64_t made_names_answers(const struct made_names *names);

/*
 * Returns the number of the function at an address, as of now; 0: not known. In the code of a dump
 * the number may stand for the address alone, which gets its function later.
 */
uint32_t made_names_find(struct made_names *names, const struct process *process, uint64_t address);
/* Reads what dumps have got meanwhile. Call it once all samples have their numbers. */
void made_names_settle(struct made_names *names);
/* Forgets numbers of addresses: from now on, another profile gets others. */
void made_names_begin(struct made_names *names);
/* Returns the number of the function for which a number stands, or 0: the name has not come. */
uint32_t made_names_settled(struct made_names *names, uint32_t number);
/* Returns the name of a number: raw. */
const char *made_names_get(const struct made_names *names, uint32_t number);
struct made_source {
	uint32_t function; /* a number that all lines of the function have in common */
	const char *file;  /* raw */
	uint32_t line;	   /* 0: not known */
};
/* Gets the source of a number, if a dump has told it. */
bool made_names_source(struct made_names *names, uint32_t number, struct made_source *ret_source);
/* Returns whether it is one of CPython's stubs for perf, which stand for a function of Python. */
bool made_names_is_stub(const struct made_names *names, uint32_t number);
/*
 * Returns whether code at an address keeps frame pointers, as the runtime always does and the
 * process names the code. leaf: the address is that of the next instruction, and not behind a call.
 * Only V8's functions set their frame up in their first two instructions.
 */
bool made_names_keeps_frames(struct made_names *names, const struct process *process,
			     uint64_t address, bool leaf);
/* Returns the enum runtime of the process's code, or RUNTIME_NONE. */
uint32_t made_names_runtime(const struct process *process);

/* Returns why the process has no names: a negative errno. 0: it has, or nobody asked. */
int made_names_error(const struct made_names *names, const struct process *process);
/* Returns whether the names of the process were read. */
bool made_names_has(const struct made_names *names, const struct process *process);
void made_names_counts(const struct made_names *names, struct made_counts *ret_counts);

#endif
