/* SPDX-License-Identifier: Apache-2.0 */
/* `keyhole record` as it is built, run to its end while its sampler is watched. */
#ifndef KEYHOLE_TESTS_PROGRAM_H
#define KEYHOLE_TESTS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct program {
	const char *folder;	/* below the build: "" or "sabotage/<layer>" */
	bool whole_loader;	/* that of the build, with the children of the folder */
	const char *alone;	/* the one program that is the folder's, the others the build's */
	const char *require;	/* --require, or NULL */
	void (*set_up)(void *); /* in the child before exec, or NULL */
	void *argument;		/* of set_up */
};

struct program_result {
	int status;	  /* exit status, or -1 */
	bool file;	  /* it left one */
	bool seen;	  /* its sampler was loaded, and held by us till after its end */
	uint64_t samples; /* how often the sampler ran, as the kernel counts it */
	char text[4096];  /* standard error */
};

/* Records the whole machine for a second, with -v. A process of ours is busy meanwhile. */
void program_record(const struct program *program, struct program_result *ret_result);

#endif
