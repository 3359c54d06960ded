/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reads files that others wrote, of `keyhole report`, `keyhole symbolize` and `keyhole top`:
 * what is open stays open; nothing else can be had from here on. No file, socket, process or
 * executable memory, no capability, and no more memory and time than is said.
 */
#ifndef KEYHOLE_VIEW_CONFINE_H
#define KEYHOLE_VIEW_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct confine_limits {		/* 0: no limit */
	uint64_t address_space; /* bytes, mapped files among them */
	uint64_t memory;	/* bytes that are its own */
	uint64_t file;		/* bytes of a file that it writes */
	uint64_t seconds;	/* of CPU; then SIGXCPU ends it */
	bool terminal;		/* waits for what is open, asks a terminal for its size */
	bool channel;		/* asks on a socket that it has, and waits for the answer */
	bool debug_files;	/* what libdw needs; to open a file is EACCES, as libdw tries to */
};

/*
 * Closes all but the standard descriptors and these: others came from whoever started the program.
 * They are sorted.
 */
void confine_files(int *fds, size_t count);

/* 0 or a negative errno: then nothing must be read. */
int confine(const struct confine_limits *limits);

#endif
