/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render                   lists the formats: name and suffix
 * render FORMAT PROFILE    writes a profile to standard output, and what it took to standard error
 *
 * PROFILE: small (tests/unit/build_profile.c), counted (the same, of an event that is no time),
 * hostile, inlined (of plain names), empty, or large: 100,000 distinct stacks. Others serve OTLP
 * alone: timed and large-timed, whose samples each have a time, a CPU and a program. The one sample
 * of "one" has a time, and that of "huge" has a count beyond 32 bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ipc/messages.h"
#include "tests/unit/build_profile.h"
#include "tests/unit/build_random.h"
#include "profile/format/format.h"
#include "profile/profile.h"

static const struct {
	const char *name, *suffix;
	uint32_t id;
} formats[] = {
#define F(number, id, name, suffix, help) {name, suffix, number},
#include "ipc/formats.def"
#undef F
};

static struct profile *build_one(uint64_t count)
{
	struct profile *profile = profile_new();
	struct profile_sample sample = {.pid = 7, .tid = 8, .count = count};
	const uint32_t at = build_profile_location(profile, "/usr/bin/one", "main");

	sample.stack = profile_stack_add(profile, &at, 1);
	profile_keep_times(profile);
	/* a little before the window, as of a record that was held */
	if (count == 1)
		profile_sample_add_at(profile, &sample, build_profile_times.start_monotonic_ns - 9);
	else
		profile_sample_add(profile, &sample);
	return profile;
}

static struct profile *build(const char *name)
{
	const struct build_random hostile = {
		.names = build_random_hostile,
		.name_count = build_random_hostile_count,
		.objects = 20,
		.locations = 400,
		.stacks = 300,
		.depth = 40,
		.threads = 40,
		.samples = 5000,
		.seed = 42,
		.inlined = true,
	};
	struct build_random inlined = hostile, timed = hostile;
	const struct build_random large = {
		.objects = 200,
		.locations = 20000,
		.stacks = 100000,
		.depth = 50,
		.threads = 400,
		.samples = 120000,
		.seed = 7,
	};
	struct build_random large_timed = large;

	inlined.name_count = 0;
	timed.timed = timed.details = true;
	large_timed.timed = large_timed.details = true;
	if (!strcmp(name, "timed"))
		return build_random_profile(&timed);
	if (!strcmp(name, "large-timed"))
		return build_random_profile(&large_timed);
	if (!strcmp(name, "one"))
		return build_one(1);
	if (!strcmp(name, "huge"))
		return build_one(5ull << 32);
	if (!strcmp(name, "small") || !strcmp(name, "counted"))
		return build_profile();
	if (!strcmp(name, "hostile"))
		return build_random_profile(&hostile);
	if (!strcmp(name, "inlined"))
		return build_random_profile(&inlined);
	if (!strcmp(name, "large"))
		return build_random_profile(&large);
	return strcmp(name, "empty") ? NULL : profile_new();
}

static double seconds(void) /* of CPU time */
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long most_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static int render(const struct format *format, const char *format_name, const char *name)
{
	const struct format_options options = {0};
	struct profile_times times = build_profile_times;
	struct profile *profile = build(name);
	double began = seconds();
	long before = most_memory();
	int r = -1;

	times.event = strcmp(name, "counted") ? NULL : "instructions";
	if (profile)
		r = format->render(profile, &times, &options, STDOUT_FILENO);
	fprintf(stderr, "%s: %s: %s, %.3f s, %ld KB beside %ld KB of the profile\n", format_name,
		name, r < 0 ? "failed" : "done", seconds() - began, most_memory() - before, before);
	profile_free(profile);
	return r < 0;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (argc < 3)
			printf("%s %s\n", formats[i].name, formats[i].suffix);
		else if (!strcmp(formats[i].name, argv[1]))
			return render(format_find(formats[i].id), argv[1], argv[2]);
	}
	return argc >= 3;
}
