/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources of everything that is known of a process's objects: unwind rules, names and lines.
 * Looked up at the end of a recording; `keyhole why` is about them.
 */
#ifndef KEYHOLE_WORKER_WHY_SOURCES_H
#define KEYHOLE_WORKER_WHY_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/time.h"
#include "worker/process/process.h"

struct resources;

enum source_rules { /* of the unwind table */
	RULES_NONE, /* frame pointers are followed */
	RULES_EH_FRAME,
	RULES_GO, /* the table by which Go programs unwind themselves */
	RULES_DEBUG_FRAME,
	RULES_EH_FRAME_GO, /* each for its part of the object, as in the next ones */
	RULES_EH_FRAME_DEBUG,
	RULES_GO_DEBUG,
	RULES_ALL,
	RULES_DAMAGED,	 /* or beyond limits */
	RULES_NO_ROOM,	 /* no segment has room for the table */
	RULES_OVERDRAWN, /* waits: its cgroup or owner has used up the CPU time for parsing */
	RULES_GIVEN_UP,	 /* parsing takes too much CPU time */
	RULES_PENDING,	 /* not parsed, or stored, yet */
	RULES_NOT_READ,
};

/* The first source of names that is there. A source stands for those with fewer names as well. */
enum source_names {
	NAMES_NONE,
	NAMES_NOT_READ,
	NAMES_DYNSYM, /* functions that other objects may use */
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
	int error;	   /* why the object was not read, a negative errno; 0: it was */
	uint32_t runtime;  /* enum runtime of base/runtimes.h */
	/* why BPF cannot walk the runtime's frames: -ENOENT, keyhole knows none; 0: it can */
	int runtime_error;
	uint32_t version;  /* of the runtime, as Py_Version; 0: not known */
	bool is_described; /* the runtime itself told the layout of its memory */
	bool lacks_traces; /* as in struct runtime_setup */
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
	uint32_t pid;	    /* 0: no process is known */
	uint32_t name;	    /* a string of the profile; 0: none */
	bool ended, listed; /* listed: all mappings are known */
	enum grant_state grant;
	int grant_error; /* GRANT_REFUSED: a negative errno */
	bool has_map;	 /* the process's perf-PID.map is read: it names code made at run time */
	int map_error;	 /* or why it is not; 0: nobody asked */
	uint64_t unverified; /* frames without a name, of the process's family: functions_doubt() */
	struct source *items;
	size_t count;
};

/* A process may map 8,191 files of 65,535 sections each. After this time no file is looked into. */
#ifndef SOURCES_BUDGET
#define SOURCES_BUDGET (2 * NS_PER_SECOND)
#endif

/*
 * Collects the sources after naming_run(). Objects that are in no stack get an entry in the
 * profile. pid 0: the process of the first sample. 0 or -ENOMEM; to be released either way.
 */
int sources_collect(const struct resources *resources, uint32_t pid, struct sources *ret_sources);
void sources_release(struct sources *sources);

#endif
