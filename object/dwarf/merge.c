/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/merge.h"

#include <errno.h>
#include <stdbool.h>

#include "object/dwarf/answer.h"
#include "profile/place.h"
#include "profile/profile.h"

_Static_assert(ANSWER_CHAIN_MAX <= PROFILE_LINES_MAX, "a location has room for a chain");

#define UNNAMED "[inlined]"

static uint32_t string_of(struct profile *profile, const struct answer *answer, uint32_t string)
{
	return string ? profile_string(profile, answer_string_get(answer, string)) : 0;
}

/* Adds a function to the profile. PROFILE_FAILED: no memory. */
static uint32_t add(struct profile *profile, const struct profile_function *function)
{
	if (function->name == PROFILE_FAILED || function->system_name == PROFILE_FAILED ||
	    function->file == PROFILE_FAILED)
		return PROFILE_FAILED;
	return profile_function_add(profile, function);
}

static uint32_t add_inlined(struct profile *profile, uint32_t object, const struct answer *answer,
			    const struct answer_function *from)
{
	struct profile_function function = {.object = object, .line = from->line, .named = true};

	if (from->name) {
		function.name = string_of(profile, answer, from->name);
		function.system_name = string_of(profile, answer, from->system_name);
	} else {
		function.name = profile_string(profile, UNNAMED);
		function.system_name = function.name;
	}
	function.file = string_of(profile, answer, from->file);
	return add(profile, &function);
}

static uint32_t add_outermost(struct profile *profile, const struct profile_location *location,
			      const struct answer *answer, const struct answer_function *from,
			      struct merge_counts *counts)
{
	const struct profile_function *had = profile_function_get(profile, location->function);
	struct profile_function function = {.object = location->object};

	if (had)
		function = *had;
	if (from->name && !function.named) {
		function.name = string_of(profile, answer, from->name);
		function.system_name = string_of(profile, answer, from->system_name);
		function.start = from->start;
		function.named = true;
		counts->named++;
	}
	if (from->file) {
		function.file = string_of(profile, answer, from->file);
		function.line = from->line;
	}
	if (!function.name)
		return 0;
	return add(profile, &function);
}

/*
 * Returns whether the answer has only a symbol for a location that has a name. The location may
 * have lines from another source, which stay.
 */
static bool tells_nothing(const struct profile *profile, const struct profile_location *location,
			  const struct answer *answer, const struct answer_frame *frames,
			  size_t count)
{
	const struct profile_function *had = profile_function_get(profile, location->function);

	return count == 0 || (count == 1 && had && had->named && frames[0].line == 0 &&
			      !answer_function_get(answer, frames[0].function)->file);
}

static int merge(struct profile *profile, uint32_t id, const struct answer *answer, size_t address,
		 struct merge_counts *counts)
{
	struct profile_location *location = profile_location_get(profile, id);
	struct profile_line inlined[ANSWER_CHAIN_MAX];
	const struct answer_frame *frames;
	size_t count = answer_get(answer, address, &frames), last = count - 1;
	uint32_t function;

	if (tells_nothing(profile, location, answer, frames, count))
		return 0;
	for (size_t i = 0; i < last; i++) {
		inlined[i].function = add_inlined(profile, location->object, answer,
						  answer_function_get(answer, frames[i].function));
		inlined[i].line = frames[i].line;
		if (inlined[i].function == PROFILE_FAILED)
			return -ENOMEM;
	}
	function = add_outermost(profile, location, answer,
				 answer_function_get(answer, frames[last].function), counts);
	if (function == PROFILE_FAILED)
		return -ENOMEM;
	location->function = function;
	location->line = frames[last].line;
	counts->lines += frames[0].line > 0;
	counts->inlined += last;
	return profile_location_set_inlined(profile, id, inlined, last);
}

int merge_places(struct profile *profile, const struct place *places, size_t count,
		 const struct answer *answer, struct merge_counts *counts)
{
	size_t address = 0;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		address += i > 0 && places[i].address != places[i - 1].address;
		r = merge(profile, places[i].location, answer, address, counts);
	}
	return r;
}
