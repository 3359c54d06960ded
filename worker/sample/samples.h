/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sample records between the rings and the profile. A record is held until the side-band has been
 * read once more after it, and while an answer about its addresses is under way. Then stack.h makes
 * its addresses locations.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_SAMPLES_H
#define KEYHOLE_WORKER_SAMPLE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "worker/kernel/late_names.h"
#include "worker/sample/stack.h"
#include "worker/sample/waits.h"

struct cgroups;
struct comm_filter;
struct contexts;
struct functions;
struct kernel_symbols;
struct made_names;
struct profile;
struct redact;
struct samples;
struct tracker;

#define LABEL_BYTES_MAX (4u << 20) /* of different texts of labels in a profile */
#ifndef SAMPLES_HELD_MAX
#define SAMPLES_HELD_MAX (8u << 20) /* bytes */
#endif
#ifndef SAMPLES_HELD_FOR
#define SAMPLES_HELD_FOR 1500000000ull /* ns */
#endif

struct samples_parts { /* all borrowed */
	struct tracker *tracker;
	struct profile *profile;
	const struct kernel_symbols *symbols;
	const struct late_names *late_names;
	struct cgroups *cgroups;
	const struct redact *redact;
	struct comm_filter *comm;    /* NULL: every name passes */
	struct functions *functions; /* NULL: none */
	struct made_names *made;     /* NULL: none */
	struct contexts *contexts;   /* NULL: processes say nothing of themselves */
	bool native_frames;	     /* see stack.h */
	bool details;	      /* samples get their CPU and their process (struct profile_sample) */
	bool off_cpu;	      /* records are of threads off their CPU, or of these as well */
	uint64_t off_cpu_min; /* ns: shorter waits are left out */
	uint64_t tick;	      /* with off_cpu: ns for which a sample on the CPU stands */
	uint64_t realtime_offset; /* CLOCK_REALTIME less CLOCK_MONOTONIC, at the start */
};

#define SAMPLES_RUNTIMES (RUNTIME_CUT_BUDGET + 1u)
struct samples_counts {
	uint64_t samples, complete;
	uint64_t held;	   /* resolved before all answers were there, to make room for others */
	uint64_t early;	   /* the same after SAMPLES_HELD_FOR, or at the end */
	uint64_t failed;   /* no memory: counted in samples alone, and not in the profile */
	uint64_t filtered; /* left out by name: counted nowhere else, and not in the profile */
	uint64_t kernel_cut, kernel_unknown; /* stacks; frames in no range */
	uint64_t reason[REASON_COUNT];
	uint64_t runtime[SAMPLES_RUNTIMES]; /* by enum runtime_result */
	uint64_t malformed;		    /* lists of a runtime */
	uint64_t labels[LABELS_RESULTS];    /* by enum labels_result */
	uint64_t labels_lost;		    /* samples without labels, for want of room */
	uint64_t context[CONTEXT_RESULTS];  /* by enum context_result, where there are details */
	uint64_t links_lost;		    /* contexts that the profile has no room for */
	struct waits_counts waits;
};

struct samples *samples_new(const struct samples_parts *parts); /* NULL: no memory */
void samples_free(struct samples *samples);			/* NULL is fine */

/* Holds a copy of a record from a ring; turn is the turn in which the record was read. */
void samples_hold(struct samples *samples, const struct record *head, const u64 *frames,
		  uint64_t turn, uint64_t now);
/* Resolves records of earlier turns that have their answers or have waited for long. */
void samples_resolve(struct samples *samples, uint64_t turn, uint64_t now);
/* Resolves everything. stopped: CLOCK_MONOTONIC, ns, until when open waits count. */
void samples_finish(struct samples *samples, uint64_t now, uint64_t stopped);
/* Takes EVENT_WAIT. */
void samples_end_wait(struct samples *samples, const struct event_wait *event);
/* Notes until when all events have been read. */
void samples_told_until(struct samples *samples, uint64_t time);
/* Counts the time of open waits until then, before a window's samples are rendered; after that,
 * samples_begin_window() when these are forgotten, or samples_use(). */
void samples_close_window(struct samples *samples);
void samples_begin_window(struct samples *samples);
size_t samples_held(const struct samples *samples); /* records */
/* Returns the time of the oldest record that is held, or UINT64_MAX. */
uint64_t samples_oldest(const struct samples *samples);

/* Goes on with another, empty profile. The caller resets the ids of objects. */
void samples_use(struct samples *samples, struct profile *profile);

/* Returns the profile's object for a kernel range, 0: none yet. KERNEL_RANGES_MAX stands for all
 * other addresses; from SAMPLES_LATE on each module of the late names has an object. */
#define SAMPLES_LATE	      STACK_LATE
#define SAMPLES_KERNEL_RANGES STACK_KERNEL_RANGES
uint32_t samples_kernel_object(const struct samples *samples, uint32_t range);
/* Returns the profile's object of addresses in no known mapping, 0: none yet. */
uint32_t samples_unknown_object(const struct samples *samples);
/* Returns the profile's object of the functions of an enum runtime, 0: none yet. */
uint32_t samples_script_object(const struct samples *samples, uint32_t runtime);
/* Returns the same for the named code that an enum runtime has made, RUNTIME_NONE among them. */
uint32_t samples_made_object(const struct samples *samples, uint32_t runtime);
void samples_counts(const struct samples *samples, struct samples_counts *ret_counts);
/* Counts the held records by reason. samples_counts() has them, and the profile does not. */
void samples_held_reasons(const struct samples *samples, uint64_t ret_reason[REASON_COUNT]);

#endif
