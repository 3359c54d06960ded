/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own profiles come back unchanged, other programs' profiles are read, and bad files are
 * refused.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "bpf/abi.h"
#include "proto/profile.pb-c.h"
#include "tests/unit/build_profile.h"
#include "profile/format/format.h"
#include "profile/format/names.h"
#include "profile/read/pprof_read.h"
#include "profile/read/unpack.h"

typedef Perftools__Profiles__Profile profile_message;

/* ---- files ---- */

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("profile", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, size), size);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static int unpack(const void *bytes, size_t size, unsigned char **ret_bytes, size_t *ret_size)
{
	int fd = file_of(bytes, size), r = unpack_file(fd, ret_bytes, ret_size);

	close(fd);
	return r;
}

static size_t compress_some(const void *bytes, size_t size, unsigned char *to, size_t room)
{
	z_stream stream = {.next_in = (z_const Bytef *)bytes, .avail_in = (uInt)size};

	stream.next_out = to;
	stream.avail_out = (uInt)room;
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, 0), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static void test_pprof_read__files_plain_and_in_members(void **state)
{
	unsigned char packed[256], *bytes;
	size_t first = compress_some("one ", 4, packed, sizeof(packed)), size;
	size_t both = first + compress_some("two", 3, packed + first, sizeof(packed) - first);

	(void)state;
	assert_int_equal(unpack("plain", 5, &bytes, &size), 0);
	assert_int_equal(size, 5);
	assert_memory_equal(bytes, "plain", 5);
	free(bytes);
	assert_int_equal(unpack(packed, both, &bytes, &size), 0);
	assert_int_equal(size, 7);
	assert_memory_equal(bytes, "one two", 7);
	free(bytes);
}

static void test_pprof_read__damaged_files(void **state)
{
	unsigned char packed[256], *bytes;
	size_t size, whole = compress_some("something to pack", 17, packed, sizeof(packed));

	(void)state;
	assert_int_equal(unpack("", 0, &bytes, &size), -ENODATA);
	for (size_t cut = 2; cut < whole; cut++)
		assert_int_equal(unpack(packed, cut, &bytes, &size), -EBADMSG);
	packed[whole] = 'x'; /* not another member */
	assert_int_equal(unpack(packed, whole + 1, &bytes, &size), -EBADMSG);
	packed[whole - 1] ^= 1; /* the size */
	assert_int_equal(unpack(packed, whole, &bytes, &size), -EBADMSG);
}

/* ---- our own ---- */

static struct profile *reread_as(const struct profile *profile, const struct profile_times *times,
				 struct pprof_info *ret_info)
{
	const struct format_options whole = {0};
	const struct pprof_options options = {0};
	struct profile *again = profile_new();
	unsigned char *packed, *bytes;
	size_t size;

	packed = build_profile_render_as(&format_pprof, profile, times, &whole, &size);
	assert_int_equal(unpack(packed, size, &bytes, &size), 0);
	assert_int_equal(pprof_read(bytes, size, &options, again, ret_info), 0);
	free(packed);
	free(bytes);
	return again;
}

static struct profile *reread(const struct profile *profile, struct pprof_info *ret_info)
{
	return reread_as(profile, &build_profile_times, ret_info);
}

static void assert_same_text(const struct format *format, const struct profile *a,
			     const struct profile *b)
{
	size_t a_size, b_size;
	unsigned char *a_text = build_profile_render(format, a, true, &a_size);
	unsigned char *b_text = build_profile_render(format, b, true, &b_size);

	assert_string_equal((char *)a_text, (char *)b_text);
	free(a_text);
	free(b_text);
}

static const char *container_of(const struct profile *profile, const struct profile_sample *sample)
{
	const struct profile_cgroup cgroup = profile_cgroup_get(profile, sample->cgroup);

	return profile_string_get(profile, cgroup.container);
}

static void test_pprof_read__ours_comes_back(void **state)
{
	struct profile *profile = build_profile(), *again, *third;
	struct profile_times times = build_profile_times;
	struct pprof_info info;
	size_t count, copied;

	(void)state;
	times.start_monotonic_ns = 0; /* a file has no such field */
	again = reread(profile, &info);
	assert_memory_equal(&info.times, &times, sizeof(times));
	assert_string_equal(info.type, "cpu");
	assert_string_equal(info.types, "samples, cpu");
	assert_true(info.ours && info.is_time);
	assert_int_equal(info.total, 10);
	assert_int_equal(info.kept, 10);
	assert_same_text(&format_folded, profile, again);
	count = profile_samples(profile);
	copied = profile_samples(again);
	assert_int_equal(copied, count);
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);
		const struct profile_sample copy = profile_sample_get(again, i);
		const char *reason = profile_reason(sample.reason)->name;
		bool told = profile_reason_is_told(sample.reason);

		assert_int_equal(copy.pid, sample.pid);
		assert_int_equal(copy.tid, sample.tid);
		assert_int_equal(copy.cgroup, sample.cgroup);
		assert_string_equal(container_of(again, &copy), container_of(profile, &sample));
		assert_int_equal(copy.count, sample.count);
		if (told)
			assert_string_equal(profile_reason(copy.reason)->name, reason);
		else
			assert_int_equal(profile_reason(copy.reason)->class, CLASS_END);
	}
	third = reread(again, &info);
	assert_same_text(&format_folded, profile, third);
	profile_free(profile);
	profile_free(again);
	profile_free(third);
}

/* Notes are comments of the file, but not all comments are notes. Control characters are clean. */
static void test_pprof_read__goroutines_come_back(void **state)
{
	struct profile *profile = build_profile_of_goroutines();
	struct pprof_info info;
	struct profile *again = reread(profile, &info);
	const struct profile_label *labels;

	(void)state;
	assert_int_equal(profile_samples(again), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(profile_sample_get(again, i).goroutine, i ? 16 + i : 0);
	assert_int_equal(profile_labels_get(again, profile_sample_get(again, 0).labels, &labels),
			 0);
	assert_int_equal(profile_labels_get(again, profile_sample_get(again, 1).labels, &labels),
			 1);
	assert_string_equal(profile_string_get(again, labels[0].key), "handler");
	assert_string_equal(profile_string_get(again, labels[0].value), "first");
	profile_free(profile);
	profile_free(again);
}

static void test_pprof_read__notes_come_back(void **state)
{
	struct profile *profile = build_profile(), *again;
	struct pprof_info info;
	const uint32_t *notes;
	size_t count;

	(void)state;
	assert_int_equal(profile_note_add(profile, "other: of another program"), 0);
	assert_int_equal(profile_note_add(profile, "waited: 4 %"), 0);
	for (unsigned int i = 0; i < PROFILE_NOTES_MAX + 1; i++)
		assert_int_equal(profile_note_add(profile, "runtime: a\033[2J, 61 %"), 0);
	again = reread(profile, &info);
	notes = profile_notes(again, &count);
	assert_int_equal(count, PROFILE_NOTES_MAX - 1);
	assert_string_equal(profile_string_get(again, notes[0]), "waited: 4 %");
	assert_string_equal(profile_string_get(again, notes[1]), "runtime: a?[2J, 61 %");
	profile_free(profile);
	profile_free(again);
}

/* Memory without a file is code of a kind of its own. */
static void test_pprof_read__code_made_at_run_time(void **state)
{
	struct profile *profile = profile_new(), *again;
	const struct profile_object anonymous = {.name = profile_string(profile, "[anon]"),
						 .kind = KIND_ANON};
	struct profile_sample sample = {.pid = 1, .count = 1};
	uint32_t location =
		profile_location_add(profile, profile_object_add(profile, &anonymous), 0x1000);
	struct pprof_info info;

	(void)state;
	sample.stack = profile_stack_add(profile, &location, 1);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	again = reread(profile, &info);
	assert_int_equal(profile_objects(again), 1);
	assert_int_equal(profile_object_get(again, 1)->kind, KIND_ANON);
	profile_free(profile);
	profile_free(again);
}

static void test_pprof_read__guesses_come_back(void **state)
{
	struct profile *profile = profile_new(), *again;
	struct profile_sample sample = {.pid = 5, .reason = REASON_guess_root, .count = 3};
	struct pprof_info info;
	struct format_totals totals;
	size_t count;

	(void)state;
	assert_true(profile_sample_add(profile, &sample) >= 0);
	again = reread(profile, &info);
	count = profile_samples(again);
	assert_int_equal(count, 1);
	assert_int_equal(profile_sample_get(again, 0).reason, REASON_guess_root);
	format_totals(again, &totals);
	assert_int_equal(totals.guessed, 3);
	assert_int_equal(totals.complete + totals.cut, 0);
	profile_free(profile);
	profile_free(again);
}

/* ---- others' ---- */

#define STRINGS 24

/* Fields in Go's order and with Go's names; ids that are far apart. */
struct go {
	profile_message profile;
	char *strings[STRINGS];
	Perftools__Profiles__ValueType type[2], period, *types[2];
	Perftools__Profiles__Mapping mapping, *mappings[1];
	Perftools__Profiles__Function function[3], *functions[3];
	Perftools__Profiles__Line line[4], *lines[2][2];
	Perftools__Profiles__Location location[2], *locations[2];
	Perftools__Profiles__Label label, *labels[1];
	Perftools__Profiles__Sample sample[2], *samples[2];
	uint64_t stack[2][2];
	int64_t value[2][2];
};

static void go_function(struct go *go, int i, uint64_t id, int64_t name)
{
	perftools__profiles__function__init(&go->function[i]);
	go->function[i].id = id;
	go->function[i].name = go->function[i].system_name = name;
	go->function[i].filename = 11;
	go->function[i].start_line = 10 * i;
	go->functions[i] = &go->function[i];
}

static void go_location(struct go *go, int i, uint64_t id, int lines)
{
	perftools__profiles__location__init(&go->location[i]);
	go->location[i].id = id;
	go->location[i].mapping_id = 1;
	go->location[i].address = 0x401000;
	go->location[i].n_line = (size_t)lines;
	go->location[i].line = go->lines[i];
	go->locations[i] = &go->location[i];
}

static void go_sample(struct go *go, int i, size_t depth, int64_t count)
{
	perftools__profiles__sample__init(&go->sample[i]);
	go->sample[i].n_location_id = depth;
	go->sample[i].location_id = go->stack[i];
	go->value[i][0] = count;
	go->value[i][1] = count * 10000000;
	go->sample[i].n_value = 2;
	go->sample[i].value = go->value[i];
	go->samples[i] = &go->sample[i];
}

static void go_line(struct go *go, int location, int line, uint64_t function)
{
	Perftools__Profiles__Line *to = &go->line[2 * location + line];

	perftools__profiles__line__init(to);
	to->function_id = function;
	to->line = 100 + line;
	go->lines[location][line] = to;
}

/* main.main calls main.outer, into which main.inner is inlined. */
static void go_make(struct go *go)
{
	static const char *const strings[] = {
		"",	     "samples",	   "count",	 "cpu", "nanoseconds", "/bin/go-thing",
		"main.main", "main.outer", "main.inner", "key", "value",       "main.go"};

	memset(go, 0, sizeof(*go));
	perftools__profiles__profile__init(&go->profile);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		go->strings[i] = (char *)strings[i];
	go->profile.n_string_table = sizeof(strings) / sizeof(strings[0]);
	go->profile.string_table = go->strings;
	for (int i = 0; i < 2; i++) {
		perftools__profiles__value_type__init(&go->type[i]);
		go->type[i].type = 1 + 2 * i;
		go->type[i].unit = 2 + 2 * i;
		go->types[i] = &go->type[i];
	}
	go->period = go->type[1];
	go->profile.n_sample_type = 2;
	go->profile.sample_type = go->types;
	go->profile.period_type = &go->period;
	go->profile.period = 10000000;
	perftools__profiles__mapping__init(&go->mapping);
	go->mapping.id = 1;
	go->mapping.filename = 5;
	go->mappings[0] = &go->mapping;
	go->profile.n_mapping = 1;
	go->profile.mapping = go->mappings;
	go_function(go, 0, 7, 6);
	go_function(go, 1, UINT64_MAX, 7);
	go_function(go, 2, 1ull << 40, 8);
	go->profile.n_function = 3;
	go->profile.function = go->functions;
	go_line(go, 0, 0, 1ull << 40);
	go_line(go, 0, 1, UINT64_MAX);
	go_line(go, 1, 0, 7);
	go_location(go, 0, 123456789012345, 2);
	go_location(go, 1, 2, 1);
	go->profile.n_location = 2;
	go->profile.location = go->locations;
	perftools__profiles__label__init(&go->label);
	go->label.key = 9;
	go->label.str = 10;
	go->labels[0] = &go->label;
	go->stack[0][0] = 123456789012345;
	go->stack[0][1] = go->stack[1][0] = 2;
	go_sample(go, 0, 2, 5);
	go_sample(go, 1, 1, 2);
	go->sample[0].n_label = 1;
	go->sample[0].label = go->labels;
	go->profile.n_sample = 2;
	go->profile.sample = go->samples;
}

static int go_read(const struct go *go, const char *type, struct profile **ret_profile,
		   struct pprof_info *ret_info)
{
	const struct pprof_options options = {.sample_type = type};
	size_t size = perftools__profiles__profile__get_packed_size(&go->profile);
	unsigned char *bytes = malloc(size + 1);
	struct profile *profile = profile_new();
	int r;

	perftools__profiles__profile__pack(&go->profile, bytes);
	r = pprof_read(bytes, size, &options, profile, ret_info);
	free(bytes);
	if (r == 0 && ret_profile)
		*ret_profile = profile;
	else
		profile_free(profile);
	return r;
}

static void assert_line(const struct profile *profile, const struct profile_line *line,
			const char *name, uint32_t number)
{
	const struct profile_function *function = profile_function_get(profile, line->function);

	assert_string_equal(profile_string_get(profile, function->name), name);
	assert_string_equal(profile_string_get(profile, function->file), "main.go");
	assert_int_equal(line->line, number);
}

static void test_pprof_read__inlined_functions_and_distant_ids(void **state)
{
	struct profile_line lines[PROFILE_LINES_MAX];
	struct pprof_info info;
	struct profile *profile;
	const uint32_t *stack;
	struct go go;
	size_t count;

	(void)state;
	go_make(&go);
	assert_int_equal(go_read(&go, NULL, &profile, &info), 0);
	assert_false(info.ours);
	assert_int_equal(info.total, 7);
	assert_int_equal(info.times.period, 10000000);
	count = profile_samples(profile);
	assert_int_equal(count, 2);
	assert_string_equal(
		profile_string_get(profile, profile_sample_get(profile, 0).process_name),
		"go-thing");
	assert_int_equal(profile_stack_get(profile, profile_sample_get(profile, 0).stack, &stack),
			 2);
	assert_int_equal(profile_location_lines(profile, stack[0], lines), 2);
	assert_line(profile, &lines[0], "main.inner", 100);
	assert_line(profile, &lines[1], "main.outer", 101);
	assert_int_equal(profile_location_lines(profile, stack[1], lines), 1);
	assert_line(profile, &lines[0], "main.main", 100);
	assert_int_not_equal(stack[0], stack[1]); /* of the same address */
	profile_free(profile);
}

/* Other profilers have labels of that name, too: who converts their files walked no stack. */
static void test_pprof_read__pids_of_another_profiler(void **state)
{
	struct pprof_info info, converted;
	struct profile *profile, *again;
	struct go go;

	(void)state;
	go_make(&go);
	go.strings[9] = (char[]){"pid"};
	go.label.str = 0;
	go.label.num = 7;
	assert_int_equal(go_read(&go, NULL, &profile, &info), 0);
	assert_false(info.ours);
	assert_false(info.times.walked);
	again = reread_as(profile, &info.times, &converted);
	assert_false(converted.ours);
	profile_free(profile);
	profile_free(again);
}

static void test_pprof_read__which_value(void **state)
{
	struct profile *profile;
	char bytes[] = "bytes";
	struct pprof_info info;
	struct go go;

	(void)state;
	go_make(&go);
	assert_int_equal(go_read(&go, "samples", NULL, &info), 0);
	assert_int_equal(info.total, 7);
	assert_false(info.is_time);
	assert_int_equal(info.times.period, 10000000);
	assert_int_equal(go_read(&go, "none", NULL, &info), -ENOENT);
	assert_string_equal(info.problem, "no sample type none; it has: samples, cpu");
	go.profile.default_sample_type = 1;
	assert_int_equal(go_read(&go, NULL, NULL, &info), 0);
	assert_string_equal(info.type, "samples");
	go.profile.default_sample_type = 0;
	go.value[1][1]++; /* not a multiple of the period any more */
	assert_int_equal(go_read(&go, NULL, &profile, &info), 0);
	assert_int_equal(info.total, 70000001);
	assert_int_equal(info.times.period, 1);
	assert_int_equal(info.kept, 70000001);
	assert_true(info.is_time);
	/* the one before it has nanoseconds, too */
	assert_int_equal(profile_sample_get(profile, 0).count, 70000001 - go.value[1][1]);
	profile_free(profile);
	go.strings[4] = bytes;
	assert_int_equal(go_read(&go, NULL, NULL, &info), 0);
	assert_false(info.is_time);
	assert_string_equal(info.unit, "bytes");
	assert_int_equal(info.total, 70000001);
}

/* keyhole writes page faults so, and other programs their counted events. */
static void test_pprof_read__what_is_counted(void **state)
{
	char faults[] = "page-faults", count[] = "count";
	struct pprof_info info;
	struct go go;

	(void)state;
	go_make(&go);
	go.strings[3] = faults;
	go.strings[4] = count;
	assert_int_equal(go_read(&go, NULL, NULL, &info), 0);
	assert_false(info.is_time);
	assert_string_equal(info.type, "page-faults");
	assert_string_equal(info.times.event, "page-faults");
	assert_int_equal(info.total, 7);
	assert_int_equal(info.by, 10000000);
	assert_int_equal(info.times.period, 10000000);
	assert_int_equal(go_read(&go, "samples", NULL, &info), 0);
	assert_string_equal(info.type, "samples");
	assert_string_equal(info.times.event, "page-faults");
	assert_int_equal(info.by, 1);
	go.value[1][1]++;
	assert_int_equal(go_read(&go, NULL, NULL, &info), 0);
	assert_string_equal(info.times.event, "page-faults");
	assert_int_equal(info.total, 70000001);
	assert_int_equal(info.by, 1);
	assert_int_equal(info.times.period, 1);
	go.profile.period = 0;
	assert_int_equal(go_read(&go, "samples", NULL, &info), 0);
	assert_string_equal(info.times.event, "samples");
}

static void test_pprof_read__base_and_filter(void **state)
{
	struct profile *profile = profile_new();
	struct pprof_options options = {.base = true};
	struct pprof_info info;
	unsigned char bytes[1024];
	struct go go;
	size_t size, count;

	(void)state;
	go_make(&go);
	size = perftools__profiles__profile__pack(&go.profile, bytes);
	assert_int_equal(pprof_read(bytes, size, &options, profile, &info), 0);
	options.base = false;
	assert_int_equal(pprof_read(bytes, size, &options, profile, &info), 0);
	count = profile_samples(profile);
	assert_int_equal(count, 4);
	assert_int_equal(profile_sample_get(profile, 0).base, 5);
	assert_int_equal(profile_sample_get(profile, 0).count, 0);
	assert_int_equal(profile_sample_get(profile, 2).base, 0);
	assert_int_equal(profile_sample_get(profile, 2).count, 5);
	profile_free(profile);
}

/* Ids of cgroups are of one machine until its next boot: a comparison keeps them apart. */
static void test_pprof_read__cgroups_of_two_files(void **state)
{
	static const char *const paths[] = {"/old", "/new", NULL};
	const struct pprof_options options = {0};
	struct profile *both = profile_new();
	size_t count;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct profile_sample sample = {.pid = 5, .cgroup = 77, .count = 1};
		struct profile *profile = profile_new();
		struct pprof_info info;
		unsigned char *packed, *bytes;
		size_t size;

		profile_sample_add(profile, &sample);
		if (paths[i])
			profile_cgroup_add(profile, 77, profile_string(profile, paths[i]));
		packed = build_profile_render(&format_pprof, profile, false, &size);
		assert_int_equal(unpack(packed, size, &bytes, &size), 0);
		assert_int_equal(pprof_read(bytes, size, &options, both, &info), 0);
		free(packed);
		free(bytes);
		profile_free(profile);
	}
	count = profile_samples(both);
	assert_int_equal(count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct profile_cgroup cgroup =
			profile_cgroup_get(both, profile_sample_get(both, i).cgroup);

		assert_int_equal(cgroup.id, 77);
		if (paths[i])
			assert_string_equal(profile_string_get(both, cgroup.path), paths[i]);
		else
			assert_int_equal(cgroup.path, 0);
	}
	profile_free(both);
}

/* ---- what does not hold ---- */

#define REFUSED(change)                                                       \
	do {                                                                  \
		struct pprof_info info_;                                      \
		struct go go;                                                 \
                                                                              \
		go_make(&go);                                                 \
		change;                                                       \
		assert_int_equal(go_read(&go, NULL, NULL, &info_), -EBADMSG); \
		assert_true(info_.problem[0]);                                \
	} while (0)

static void test_pprof_read__what_is_not_there_is_refused(void **state)
{
	(void)state;
	REFUSED(go.stack[0][0] = 3);
	REFUSED(go.stack[0][0] = 0);
	REFUSED(go.line[0].function_id = 8);
	REFUSED(go.location[0].mapping_id = 2);
	REFUSED(go.function[0].name = STRINGS);
	REFUSED(go.function[0].system_name = -1);
	REFUSED(go.function[0].filename = INT64_MAX);
	REFUSED(go.mapping.filename = 99);
	REFUSED(go.label.key = 99);
	REFUSED(go.label.str = -5);
	REFUSED(go.type[0].unit = 99);
	REFUSED(go.profile.default_sample_type = 99);
	REFUSED(go.profile.n_sample_type = 0);
}

static void test_pprof_read__ids_that_are_not_unique_are_refused(void **state)
{
	(void)state;
	REFUSED(go.function[1].id = 7);
	REFUSED(go.function[1].id = 0);
	REFUSED(go.location[1].id = go.location[0].id);
	REFUSED(go.location[1].id = 0);
	REFUSED(go.mapping.id = 0);
}

static void test_pprof_read__values_that_cannot_be_are_refused(void **state)
{
	(void)state;
	REFUSED(go.sample[0].n_value = 1);
	REFUSED(go.sample[0].n_value = 0);
	REFUSED(go.value[0][0] = -1);
	REFUSED(go.value[0][1] = -1);
	REFUSED((go.value[0][1] = go.value[1][1] = INT64_MAX));
	REFUSED((go.profile.sample_type[1] = &go.type[0], go.value[0][1] = INT64_MAX));
	REFUSED((go.profile.n_sample_type = 1));
}

/* A file that is cut short, or has any byte changed, is read or refused. */
static void test_pprof_read__damaged_messages(void **state)
{
	const struct pprof_options options = {0};
	unsigned char bytes[1024], *exact;
	struct pprof_info info;
	struct go go;
	size_t size;

	(void)state;
	go_make(&go);
	size = perftools__profiles__profile__pack(&go.profile, bytes);
	for (size_t i = 0; i < 2 * size; i++) {
		const size_t used = i < size ? i : size;
		struct profile *profile = profile_new();

		exact = malloc(used + 1);
		memcpy(exact, bytes, used);
		if (i >= size)
			exact[i - size] ^= 0xff;
		pprof_read(exact, used, &options, profile, &info);
		free(exact);
		profile_free(profile);
	}
}

static void test_pprof_read__deep_stacks_and_long_strings_are_cut(void **state)
{
	static uint64_t stack[PROFILE_STACK_MAX + 100];
	static char text[3 * FORMAT_NAME_MAX];
	struct pprof_info info;
	struct profile *profile;
	const uint32_t *locations;
	struct go go;

	(void)state;
	go_make(&go);
	for (size_t i = 0; i < sizeof(stack) / sizeof(stack[0]); i++)
		stack[i] = 2;
	memset(text, 'a', sizeof(text) - 1);
	go.strings[6] = text;
	go.sample[0].n_location_id = sizeof(stack) / sizeof(stack[0]);
	go.sample[0].location_id = stack;
	assert_int_equal(go_read(&go, NULL, &profile, &info), 0);
	assert_int_equal(info.stacks_cut, 1);
	assert_int_equal(info.strings_cut, 1);
	assert_int_equal(
		profile_stack_get(profile, profile_sample_get(profile, 0).stack, &locations),
		PROFILE_STACK_MAX);
	profile_free(profile);
}

/* The innermost functions are kept, and the one whose code it is. */
static void test_pprof_read__many_inlined_functions_are_cut(void **state)
{
	static Perftools__Profiles__Line line[3 * PROFILE_LINES_MAX], *lines[3 * PROFILE_LINES_MAX];
	struct profile_line found[PROFILE_LINES_MAX];
	const size_t count = sizeof(line) / sizeof(line[0]);
	struct pprof_info info;
	struct profile *profile;
	struct go go;

	(void)state;
	go_make(&go);
	for (size_t i = 0; i < count; i++) {
		perftools__profiles__line__init(&line[i]);
		line[i].function_id = i == 0 ? 1ull << 40 : i + 1 < count ? UINT64_MAX : 7;
		lines[i] = &line[i];
	}
	go.location[0].n_line = count;
	go.location[0].line = lines;
	assert_int_equal(go_read(&go, NULL, &profile, &info), 0);
	assert_int_equal(info.lines_cut, count - PROFILE_LINES_MAX);
	assert_int_equal(profile_location_lines(profile, 1, found), PROFILE_LINES_MAX);
	assert_line(profile, &found[0], "main.inner", 0);
	assert_line(profile, &found[PROFILE_LINES_MAX - 1], "main.main", 0);
	profile_free(profile);
}

static void test_pprof_read__names_are_clean(void **state)
{
	char name[] = "main\033[2J\xff";
	struct pprof_info info;
	struct profile *profile;
	struct go go;

	(void)state;
	go_make(&go);
	go.strings[6] = name;
	assert_int_equal(go_read(&go, NULL, &profile, &info), 0);
	for (uint32_t id = 0; id < profile_strings(profile); id++)
		for (const char *c = profile_string_get(profile, id); *c; c++)
			assert_true((unsigned char)*c >= ' ' && (unsigned char)*c != 0xff);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof_read__files_plain_and_in_members),
		cmocka_unit_test(test_pprof_read__damaged_files),
		cmocka_unit_test(test_pprof_read__ours_comes_back),
		cmocka_unit_test(test_pprof_read__goroutines_come_back),
		cmocka_unit_test(test_pprof_read__notes_come_back),
		cmocka_unit_test(test_pprof_read__code_made_at_run_time),
		cmocka_unit_test(test_pprof_read__guesses_come_back),
		cmocka_unit_test(test_pprof_read__inlined_functions_and_distant_ids),
		cmocka_unit_test(test_pprof_read__pids_of_another_profiler),
		cmocka_unit_test(test_pprof_read__which_value),
		cmocka_unit_test(test_pprof_read__what_is_counted),
		cmocka_unit_test(test_pprof_read__base_and_filter),
		cmocka_unit_test(test_pprof_read__cgroups_of_two_files),
		cmocka_unit_test(test_pprof_read__what_is_not_there_is_refused),
		cmocka_unit_test(test_pprof_read__ids_that_are_not_unique_are_refused),
		cmocka_unit_test(test_pprof_read__values_that_cannot_be_are_refused),
		cmocka_unit_test(test_pprof_read__damaged_messages),
		cmocka_unit_test(test_pprof_read__deep_stacks_and_long_strings_are_cut),
		cmocka_unit_test(test_pprof_read__many_inlined_functions_are_cut),
		cmocka_unit_test(test_pprof_read__names_are_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
