/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the code of an interpreter's loop, one function, in an image that may be stripped. The
 * compiler has put parts of a function elsewhere (GCC's .cold). A part has no symbol, but an FDE of
 * its own. The function jumps to it, and it jumps into the middle of the function.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_LOOP_H
#define KEYHOLE_WORKER_RUNTIME_LOOP_H

#include <stdint.h>

#include "worker/runtime/runtime.h"

struct exported;
struct image;

/*
 * Finds the parts of an exported function, itself first. Returns 0, -ENOTSUP or -ENOMEM, as all of
 * these do.
 */
int loop_of_symbol(struct image *image, const struct exported *exported, const char *name,
		   struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES]);

/*
 * Finds the largest function that an exported one reaches, and its parts. The way there has at most
 * LOOP_CALLS calls or jumps, whose targets the code names. -ENOTSUP also if the function is no
 * larger than LOOP_BYTES_MIN.
 */
#define LOOP_CALLS     3u
#define LOOP_BYTES_MIN 3000u
int loop_called_by(struct image *image, const struct exported *exported, const char *name,
		   struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES]);

/* Finds the largest function that an exported one jumps to, in place of a call, and its parts. */
int loop_jumped_to_by(struct image *image, const struct exported *exported, const char *name,
		      struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES]);

/*
 * Finds the function that the functions at two addresses call or jump to, and that is not exported.
 * -ENOTSUP also if there are several.
 */
int loop_called_by_both(struct image *image, const struct exported *exported, uint64_t address,
			uint64_t other, struct runtime_range *ret_range);

/* A loop that somebody wrote by hand: one function of many entries. */
struct loop_by_hand {
	struct runtime_range code;
	uint64_t inside; /* an address behind a call */
};

/* Finds the largest function that an exported one calls or jumps into. */
int loop_entered_by(struct image *image, const struct exported *exported, const char *name,
		    struct loop_by_hand *ret_loop);

#endif
