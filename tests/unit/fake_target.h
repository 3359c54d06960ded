/* SPDX-License-Identifier: Apache-2.0 */
/* A target for tests: keeps requests until it is told to answer them. */
#ifndef KEYHOLE_TESTS_UNIT_FAKE_TARGET_H
#define KEYHOLE_TESTS_UNIT_FAKE_TARGET_H

#include "worker/target/target.h"

#define FAKE_REQUESTS 256

struct fake_target {
	struct target target; /* first */
	struct target_request requests[FAKE_REQUESTS];
	size_t count;
	size_t asked[TARGET_KIND_COUNT];
	/* The fields below are the answers of fake_target_answer(). */
	const char *maps;		 /* text; NULL: maps_error */
	int maps_error;			 /* 0: -ESRCH */
	const char *object;		 /* path of the file to hand out; NULL: -ENOENT */
	struct target_identity identity; /* inode 0: that of the mapping's start >> 12 */
	bool opened;	  /* objects were opened within the last minute: they are identified only */
	int object_error; /* 0, or instead of an object */
	int segment_error, grant_error, code_error;
	const char *code;		 /* path of the perf-PID.map to hand out; NULL: -ENOENT */
	const void *context, *variables; /* to hand out; NULL: -EOPNOTSUPP */
	size_t context_size, variables_size;
	int context_error;   /* 0, or instead of both */
	const char *cgroups; /* to hand out; NULL: those of version 2 alone */
};

void fake_target_init(struct fake_target *fake);
/* Answers all requests, including those that arrive meanwhile. */
void fake_target_answer(struct fake_target *fake);
/* Returns a memfd with these bytes. */
int fake_file(const void *bytes, size_t size);
/* Returns zeroed memory of a segment's size. */
void *fake_segment(void);

#endif
