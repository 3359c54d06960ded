/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/words.h"

#include <string.h>

#include "generated/install.h"

/* The beginnings of the paths of our programs. */
static const char *const programs[] = {KEYHOLE_BINDIR "/keyhole", KEYHOLE_LIBEXECDIR "/keyhole-"};

void words_read(const char *pairs, struct words *ret_words)
{
	size_t count = 0;

	while (pairs && *pairs && count < RESOURCE_PAIRS_MAX) {
		const char *value = pairs + strlen(pairs) + 1;

		ret_words->attributes[count++] = (struct profile_attribute){pairs, value};
		pairs = value + strlen(value) + 1;
	}
	ret_words->own = (struct profile_own){
		.programs = programs,
		.program_count = sizeof(programs) / sizeof(programs[0]),
		.attributes = ret_words->attributes,
		.attribute_count = count,
	};
}

const struct profile_own *words_own(const struct words *words)
{
	if (words->own.attribute_count == 0)
		return NULL;
	return &words->own;
}
