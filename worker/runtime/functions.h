/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of interpreted programs. Processes that came from each other by fork share their
 * functions: a family is the generation of the first process that ran the program. Within a family
 * a function is code at an address, with a fingerprint.
 *
 * A sample may come before the event that tells of its function. The function then has a number,
 * and the event fills it in later.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_FUNCTIONS_H
#define KEYHOLE_WORKER_RUNTIME_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct functions;
struct told;

/* Limits for the functions of a family and of all, and for their names and line tables. */
#ifndef FUNCTIONS_FAMILY_MAX
#define FUNCTIONS_FAMILY_MAX 32768u
#endif
#ifndef FUNCTIONS_MAX
#define FUNCTIONS_MAX 131072u
#endif
#ifndef FUNCTIONS_FAMILY_BYTES
#define FUNCTIONS_FAMILY_BYTES (12u << 20)
#endif
#ifndef FUNCTIONS_BYTES
#define FUNCTIONS_BYTES (40u << 20)
#endif

#define FUNCTIONS_KEPT_FOR 600000000000ull /* ns without a sample, in a stream */

/*
 * A place in a function, as the address of a location in the profile: the function's number, and
 * the line. While no event has told of the function, the place has the instruction in place of the
 * line, and the flag. functions_line() finds the line of both.
 */
#define FUNCTION_LINE_BITS 24u
#define FUNCTION_UNTOLD	   (1u << (FUNCTION_LINE_BITS - 1))
#define FUNCTION_PLACE(number, line) \
	((uint64_t)(number) << FUNCTION_LINE_BITS | ((line) & ((1u << FUNCTION_LINE_BITS) - 1)))
#define FUNCTION_OF(place) ((place) >> FUNCTION_LINE_BITS)

struct function_key {
	uint64_t family, code, fingerprint;
};

struct function {
	const char *name, *file; /* raw, as the process has them */
	uint32_t first_line;
};

struct functions_counts {
	uint64_t told, again; /* events: of new functions, and of known ones */
	uint64_t untold;      /* functions that samples have met, and no event told of */
	uint64_t unverified;  /* frames of functions that functions_doubt() has named */
	uint64_t refused;     /* for want of room or memory: functions, events */
};

struct functions *functions_new(void); /* NULL: no memory */
void functions_free(struct functions *functions);

/*
 * Takes what an event told at a time. Another name for the same key is another
 * function, unless callers have names for it. The first one of these stays.
 */
void functions_tell(struct functions *functions, const struct function_key *key,
		    const struct told *told, uint64_t time);
/* Notes that what an event told of a key is no code of the interpreter: the key has no name. */
void functions_doubt(struct functions *functions, const struct function_key *key, uint64_t time);
/*
 * Returns the place of an instruction, as an event or an index has it. The place has number 0 where
 * there is no room for the function.
 */
uint64_t functions_place(struct functions *functions, const struct function_key *key,
			 uint32_t instruction, uint64_t time);
/* Returns the line of a place, by what events have told so far. 0: it is not known. */
uint32_t functions_line(const struct functions *functions, uint64_t place);
/* Returns whether what a sample has met at a time is a start, as of struct told. */
bool functions_is_start(struct functions *functions, const struct function_key *key, uint64_t time);
/*
 * Gets the function of a number, valid until the next event or call. False: no event has told of
 * it. An event about the caller may have brought the function's name meanwhile.
 */
bool functions_get(struct functions *functions, uint64_t number, struct function *ret_function);
/*
 * Gets the place of a function in compiled code, by its number from the innermost one on. False:
 * there is no such function, or the place is in no compiled code.
 */
bool functions_inlined(struct functions *functions, uint64_t place, size_t index,
		       uint64_t *ret_place);
/* Returns whether the function of a number has no name since functions_doubt(). */
bool functions_unverified(const struct functions *functions, uint64_t number);
/* Returns how many frames of a family are of such functions, as far as these are not forgotten. */
uint64_t functions_unverified_frames(const struct functions *functions, uint64_t family);
/* Forgets the functions that neither a sample nor an event has met since a time. */
void functions_forget(struct functions *functions, uint64_t since);
size_t functions_count(const struct functions *functions);
void functions_counts(const struct functions *functions, struct functions_counts *ret_counts);

#endif
