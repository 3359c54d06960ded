/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_page PROFILE FORMAT: writes a made-up profile to standard output, for tests/page/. The
 * profile has 100 samples with names that look like markup, or 100,000 stacks.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/formats.h"
#include "profile/format/format.h"
#include "profile/profile.h"

#define LARGE_STACKS	100000u
#define LARGE_FUNCTIONS 4000u
#define LARGE_DEPTH_MIN 10u
#define LARGE_DEPTH_MAX 50u

static const struct profile_times times = {
	.period = 10000000,
	.start_realtime_ns = 1700000000000000000,
	.duration_ns = 2000000000,
};

static uint32_t add_object(struct profile *profile, const char *name, enum profile_kind kind)
{
	const struct profile_object object = {.name = profile_string(profile, name), .kind = kind};

	return profile_object_add(profile, &object);
}

/* One location for each name and object. */
static uint32_t add_location(struct profile *profile, uint32_t object, const char *name)
{
	uint32_t string = profile_string(profile, name);
	const struct profile_function function = {
		.name = string, .system_name = string, .object = object, .named = true};
	uint32_t id = profile_location_add(profile, object, string);

	profile_location_get(profile, id)->function = profile_function_add(profile, &function);
	return id;
}

static void add_sample(struct profile *profile, uint32_t tid, const char *process,
		       const uint32_t *stack, size_t depth, uint64_t count)
{
	const struct profile_sample sample = {.pid = 100,
					      .tid = tid,
					      .process_name = profile_string(profile, process),
					      .thread_name = profile_string(profile, process),
					      .stack = profile_stack_add(profile, stack, depth),
					      .count = count};

	if (profile_sample_add(profile, &sample) < 0)
		abort();
}

static void build_small(struct profile *profile)
{
	uint32_t app = add_object(profile, "/usr/bin/app", KIND_NATIVE);
	uint32_t kernel = add_object(profile, "[kernel]", KIND_KERNEL);
	uint32_t marker = add_object(profile, "[marker]", KIND_MARKER);
	uint32_t start = add_location(profile, app, "main");
	uint32_t work = add_location(profile, app, "work");
	uint32_t leaf_a = add_location(profile, app, "leaf_a");
	uint32_t leaf_b = add_location(profile, app, "leaf_b");
	uint32_t call = add_location(profile, kernel, "sys_read");
	uint32_t cut = add_location(profile, marker, "[cut: no rule]");

	add_sample(profile, 100, "app", (uint32_t[]){leaf_a, work, start}, 3, 30);
	add_sample(profile, 101, "app", (uint32_t[]){leaf_a, work, start}, 3, 20);
	add_sample(profile, 100, "app", (uint32_t[]){leaf_b, work, start}, 3, 20);
	add_sample(profile, 100, "app", (uint32_t[]){leaf_a, work, work, start}, 4, 10);
	add_sample(profile, 100, "app", (uint32_t[]){work, start}, 2, 10);
	add_sample(profile, 100, "app", (uint32_t[]){call, start}, 2, 5);
	add_sample(profile, 200, "other", (uint32_t[]){leaf_b, cut}, 2, 5);
}

static void set_lines(struct profile *profile, uint32_t id, uint32_t line, const char *inlined,
		      uint32_t inlined_line)
{
	struct profile_location *at = profile_location_get(profile, id);
	struct profile_function function = *profile_function_get(profile, at->function);
	struct profile_line inner = {.line = inlined_line};

	function.file = profile_string(profile, "src/app.c");
	at->function = profile_function_add(profile, &function);
	at->line = line;
	if (!inlined)
		return;
	function.name = function.system_name = profile_string(profile, inlined);
	function.file = profile_string(profile, "src/<inline>.h");
	inner.function = profile_function_add(profile, &function);
	if (profile_location_set_inlined(profile, id, &inner, 1) < 0)
		abort();
}

/* "helper" is inlined at two lines of "work": most samples are at the second one. */
static void build_lines(struct profile *profile)
{
	uint32_t app = add_object(profile, "/usr/bin/app", KIND_NATIVE);
	uint32_t start = add_location(profile, app, "main");
	uint32_t first = add_location(profile, app, "work");
	uint32_t second = profile_location_add(profile, app, 1u << 20);

	profile_location_get(profile, second)->function =
		profile_location_get(profile, first)->function;
	set_lines(profile, start, 7, NULL, 0);
	set_lines(profile, first, 42, "helper", 3);
	set_lines(profile, second, 44, "helper", 5);
	add_sample(profile, 100, "app", (uint32_t[]){first, start}, 2, 30);
	add_sample(profile, 100, "app", (uint32_t[]){second, start}, 2, 70);
}

static void add_change(struct profile *profile, const uint32_t *stack, size_t depth, uint64_t old,
		       uint64_t now)
{
	const struct profile_sample sample = {.process_name = profile_string(profile, "app"),
					      .stack = profile_stack_add(profile, stack, depth),
					      .count = now,
					      .base = old};

	if (profile_sample_add(profile, &sample) < 0)
		abort();
}

/* Makes two profiles, of 200 and of 100 samples. "gone" is only in the older one. */
static void build_difference(struct profile *profile)
{
	uint32_t app = add_object(profile, "/usr/bin/app", KIND_NATIVE);
	uint32_t start = add_location(profile, app, "main");
	uint32_t more = add_location(profile, app, "more");
	uint32_t less = add_location(profile, app, "less");
	uint32_t same = add_location(profile, app, "same");
	uint32_t gone = add_location(profile, app, "<gone>");

	add_change(profile, (uint32_t[]){more, start}, 2, 20, 50);
	add_change(profile, (uint32_t[]){less, start}, 2, 100, 30);
	add_change(profile, (uint32_t[]){same, start}, 2, 40, 20);
	add_change(profile, (uint32_t[]){gone, start}, 2, 40, 0);
}

/*
 * Two callers of "shared" gained 20 % each: the callee, which is one node of the callers' tree,
 * gained 40 %.
 */
static void build_callers(struct profile *profile)
{
	uint32_t app = add_object(profile, "/usr/bin/app", KIND_NATIVE);
	uint32_t shared = add_location(profile, app, "shared");
	uint32_t first = add_location(profile, app, "first");
	uint32_t second = add_location(profile, app, "second");
	uint32_t third = add_location(profile, app, "third");
	uint32_t fourth = add_location(profile, app, "fourth");

	add_change(profile, (uint32_t[]){shared, first}, 2, 20, 40);
	add_change(profile, (uint32_t[]){shared, second}, 2, 20, 40);
	add_change(profile, (uint32_t[]){third}, 1, 30, 10);
	add_change(profile, (uint32_t[]){fourth}, 1, 30, 10);
}

static const char *const hostile_names[] = {
	"<script>alert(1)</script>",
	"</script><script>document.title='owned'</script>",
	"</title></svg><script>alert(2)</script>",
	"\"><img src=x onerror=alert(3)>",
	"<!-- ]]> --> &amp; &#60;b&#62;",
	"\\u003cscript>\\\" \\",
	"'; alert(4); //",
	"javascript:alert(5)",
	"${alert(6)} {{7*7}}",
	"__proto__",
	"constructor",
	"control\033[2J\r\n\t\001",
	"bidi \342\200\256gpj.exe \342\201\246",
	"invalid \377\376 \300\257 \355\240\200",
	"none of XML's \357\277\276 \357\277\277",
	"operator()(int) const [clone .part.0]",
};

static void build_hostile(struct profile *profile)
{
	uint32_t stack[sizeof(hostile_names) / sizeof(hostile_names[0])];
	size_t count = sizeof(stack) / sizeof(stack[0]);

	for (size_t i = 0; i < count; i++) {
		stack[i] = add_location(
			profile, add_object(profile, hostile_names[count - 1 - i], KIND_NATIVE),
			hostile_names[i]);
		add_sample(profile, 1, hostile_names[i], stack, i + 1, 1);
	}
	add_sample(profile, 1, "all", stack, count, 1000);
}

/* One of four callees, nearly always the first: stacks of a program are much alike. */
static uint32_t callee(uint32_t function, uint32_t depth, uint32_t random)
{
	uint32_t choice = random % 16 ? 0 : random / 16 % 4;

	return (function * 31 + depth * 7 + choice * 1009 + 1) % LARGE_FUNCTIONS;
}

static void build_large(struct profile *profile)
{
	uint32_t object = add_object(profile, "/usr/bin/large", KIND_NATIVE);
	uint32_t locations[LARGE_FUNCTIONS], path[LARGE_DEPTH_MAX], stack[LARGE_DEPTH_MAX];
	uint32_t function, depth, random = 1;
	char name[64];

	for (uint32_t i = 0; i < LARGE_FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "large::module_%u::function_%u(unsigned long)", i % 40,
			 i);
		locations[i] = add_location(profile, object, name);
	}
	while (profile_stacks(profile) < LARGE_STACKS) {
		random = random * 1664525 + 1013904223;
		depth = LARGE_DEPTH_MIN + (random >> 8) % (LARGE_DEPTH_MAX - LARGE_DEPTH_MIN);
		function = 0;
		for (uint32_t i = 0; i < depth; i++) {
			random = random * 1664525 + 1013904223;
			path[i] = locations[function];
			function = callee(function, i, random >> 20);
		}
		for (uint32_t i = 0; i < depth; i++)
			stack[i] = path[depth - 1 - i];
		add_sample(profile, 1 + path[3] % 8, "large", stack, depth, 1);
	}
}

/* Two functions of JavaScript have one name, and "named" has one of its own. */
static void build_nameless(struct profile *profile)
{
	static const char *const names[] = {"(anonymous)", "(anonymous)", "named"};
	uint32_t script = add_object(profile, "[javascript]", KIND_SCRIPT);

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct profile_function function = {
			.name = profile_string(profile, names[i]),
			.system_name = profile_string(profile, names[i]),
			.file = profile_string(profile, "/srv/app.js"),
			.line = 10 + i,
			.object = script,
			.named = true};
		uint32_t id = profile_location_add(profile, script, i);

		profile_location_get(profile, id)->function =
			profile_function_add(profile, &function);
		profile_location_get(profile, id)->line = 20 + i;
		add_sample(profile, 100, "node", &id, 1, 50 - 10 * i);
	}
}

static const struct {
	const char *name;
	void (*build)(struct profile *profile);
	bool differs;
} profiles[] = {
	{"small", build_small, false},		{"hostile", build_hostile, false},
	{"lines", build_lines, false},		{"large", build_large, false},
	{"difference", build_difference, true}, {"callers", build_callers, true},
	{"nameless", build_nameless, false},
};

static int render(const struct profile *profile, const char *name, bool differs)
{
	const struct format_options options = {.base = differs ? &times : NULL};

	const struct format *format = format_find(formats_by_name(name));

	if (!format)
		return -1;
	return format->render(profile, &times, &options, STDOUT_FILENO);
}

int main(int argc, char **argv)
{
	struct profile *profile = profile_new();
	int r = -1;

	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]) && argc == 3; i++) {
		if (strcmp(profiles[i].name, argv[1]) != 0)
			continue;
		profiles[i].build(profile);
		r = render(profile, argv[2], profiles[i].differs);
	}
	profile_free(profile);
	if (r < 0)
		fprintf(stderr, "make_page: failed: %d\n", r);
	return r < 0;
}
