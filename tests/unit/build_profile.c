/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_profile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "profile/format/format.h"
#include "profile/profile.h"

const struct profile_times build_profile_times = {
	.period = 10000000,
	.start_monotonic_ns = 5000000000,
	.start_realtime_ns = 1700000000000000000,
	.duration_ns = 2000000000,
	.walked = true,
};

enum object {
	APP = 1,
	KERNEL,
	MARKER,
	LIBRARY
};

static void add_objects(struct profile *profile)
{
	const struct profile_object objects[] = {
		{.name = profile_string(profile, "/usr/bin/app"),
		 .build_id = profile_string(profile, "0123456789abcdef"),
		 .start = 0x1000,
		 .limit = 0x5000,
		 .file_offset = 0x1000,
		 .has_functions = true},
		{.name = profile_string(profile, "[kernel]"), .kind = KIND_KERNEL},
		{.name = profile_string(profile, "[marker]"), .kind = KIND_MARKER},
		{.name = profile_string(profile, "/usr/lib/libplain.so.1"),
		 .start = 0x2000,
		 .limit = 0x3000,
		 .file_offset = 0x800},
	};

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		profile_object_add(profile, &objects[i]);
}

static uint32_t add_location(struct profile *profile, enum object object, uint64_t address,
			     const char *name, const char *system_name)
{
	uint32_t id = profile_location_add(profile, object, address);
	struct profile_function function = {.object = object, .start = address & ~0xffull};

	if (name) {
		function.name = profile_string(profile, name);
		function.system_name = profile_string(profile, system_name);
		function.named = true;
		profile_location_get(profile, id)->function =
			profile_function_add(profile, &function);
	}
	return id;
}

static void add_sample(struct profile *profile, struct profile_sample sample,
		       const char *process_name, const char *thread_name, const uint32_t *stack,
		       size_t count)
{
	sample.process_name = profile_string(profile, process_name);
	sample.thread_name = profile_string(profile, thread_name);
	sample.stack = profile_stack_add(profile, stack, count);
	profile_sample_add(profile, &sample);
}

static void add_samples(struct profile *profile)
{
	uint32_t main_at = add_location(profile, APP, 0x1234, "main", "main");
	uint32_t work = add_location(profile, APP, 0x2345, "ns::work", "_ZN2ns4workEv");
	uint32_t read_it = add_location(profile, KERNEL, 0x40, "read_it", "__x64_sys_read");
	uint32_t plain = add_location(profile, LIBRARY, 0x2234, NULL, NULL);
	uint32_t cut = add_location(profile, MARKER, 1, "[cut: no rule]", "[cut: no rule]");
	const uint32_t user[] = {work, main_at}, both[] = {read_it, work, main_at};
	const uint32_t cut_short[] = {plain, cut};
	const uint32_t path = profile_string(profile, BUILD_CGROUP);

	add_sample(profile, (struct profile_sample){.pid = 100, .tid = 100, .count = 3}, "app",
		   "app", user, 2);
	add_sample(profile,
		   (struct profile_sample){.pid = 100, .tid = 101, .cgroup = 77, .count = 2}, "app",
		   "work;er\n", both, 3);
	profile_cgroup_add(profile, 77, path);
	add_sample(profile,
		   (struct profile_sample){
			   .pid = 200, .tid = 200, .reason = REASON_cut_no_rule, .count = 1},
		   "evil;\033[2J", "evil", cut_short, 2);
	add_sample(profile,
		   (struct profile_sample){
			   .pid = 2, .tid = 2, .reason = REASON_end_no_user, .count = 4},
		   "kthreadd", "kthreadd", &read_it, 1);
}

struct profile *build_profile(void)
{
	struct profile *profile = profile_new();

	if (!profile)
		return NULL;
	add_objects(profile);
	add_samples(profile);
	return profile;
}

static void set_label(struct profile *profile, struct profile_label *label, const char *key,
		      const char *value)
{
	label->key = profile_string(profile, key);
	label->value = profile_string(profile, value);
}

struct profile *build_profile_of_goroutines(void)
{
	struct profile_sample sample = {.pid = 300, .tid = 301};
	struct profile_label labels[3];
	char long_key[BUILD_LONG_KEY_BYTES + 1];
	struct profile *profile = profile_new();
	uint32_t leaf = build_profile_location(profile, "/usr/bin/go", "main.main");

	memset(long_key, 'k', BUILD_LONG_KEY_BYTES);
	long_key[BUILD_LONG_KEY_BYTES] = '\0';
	sample.count = 1;
	add_sample(profile, sample, "go", "go", &leaf, 1);
	set_label(profile, &labels[0], "handler", "first");
	set_label(profile, &labels[1], "pid", "of another");
	set_label(profile, &labels[2], "empty", "");
	sample.count = 2;
	sample.goroutine = 17;
	sample.labels = profile_labels_add(profile, labels, 3);
	add_sample(profile, sample, "go", "go", &leaf, 1);
	set_label(profile, &labels[0], long_key, "second");
	sample.count = 3;
	sample.goroutine = 18;
	sample.labels = profile_labels_add(profile, labels, 1);
	add_sample(profile, sample, "go", "go", &leaf, 1);
	return profile;
}

unsigned char *build_profile_render(const struct format *format, const struct profile *profile,
				    bool by_thread, size_t *ret_size)
{
	const struct format_options options = {.by_thread = by_thread};

	return build_profile_render_as(format, profile, &build_profile_times, &options, ret_size);
}

unsigned char *build_profile_render_as(const struct format *format, const struct profile *profile,
				       const struct profile_times *times,
				       const struct format_options *options, size_t *ret_size)
{
	int fd = memfd_create("profile", MFD_CLOEXEC);
	unsigned char *bytes = NULL;
	off_t size;

	if (format->render(profile, times, options, fd) == 0) {
		size = lseek(fd, 0, SEEK_END);
		bytes = malloc((size_t)size + 1);
		*ret_size = (size_t)size;
		if (pread(fd, bytes, *ret_size, 0) != size)
			*ret_size = 0;
		bytes[*ret_size] = '\0';
	}
	close(fd);
	return bytes;
}

uint32_t build_profile_location(struct profile *profile, const char *object, const char *function)
{
	struct profile_object made = {
		.name = profile_string(profile, object), .start = 0x1000, .limit = 0x100000};
	struct profile_function named = {.name = profile_string(profile, function), .named = true};
	uint32_t id;

	named.object = profile_object_add(profile, &made);
	named.system_name = named.name;
	id = profile_location_add(profile, named.object, 0x2000);
	profile_location_get(profile, id)->function = profile_function_add(profile, &named);
	return id;
}
