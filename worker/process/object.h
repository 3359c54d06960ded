/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: files with code, one for each identity (device, inode, size, change time), and the few
 * pseudo objects. They live until nothing maps them and no sample names them.
 */
#ifndef KEYHOLE_WORKER_PROCESS_OBJECT_H
#define KEYHOLE_WORKER_PROCESS_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chain.h"
#include "base/file_id.h"
#include "base/runtimes.h"
#include "bpf/abi.h"
#include "worker/runtime/cpython_layout.h"
#include "worker/target/target.h"

struct image_segment;
struct objects;
struct parser;
struct redact;
struct runtime_setup;
struct segments;
struct table;
struct tables;
struct unwind_table;

#define OBJECT_KEPT_FOR 60000000000ull /* ns */

enum object_state {
	OBJECT_NEW,
	OBJECT_PARSING, /* with the parse thread, or waiting for it */
	OBJECT_STORING, /* its table waits for room in a segment */
	OBJECT_READY,	/* parsed; table may be NULL */
	OBJECT_FAILED,	/* reason says why; -EDQUOT: until a payer asks that may begin */
	OBJECT_STATES
};

#define OBJECT_PAYERS 4u

struct object {
	struct chain chain; /* with the same hash of the identity */
	uint64_t number;
	struct target_identity identity;
	char *name; /* path as first seen, or "[vdso]" and the like */
	enum object_state state;
	int reason;
	int rules_error; /* READY without a table: -ENOENT, it has no rules; else what is wrong */
	bool no_room;	 /* for the table: none (READY), or not for now (STORING) */
	bool anonymous;	 /* no file: its addresses are those of the process */
	bool unnamed;	 /* the name only says that none is known */
	bool marked;
	uint32_t owner;			/* pid of the process it was opened for; 0: none */
	uint64_t maker;			/* payer (budget.h): the file's owner */
	uint64_t payers[OBJECT_PAYERS]; /* whose processes asked last while it was parsed */
	unsigned int payer_count;	/* so far */
	int fd;				/* -1: none, or closed to make room */
	const void *bytes;		/* image in memory, instead of fd */
	size_t size;			/* of bytes */
	struct image_segment *segments; /* executable */
	size_t segment_count;
	char *build_id;		     /* hex, or NULL */
	char *go_build_id;	     /* raw, or NULL */
	char file_id[FILE_ID_BYTES]; /* "": not known (yet) */
	enum runtime runtime;
	int runtime_error;	     /* of runtime_configure() */
	struct runtime_setup *setup; /* of the runtime; NULL: none */
	struct cpython_types copies; /* that a program has of a runtime's types; 0: none */
	struct runtime_root context; /* of thread_context_find(); RUNTIME_AT_NOTHING: none */
	struct go_labels go;	     /* that are wanted */
	struct table *table;	     /* READY */
	struct unwind_table *source;
	uint64_t opened;     /* time, 0: not a file */
	uint64_t sampled;    /* time of the last sample in it, 0: none */
	uint64_t ruleless;   /* samples that were cut in it for want of a table */
	uint32_t profile_id; /* of stack.h; 0 at first */
};

struct objects_counts {
	uint64_t objects, failed, descriptors_closed;
	uint64_t no_room, no_rules; /* for the table; unwind information that cannot be used */
	uint64_t parsing_late;	    /* files whose parsing rested, or was given up */
	uint64_t labels_unknown;    /* Go programs of a version whose labels are not known */
};

/* At most `descriptors` files are kept open. NULL: no memory. */
struct objects *objects_new(struct tables *tables, struct segments *segments, struct parser *parser,
			    size_t descriptors);
void objects_free(struct objects *objects); /* after the parser; NULL is fine */

/* Sets how names are logged; borrowed. Without this call names are logged as they are. */
void objects_set_redact(struct objects *objects, const struct redact *redact);
/* From now on, Go programs have labels (object.go). */
void objects_want_labels(struct objects *objects);
/* Sets the vDSO of all processes, an image in memory; bytes are borrowed. Returns 0 or -ENOMEM. */
int objects_set_vdso(struct objects *objects, const void *bytes, size_t size);
struct object *objects_vdso(const struct objects *objects);
struct object *objects_anonymous(const struct objects *objects); /* "[anon]" */

struct object *objects_find(const struct objects *objects, const struct target_identity *identity);
/* Takes fd and has it parsed for a process. name NULL: it comes later. NULL: no memory. */
struct object *objects_add(struct objects *objects, const struct target_identity *identity,
			   const char *name, int fd, struct target_process process);
/*
 * Notes that another process asks for an object too: its cgroup may pay for the parsing. An object
 * that failed for want of CPU time is parsed then, if the cgroup has some.
 */
void objects_ask(struct objects *objects, struct object *object, struct target_process process);
/* Returns false while no further file is to be opened for a cgroup: see parser_has_place(). */
bool objects_have_place(struct objects *objects, uint64_t cgroup);
/* Returns how many files of a cgroup wait to be parsed; 0 for the root of all. */
size_t objects_waiting_for(const struct objects *objects, uint64_t cgroup);
void objects_name(struct object *object, const char *name); /* unless there is one */
/* Makes an object that cannot be opened: it has a name, and is never found again. */
struct object *objects_add_failed(struct objects *objects, const char *name, int reason);
/* Returns whether an object could be parsed later, but its descriptor was closed meanwhile. */
bool object_lacks_file(const struct object *object);
/* Gives an object that has lost its descriptor another one; taken. -1 is fine. The process asked
 * for it: see objects_ask(). */
void objects_reopen(struct objects *objects, struct object *object, int fd,
		    struct target_process process);

/* Takes results of the parse thread and stores tables. */
void objects_turn(struct objects *objects, uint64_t now);
/* Counts objects that become ready or failed, or begin to rest. */
uint64_t objects_changes(const struct objects *objects);
/* Returns how many are parsed or wait for it. Those that rest have other places (parser.h). */
size_t objects_parsing(const struct objects *objects);
size_t objects_parsing_for(const struct objects *objects, uint32_t owner);

/*
 * Frees objects that are neither marked nor named by samples. Unless all is set, recently opened
 * objects stay, because the broker would not open them again.
 */
size_t objects_count(const struct objects *objects);
void objects_sweep(struct objects *objects, uint64_t now, bool all);
/* Visits all; *cursor starts at 0. NULL at the end. */
struct object *objects_next(const struct objects *objects, size_t *cursor);
/* Makes no object known to the profile, as another profile begins. */
void objects_forget_profile(struct objects *objects);
/* Counts a sample whose stack was cut in the object, if the object has no table. */
void object_count_ruleless(struct object *object);
void objects_counts(const struct objects *objects, struct objects_counts *ret_counts);

#endif
