/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/messages.h"
#include "proto/otlp.pb-c.h"
#include "tests/unit/build_profile.h"
#include "tests/unit/build_random.h"
#include "tests/unit/json_check.h"
#include "profile/format/format.h"
#include "worker/why/why.h"
#include "profile/profile.h"
#include "worker/why/sources.h"

#define NAMES_MAX    32u
#define SCREEN_BYTES ((WHY_COLUMNS + 1) * WHY_LINES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_json(const struct format *format)
{
	return format == &format_speedscope || format == &format_firefox ||
	       format == &format_otlp_json;
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

/* A receiver takes the message: times are within their window, and indexes within their tables. */
static void check_otlp_profile(const Otlp__Profile *profile, const Otlp__ProfilesDictionary *tables)
{
	const uint64_t start = profile->time_unix_nano, end = start + profile->duration_nano;

	if (profile->n_samples == 0 || profile->period <= 0 || !profile->period_type)
		__builtin_trap();
	for (size_t i = 0; i < profile->n_samples; i++) {
		const Otlp__Sample *sample = profile->samples[i];

		if ((sample->n_values == 1) == (sample->n_timestamps_unix_nano > 0))
			__builtin_trap();
		for (size_t j = 0; j < sample->n_timestamps_unix_nano; j++)
			if (sample->timestamps_unix_nano[j] < start ||
			    sample->timestamps_unix_nano[j] >= end)
				__builtin_trap();
		if ((size_t)sample->stack_index >= tables->n_stack_table)
			__builtin_trap();
	}
}

static void check_otlp(const struct profile *profile)
{
	size_t size = 0;
	unsigned char *bytes = build_profile_render(&format_otlp, profile, true, &size);
	Otlp__ProfilesData *found = otlp__profiles_data__unpack(NULL, size, bytes);

	if (!found)
		__builtin_trap();
	for (size_t i = 0; i < found->n_resource_profiles; i++)
		check_otlp_profile(found->resource_profiles[i]->scope_profiles[0]->profiles[0],
				   found->dictionary);
	otlp__profiles_data__free_unpacked(found, NULL);
	free(bytes);
}

static bool is_screen(const char *text, size_t size)
{
	size_t column = 0;

	for (size_t i = 0; i < size; i++) {
		column = text[i] == '\n' ? 0 : column + 1;
		if (column > WHY_COLUMNS || (column > 0 && (text[i] < ' ' || text[i] > '~')))
			return false;
	}
	return true;
}

/* The screen of `keyhole why` of the first sample's process, with sources by the input's bytes. */
static void check_why(const struct profile *profile, const uint8_t *data, size_t size)
{
	struct source items[64] = {0};
	struct sources sources = {.items = items, .listed = size % 2};
	char text[SCREEN_BYTES + 1];
	int fd = memfd_create("why", MFD_CLOEXEC);
	const size_t count = profile_samples(profile);
	ssize_t got;

	sources.pid = count > 0 ? profile_sample_get(profile, 0).pid : 1;
	sources.name = count > 0 ? profile_sample_get(profile, 0).process_name : 0;
	for (; sources.count < profile_objects(profile) && sources.count < 64; sources.count++) {
		uint8_t byte = size > 0 ? data[sources.count % size] : 0;

		items[sources.count] = (struct source){
			.object = (uint32_t)sources.count + 1,
			.mappings = byte % 4,
			.error = byte & 64 ? -byte : 0,
			.anonymous = byte & 128,
			.rules = (enum source_rules)(byte % (RULES_NOT_READ + 1)),
			.names = (enum source_names)(byte % (NAMES_GO + 1)),
			.lines = (enum source_lines)(byte % (LINES_GO + 1)),
		};
	}
	if (why_render(profile, &sources, &build_profile_times, fd))
		__builtin_trap();
	got = pread(fd, text, sizeof(text), 0);
	if (got <= 0 || got > (ssize_t)SCREEN_BYTES || !is_screen(text, (size_t)got))
		__builtin_trap();
	close(fd);
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
				  .inlined = size % 2,
				  .timed = size / 2 % 2,
				  .details = size / 4 % 2};
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
	check_otlp(profile);
	check_why(profile, data, size);
	profile_free(profile);
	free(text);
	return 0;
}
