/* SPDX-License-Identifier: Apache-2.0 */
/* Names by symbols: the object's own, those in .gnu_debugdata, and those of its debug file. */
#include <string.h>

#include "base/redact.h"
#include "object/symbol/cache.h"
#include "object/symbol/debugdata.h"
#include "object/symbol/symtab.h"
#include "profile/profile.h"
#include "worker/naming/debug_file.h"
#include "worker/naming/object_names.h"
#include "worker/naming/resources.h"
#include "worker/naming/sources.h"
#include "worker/process/object.h"

static bool same_symbol(const struct symbol_match *a, const struct symbol_match *b)
{
	return a->name && b->name && a->start == b->start && strcmp(a->name, b->name) == 0;
}

/* Names a place, and returns its function; 0: none. */
static uint32_t set_match(struct object_names *names, const struct place *place,
			  const struct symbol_match *match)
{
	object_names_set_symbol(names, place, match);
	return profile_location_get(names->resources->profile, place->location)->function;
}

/* Returns how many places got a name. */
static uint64_t name_by(struct object_names *names, struct image *image)
{
	const size_t count = names->unnamed_count;
	const struct symbol_match *previous = NULL;
	uint32_t function = 0; /* of the previous match */
	uint64_t named = 0;

	if (symtab_resolve(names->resources->cache, image, names->unnamed_addresses, count,
			   names->matches) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct symbol_match *match = &names->matches[i];
		const struct place *place = &names->unnamed[i];

		if (!match->name)
			continue;
		if (!object_names_have_room(names) || !object_names_in_time(names))
			break;
		if (previous && same_symbol(match, previous))
			profile_location_get(names->resources->profile, place->location)->function =
				function;
		else
			function = set_match(names, place, match);
		previous = match;
		named++;
	}
	symbol_matches_free(names->matches, count);
	return named;
}

uint64_t names_from_symbols(struct object_names *names)
{
	return name_by(names, names->image);
}

uint64_t names_from_debugdata(struct object_names *names)
{
	struct symbol_cache *cache = names->resources->cache;
	struct image *inner;
	uint64_t named;
	size_t bytes;

	if (debugdata_open(cache, names->image, &inner, &bytes) < 0)
		return 0;
	named = name_by(names, inner);
	image_close(inner);
	symbol_cache_release(cache, bytes);
	return named;
}

uint64_t names_from_debug_file(struct object_names *names)
{
	const struct resources *resources = names->resources;
	struct debug_file file;
	uint64_t named;

	/* the user's own process opens the file, and could be made to tell the path */
	if (!resources->debug_files || !redact_keeps(resources->redact, REDACT_PATH))
		return 0;
	if (debug_file_open(resources->debug_files, names->image, names->object->name, &file) < 0)
		return 0;
	named = name_by(names, file.image);
	symbol_cache_forget(resources->cache, file.image);
	debug_file_close(&file);
	return named;
}
