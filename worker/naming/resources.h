/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a session that names, lines and the sources of `keyhole why` are made from. The
 * session fills in one of these; product.h, naming.h, source_lines.h and why/sources.h share it.
 */
#ifndef KEYHOLE_WORKER_NAMING_RESOURCES_H
#define KEYHOLE_WORKER_NAMING_RESOURCES_H

#include <stdint.h>

struct debug_peer;
struct functions;
struct kernel_symbols;
struct late_names;
struct made_names;
struct objects;
struct processes;
struct profile;
struct redact;
struct samples;
struct symbol_cache;

/* All borrowed. */
struct resources {
	struct profile *profile; /* product.h replaces it between windows */
	struct objects *objects;
	const struct processes *processes;
	struct samples *samples;
	const struct kernel_symbols *symbols; /* NULL: none */
	const struct late_names *late_names;
	struct functions *functions; /* NULL: none */
	struct made_names *made;     /* NULL: none */
	const struct redact *redact;
	struct symbol_cache *cache;
	struct debug_peer *debug_files; /* NULL: none */
	uint64_t (*clock)(void);	/* CLOCK_MONOTONIC, ns */
};

#endif
