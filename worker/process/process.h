/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by (pid, generation): a generation is one program of one process. */
#ifndef KEYHOLE_WORKER_PROCESS_PROCESS_H
#define KEYHOLE_WORKER_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "worker/process/state.h"
#include "worker/target/target.h"

struct mappings;
struct object;
struct processes;

/*
 * /proc/PID/maps is empty once the main thread has exited; the maps file of another thread is not.
 */
enum process_route {
	PROCESS_BY_PID,
	PROCESS_BY_THREAD,
};

/* Whether BPF may read the memory of the process: grants.h. A fork begins with its parent's. */
enum grant_state {
	GRANT_NOT_ASKED,
	GRANT_ASKED,
	GRANT_GIVEN,
	GRANT_REFUSED,
};
struct process_grant {
	enum grant_state state;
	int error;	    /* REFUSED: a negative errno */
	bool is_by_cgroup;  /* REFUSED by a rule about the cgroup, which the process may leave */
	unsigned int tries; /* questions so far */
	uint64_t asker;	    /* the generation that was asked about: this one's, or an ancestor's */
	uint64_t start;	    /* of the mapping that was asked about last, or 0 */
	uint64_t after;	    /* time before which nobody asks again */
};

/* As worker/context/contexts.h says. A fork begins with nothing. */
struct process_context {
	uint64_t start, end;	  /* of the mapping named OTEL_CTX in the last listing, or 0 */
	uint64_t after, gap;	  /* when to ask again */
	bool asked;		  /* an answer about the mapping is under way */
	bool has_asked_variables; /* of the environment */
	bool has_asked_cgroups;
	char *text, *variables,
		*cgroups; /* attributes as of worker/context/attributes.h, or NULL; owned */
};

/* BPF keeps a sample for KEPT_FOR_NS, and walks it at one of the next interrupts. */
#define PROCESS_WAITED_FOR (2 * KEPT_FOR_NS)

struct process {
	uint32_t pid;
	uint64_t generation;
	uint64_t family; /* the generation of the first process of this program: see functions.h */
	enum process_state state;      /* process_step() alone writes it */
	uint64_t created;	       /* time when the pid was given, by a fork; 0: not known */
	uint64_t started, ended;       /* times; ended counts in the two ended states */
	uint64_t waited_for;	       /* time until which BPF may keep a sample, or 0 */
	struct target_group owner;     /* as an event told last; a move changes the cgroup alone */
	uint64_t cgroup_before, moved; /* the cgroup until `moved`, a time; 0: was not moved */
	char comm[ABI_COMM_BYTES];     /* of the main thread; empty: not known yet */
	struct mappings *mappings;
	struct process_grant grant;
	struct process_context context;
	uint32_t tid; /* of the thread that was sampled last, or 0 */
	enum process_route route;
	uint64_t asked; /* time of the last question for a listing, or 0 */
	uint64_t relist_after, relist_gap;
	bool put_off;	  /* counted by the lister as waiting for its next listing */
	bool found;	  /* waits for its first listing until others are listed, or a sample */
	uint64_t refused; /* mappings of a listing */
	bool no_slot, no_room; /* counted by the publisher, once each */
	bool unplaced;	       /* it has a block, and found no slot that names the block */
	uint64_t losses;       /* of the side-band, as far as the mappings reflect them */
	uint64_t asked_losses; /* those at the time `asked` */
	struct process *awake_next,
		**awake_at; /* of the list of those awake; awake_at NULL: rests */
};

struct processes *processes_new(void);		  /* NULL: no memory */
void processes_free(struct processes *processes); /* each with its mappings; NULL is fine */

/* Adds a live process, the only one of its pid, without mappings yet. NULL: no memory. */
struct process *processes_add(struct processes *processes, uint32_t pid, uint64_t generation,
			      uint64_t time);
/* Adds a process that has ended already; its pid may belong to another process now. */
struct process *processes_add_ended(struct processes *processes, uint32_t pid, uint64_t generation,
				    uint64_t time);
struct process *processes_find(const struct processes *processes, uint32_t pid,
			       uint64_t generation);
struct process *processes_live(const struct processes *processes, uint32_t pid);
/* Returns the process that ended last of those that had a pid, or NULL. */
struct process *processes_gone(const struct processes *processes, uint32_t pid);
void processes_end(struct processes *processes, struct process *process, uint64_t time);
/* Frees an ended process, but not its mappings. */
void processes_remove(struct processes *processes, struct process *process);
/*
 * Visits all processes; the process just visited may be removed. *cursor starts at 0; NULL at the
 * end.
 */
struct process *processes_next(const struct processes *processes, size_t *cursor);

/*
 * A process is awake while the next turn has work to do for it. Turns visit these processes alone.
 * A new process is awake, and so is a process that has just ended.
 */
void processes_wake(struct processes *processes, struct process *process); /* twice is fine */
void process_rest(struct process *process);
struct process *processes_awake(const struct processes *processes); /* first; then awake_next */

/* Moves a process to the state that follows an event; processes_end() sends PROCESS_EXITED. */
void process_step(struct process *process, enum process_event event);

/* Returns whether BPF may keep a sample of the process. */
bool process_is_waited_for(const struct process *process, uint64_t now);
/* Returns by which pid and thread the target is asked for a process. */
struct target_process process_asked(const struct process *process);
/* Puts the process into another cgroup from a time on. */
void process_move(struct process *process, uint64_t cgroup, uint64_t time);
/* Returns the id of the cgroup at a time, or 0. The process keeps one earlier cgroup. */
uint64_t process_cgroup(const struct process *process, uint64_t time);
/* Names are at most 15 bytes and a NUL. */
void process_set_comm(struct process *process, const char *comm);
/* Returns the file that the process runs, as far as mappings tell, or NULL. */
const struct object *process_program(const struct process *process);
/* Returns the name of the main thread, or else of the program's file; empty: neither is known. */
void process_name(const struct process *process, char ret_name[ABI_COMM_BYTES]);

#endif
