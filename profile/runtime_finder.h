/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the runtime that a sample belongs to: the object of a language's runtime. */
#ifndef KEYHOLE_PROFILE_RUNTIME_FINDER_H
#define KEYHOLE_PROFILE_RUNTIME_FINDER_H

#include <stdbool.h>
#include <stdint.h>

struct map;
struct profile;
struct profile_sample;

struct runtime_finder {
	const struct profile *profile; /* borrowed */
	bool *hosts;		       /* by id: objects with other functions, too */
	struct map *processes;	       /* by pid: the id of the object of a runtime */
};

/* Reads the samples of a profile whose objects have `runtime`. 0 or -ENOMEM; release either way. */
int runtime_finder_init(struct runtime_finder *finder, const struct profile *profile);
void runtime_finder_release(struct runtime_finder *finder);

/*
 * Returns the id of the object, or 0. A sample belongs to the innermost runtime that its stack
 * holds. In a file that holds more than the runtime, the names of functions decide. A sample in
 * KIND_ANON without a runtime belongs to a runtime that its process has in another stack. A stack
 * with functions of the program belongs to no runtime.
 */
uint32_t runtime_finder_object(const struct runtime_finder *finder,
			       const struct profile_sample *sample);

#endif
