/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a location of the profile its function. */
#ifndef KEYHOLE_WORKER_NAMING_PLACES_H
#define KEYHOLE_WORKER_NAMING_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct place;
struct profile;
struct profile_function;

/* Sets the function. Without memory the location stays as it is; naming_failed() counts it. */
void place_set_function(struct profile *profile, const struct place *place,
			const struct profile_function *function);
/* Sets a function of that name, as above. `named`: the name is a symbol's. */
void place_set_name(struct profile *profile, const struct place *place, uint32_t object,
		    const char *name, uint64_t start, bool named);

#endif
