/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of the worker: memory regions and answers in, a profile out. A session gets its clock,
 * target and files from the caller, so that tests drive it with made-up ones.
 */
#ifndef KEYHOLE_WORKER_SESSION_H
#define KEYHOLE_WORKER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "bpf/abi.h"
#include "ipc/messages.h"
#include "object/symbol/cache.h"
#include "worker/naming/naming.h"
#include "worker/naming/source_lines.h"
#include "worker/product.h"
#include "worker/runtime/functions.h"

struct debug_peer;
struct energy;
struct kernel_symbols;
struct objects;
struct parser;
struct process_table;
struct profile;
struct ring_tails;
struct segment;
struct session;
struct sideband;
struct target;
struct teller_channel;
struct tracker;

#define SESSION_TICK (1000ull * 1000 * 1000) /* ns: the longest time between turns */
/* The same while an answer is due, or while the recording is cut into windows. */
#define SESSION_TICK_SHORT (100ull * 1000 * 1000)
#define SESSION_SOON	   (5ull * 1000 * 1000) /* ns: the same while work waits */

/* All pointers are borrowed. */
struct session_parts {
	struct message_config config;
	/* One ring a CPU: BPF writes records, and a new worker clears those of an earlier one. */
	const void *rings;
	/* The worker writes how far it has read, and BPF reads that. */
	struct ring_tails *tails;
	/* The worker writes the processes that BPF unwinds. */
	struct process_table *processes;
	/*
	 * The ring of events. The worker writes the consumer's page; an earlier worker has left its
	 * position there. The kernel writes the producer's page, and BPF the events behind it.
	 */
	void *event_consumer;
	const void *event_producer; /* a page, then 2 * EVENT_RING_BYTES */
	struct sideband *sidebands; /* initialised */
	size_t sideband_count;
	size_t page;
	const void *vdso; /* NULL: none */
	size_t vdso_bytes;
	size_t descriptors;   /* objects that may be kept open */
	int spill;	      /* file for profile_spill_to(); 0 or negative: none */
	const char *resource; /* pairs of struct resource_words; NULL: none */
	struct target *target;
	struct parser *parser;
	const struct kernel_symbols *symbols; /* NULL: none */
	struct debug_peer *debug_files;	      /* NULL: none */
	const struct account *accounts;	      /* as in accounts.h, or NULL */
	const struct account_cpu *account_cpus;
	struct energy *energy;	 /* borrowed; OPTIONS_STAT */
	const char *kernel;	 /* tells its build from others; NULL: not known */
	uint64_t (*clock)(void); /* CLOCK_MONOTONIC */
	/*
	 * session_finish() calls this function before each long work on the profile, which can be
	 * rendered as it is. NULL: none.
	 */
	void (*draft)(void *context);
	void *draft_context;
};

/* Returns 0 or a negative errno. */
int session_new(const struct session_parts *parts, struct session **ret_session);
void session_free(struct session *session); /* after the parser and the target; NULL is fine */
/* Adds a mapped segment for tables. The session takes memory when it returns 0, and only then;
 * -ENOMEM, -ENOSPC. */
int session_attach_segment(struct session *session, struct segment *memory);

/* Reads all streams and applies them. Returns the time in ns after which to do so again. */
uint64_t session_turn(struct session *session);

/* Tells the exporter the accounts when it is time, with OPTIONS_ACCOUNTS. 0 or a negative errno. */
int session_tell_accounts(struct session *session, const struct teller_channel *channel);
/*
 * Returns whether events have come since the turn before the last one. Where events come, more of
 * them do: the caller looks again soon instead of waiting to be woken.
 */
bool session_is_busy(const struct session *session);
/*
 * Returns whether the last turn read nothing but records that nobody waits for. Such records are
 * of threads that begin and end, or of other processes where some are wanted.
 */
bool session_is_noisy(const struct session *session);
/* Tells BPF that a turn comes at this time (CLOCK_MONOTONIC, ns), so that no event has to wake the
 * worker until then. */
void session_promise_turn(struct session *session, uint64_t when);
/* Whether records still wait for answers. */
bool session_waiting(const struct session *session);
/* Reads the last records, resolves all, and makes the names. 0 or -ENOMEM. */
int session_finish(struct session *session);
/*
 * Renders the window until now (product.h), with the waits of threads whose end has been told by
 * now. Returns 0 or a negative errno.
 */
int session_render_window(struct session *session, int fd);
/* Borrowed: makes names and renders (product.h), once the turns have collected samples. */
struct product *session_product(struct session *session);

#define SESSION_NAME_BYTES 64
/* Names a process for the log, as the policy allows: its program's name; "": not known. */
void session_name_process(const struct session *session, uint32_t pid,
			  char ret_name[SESSION_NAME_BYTES]);

void session_progress(const struct session *session, struct message_progress *ret_progress);
void session_summary(const struct session *session, struct message_summary *ret_summary);

/* Figures for the log. */
struct session_totals {
	uint64_t processes, objects, objects_failed;
	uint64_t table_bytes, table_rows;
	uint64_t relists;		       /* mappings listed again for an unknown address */
	uint64_t grants_given, grants_refused; /* requests for the memory of processes */
	uint64_t distinct;		       /* samples in the profile, each with its count */
	uint64_t spilled;		       /* bytes of samples in the file */
	int spill_error;		       /* 0, or why the file takes no more */
	struct naming_counts names;
	uint64_t naming_time; /* ns */
	struct source_lines_counts line_counts;
	struct symbol_cache_counts cache;
	struct functions_counts functions;
	uint64_t contexts[CONTEXT_RESULTS];   /* of threads: samples by enum context_result */
	uint64_t labels[LABELS_RESULTS];      /* of goroutines: samples by enum labels_result */
	uint64_t labels_lost, labels_unknown; /* samples; Go programs of an unknown version */
	uint64_t links_lost;		      /* the profile had no room */
};
void session_totals(const struct session *session, struct session_totals *ret_totals);

/* For tests alone. */
const struct profile *session_profile(const struct session *session);
struct tracker *session_tracker(struct session *session);
const struct objects *session_objects(const struct session *session);

#endif
