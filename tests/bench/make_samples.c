/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_samples COUNT: writes a profile of so many samples, no two of them alike, as pprof to
 * standard output. A sample has 24 frames on average, of 20,000 functions in 200 objects, and
 * belongs to one of 500 processes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/format/format.h"
#include "profile/profile.h"

#define OBJECTS	  200u
#define FUNCTIONS 20000u
#define LOCATIONS 60000u
#define PROCESSES 500u
#define DEPTH_MIN 8u
#define DEPTH_MAX 40u

static uint64_t state = 88172645463325252u;

/* xorshift64: the same profile each time. */
static uint32_t random_below(uint32_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % limit;
}

static void add_locations(struct profile *profile)
{
	char text[96];

	for (uint32_t i = 1; i <= OBJECTS; i++) {
		snprintf(text, sizeof(text), "/usr/lib/lib%u.so.%u", i, i % 9);
		profile_object_add(profile,
				   &(struct profile_object){.name = profile_string(profile, text),
							    .start = 0x1000,
							    .limit = 0x10000000});
	}
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		const uint32_t number = i % FUNCTIONS, object = 1 + number % OBJECTS;
		struct profile_function function = {.object = object, .start = number * 256u};
		uint32_t id = profile_location_add(profile, object, 0x1000 + i * 16u);

		snprintf(text, sizeof(text), "some::name_space::function_%u(int, char const*)",
			 number);
		function.name = function.system_name = profile_string(profile, text);
		function.named = true;
		profile_location_get(profile, id)->function =
			profile_function_add(profile, &function);
	}
}

/* Many stacks share their root's side, as in real profiles. */
static void add_sample(struct profile *profile, uint32_t number)
{
	const uint32_t depth = DEPTH_MIN + random_below(DEPTH_MAX - DEPTH_MIN + 1);
	const uint32_t process = 1 + number % PROCESSES;
	uint32_t stack[DEPTH_MAX];
	char name[32];

	for (uint32_t i = 0; i < depth; i++)
		stack[i] = i + 6 < depth ? 1 + random_below(LOCATIONS) : 1 + depth - i;
	snprintf(name, sizeof(name), "process-%u", process % 50);
	profile_sample_add(
		profile, &(struct profile_sample){.pid = 1000 + process,
						  .tid = 1000 + process + number % 7,
						  .process_name = profile_string(profile, name),
						  .thread_name = profile_string(profile, name),
						  .stack = profile_stack_add(profile, stack, depth),
						  .cgroup = 1 + process % 20,
						  .reason = number % 100 == 0 ? 3 : 0,
						  .count = 1 + number % 3});
}

int main(int argc, char **argv)
{
	const struct profile_times times = {.period = 10101010,
					    .start_realtime_ns = 1700000000000000000,
					    .duration_ns = 60000000000,
					    .walked = true};
	const struct format_options options = {0};
	struct profile *profile = profile_new();

	add_locations(profile);
	for (long i = 0; i < (argc > 1 ? strtol(argv[1], NULL, 10) : 1000000); i++)
		add_sample(profile, (uint32_t)i);
	return format_pprof.render(profile, &times, &options, STDOUT_FILENO) != 0;
}
