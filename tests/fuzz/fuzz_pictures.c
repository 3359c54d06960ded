/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_profile.h"
#include "profile/format/format.h"
#include "profile/profile.h"

#define DEPTH_MAX 60

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A frame of that name, and a sample that ends above it. */
static void add(struct profile *profile, const char *name, uint32_t *stack, size_t depth)
{
	const struct profile_object object = {.name = profile_string(profile, name),
					      .kind = depth % (KIND_MARKER + 1)};
	const struct profile_function function = {.name = object.name};
	const struct profile_sample sample = {
		.process_name = object.name,
		.thread_name = object.name,
		.stack = profile_stack_add(profile, stack, depth),
		.count = depth,
	};

	stack[depth] = profile_location_add(profile, profile_object_add(profile, &object), depth);
	profile_location_get(profile, stack[depth])->function =
		profile_function_add(profile, &function);
	profile_sample_add(profile, &sample);
}

static bool begins_any(const char *text, const char *const *starts)
{
	for (; *starts; starts++) {
		if (!strncmp(text, *starts, strlen(*starts)))
			return true;
	}
	return false;
}

/* In what follows `from`, '<' begins nothing but these. */
static void check(const struct format *format, const struct profile *profile, bool by_thread,
		  const char *from, const char *const *starts)
{
	size_t size;
	unsigned char *text = build_profile_render(format, profile, by_thread, &size);
	const char *at = text ? strstr((const char *)text, from) : NULL;

	if (!at || strlen((char *)text) != size)
		__builtin_trap();
	for (at += strlen(from); *at; at++) {
		if ((unsigned char)*at < 0x20 && *at != '\n')
			__builtin_trap();
		if (*at == '<' && !begins_any(at, starts))
			__builtin_trap();
	}
	free(text);
}

/* Whatever the names are, they are not markup. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const page[] = {"</script>\n", NULL};
	static const char *const picture[] = {"<rect ",	    "<text ",	"</text>",
					      "<g><title>", "</g>\n",	"<title>",
					      "</title>",   "</svg>\n", NULL};
	struct profile *profile = profile_new();
	uint32_t stack[DEPTH_MAX];
	size_t depth = 0;

	for (; size > 0 && depth < DEPTH_MAX; depth++) {
		char *name = strndup((const char *)data, size);
		size_t length = strlen(name) + 1;

		add(profile, name, stack, depth);
		free(name);
		length = length < size ? length : size;
		data += length;
		size -= length;
	}
	check(&format_html, profile, depth % 2, "id=\"data\">\n", page);
	check(&format_svg, profile, depth % 2, "fill=\"#1c1c1c\">\n", picture);
	profile_free(profile);
	return 0;
}
