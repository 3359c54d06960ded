/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up, at the end of a recording, where what is known of a process's objects came from. */
#ifndef KEYHOLE_WORKER_WHY_SOURCES_H
#define KEYHOLE_WORKER_WHY_SOURCES_H

#include <stdint.h>

#include "ipc/time.h"
#include "worker/why/causes.h"

struct debug_peer;
struct objects;
struct processes;
struct profile;
struct redact;
struct symbol_cache;

struct sources_parts { /* all borrowed */
	struct profile *profile;
	const struct processes *processes;
	const struct objects *objects;
	const struct redact *redact;
	struct symbol_cache *cache;
	struct debug_peer *debug_files; /* NULL: none */
	uint64_t (*clock)(void);	/* CLOCK_MONOTONIC, ns */
};

/* A process may map 8,191 files of 65,535 sections each: what is left then is not looked into. */
#ifndef SOURCES_BUDGET
#define SOURCES_BUDGET (2 * NS_PER_SECOND)
#endif

/*
 * After naming_run(). Objects that are in no stack get an entry in the profile. pid 0: the process
 * of the first sample. 0 or -ENOMEM; to be released either way.
 */
int sources_collect(const struct sources_parts *parts, uint32_t pid, struct sources *ret_sources);
void sources_release(struct sources *sources);

#endif
