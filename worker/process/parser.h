/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parse thread: compiles unwind tables of objects beside the event loop. Processes have equal
 * shares of the thread, by the size of files; small files of a process come first.
 */
#ifndef KEYHOLE_WORKER_PROCESS_PARSER_H
#define KEYHOLE_WORKER_PROCESS_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/runtimes.h"
#include "object/elf/image.h"
#include "worker/target/target.h"

struct journal;
struct parser;
struct unwind_table;

struct parser_job {
	uint64_t number;		 /* comes back with the result */
	uint32_t owner;			 /* the pid that the file was opened for; 0: none */
	int fd;				 /* borrowed until then; -1: an image in memory */
	const void *bytes;		 /* the image, borrowed */
	size_t size;			 /* of the file or image */
	struct target_identity identity; /* of the file */
};

struct parser_result {
	uint64_t number;
	int error;			/* 0, or why the object cannot be read at all */
	int table_error;		/* why there is no table: -ENOENT, -EBADMSG, … */
	struct unwind_table *table;	/* owned, may be NULL */
	struct image_segment *segments; /* executable ones, owned */
	size_t segment_count;
	enum runtime runtime;
	char build_id[2 * IMAGE_BUILD_ID_MAX + 1];
};

/* Starts the thread, before the process confines itself. Returns 0 or a negative errno. */
int parser_new(struct parser **ret_parser);
void parser_free(struct parser *parser); /* waits for the job under way; NULL is fine */

/*
 * Sets the journal, before any job; from then on it names each job under way. The memory is
 * borrowed. If it names the file with which an earlier worker ended, that file is quarantined.
 */
void parser_keep_journal(struct parser *parser, struct journal *journal);

/* Queues a job. Returns 0, -ENOMEM, or -EOWNERDEAD: a worker ended while it parsed the file. */
int parser_submit(struct parser *parser, const struct parser_job *job);
/* Takes a result, without waiting. False: there is none. */
bool parser_take(struct parser *parser, struct parser_result *ret_result);
void parser_result_release(struct parser_result *result);
/* Returns a descriptor that is readable when there are results. */
int parser_fd(const struct parser *parser);
/* Drops jobs that have not begun, without a result. */
void parser_cancel(struct parser *parser);

/* Does one job, as the thread does. */
void parser_run(const struct parser_job *job, struct parser_result *ret_result);

#endif
