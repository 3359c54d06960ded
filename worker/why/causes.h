/* SPDX-License-Identifier: Apache-2.0 */
/* Where what is known of a process's objects came from: what `keyhole why` is about. */
#ifndef KEYHOLE_WORKER_WHY_CAUSES_H
#define KEYHOLE_WORKER_WHY_CAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum source_rules { /* of the unwind table */
	RULES_NONE, /* frame pointers are followed */
	RULES_EH_FRAME,
	RULES_GO,      /* what Go programs unwind themselves by */
	RULES_DAMAGED, /* or beyond limits */
	RULES_NO_ROOM, /* no segment has room for the table */
	RULES_PENDING, /* not parsed, or stored, yet */
	RULES_NOT_READ,
};

/* What names come from first; one with more names stands for those that have fewer as well. */
enum source_names {
	NAMES_NONE,
	NAMES_NOT_READ,
	NAMES_DYNSYM, /* what other objects may use */
	NAMES_DEBUGDATA,
	NAMES_DEBUG_FILE,
	NAMES_SYMTAB,
	NAMES_GO,
};

enum source_lines {
	LINES_NONE,
	LINES_NOT_READ,
	LINES_DEBUG_FILE,
	LINES_DWARF, /* in the object itself */
	LINES_GO,
};

/* An object that the process has mapped executable, or that is in its stacks. */
struct source {
	uint32_t object;   /* of the profile, which has its name and build id */
	uint32_t mappings; /* at the end; 0: none any more */
	uint64_t device;   /* of the file as the process's mappings list it; 0: none */
	uint64_t rows;	   /* of the unwind table */
	int error;	   /* why it was not read, a negative errno; 0: it was */
	bool anonymous;	   /* memory without a file */
	bool kernels;	   /* the vDSO: nobody installs anything for it */
	bool is_private;   /* not everybody may read the file */
	bool no_build_id;  /* so that nobody finds its debug file by it */
	bool split;	   /* some of its DWARF is in files of its own (.dwo) */
	enum source_rules rules;
	enum source_names names;
	enum source_lines lines;
};

struct sources {
	uint32_t pid;	    /* 0: nothing is known of any */
	uint32_t name;	    /* a string of the profile; 0: none */
	bool ended, listed; /* listed: all mappings are known */
	struct source *items;
	size_t count;
};

#endif
