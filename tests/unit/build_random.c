/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_random.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/abi.h"
#include "tests/unit/build_profile.h"
#include "profile/profile.h"

#define MARKERS 2u /* the last objects, and their locations */

const char *const build_random_hostile[] = {
	"main",
	"main",
	"</script><script>alert(1)</script>",
	"<img src=x onerror=alert(1)>",
	"a;b;c 12",
	"quote\"back\\slash'",
	"]]>--><![CDATA[",
	"&amp;&lt;&#x3c;",
	"line\nfeed\r\ttab\033[31m\a\b\f\001\177",
	"\xff\xfe\xc3(\xe2\x28\xa1\xed\xa0\x80\xf0\x28\x8c\xbc\xc0\x80",
	"\xe2\x80\xae_evil\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf",
	"\xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x92\xa9",
	"constructor",
	"__proto__",
	"toString",
	"$schema",
	"${7*7}{{7*7}}%s%n",
	" ",
	"0",
	"null",
	"\\u003c\\",
	"javascript:alert(1)",
	"std::vector<std::pair<int, char const*> >::operator[](unsigned long) const&",
};
const size_t build_random_hostile_count =
	sizeof(build_random_hostile) / sizeof(build_random_hostile[0]);

struct builder {
	const struct build_random *of;
	struct profile *profile;
	uint64_t state;
};

/* splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators") */
static uint64_t roll(struct builder *builder, uint64_t sides)
{
	uint64_t x = builder->state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (x ^ x >> 31) % sides;
}

static uint32_t name(struct builder *builder, const char *kind, uint32_t number)
{
	char text[64];

	if (builder->of->name_count > 0)
		return profile_string(builder->profile,
				      builder->of->names[roll(builder, builder->of->name_count)]);
	snprintf(text, sizeof(text), "%s_%" PRIu32 "(unsigned long, char const*)", kind, number);
	return profile_string(builder->profile, text);
}

static void add_objects(struct builder *builder)
{
	for (uint32_t i = 0; i < builder->of->objects; i++) {
		struct profile_object object = {
			.name = name(builder, "/usr/lib/object", i),
			.build_id = i % 3 ? profile_string(builder->profile, "00ffaa") : 0,
			.start = 0x1000,
			.limit = 0x100000000,
			.kind = i % 4 ? KIND_NATIVE : KIND_KERNEL,
		};

		if (i + MARKERS >= builder->of->objects) {
			object = (struct profile_object){.kind = KIND_MARKER};
			object.name = profile_string(builder->profile, "[cut: no rule]");
		}
		profile_object_add(builder->profile, &object);
	}
}

static void add_locations(struct builder *builder)
{
	for (uint32_t i = 0; i < builder->of->locations; i++) {
		uint32_t object = 1 + i % builder->of->objects;
		uint32_t id = profile_location_add(builder->profile, object, 0x1000 + i * 16ull);
		struct profile_function function = {.object = object, .start = i / 64 * 1024};

		if (i % 8 == 7)
			continue;
		function.name = i % 32 ? name(builder, "function", i / 4) : 0; /* "" */
		function.system_name = i % 3 ? function.name : name(builder, "_Zfunction", i / 4);
		function.named = true;
		profile_location_get(builder->profile, id)->function =
			profile_function_add(builder->profile, &function);
	}
}

/* Every third location has functions that are inlined there; some of these are also called. */
static void add_inlined(struct builder *builder)
{
	uint32_t functions = profile_functions(builder->profile);

	for (uint32_t id = 1; builder->of->inlined && id <= builder->of->locations; id++) {
		struct profile_location *at = profile_location_get(builder->profile, id);
		struct profile_line lines[3];
		size_t count = 1 + id % 3;

		at->line = id % 5 ? 10 + id : 0;
		for (size_t i = 0; i < count; i++) {
			struct profile_function function = {.object = at->object,
							    .line = id % 7 * 10};

			function.name = id % 16 ? name(builder, "inlined", id % 40) : 0;
			function.system_name = function.name;
			function.file = name(builder, "/src/file", id % 5);
			lines[i].line = id % 4 ? 100 + id : 0;
			lines[i].function =
				id % 2 ? 1 + id % functions
				       : profile_function_add(builder->profile, &function);
		}
		if (id % 3 == 0)
			profile_location_set_inlined(builder->profile, id, lines, count);
	}
}

/* Builds a stack from the root on, mostly along earlier stacks. */
static uint32_t add_stack(struct builder *builder)
{
	uint32_t stack[PROFILE_STACK_MAX];
	uint64_t path = 0;
	size_t depth = 1 + roll(builder, builder->of->depth);

	for (size_t level = 0; level < depth; level++) {
		path = path * 31 + level + (roll(builder, 8) ? 0 : roll(builder, 64));
		stack[depth - 1 - level] = 1 + (uint32_t)(path % builder->of->locations);
	}
	return profile_stack_add(builder->profile, stack, depth);
}

static void add_details(struct builder *builder, struct profile_sample *sample)
{
	struct profile_process process = {.generation = sample->pid * 8, .pid = sample->pid};

	sample->cpu = 1 + (uint32_t)roll(builder, 4);
	if (sample->pid % 3 == 0)
		return;
	process.generation += roll(builder, 2);
	process.executable = name(builder, "/usr/bin/program", sample->pid);
	if (sample->pid % 3 == 1)
		process.created = build_profile_times.start_realtime_ns - sample->pid * 1000000ull;
	sample->process = profile_process_add(builder->profile, &process);
}

static void add_sample(struct builder *builder, uint32_t stack)
{
	uint32_t thread = (uint32_t)(roll(builder, builder->of->threads) *
				     roll(builder, builder->of->threads) / builder->of->threads);
	struct profile_sample sample = {
		.pid = 100 + thread / 4,
		.tid = 100 + thread / 4 + thread % 4,
		.cgroup = thread % 2 ? 77 : 0,
		.reason = thread % 5 ? REASON_end_root : REASON_cut_no_rule,
		.stack = stack,
		.count = 1,
	};
	uint64_t state = builder->state;
	uint64_t time = build_profile_times.start_monotonic_ns +
			roll(builder, build_profile_times.duration_ns);

	/* names come from numbers; one in sixteen shares its name */
	builder->state = builder->of->seed + thread / 4 + roll(builder, 17) / 16 * 1000;
	sample.process_name = name(builder, "process", thread / 4);
	sample.thread_name = name(builder, "thread", thread);
	builder->state = state + thread;
	if (builder->of->details)
		add_details(builder, &sample);
	if (roll(builder, 50) == 0 && !builder->of->timed)
		profile_sample_add(builder->profile, &sample); /* without a time */
	else
		profile_sample_add_at(builder->profile, &sample, time);
}

struct profile *build_random_profile(const struct build_random *of)
{
	struct builder builder = {.of = of, .profile = profile_new(), .state = of->seed};
	uint32_t *stacks = calloc(of->stacks, sizeof(*stacks));

	if (builder.profile && stacks) {
		profile_keep_times(builder.profile);
		add_objects(&builder);
		add_locations(&builder);
		add_inlined(&builder);
		for (uint32_t i = 0; i < of->stacks; i++)
			stacks[i] = add_stack(&builder);
		for (uint32_t i = 0; i < of->samples; i++)
			add_sample(&builder,
				   stacks[i < of->stacks ? i : roll(&builder, of->stacks)]);
	}
	free(stacks);
	return builder.profile;
}
