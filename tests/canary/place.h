/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places where a recording keeps bytes, as root finds them from outside. Places are BPF maps by
 * id, perf rings through the worker's descriptors, memory of processes, and files.
 */
#ifndef KEYHOLE_TESTS_CANARY_PLACE_H
#define KEYHOLE_TESTS_CANARY_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum place_kind {
	PLACE_KERNEL,  /* mapped; the kernel writes it */
	PLACE_PERF,    /* the same: a control page, then the ring of a perf event */
	PLACE_WORKER,  /* mapped; only the worker writes it */
	PLACE_PRIVATE, /* a copy of a map that nobody can map */
	PLACE_MEMORY,  /* all readable mappings of a process */
	PLACE_PARSER,  /* the same, of one that reads bytes that targets chose */
	PLACE_FILE
};

struct place {
	enum place_kind kind;
	char name[128];
	const uint8_t *bytes; /* of what is mapped or copied */
	size_t size;
	int pid; /* PLACE_MEMORY, PLACE_PARSER */
};

/*
 * Opens map:ID, perf:PID:FD:BYTES, memory:PID, parser:PID or file:PATH. False: that failed, and
 * standard error says why.
 */
bool place_open(const char *text, struct place *ret_place);

/*
 * Hands out the bytes in pieces of some megabytes that overlap by `overlap` bytes. A fresh piece is
 * of memory that a program can have written to. Returns the number of bytes.
 */
typedef void place_visit(void *context, const struct place *place, uint64_t at,
			 const uint8_t *bytes, size_t size, bool fresh);
uint64_t place_read(const struct place *place, size_t overlap, place_visit *visit, void *context);

#endif
