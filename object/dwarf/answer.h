/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a question for the debug information of one object. For each address of the
 * question, the answer has a chain of frames, the innermost first. A separate process reads debug
 * information and writes the answer. The reader of an answer does not trust the writer.
 */
#ifndef KEYHOLE_OBJECT_DWARF_ANSWER_H
#define KEYHOLE_OBJECT_DWARF_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_FAILED	    UINT32_MAX
#define ANSWER_CHAIN_MAX    64		 /* frames; a longer chain keeps its outermost frames */
#define ANSWER_STRING_MAX   4096	 /* bytes with the NUL */
#define ANSWER_BYTES_MAX    (512u << 20) /* of a file */
#define ANSWER_ALT_ID_MAX   64
#define ANSWER_ALT_NAME_MAX 256

enum answer_status {
	ANSWER_COMPLETE,
	ANSWER_NONE,   /* no debug information */
	ANSWER_NO_ELF, /* not an ELF file, or its headers are damaged */
	ANSWER_TIME,   /* time was over before the last address */
	ANSWER_STATUSES
};

struct answer_summary {
	uint32_t status;  /* enum answer_status */
	uint32_t damaged; /* units that libdw could not read, or not to their end */
	uint32_t split;	  /* units whose debug information is in a separate file (.dwo) */
	uint32_t cut;	  /* chains longer than ANSWER_CHAIN_MAX, strings than ANSWER_STRING_MAX */
	uint32_t alt_id_size; /* of the missing file of .gnu_debugaltlink; 0: no file is missing */
	unsigned char alt_id[ANSWER_ALT_ID_MAX];
	char alt_name[ANSWER_ALT_NAME_MAX];
};

struct answer_function { /* ids of strings; 0: not known */
	uint32_t name;	 /* readable */
	uint32_t system_name;
	uint32_t file;
	uint32_t line;	/* of the function's start in `file`; 0: not known, or in another file */
	uint64_t start; /* address of the symbol; 0: the function is from debug information */
};

struct answer_frame {
	uint32_t function; /* never 0 */
	uint32_t line;	   /* in the function's file; 0: not known */
};

struct answer;

struct answer *answer_new(size_t addresses); /* NULL: no memory */
void answer_free(struct answer *answer);

struct answer_summary *answer_summary(struct answer *answer);
/* Adds a string and returns its id, or ANSWER_FAILED. A long string is cut, and counted. */
uint32_t answer_string(struct answer *answer, const char *string);
const char *answer_string_get(const struct answer *answer, uint32_t id);
uint32_t answer_function_add(struct answer *answer, const struct answer_function *function);
const struct answer_function *answer_function_get(const struct answer *answer, uint32_t id);
uint32_t answer_functions(const struct answer *answer); /* ids are 1..n */

/* Copies the frames, which replace the earlier frames of the address. 0 or -ENOMEM. */
int answer_set(struct answer *answer, size_t address, const struct answer_frame *frames,
	       size_t count);
/* Returns the number of frames, at most ANSWER_CHAIN_MAX; 0: nothing is known. */
size_t answer_get(const struct answer *answer, size_t address,
		  const struct answer_frame **ret_frames);

/* Reads only the summary at the start of a file. 0 or -EBADMSG. */
int answer_peek(int fd, struct answer_summary *ret_summary);
/* Returns whether the file holds an answer whose status is ANSWER_COMPLETE. */
bool answer_is_complete(int fd);

/* Writes the answer from the descriptor's position on. 0 or a negative errno. */
int answer_write(const struct answer *answer, int fd);
/* Reads an answer. 0, -EFBIG, -ENOMEM, or -EBADMSG: no answer about that many addresses. */
int answer_read(const void *bytes, size_t size, size_t addresses, struct answer **ret_answer);
/* Reads an answer from a whole file of at most `most` bytes. No process may cut it meanwhile. */
int answer_read_file(int fd, uint64_t most, size_t addresses, struct answer **ret_answer);

#endif
