/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/build_elf.h"
#include "tests/unit/build_go.h"
#include "tests/unit/build_symbols.h"
#include "base/file_id.h"
#include "tests/unit/session_rig.h"
#include "object/elf/image.h"
#include "worker/naming/naming.h"
#include "profile/profile.h"
#include "object/symbol/symtab.h"

#define PLACE RIG_OWN_PLACE

void landmark(void);

__attribute__((noinline)) void landmark(void)
{
	__asm__ volatile("" ::: "memory");
}

static void assert_own_file_id(const struct profile *profile, const struct profile_object *object)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char id[FILE_ID_BYTES];

	assert_int_equal(file_id_of_file(fd, id), 0);
	assert_string_equal(profile_string_get(profile, object->file_id), id);
	close(fd);
}

static void test_naming__symbols_of_a_file(void **state)
{
	struct rig *rig = *state;
	const struct profile *profile = session_profile(rig->session);
	struct image_segment text;
	u64 address = rig_seen_own(rig, landmark, &text), frames[2];
	struct message_summary summary;
	struct session_totals totals;
	const struct profile_object *object;

	frames[0] = address | FRAME_EXACT;
	frames[1] = address + 1;
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 2);
	rig_settle(rig);
	assert_int_equal(rig_find(rig, 5, 100, address)->flags, MAPPING_HAS_TABLE);
	assert_int_equal(rig_find(rig, 5, 100, address)->bias, address - rig_own_address(landmark));
	assert_int_equal(session_finish(rig->session), 0);
	rig_check_stack(rig, 0, "landmark;landmark");
	object = profile_object_get(profile, 1);
	assert_string_equal(profile_string_get(profile, object->name), "/opt/test (deleted)");
	assert_int_equal(object->start, text.address);
	assert_int_equal(object->limit, text.address + text.memory_size);
	assert_int_equal(object->file_offset, text.file_offset);
	assert_true(object->has_functions);
	assert_own_file_id(profile, object);
	assert_int_equal(profile_location_get(profile, 1)->address, rig_own_address(landmark));
	session_summary(rig->session, &summary);
	assert_int_equal(summary.without_names, 0);
	session_totals(rig->session, &totals);
	assert_int_equal(totals.objects, 1);
	assert_true(totals.table_rows > 0);
}

/* Makes a file of two executable segments: far apart in memory, neighbours in the file. */
static int two_texts(uint64_t first_bytes)
{
	const struct image_segment texts[] = {
		{.address = 0x1000, .file_offset = 0x1000, .file_size = first_bytes},
		{.address = 0x8000 + first_bytes % 4096,
		 .file_offset = 0x1000 + first_bytes,
		 .file_size = 0x1000},
	};
	struct build_elf elf;
	unsigned char *bytes;
	size_t size;
	int fd;

	build_elf_init(&elf);
	for (size_t i = 0; i < 2; i++) {
		Elf64_Phdr *segment =
			build_elf_segment(&elf, PT_LOAD, PF_R | PF_X, texts[i].address, NULL, 0);

		segment->p_offset = texts[i].file_offset;
		segment->p_filesz = segment->p_memsz = texts[i].file_size;
	}
	bytes = build_elf_finish(&elf, &size);
	fd = fake_file(bytes, size);
	assert_int_equal(ftruncate(fd, 0x3000), 0);
	free(bytes);
	return fd;
}

/* Names two addresses in this file. */
static void name_in_two_texts(struct rig *rig, int fd, const char *lines, const u64 frames[2])
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rig_seen(rig, 5, 100, lines, path);
	rig->fake.identity.inode = 262144;
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 2);
	rig_settle(rig);
	assert_int_equal(session_finish(rig->session), 0);
	close(fd);
}

static void test_naming__one_mapping_for_all_text(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {PLACE + 0x10, PLACE + 0x7020};
	const struct profile_object *object;

	name_in_two_texts(rig, two_texts(0x1000),
			  "40000000-40001000 r-xp 1000 08:01 262144 /opt/two\n"
			  "40007000-40008000 r-xp 2000 08:01 262144 /opt/two\n",
			  frames);
	rig_check_stack(rig, 0, "two+0x100f;two+0x801f");
	object = profile_object_get(session_profile(rig->session), 1);
	assert_int_equal(object->start, 0x1000);
	assert_int_equal(object->limit, 0x9000);
	assert_int_equal(object->file_offset, 0x1000);
}

/* ---- drafts ---- */

/* Checks the profile as it is, as folded stacks. */
static void check_draft(struct rig *rig, const char *wanted)
{
	const struct message_stop stop = {.started = 1, .stopped = 2};
	int fd = fake_file("", 0);
	char line[256] = "";

	assert_int_equal(product_describe(session_product(rig->session)), 0);
	assert_int_equal(product_render(session_product(rig->session), &stop, fd), 0);
	assert_true(pread(fd, line, sizeof(line) - 1, 0) > 0);
	assert_string_equal(line, wanted);
	close(fd);
}

/* Offsets become addresses once, however many drafts there are. */
static void test_naming__a_draft_has_addresses(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {PLACE + 0x10, PLACE + 0x7020};
	int fd = two_texts(0x1000);
	const struct profile_object *object;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rig_seen(rig, 5, 100,
		 "40000000-40001000 r-xp 1000 08:01 262144 /opt/two\n"
		 "40007000-40008000 r-xp 2000 08:01 262144 /opt/two\n",
		 path);
	rig->fake.identity.inode = 262144;
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 2);
	rig_settle(rig);
	check_draft(rig, "thread;two+0x801f;two+0x100f 1\n");
	check_draft(rig, "thread;two+0x801f;two+0x100f 1\n");
	object = profile_object_get(session_profile(rig->session), 1);
	assert_int_equal(object->start, 0x1000);
	assert_int_equal(object->limit, 0x9000);
	rig_sample(rig, 5, 100, REASON_end_root, frames + 1, 0, 1);
	rig_settle(rig);
	check_draft(rig, "thread;two+0x801f 1\nthread;two+0x801f;two+0x100f 1\n");
	assert_int_equal(session_finish(rig->session), 0);
	rig_check_stack(rig, 0, "two+0x100f;two+0x801f");
	close(fd);
}

/* The draft has no name of a file, and takes none from the profile. */
static void test_naming__a_draft_comes_before_the_names(void **state)
{
	struct rig *rig = *state;
	struct image_segment text;
	u64 frame = rig_seen_own(rig, landmark, &text) | FRAME_EXACT;
	struct message_summary summary;
	char wanted[64];

	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_settle(rig);
	snprintf(wanted, sizeof(wanted), "thread;test (deleted)+0x%llx 1\n",
		 (unsigned long long)rig_own_address(landmark));
	check_draft(rig, wanted);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.without_names, 1);
	assert_int_equal(session_finish(rig->session), 0);
	rig_check_stack(rig, 0, "landmark");
	session_summary(rig->session, &summary);
	assert_int_equal(summary.without_names, 0);
}

static void count_call(void *context)
{
	(*(unsigned int *)context)++;
}

/* A session without lines has one long work, the names; lines are the second one. */
static void test_naming__drafts_before_long_work(void **state)
{
	struct rig *rig = *state;
	const uint32_t flags[] = {OPTIONS_NO_INLINE, 0};

	for (unsigned int i = 0; i < 2; i++) {
		unsigned int calls = 0;

		rig->parts.config.flags = flags[i];
		rig->parts.draft = count_call;
		rig->parts.draft_context = &calls;
		rig_restart(rig, i + 1);
		assert_int_equal(session_finish(rig->session), 0);
		assert_int_equal(calls, i + 1);
	}
}

/* See test_publisher__mapping_has_the_bias_of_its_own_segment. */
static void test_naming__two_segments_share_a_page(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {PLACE + 0x3ff, PLACE + 0x7421};

	name_in_two_texts(rig, two_texts(0x400),
			  "40000000-40001000 r-xp 1000 08:01 262144 /opt/two\n"
			  "40007000-40009000 r-xp 1000 08:01 262144 /opt/two\n",
			  frames);
	rig_check_stack(rig, 0, "two+0x13fe;two+0x8420");
}

static void test_naming__no_names_when_time_is_over(void **state)
{
	struct rig *rig = *state;
	struct message_summary summary;
	struct image_segment text;
	u64 frame = rig_seen_own(rig, landmark, &text) | FRAME_EXACT;
	char *stack;

	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_settle(rig);
	rig->tick = NAMING_BUDGET;
	assert_int_equal(session_finish(rig->session), 0);
	stack = rig_stack(rig, 0);
	assert_memory_equal(stack, "test (deleted)+0x", strlen("test (deleted)+0x"));
	free(stack);
	/* its mapping is described as usual */
	assert_int_equal(profile_object_get(session_profile(rig->session), 1)->start, text.address);
	assert_int_equal(profile_location_get(session_profile(rig->session), 1)->address,
			 rig_own_address(landmark));
	session_summary(rig->session, &summary);
	assert_int_equal(summary.without_names, 1);
}

static uint64_t text_offset(int fd)
{
	const struct image_segment *segments;
	uint64_t offset = 0;
	struct image *image;

	assert_int_equal(image_open(fd, &image), 0);
	for (size_t i = image_segments(image, &segments); i-- > 0;)
		if (segments[i].executable)
			offset = segments[i].file_offset;
	image_close(image);
	return offset;
}

/* Process 5 maps the file from its first byte on. */
static void map_file(struct rig *rig, int fd)
{
	static char path[32]; /* the rig keeps the pointer */

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rig_seen(rig, 5, 100, "40000000-40100000 r-xp 0 08:01 262144 /opt/x\n", path);
	rig->fake.identity.inode = 262144;
}

/* The clock goes on during the look-up of functions: the fourth look is too late. */
static void test_naming__time_is_over_within_an_object(void **state)
{
	struct rig *rig = *state;
	const struct build_go build = {.version = 20};
	struct message_summary summary;
	size_t size;
	unsigned char *bytes = build_go(&build, &size);
	int fd = fake_file(bytes, size);
	uint64_t text = PLACE + text_offset(fd);
	const u64 frames[] = {text | FRAME_EXACT, text + 0x21, text + 0x101, text + 0x111};

	free(bytes);
	map_file(rig, fd);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 4);
	rig_settle(rig);
	rig->tick = NAMING_BUDGET / 4 + 1;
	assert_int_equal(session_finish(rig->session), 0);
	rig_check_stack(rig, 0, "main.main;main.main;x+0x1100;x+0x1110");
	session_summary(rig->session, &summary);
	assert_int_equal(summary.without_names, 0);
	close(fd);
}

static const uint8_t drop_paths[NAMES_KINDS] = {[NAMES_PATH] = NAMES_DROP};
static const uint8_t drop_functions[NAMES_KINDS] = {[NAMES_FUNCTION] = NAMES_DROP};

/* Samples each function of a Go program whose source files look like names of the kernel. */
static void name_secret_sources(struct rig *rig)
{
	static const char strings[] = "\0[/secret1]\0[/secret2]\0[/secret3]";
	const struct build_go build = {
		.version = 20, .strings = strings, .strings_size = sizeof(strings)};
	size_t size;
	unsigned char *bytes = build_go(&build, &size);
	int fd = fake_file(bytes, size);
	uint64_t text = PLACE + text_offset(fd);
	const u64 frames[] = {text | FRAME_EXACT, text + 0x21, text + 0x101};

	free(bytes);
	map_file(rig, fd);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 3);
	rig_settle(rig);
	assert_int_equal(session_finish(rig->session), 0);
	close(fd);
}

static void test_naming__source_files_are_paths_of_the_target(void **state)
{
	struct rig *rig = *state;
	const struct profile *profile = session_profile(rig->session);

	name_secret_sources(rig);
	assert_true(profile_functions(profile) > 0);
	for (uint32_t id = 1; id <= profile_functions(profile); id++)
		assert_string_equal(
			profile_string_get(profile, profile_function_get(profile, id)->file),
			"[dropped]");
}

static void test_naming__no_sources_of_dropped_functions(void **state)
{
	struct rig *rig = *state;
	const struct profile *profile = session_profile(rig->session);

	name_secret_sources(rig);
	assert_true(profile_functions(profile) > 0);
	for (uint32_t id = 0; id < profile_strings(profile); id++)
		assert_null(strstr(profile_string_get(profile, id), "secret"));
}

#define LONG_NAMES 1200u

/* Makes symbols of 16 bytes each, with different names of the greatest length. */
static int file_of_long_names(void)
{
	static const struct build_symbols_table none;
	Elf64_Sym *symbols = calloc(LONG_NAMES, sizeof(*symbols));
	char *strings = malloc(2 * SYMBOL_NAME_MAX);
	const struct build_symbols_table table = {.symbols = symbols,
						  .symbols_size = LONG_NAMES * sizeof(*symbols),
						  .strings = strings,
						  .strings_size = 2 * SYMBOL_NAME_MAX};
	unsigned char *bytes;
	Elf64_Phdr *segment;
	size_t size;
	int fd;

	for (uint32_t i = 0; i < 2 * SYMBOL_NAME_MAX; i++)
		strings[i] = (char)('a' + (i * 2654435761u >> 16) % 26);
	for (uint32_t i = 0; i < LONG_NAMES; i++)
		symbols[i] = (Elf64_Sym){.st_name = i + 1,
					 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					 .st_shndx = 1,
					 .st_value = BUILD_SYMBOLS_TEXT + 16 * i,
					 .st_size = 16};
	bytes = build_symbols(&table, &none, &size);
	segment = (Elf64_Phdr *)(bytes + ((Elf64_Ehdr *)bytes)->e_phoff);
	segment->p_offset = BUILD_SYMBOLS_TEXT;
	segment->p_filesz = segment->p_memsz;
	fd = fake_file(bytes, size);
	assert_int_equal(ftruncate(fd, 0x20000), 0);
	free(bytes);
	free(strings);
	free(symbols);
	return fd;
}

static void test_naming__bytes_of_names_are_bounded(void **state)
{
	enum {
		FRAMES = 200
	};
	struct rig *rig = *state;
	const struct profile *profile = session_profile(rig->session);
	struct message_summary summary;
	uint64_t named = 0, bytes = 0;
	u64 frames[FRAMES];
	int fd = file_of_long_names();

	map_file(rig, fd);
	for (uint32_t i = 0; i < LONG_NAMES; i += FRAMES) {
		for (uint32_t j = 0; j < FRAMES; j++)
			frames[j] = PLACE + BUILD_SYMBOLS_TEXT + 16 * (i + j) + 4;
		rig_sample(rig, 5, 100, REASON_end_root, frames, 0, FRAMES);
		rig_settle(rig);
	}
	assert_int_equal(session_finish(rig->session), 0);
	for (uint32_t id = 1; id <= profile_functions(profile); id++) {
		const struct profile_function *function = profile_function_get(profile, id);

		named += function->named;
		if (function->named)
			bytes += strlen(profile_string_get(profile, function->name)) + 1;
		else
			assert_memory_equal(profile_string_get(profile, function->name), "x+0x", 4);
	}
	assert_int_equal(profile_functions(profile), LONG_NAMES);
	assert_in_range(named, 1000, LONG_NAMES - 1);
	assert_in_range(bytes, 1, NAMING_OBJECT_BYTES_MAX + SYMBOL_NAME_MAX);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.limit[LIMIT_symbols], 1);
	assert_int_equal(naming_failed(profile), 0);
	close(fd);
}

static void test_naming__no_file_no_names(void **state)
{
	struct rig *rig = *state;
	const u64 frames[] = {PLACE + 0x10, PLACE + 0x20};
	struct message_summary summary;
	struct session_totals totals;

	rig_seen(rig, 5, 100, "40000000-40001000 r-xp 5000 08:01 262144 /opt/gone\n", NULL);
	rig_sample(rig, 5, 100, REASON_end_root, frames, 0, 2);
	rig_settle(rig);
	session_finish(rig->session);
	rig_check_stack(rig, 0, "gone+0x500f;gone+0x501f");
	session_summary(rig->session, &summary);
	assert_int_equal(summary.without_names, 1);
	session_totals(rig->session, &totals);
	assert_int_equal(totals.objects_failed, 1);
}

static void test_naming__markers_are_names(void **state)
{
	struct rig *rig = *state;
	struct message_summary summary;
	u64 none = 0;

	rig_sample(rig, 5, 0, REASON_cut_compat, &none, 0, 0);
	rig_settle(rig);
	session_finish(rig->session);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.without_names, 0);
	assert_int_equal(summary.reason[REASON_cut_compat], 1);
}

static void test_naming__rendered(void **state)
{
	struct rig *rig = *state;
	const struct message_stop stop = {.started = 1, .stopped = 2};
	struct image_segment text;
	u64 frame = rig_seen_own(rig, landmark, &text) | FRAME_EXACT;
	char line[256] = "";
	int fd = fake_file("", 0);

	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_settle(rig);
	session_finish(rig->session);
	assert_int_equal(product_render(session_product(rig->session), &stop, fd), 0);
	assert_true(pread(fd, line, sizeof(line) - 1, 0) > 0);
	assert_string_equal(line, "thread;landmark 1\n");
	close(fd);
}

static size_t count_notes(struct rig *rig, const char **ret_last)
{
	const struct profile *profile = session_profile(rig->session);
	size_t count;
	const uint32_t *notes = profile_notes(profile, &count);

	if (count > 0)
		*ret_last = profile_string_get(profile, notes[count - 1]);
	return count;
}

/* The note is there for the drafts, and once in the end. */
static void test_naming__notes_that_processes_waited(void **state)
{
	struct rig *rig = *state;
	struct message_stop stop = {
		.started = 1, .stopped = 2, .waited = {.used = 1, .wall = 1000000000}};
	const char *note = "";

	assert_int_equal(product_stop(session_product(rig->session), &stop), 0);
	assert_int_equal(count_notes(rig, &note), 1);
	assert_int_equal(session_finish(rig->session), 0);
	assert_int_equal(count_notes(rig, &note), 1);
	assert_ptr_equal(strstr(note, "waited: "), note);
}

static void test_naming__notes_no_waiting_of_busy_processes(void **state)
{
	struct rig *rig = *state;
	struct message_stop stop = {
		.started = 1, .stopped = 2, .waited = {.used = 100000000, .wall = 1000000000}};
	const char *note;

	assert_int_equal(product_stop(session_product(rig->session), &stop), 0);
	assert_int_equal(session_finish(rig->session), 0);
	assert_int_equal(count_notes(rig, &note), 0);
}

/* ---- windows of a stream ---- */

static void check_window(struct rig *rig, const char *wanted)
{
	char line[512] = "";
	int fd = fake_file("", 0);

	while (product_name_some(session_product(rig->session)) > 0)
		;
	assert_int_equal(product_render_window(session_product(rig->session), fd), 0);
	assert_true(pread(fd, line, sizeof(line) - 1, 0) >= 0);
	assert_string_equal(line, wanted);
	close(fd);
}

/* Each sample is in one window, and a place keeps its first name. */
static void test_naming__windows(void **state)
{
	struct rig *rig = *state;
	struct message_summary summary;
	struct session_totals totals;
	struct image_segment text;
	u64 frame = rig_seen_own(rig, landmark, &text) | FRAME_EXACT, none = 0;

	check_window(rig, "");
	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_settle(rig);
	check_window(rig, "thread;landmark 2\n");
	check_window(rig, "");
	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_sample(rig, 5, 0, REASON_cut_compat, &none, 0, 0);
	rig_settle(rig);
	check_window(rig, "thread;[cut: compat] 1\nthread;landmark 1\n");
	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_settle(rig);
	assert_int_equal(session_finish(rig->session), 0);
	session_summary(rig->session, &summary);
	assert_int_equal(summary.reason[REASON_end_root], 4);
	session_totals(rig->session, &totals);
	assert_int_equal(totals.names.named[NAMED_BY_TABLES], 1);
}

/* The names of a stream stay bounded. */
static void test_naming__windows_begin_anew(void **state)
{
	struct rig *rig = *state;
	const unsigned int depth = RECORD_KERNEL_FRAMES_MAX;
	u64 frames[RECORD_KERNEL_FRAMES_MAX], frame;
	struct image_segment text;
	char wanted[64];

	frame = rig_seen_own(rig, landmark, &text) | FRAME_EXACT;
	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_settle(rig);
	check_window(rig, "thread;landmark 1\n");
	for (unsigned int i = 0; i <= WINDOW_LOCATIONS_MAX / depth; i++) {
		for (unsigned int j = 0; j < depth; j++)
			frames[j] = KERNEL_FRAME(0, 16 * (i * depth + j + 1));
		rig_sample(rig, 5, 100, REASON_end_no_user, frames, (uint16_t)depth, 0);
		rig_turn(rig);
	}
	rig_settle(rig);
	assert_true(profile_locations(session_profile(rig->session)) > WINDOW_LOCATIONS_MAX);
	assert_true(product_name_some(session_product(rig->session)) >= 0);
	assert_int_equal(product_render_window(session_product(rig->session), fake_file("", 0)), 0);
	assert_int_equal(profile_locations(session_profile(rig->session)), 0);
	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_sample(rig, 5, 100, REASON_end_no_user, frames, 1, 0);
	rig_settle(rig);
	snprintf(wanted, sizeof(wanted), "thread;[kernel]+0x%llx_[k] 1\nthread;landmark 1\n",
		 16ull * (WINDOW_LOCATIONS_MAX / depth * depth + 1));
	check_window(rig, wanted);
}

/* Counts the times in a window of OTLP as JSON; -1: there is no byte. */
static int times_of_window(struct rig *rig)
{
	static char text[65536];
	int fd = fake_file("", 0), count = 0;
	const char *at;
	ssize_t size;

	while (product_name_some(session_product(rig->session)) > 0)
		;
	assert_int_equal(product_render_window(session_product(rig->session), fd), 0);
	size = pread(fd, text, sizeof(text) - 1, 0);
	assert_true(size >= 0);
	text[size] = '\0';
	close(fd);
	if (size == 0)
		return -1;
	assert_null(strstr(text, "\"values\""));
	at = strstr(text, "\"timestampsUnixNano\":[");
	assert_non_null(at);
	for (; *at && *at != ']'; at++)
		count += *at == '\"';
	return count / 2 - 1; /* without the key */
}

/* Receivers refuse a request without samples. Each window has the times of its own samples. */
static void test_naming__windows_of_otlp(void **state)
{
	struct rig *rig = *state;
	struct image_segment text;
	u64 frame;

	rig->parts.config.format = FORMAT_otlp_json;
	rig_restart(rig, 1);
	frame = rig_seen_own(rig, landmark, &text) | FRAME_EXACT;
	assert_int_equal(times_of_window(rig), -1);
	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_settle(rig);
	assert_int_equal(times_of_window(rig), 2);
	assert_int_equal(times_of_window(rig), -1);
	rig_sample(rig, 5, 100, REASON_end_root, &frame, 0, 1);
	rig_settle(rig);
	assert_int_equal(times_of_window(rig), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(test_naming__symbols_of_a_file),
		RIG_TEST(test_naming__one_mapping_for_all_text),
		RIG_TEST(test_naming__a_draft_has_addresses),
		RIG_TEST(test_naming__a_draft_comes_before_the_names),
		RIG_TEST(test_naming__drafts_before_long_work),
		RIG_TEST(test_naming__two_segments_share_a_page),
		RIG_TEST(test_naming__no_names_when_time_is_over),
		RIG_TEST(test_naming__time_is_over_within_an_object),
		RIG_TEST_NAMES(test_naming__source_files_are_paths_of_the_target, drop_paths),
		RIG_TEST_NAMES(test_naming__no_sources_of_dropped_functions, drop_functions),
		RIG_TEST(test_naming__bytes_of_names_are_bounded),
		RIG_TEST(test_naming__no_file_no_names),
		RIG_TEST(test_naming__markers_are_names),
		RIG_TEST(test_naming__rendered),
		RIG_TEST(test_naming__windows_of_otlp),
		RIG_TEST(test_naming__notes_that_processes_waited),
		RIG_TEST(test_naming__notes_no_waiting_of_busy_processes),
		RIG_TEST(test_naming__windows),
		RIG_TEST(test_naming__windows_begin_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
