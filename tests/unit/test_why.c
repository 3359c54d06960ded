/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/runtimes.h"
#include "bpf/abi.h"
#include "tests/unit/session_rig.h"
#include "worker/why/why.h"
#include "worker/process/parser.h"
#include "profile/profile.h"
#include "worker/why/sources.h"

#define HEADINGS "ended%  self%  mapping              rules       rows  names          lines\n"

static const struct profile_times times = {.period = 10000000, .duration_ns = 5000000000};

/* ---- made-up profiles ---- */

static uint32_t add_object(struct profile *profile, const char *name, const char *build_id,
			   enum profile_kind kind)
{
	const struct profile_object object = {
		.name = profile_string(profile, name),
		.build_id = build_id ? profile_string(profile, build_id) : 0,
		.kind = kind,
	};

	return profile_object_add(profile, &object);
}

static uint32_t add_frame(struct profile *profile, uint32_t object, uint64_t address, bool named)
{
	uint32_t id = profile_location_add(profile, object, address);
	const struct profile_function function = {
		.name = profile_string(profile, "function"),
		.object = object,
		.start = address,
		.named = named,
	};

	profile_location_get(profile, id)->function = profile_function_add(profile, &function);
	return id;
}

static void add_sample(struct profile *profile, uint32_t pid, uint32_t reason, uint64_t count,
		       const uint32_t *stack, size_t depth)
{
	const struct profile_sample sample = {
		.pid = pid,
		.tid = pid,
		.reason = reason,
		.count = count,
		.stack = profile_stack_add(profile, stack, depth),
	};

	assert_int_equal(profile_sample_add(profile, &sample), 0);
}

static char *render(const struct profile *profile, const struct sources *sources)
{
	int fd = memfd_create("why", MFD_CLOEXEC);
	char *text;
	off_t size;

	assert_int_equal(why_render(profile, sources, &times, fd), 0);
	size = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)size, 0), size);
	close(fd);
	return text;
}

static void check_text(const struct profile *profile, const struct sources *sources,
		       const char *wanted)
{
	char *text = render(profile, sources);

	assert_string_equal(text, wanted);
	free(text);
}

/* Checks that the text fits a screen, whatever its content. */
static unsigned int check_screen(const char *text)
{
	unsigned int lines = 0;
	size_t column = 0;

	for (; *text; text++) {
		if (*text == '\n') {
			lines++;
			column = 0;
			continue;
		}
		assert_in_range((unsigned char)*text, ' ', '~');
		assert_true(++column <= WHY_COLUMNS);
	}
	assert_true(lines <= WHY_LINES);
	return lines;
}

/* ---- rendering ---- */

static void test_why__a_process(void **state)
{
	struct profile *profile = profile_new();
	uint32_t app = add_object(profile, "/usr/bin/app", "0123456789abcdef", KIND_NATIVE);
	uint32_t plain = add_object(profile, "/lib/libplain.so.1", NULL, KIND_NATIVE);
	uint32_t kernel = add_object(profile, "[kernel]", NULL, KIND_KERNEL);
	uint32_t mark = add_object(profile, "[cut: no_rule]", NULL, KIND_MARKER);
	uint32_t unused = add_object(profile, "/lib/libunused.so", "ff", KIND_NATIVE);
	uint32_t main_at = add_frame(profile, app, 1, true);
	uint32_t inside = add_frame(profile, plain, 2, false);
	uint32_t system = add_frame(profile, kernel, 3, true);
	uint32_t cut = add_frame(profile, mark, 0, true);
	const uint32_t whole[] = {system, inside, main_at}, part[] = {inside, cut};
	struct source items[] = {
		{.object = app,
		 .mappings = 1,
		 .rules = RULES_EH_FRAME,
		 .rows = 4711,
		 .is_private = true,
		 .names = NAMES_SYMTAB,
		 .lines = LINES_DWARF},
		{.object = plain,
		 .mappings = 2,
		 .rules = RULES_NONE,
		 .names = NAMES_DYNSYM,
		 .lines = LINES_NONE},
		{.object = unused,
		 .mappings = 1,
		 .rules = RULES_EH_FRAME,
		 .rows = 12345678,
		 .names = NAMES_DEBUGDATA,
		 .lines = LINES_DEBUG_FILE},
	};
	const struct sources sources = {.pid = 7,
					.name = profile_string(profile, "app"),
					.listed = true,
					.items = items,
					.count = 3};

	(void)state;
	add_sample(profile, 7, REASON_end_root, 30, whole, 3);
	add_sample(profile, 7, REASON_cut_no_rule, 10, part, 2);
	add_sample(profile, 8, REASON_cut_no_rule, 5, part, 2);
	check_text(profile, &sources,
		   "app 7: 40 samples in 5.0 s, 30 complete (75.00 %), 10 cut\n"
		   "not shown: 5 samples of its children\n" HEADINGS
		   "  75.0    0.0  app                  .eh_frame   4711  .symtab        DWARF\n"
		   "  end_root 30                          0123456789abcdef\n"
		   "  25.0  100.0  libplain.so.1 (2)    none           0  .dynsym        none\n"
		   "  cut_no_rule 10                       no build id\n"
		   "               1 more mapping without samples\n"
		   "cut_no_rule: no unwind rule and no usable frame pointer\n"
		   "libplain.so.1: no unwind rules, frame pointers are followed: build with\n"
		   "    -fasynchronous-unwind-tables, or with -fno-omit-frame-pointer\n"
		   "names of libplain.so.1: install debug symbols (Debian: libc6-dbg,\n"
		   "    PACKAGE-dbgsym), or --debug-dir DIR with .build-id/xx/rest.debug;\n"
		   "    debuginfod-find debuginfo BUILD-ID fetches one\n"
		   "lines of libplain.so.1: in the same debug symbols; of what you build: -g\n"
		   "lines of app: not everybody may read the file, so record adds none: chmod "
		   "o+r,\n"
		   "    or keyhole symbolize FILE as who may\n");
	profile_free(profile);
}

/* Only an unknown place is a frame of the process: marks have no row. */
static void test_why__marks_are_no_mappings(void **state)
{
	struct profile *profile = profile_new();
	uint32_t app = add_object(profile, "/usr/bin/app", "0123456789abcdef", KIND_NATIVE);
	uint32_t guess = add_object(profile, "[guessed]", NULL, KIND_MARKER);
	uint32_t cut = add_object(profile, "[cut: kernel stack]", NULL, KIND_MARKER);
	uint32_t unknown = add_object(profile, PROFILE_UNKNOWN, NULL, KIND_MARKER);
	uint32_t leaf = add_frame(profile, app, 1, true), caller = add_frame(profile, app, 2, true);
	const uint32_t guessed[] = {leaf, add_frame(profile, guess, 0, true), caller};
	const uint32_t lost[] = {add_frame(profile, cut, 0, true),
				 add_frame(profile, unknown, 0, true)};
	struct source source = {.object = app,
				.mappings = 1,
				.rules = RULES_EH_FRAME,
				.names = NAMES_SYMTAB,
				.lines = LINES_DWARF};
	const struct sources sources = {.pid = 7, .listed = true, .items = &source, .count = 1};
	char *text;

	(void)state;
	add_sample(profile, 7, REASON_guess_root, 10, guessed, 3);
	add_sample(profile, 7, REASON_cut_no_mapping, 10, lost, 2);
	text = render(profile, &sources);
	assert_null(strstr(text, "[guessed]"));
	assert_null(strstr(text, "[cut"));
	assert_non_null(strstr(text, "\n  50.0   50.0  app "));
	assert_non_null(strstr(text, "\n  50.0   50.0  [unknown]\n"));
	free(text);
	profile_free(profile);
}

static void test_why__without_samples(void **state)
{
	struct profile *profile = profile_new();
	uint32_t app = add_object(profile, "/mnt/app", NULL, KIND_NATIVE);
	uint32_t anonymous = add_object(profile, "[anon]", NULL, KIND_NATIVE);
	struct source items[] = {
		{.object = app,
		 .mappings = 1,
		 .device = makedev(0, 45),
		 .error = -EACCES,
		 .rules = RULES_NOT_READ,
		 .names = NAMES_NOT_READ,
		 .lines = LINES_NOT_READ},
		{.object = anonymous, .mappings = 1, .anonymous = true},
	};
	struct sources sources = {.pid = 7,
				  .name = profile_string(profile, "app"),
				  .listed = true,
				  .items = items,
				  .count = 2};

	(void)state;
	check_text(profile, &sources,
		   "app 7: no samples in 5.0 s: it slept\n" HEADINGS
		   "     -      -  app                  not read       0  not read       not read\n"
		   "                                       no build id\n"
		   "     -      -  [anon]               none           0  none           none\n"
		   "app: refused: no regular file, open for writing, or on a file system that may\n"
		   "    not answer (0:45 in /proc/7/mountinfo; fuse, nfs, 9p ...): copy it to a\n"
		   "    local disk\n");
	sources.count = 0;
	sources.ended = true;
	check_text(profile, &sources,
		   "app 7: no samples in 5.0 s: it has ended\n"
		   "no mappings: it is a kernel thread, or was over before they could be listed\n");
	sources.pid = 0;
	check_text(
		profile, &sources,
		"nothing is known of it: it used no CPU time and is a kernel thread, or is over;\n"
		"    or its mappings (/proc/PID/maps) may not be read; or a rule of the policy\n"
		"    denies it (keyhole check-config)\n");
	profile_free(profile);
}

static void test_why__a_kernel_thread(void **state)
{
	struct profile *profile = profile_new();
	uint32_t kernel = add_object(profile, "[kernel]", NULL, KIND_KERNEL);
	uint32_t system = add_frame(profile, kernel, 3, true);
	const struct sources sources = {.pid = 2, .name = profile_string(profile, "kthreadd")};

	(void)state;
	add_sample(profile, 2, REASON_end_no_user, 9, &system, 1);
	check_text(profile, &sources,
		   "kthreadd 2: 9 samples in 5.0 s, 9 complete (100.00 %), 0 cut\n" HEADINGS
		   " 100.0    0.0  (no frame)\n"
		   "  end_no_user 9\n"
		   "no mappings: it is a kernel thread, or was over before they could be listed\n");
	profile_free(profile);
}

/* Checks the advice on a profile of one object. */
static void check_advice(const struct source *about, uint32_t reason, bool named,
			 const char *wanted)
{
	struct profile *profile = profile_new();
	struct source source = *about;
	const struct sources sources = {.pid = 7, .listed = true, .items = &source, .count = 1};
	uint32_t frame;
	char *text;

	source.object = add_object(profile, "/usr/bin/app", "0123456789abcdef", KIND_NATIVE);
	source.mappings = 1;
	frame = add_frame(profile, source.object, 1, named);
	add_sample(profile, 7, reason, 10, &frame, 1);
	text = render(profile, &sources);
	assert_non_null(strstr(text, "0123456789abcdef\n"));
	assert_string_equal(strstr(text, "0123456789abcdef\n") + 17, wanted);
	free(text);
	profile_free(profile);
}

/* Shown are all functions but those of code that is none. */
static void test_why__unverified_frames(void **state)
{
	struct source source = {.rules = RULES_EH_FRAME,
				.names = NAMES_SYMTAB,
				.lines = LINES_DWARF,
				.runtime = RUNTIME_CPYTHON,
				.version = 0x030b02f0};
	struct sources sources = {
		.pid = 7, .listed = true, .grant = GRANT_GIVEN, .items = &source, .count = 1};
	struct profile *profile = profile_new();
	uint32_t frame;
	char *text;

	(void)state;
	source.object = add_object(profile, "/usr/bin/python3.11", "0123456789abcdef", KIND_NATIVE);
	source.mappings = 1;
	frame = add_frame(profile, source.object, 1, true);
	add_sample(profile, 7, REASON_end_root, 10, &frame, 1);
	text = render(profile, &sources);
	assert_non_null(strstr(text, "functions are\n    shown\n"));
	free(text);
	sources.unverified = 12;
	text = render(profile, &sources);
	assert_non_null(strstr(
		text, "are\n    shown, but 12 frames are unverified: no objects of its types\n"));
	free(text);
	sources.unverified = 0;
	source.lacks_traces = true;
	text = render(profile, &sources);
	assert_non_null(strstr(text, "are\n    shown, but where a trace runs, only that"));
	free(text);
	profile_free(profile);
}

static void test_why__samples_that_lack_functions(void **state)
{
	struct profile *profile = profile_new();
	const struct profile_function missing = {.name = profile_string(profile, PROFILE_CUT_LIST)};
	struct source source = {.rules = RULES_EH_FRAME,
				.names = NAMES_SYMTAB,
				.lines = LINES_DWARF,
				.runtime = RUNTIME_HOTSPOT,
				.version = 0x15000000,
				.is_described = true,
				.mappings = 1};
	struct sources sources = {
		.pid = 7, .listed = true, .grant = GRANT_GIVEN, .items = &source, .count = 1};
	uint32_t stack[2];
	char *text;

	(void)state;
	source.object = add_object(profile, "/usr/lib/libjvm.so", "0123456789abcdef", KIND_NATIVE);
	stack[1] = add_frame(profile, source.object, 1, true);
	add_sample(profile, 7, REASON_end_root, 90, &stack[1], 1);
	stack[0] = profile_location_add(profile, add_object(profile, "[marker]", NULL, KIND_MARKER),
					1);
	profile_location_get(profile, stack[0])->function = profile_function_add(profile, &missing);
	add_sample(profile, 7, REASON_end_root, 10, stack, 2);
	text = render(profile, &sources);
	assert_non_null(strstr(text, "10 samples lack some ([cut: functions])"));
	free(text);
	profile_free(profile);
}

#define NO_RULE "cut_no_rule: no unwind rule and no usable frame pointer\n"

static void test_why__advice_on_rules(void **state)
{
	struct source source = {
		.rules = RULES_EH_FRAME, .names = NAMES_SYMTAB, .lines = LINES_DWARF};

	(void)state;
	check_advice(&source, REASON_end_root, true, "");
	check_advice(
		&source, REASON_cut_no_rule, true,
		NO_RULE
		"app: some of its code has no unwind rules, frame pointers are followed there:\n"
		"    build all of it with -fasynchronous-unwind-tables, or with\n"
		"    -fno-omit-frame-pointer\n");
	source.rules = RULES_EH_FRAME_DEBUG;
	check_advice(
		&source, REASON_cut_no_rule, true,
		NO_RULE
		"app: some of its code has no unwind rules, frame pointers are followed there:\n"
		"    build all of it with -fasynchronous-unwind-tables, or with\n"
		"    -fno-omit-frame-pointer\n");
	source.rules = RULES_GO;
	source.names = NAMES_GO;
	source.lines = LINES_GO;
	check_advice(&source, REASON_cut_no_rule, true,
		     NO_RULE
		     "app: Go's table does not say what called where its runtime changes stacks\n"
		     "    (runtime.systemstack, time.now, calls of C): nothing is to be done\n");
	source.rules = RULES_EH_FRAME_GO;
	check_advice(&source, REASON_cut_no_rule, true,
		     NO_RULE
		     "app: Go's table does not say what called where its runtime changes stacks\n"
		     "    (runtime.systemstack, time.now, calls of C): nothing is to be done\n");
	source.rules = RULES_NONE;
	check_advice(
		&source, REASON_cut_no_rule, true,
		NO_RULE
		"app: Go's frame pointers are followed, which do not say where a goroutine\n"
		"    begins; its own table does, of Go 1.18 and newer: build it with such a Go\n");
}

static void test_why__advice_on_cpu_time(void **state)
{
	struct source source = {
		.rules = RULES_OVERDRAWN, .names = NAMES_SYMTAB, .lines = LINES_DWARF};
	static const char waits[] =
		"app: not parsed yet: its cgroup, or its owner, has used up the CPU time for\n"
		"    parsing (3 s at once, then 10 % of a CPU): give it more time: -d 60\n";

	(void)state;
	check_advice(&source, REASON_end_root, true, waits);
	source.rules = RULES_NOT_READ;
	source.error = -EDQUOT;
	check_advice(&source, REASON_end_root, true, waits);
	source.rules = RULES_GIVEN_UP;
	source.error = 0;
	check_advice(&source, REASON_end_root, true,
		     "app: given up: parsing it takes more than 6 s of CPU time\n");
}

static void test_why__advice_on_names_and_lines(void **state)
{
	struct source source = {
		.rules = RULES_EH_FRAME, .names = NAMES_SYMTAB, .lines = LINES_NONE};

	(void)state;
	check_advice(&source, REASON_end_root, true,
		     "lines of app: install debug symbols (Debian: libc6-dbg, PACKAGE-dbgsym), or\n"
		     "    --debug-dir DIR; of what you build: -g\n");
	source.no_build_id = true;
	check_advice(&source, REASON_end_root, true,
		     "lines of app: no build id to find debug symbols by: build with -g\n");
	source.names = NAMES_DYNSYM;
	check_advice(
		&source, REASON_end_root, false,
		"names of app: no build id to find debug symbols by: do not strip it, or link "
		"it\n    with -Wl,--build-id; or objcopy --add-gnu-debuglink, and --debug-dir\n"
		"lines of app: in the same debug symbols; of what you build: -g\n");
	source.names = NAMES_SYMTAB;
	source.lines = LINES_DWARF;
	source.split = true;
	check_advice(&source, REASON_end_root, true,
		     "inlined functions of app: in .dwo files, which are not read: build without\n"
		     "    -gsplit-dwarf\n");
}

/* Targets choose names and numbers of everything. */
static void test_why__hostile_names_fit_a_screen(void **state)
{
	struct profile *profile = profile_new();
	struct source items[200] = {0};
	struct sources sources = {.pid = 7, .listed = true, .items = items, .count = 200};
	char name[5000], id[129];
	char *text;

	(void)state;
	memset(id, 'f', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	sources.name = profile_string(profile, "\033]0;x\007\n\r\xe2\x80\xae\xff");
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t frame;

		snprintf(name, sizeof(name), "/x/\033[2J%u\n\xf0\x9f\x92\xa9\xe4\xb8\xad", i);
		if (i % 3 == 0) {
			memset(name, i % 2 ? 'a' : ' ', sizeof(name) - 1);
			snprintf(name + sizeof(name) - 6, 6, "%u", i);
		}
		items[i] = (struct source){
			.object = add_object(profile, name, i % 2 ? id : NULL, KIND_NATIVE),
			.mappings = i % 5 ? UINT32_MAX : 0,
			.rows = UINT32_MAX,
			.device = UINT64_MAX,
			.error = i % 7 == 0   ? -EACCES
				 : i % 7 == 1 ? -EIO
					      : 0,
			.rules = (enum source_rules)(i % 7),
			.names = (enum source_names)(i % 7),
			.lines = (enum source_lines)(i % 5),
		};
		frame = add_frame(profile, items[i].object, i, false);
		for (uint32_t reason = 0; reason < REASON_COUNT; reason++)
			add_sample(profile, 7, reason, UINT32_MAX + (uint64_t)i, &frame, 1);
	}
	text = render(profile, &sources);
	assert_true(check_screen(text) > 15);
	assert_non_null(strstr(text, "194 more with samples, 0 without\n"));
	assert_non_null(strstr(text, " more things to do\n"));
	free(text);
	/* the same, of a process that slept */
	sources.pid = UINT32_MAX;
	text = render(profile, &sources);
	check_screen(text);
	assert_non_null(strstr(text, "154 more mappings without samples\n"));
	free(text);
	profile_free(profile);
}

/* ---- where it comes from ---- */

#define MAPS                                                         \
	"10000000-10400000 r-xp 00000000 08:01 65536 /bin/program\n" \
	"20000000-20001000 r-xp 00000000 00:00 0 \n"                 \
	"20002000-20003000 r-xp 00000000 00:00 0 \n"

static char *ask_session(struct rig *rig)
{
	const struct message_stop stop = {.started = 1, .stopped = 5000000001};
	int fd = memfd_create("why", MFD_CLOEXEC);
	char *text = calloc(1, 4096);

	assert_non_null(text);
	assert_int_equal(session_finish(rig->session), 0);
	assert_int_equal(product_render(session_product(rig->session), &stop, fd), 0);
	assert_true(pread(fd, text, 4095, 0) > 0);
	close(fd);
	check_screen(text);
	return text;
}

static void begin(struct rig *rig)
{
	session_free(rig->session);
	rig->segment = fake_segment();
	rig->parts.config.flags |= OPTIONS_WHY;
	assert_int_equal(session_new(&rig->parts, &rig->session), 0);
	assert_int_equal(session_attach_segment(rig->session, rig->segment), 0);
}

/* Explains this very program, which still has all its symbols and debug information. */
static void test_why__session(void **state)
{
	static const u64 frames[] = {0x10000100 | FRAME_EXACT, 0x20000100};
	struct rig *rig = *state;
	char *text;

	begin(rig);
	rig_seen(rig, 5, 100, MAPS, "/proc/self/exe");
	rig_sample(rig, 5, 100, REASON_cut_no_rule, frames, 0, 2);
	rig_sample(rig, 6, 101, REASON_end_root, frames, 0, 1);
	rig_settle(rig);
	text = ask_session(rig);
	assert_non_null(strstr(text, "thread 5: 1 samples in 5.0 s, 0 complete"));
	assert_non_null(strstr(text, "not shown: 1 samples of its children\n"));
	assert_non_null(strstr(text, " 100.0    0.0  [anon] (2)           none           0  none"));
	assert_non_null(strstr(text, "   0.0  100.0  program              .eh_frame"));
	assert_non_null(strstr(text, ".symtab        DWARF\n"));
	free(text);
}

static void test_why__session_of_a_sleeper(void **state)
{
	struct rig *rig = *state;
	char *text;

	begin(rig);
	rig_seen(rig, 5, 100, MAPS, "/proc/self/exe");
	rig_settle(rig);
	text = ask_session(rig);
	assert_non_null(strstr(text, "program 5: no samples in 5.0 s: it slept\n"));
	assert_non_null(strstr(text, "     -      -  program              .eh_frame"));
	assert_non_null(strstr(text, "     -      -  [anon] (2)           none "));
	free(text);
}

static void test_why__session_without_the_file(void **state)
{
	struct rig *rig = *state;
	char *text;

	begin(rig);
	rig_seen(rig, 5, 100, MAPS, "/dev/null");
	rig_settle(rig);
	rig_event(rig, EVENT_EXIT, 5, 100, 0, 0);
	rig_settle(rig);
	text = ask_session(rig);
	assert_non_null(strstr(text, "program 5: no samples in 5.0 s: it has ended\n"));
	assert_non_null(strstr(text, "program              not read       0  not read "));
	assert_non_null(strstr(text, "program: could not be read: "));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_why__a_process),
		cmocka_unit_test(test_why__marks_are_no_mappings),
		cmocka_unit_test(test_why__without_samples),
		cmocka_unit_test(test_why__a_kernel_thread),
		cmocka_unit_test(test_why__unverified_frames),
		cmocka_unit_test(test_why__samples_that_lack_functions),
		cmocka_unit_test(test_why__advice_on_rules),
		cmocka_unit_test(test_why__advice_on_cpu_time),
		cmocka_unit_test(test_why__advice_on_names_and_lines),
		cmocka_unit_test(test_why__hostile_names_fit_a_screen),
		RIG_TEST(test_why__session),
		RIG_TEST(test_why__session_of_a_sleeper),
		RIG_TEST(test_why__session_without_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
