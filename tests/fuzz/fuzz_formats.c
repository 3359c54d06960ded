/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/messages.h"
#include "tests/unit/build_profile.h"
#include "tests/unit/build_random.h"
#include "tests/unit/json_check.h"
#include "worker/format/format.h"
#include "worker/profile/profile.h"

#define NAMES_MAX 32u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_json(const struct format *format)
{
	return format->id == FORMAT_speedscope || format->id == FORMAT_firefox ||
	       format->id == FORMAT_otlp_json;
}

static void check(const struct format *format, const struct profile *profile)
{
	size_t size = 0;
	unsigned char *bytes = build_profile_render(format, profile, true, &size);

	if (!bytes)
		__builtin_trap();
	if (is_json(format) && json_check((const char *)bytes, size))
		__builtin_trap();
	free(bytes);
}

/* Every format of a profile whose names are the input's pieces; all JSON is valid. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);
	const char *names[NAMES_MAX];
	struct build_random of = {.names = names,
				  .objects = 4,
				  .locations = 24,
				  .stacks = 6,
				  .depth = 5,
				  .threads = 5,
				  .samples = 20,
				  .seed = size,
				  .inlined = size % 2};
	struct profile *profile;

	if (!text)
		abort();
	memcpy(text, data, size);
	for (char *at = text; at <= text + size && of.name_count < NAMES_MAX; at += strlen(at) + 1)
		names[of.name_count++] = at;
	profile = build_random_profile(&of);
	for (uint32_t id = 1; id < FORMAT_COUNT; id++)
		if (format_find(id))
			check(format_find(id), profile);
	profile_free(profile);
	free(text);
	return 0;
}
