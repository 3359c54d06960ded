/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by (pid, generation): a generation is one program of one process. */
#ifndef KEYHOLE_WORKER_PROCESS_PROCESS_H
#define KEYHOLE_WORKER_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct mappings;
struct processes;

enum process_listing {
	LISTING_NONE,
	LISTING_ASKED,
	LISTING_DONE,
};

struct process {
	uint32_t pid;
	uint64_t generation;
	uint64_t started, ended; /* ended 0: alive */
	uint64_t cgroup;
	char comm[ABI_COMM_BYTES]; /* of the main thread; empty: not known yet */
	struct mappings *mappings;
	uint32_t tid;	/* of the thread that was sampled last, or 0 */
	bool by_thread; /* it is asked for through that thread: the main one may have exited */
	bool complete;	/* mappings are all there are: listed, or told from the start */
	enum process_listing listing;
	uint64_t asked, listed; /* when, or 0 */
	uint64_t relist_after, relist_gap;
	bool list_again;       /* its listing came before what was told of it could be read */
	bool put_off;	       /* wants to be listed again, but others were in this second */
	uint64_t refused;      /* mappings of a listing */
	bool no_slot, no_room; /* it was so at least once */
	uint64_t losses;       /* of the side-band, as far as its mappings reflect them */
};

struct processes *processes_new(void);		  /* NULL: no memory */
void processes_free(struct processes *processes); /* each with its mappings; NULL is fine */

/* A new live process, the only one of its pid, without mappings yet. NULL: no memory. */
struct process *processes_add(struct processes *processes, uint32_t pid, uint64_t generation,
			      uint64_t time);
/* One that is over already, whatever has its pid now. */
struct process *processes_add_ended(struct processes *processes, uint32_t pid, uint64_t generation,
				    uint64_t time);
struct process *processes_find(const struct processes *processes, uint32_t pid,
			       uint64_t generation);
struct process *processes_live(const struct processes *processes, uint32_t pid);
void processes_end(struct processes *processes, struct process *process, uint64_t time);
/* Frees an ended process, but not its mappings. */
void processes_remove(struct processes *processes, struct process *process);
/* Visits all; the one just visited may be removed. *cursor starts at 0; NULL at the end. */
struct process *processes_next(const struct processes *processes, size_t *cursor);

/* How the target is to be asked for it. */
struct target_process process_asked(const struct process *process);
/* Names are at most 15 bytes and a NUL. */
void process_set_comm(struct process *process, const char *comm);
/* Of the main thread, else of the program's file; empty: neither is known. */
void process_name(const struct process *process, char ret_name[ABI_COMM_BYTES]);

#endif
