/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts keyhole-debug-reader, the disposable process that reads one object's debug information:
 *
 *   keyhole-debug-reader VERSION PURPOSE ADDRESSES FILES ALTERNATES MILLISECONDS BUILD-ID
 *
 * The new process has only the descriptors below, and no environment. The process confines itself,
 * writes an answer (object/dwarf/answer.h) and ends with 0 or an errno. EPROTO: the program is of
 * another version. The starter reads no byte of a file.
 */
#ifndef KEYHOLE_OBJECT_DEBUG_READER_H
#define KEYHOLE_OBJECT_DEBUG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READER_PROGRAM "keyhole-debug-reader"

#define READER_ARGUMENTS 8
#define READER_ADDRESSES 3 /* uint64_t, ascending */
#define READER_ANSWER	 4 /* memfd */
#define READER_FILES	 5 /* and on: files of the object, then dwz's alternate file */

#define READER_FILES_MAX 18
#define READER_ID_MAX	 64 /* bytes of a build id */

/* The asker's purpose. */
enum reader_purpose {
	READER_RECORDING, /* the worker's profile; the end of the recording waits for the answer */
	READER_PROFILE,	  /* the profile of `keyhole symbolize` */
	READER_PURPOSES
};

struct reader_limits {
	/* of one question */
	uint32_t files, addresses;
	uint32_t milliseconds; /* after that, the reader gives the answer so far */
	uint32_t slack;	       /* further milliseconds; after that, the reader is killed */
	uint32_t more_cpu;     /* seconds of CPU time beyond the question's time */
	uint64_t memory;       /* bytes; 0: the limit of ROLE_DEBUG */
	uint64_t answer;       /* bytes; 0: the limit of ROLE_DEBUG */
	/* of all questions of one asker; 0: no limit */
	uint32_t questions;
	uint32_t total;	 /* milliseconds */
	bool symbols;	 /* the reader names by symbols what debug information does not cover */
	bool time_again; /* a second reading, with dwz's file, gets the whole time again */
};
extern const struct reader_limits reader_limits[READER_PURPOSES];

struct reader_job {
	enum reader_purpose purpose;
	uint32_t address_count;
	uint64_t deadline; /* CLOCK_MONOTONIC, ns */
	/* borrowed descriptors */
	int addresses, answer;
	int files[READER_FILES_MAX];
	unsigned int file_count;
	int alternate; /* -1: none */
	/* only files of this build id are read; 0 bytes: all are */
	unsigned char id[READER_ID_MAX];
	size_t id_size;
};

/* Opens the program beside our own (O_PATH), so that a later replacement does not run. */
int reader_open_program(void);

/*
 * Runs the program and waits until the process has ended. Returns 0 when the answer is written, or
 * a negative errno:
 *
 *   -ENOENT    there is no program, or no file has the build id
 *   -EPROTO    the program is of another version
 *   -ETIME     the process was late
 *   -EBADMSG   a signal ended the process
 *   -ENOMEM    the process needs more memory than its limit
 *   others     errors of the process or of starting it
 */
int reader_run(const struct reader_job *job, int program);

#endif
