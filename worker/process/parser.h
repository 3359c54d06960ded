/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parse thread: compiles unwind tables of objects beside the event loop, at normal priority.
 * Cgroups have equal shares of the thread, and so have their processes, by the size of files; small
 * files of a process come first. A large file waits in between for small ones. Each cgroup has a
 * budget of CPU time (budget.h).
 */
#ifndef KEYHOLE_WORKER_PROCESS_PARSER_H
#define KEYHOLE_WORKER_PROCESS_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_id.h"
#include "base/runtimes.h"
#include "bpf/abi.h"
#include "worker/runtime/cpython_layout.h"
#include "object/elf/image.h"
#include "ipc/time.h"
#include "worker/target/target.h"

/* Files up to this size are parsed in between, while a larger one is under way. */
#define PARSER_SMALL (4u << 20)
/*
 * Parsing a file that takes more CPU time is given up. Root's files are exempt, if a process
 * outside of cgroups asked for them.
 */
#ifndef PARSER_FILE_MAX
#define PARSER_FILE_MAX (6 * NS_PER_SECOND)
#endif
/* The most files of a payer that wait, or rest while it is overdrawn; further ones are refused. */
#define PARSER_RESTING_MAX 256u
/* The most files that rest; a payer leaves to others as many of the places as it has. */
#define PARSER_RESTING_ALL 1024u
/* With so many of an overdrawn payer, no further file is to be opened for its cgroup. */
#define PARSER_WAITING_MAX 64u

struct budget;
struct journal;
struct pace;
struct parser;
struct runtime_setup;
struct unwind_table;

struct parser_job {
	uint64_t number;		 /* comes back with the result */
	uint32_t owner;			 /* the pid that the file was opened for; 0: none */
	uint64_t payer;			 /* of the CPU time: budget.h */
	int fd;				 /* borrowed until then; -1: an image in memory */
	const void *bytes;		 /* the image, borrowed */
	size_t size;			 /* of the file or image */
	struct target_identity identity; /* of the file */
};

struct parser_counts {
	uint64_t rested; /* files that had to wait for a payer that was overdrawn */
	uint64_t given_up;
};

struct parser_result {
	uint64_t number;
	int error;			/* 0, or why the object cannot be read at all */
	int table_error;		/* why there is no table: -ENOENT, -EBADMSG, -ETIME, … */
	struct unwind_table *table;	/* owned, may be NULL */
	struct image_segment *segments; /* executable ones, owned */
	size_t segment_count;
	enum runtime runtime;
	int runtime_error;	     /* why there is no setup: -ENOENT, -ENOTSUP, … */
	struct runtime_setup *setup; /* of the runtime, owned; NULL: BPF does not walk its frames */
	struct cpython_types copies; /* that a program has of a runtime's types */
	struct runtime_root context; /* of thread_context_find(); RUNTIME_AT_NOTHING: none */
	struct go_labels go;	     /* of go_labels_find(); zeros: none */
	int go_error;		     /* of it */
	char build_id[2 * IMAGE_BUILD_ID_MAX + 1];
	char go_build_id[IMAGE_GO_BUILD_ID_MAX + 1]; /* raw */
	char file_id[FILE_ID_BYTES]; /* "": the file cannot be read; else also with an error */
};

/*
 * Starts the thread, before the process confines itself. Takes the budget; NULL is -ENOMEM. Returns
 * 0 or a negative errno.
 */
int parser_new(struct budget *budget, struct parser **ret_parser);
void parser_free(struct parser *parser); /* waits for the job under way; NULL is fine */

/*
 * Sets the journal, before any job; from then on it names each job under way. The memory is
 * borrowed. If it names the file with which an earlier worker ended, that file is quarantined.
 */
void parser_keep_journal(struct parser *parser, struct journal *journal);

/*
 * Queues a job. Returns 0, -ENOMEM, -EOWNERDEAD (a worker ended while it parsed the file), or
 * -EDQUOT: there is no place to wait, or to rest. A result may bring -EDQUOT as well.
 */
int parser_submit(struct parser *parser, const struct parser_job *job);
/* Lets another payer, whose process asks for the file too, pay for a job that has not begun. */
void parser_share(struct parser *parser, uint64_t number, uint64_t payer);
/*
 * Returns false while PARSER_RESTING_MAX files of a payer wait, or PARSER_WAITING_MAX of one that
 * is overdrawn.
 */
bool parser_has_place(struct parser *parser, uint64_t payer);
/* Returns whether work for a payer may begin: budget_allows(). */
bool parser_may_begin(struct parser *parser, uint64_t payer);
size_t parser_waiting(struct parser *parser, uint64_t payer); /* files, that rest among them */
size_t parser_resting(struct parser *parser);		      /* files of all payers */
/* Takes a result, without waiting. False: there is none. */
bool parser_take(struct parser *parser, struct parser_result *ret_result);
void parser_result_release(struct parser_result *result);
/* Returns a descriptor that is readable when there are results. */
int parser_fd(const struct parser *parser);
/* Drops jobs that have not begun, without a result. Those that rested get one: -EDQUOT. */
void parser_cancel(struct parser *parser);

void parser_counts(struct parser *parser, struct parser_counts *ret_counts);

/* Does one job, as the thread does. pace NULL: at one go. */
void parser_run(const struct parser_job *job, struct pace *pace, struct parser_result *ret_result);

#endif
