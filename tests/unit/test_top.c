/* SPDX-License-Identifier: Apache-2.0 */
/* keyhole top without its processes: sums over windows, keys, and the screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "tests/unit/build_profile.h"
#include "view/top/canvas.h"
#include "view/top/members.h"
#include "view/top/ui.h"
#include "base/columns.h"
#include "base/intern.h"
#include "base/runtimes.h"
#include "profile/format/format.h"
#include "profile/profile.h"

#define LINES 24

/* ---- profiles ---- */

struct made {
	const char *process, *thread;
	const char *stack[6]; /* innermost first */
	uint32_t pid, tid, reason;
	uint64_t count;
};

static void add(struct profile *profile, const struct made *made)
{
	struct profile_sample sample = {
		.pid = made->pid,
		.tid = made->tid ? made->tid : made->pid,
		.process_name = profile_string(profile, made->process),
		.thread_name = profile_string(profile, made->thread ? made->thread : made->process),
		.reason = made->reason ? made->reason : REASON_end_root,
		.count = made->count,
	};
	uint32_t stack[6];
	size_t depth = 0;
	char path[64];

	snprintf(path, sizeof(path), "/usr/bin/%s", made->process);
	for (; depth < 6 && made->stack[depth]; depth++)
		stack[depth] = build_profile_location(profile, path, made->stack[depth]);
	sample.stack = profile_stack_add(profile, stack, depth);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
}

static const char *note; /* of the profiles that render() makes; NULL: none */

static unsigned char *render(const struct made *made, size_t count, size_t *ret_size)
{
	struct profile *profile = profile_new();
	unsigned char *bytes;

	for (size_t i = 0; i < count; i++)
		add(profile, &made[i]);
	if (note)
		assert_int_equal(profile_note_add(profile, note), 0);
	bytes = build_profile_render(&format_pprof, profile, false, ret_size);
	assert_non_null(bytes);
	profile_free(profile);
	return bytes;
}

static int take(void *ui, const unsigned char *bytes, size_t size)
{
	return ui_add(ui, bytes, size);
}

/* Sends the profile through a stream, in pieces. */
static void feed(struct ui *ui, const struct made *made, size_t count)
{
	struct members *members = members_new();
	size_t size, piece;
	unsigned char *bytes = render(made, count, &size);

	for (size_t at = 0; at < size; at += piece) {
		piece = size - at < 7 ? size - at : 7;
		assert_int_equal(members_feed(members, bytes + at, piece, take, ui), 0);
	}
	free(bytes);
	members_free(members);
}
#define FEED(ui, made) feed(ui, made, sizeof(made) / sizeof((made)[0]))

static const struct made ordinary[] = {
	{.process = "app", .pid = 100, .stack = {"hot", "work", "main"}, .count = 60},
	{.process = "app",
	 .pid = 100,
	 .tid = 101,
	 .thread = "helper",
	 .stack = {"cold", "work", "main"},
	 .count = 20},
	{.process = "other", .pid = 200, .stack = {"idle", "main"}, .count = 20},
};

static struct ui ui;

static int setup(void **state)
{
	(void)state;
	note = NULL;
	assert_int_equal(ui_init(&ui, 4), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ui_release(&ui);
	return 0;
}

static void key(int pressed)
{
	assert_int_equal(ui_key(&ui, pressed), 0);
}

static void keys(const char *pressed)
{
	for (; *pressed; pressed++)
		key(*pressed);
}

static const char *row_name(size_t index)
{
	assert_true(index < ui.table.count);
	return history_name(&ui.history, ui.table.rows[index].name);
}

/* ---- a screen ---- */

static char screen[LINES * 2][1024];
static size_t drawn;

/* Checks that the screen has only our own sequences, and no line longer than its width. */
static void draw(unsigned int columns, unsigned int lines)
{
	struct canvas canvas = {
		.columns = columns, .lines = lines, .escapes = true, .colour = true};
	size_t length = 0;

	ui_draw(&ui, &canvas);
	assert_false(canvas.failed);
	memset(screen, 0, sizeof(screen));
	drawn = 0;
	for (size_t i = 0; i < canvas.size; i++) {
		unsigned char byte = (unsigned char)canvas.bytes[i];

		if (byte == '\033') {
			assert_int_equal(canvas.bytes[++i], '[');
			while (strchr("0123456789;", canvas.bytes[i + 1]))
				i++;
			assert_non_null(strchr("HKm", canvas.bytes[++i]));
		} else if (byte == '\n') {
			drawn++;
			length = 0;
		} else if (byte != '\r') {
			assert_true(byte >= 0x20 && byte != 0x7f);
			screen[drawn][length++] = (char)byte;
		}
	}
	drawn++;
	assert_int_equal(drawn, lines);
	for (size_t i = 0; i < drawn; i++)
		assert_true(columns_of(screen[i]) <= columns);
	canvas_release(&canvas);
}

static bool is_on_screen(const char *text)
{
	for (size_t i = 0; i < drawn; i++)
		if (strstr(screen[i], text))
			return true;
	return false;
}

/* ---- tests ---- */

static void test_top__functions(void **state)
{
	const struct top_row *rows;

	(void)state;
	FEED(&ui, ordinary);
	assert_int_equal(ui.table.sum, 100);
	assert_int_equal(ui.table.count, 6); /* main() of two programs */
	rows = ui.table.rows;
	assert_string_equal(row_name(0), "hot");
	assert_int_equal(rows[0].amount.self, 60);
	assert_int_equal(rows[0].amount.total, 60);
	key('s');
	assert_string_equal(row_name(0), "main");
	assert_int_equal(ui.table.rows[0].amount.total, 80);
	assert_int_equal(ui.table.rows[0].amount.self, 0);
	draw(80, LINES);
	assert_non_null(strstr(screen[4], "main"));
	assert_non_null(strstr(screen[4], "80.0%"));
	assert_non_null(strstr(screen[4], "app"));
	assert_true(is_on_screen("100.0 % of stacks complete"));
}

/* Tables of functions name the runtime with most samples among those that the table shows. */
static void test_top__names_the_runtime(void **state)
{
	static const struct made made[] = {
		{.process = "python", .pid = 100, .stack = {"hot", "main"}, .count = 80},
		{.process = "other", .pid = 200, .stack = {"idle", "main"}, .count = 20},
	};
	struct canvas canvas = {.columns = 80, .lines = LINES};
	char text[RUNTIME_NOTE_BYTES];

	(void)state;
	runtime_note(text, RUNTIME_CPYTHON, "python", 80);
	note = text;
	FEED(&ui, made);
	draw(100, LINES);
	assert_true(
		is_on_screen("runtime: python, 80 % of samples: the interpreter's own functions, "
			     "not the script's (CPython: keyh.."));
	assert_true(is_on_screen("hot"));
	draw(40, 6); /* with room for one row */
	assert_true(is_on_screen("hot"));
	keys("p");
	draw(100, LINES);
	assert_false(is_on_screen("runtime"));
	key(KEY_ENTER);
	draw(100, LINES);
	assert_true(is_on_screen("runtime: python, 100 % of samples: "));
	keys("p");
	key(KEY_DOWN);
	key(KEY_ENTER);
	draw(100, LINES);
	assert_true(is_on_screen("idle"));
	assert_false(is_on_screen("runtime"));
	keys("f");
	ui_draw(&ui, &canvas);
	assert_non_null(memmem(canvas.bytes, canvas.size, "program's functions are shown)\n", 31));
	canvas_release(&canvas);
}

static void test_top__recursion_counts_once(void **state)
{
	static const struct made made[] = {{.process = "app",
					    .pid = 1,
					    .stack = {"leaf", "fib", "fib", "fib", "main"},
					    .count = 8}};

	(void)state;
	FEED(&ui, made);
	key('s');
	assert_int_equal(ui.table.rows[0].amount.total, 8);
	assert_int_equal(ui.table.count, 3);
	keys("/fib\r\r"); /* the outermost caller and the innermost callee */
	assert_int_equal(ui.table.count, 3);
	assert_string_equal(row_name(0), "main");
	assert_string_equal(row_name(1), "fib");
	assert_string_equal(row_name(2), "leaf");
	assert_int_equal(ui.table.rows[2].amount.self, 8);
}

static void test_top__sums_of_windows(void **state)
{
	(void)state;
	/* each is of 2 s (build_profile_times) */
	for (int i = 0; i < 40; i++)
		FEED(&ui, ordinary);
	assert_int_equal(ui.table.samples, 300); /* 5 s: three of them */
	key('+');
	assert_int_equal(ui.table.samples, 800);
	key('+');
	assert_int_equal(ui.table.samples, 3000);
	key('+');
	assert_int_equal(ui.table.samples, 3000);
	keys("---");
	assert_int_equal(ui.table.samples, 100);
	/* 100 samples of 10 ms in 2 s */
	assert_int_equal(ui.table.cpu_ns, 1000000000);
	draw(80, LINES);
	assert_true(is_on_screen("0.50 of 4 CPUs used"));
	assert_true(is_on_screen("00:01:20"));
	key('c');
	assert_int_equal(ui.table.count, 0);
	for (int i = 0; i < 2 * HISTORY_PORTIONS; i++)
		FEED(&ui, ordinary);
	assert_int_equal(ui.history.count, HISTORY_PORTIONS);
}

static void test_top__processes_and_threads(void **state)
{
	(void)state;
	FEED(&ui, ordinary);
	key('p');
	assert_int_equal(ui.table.count, 2);
	assert_string_equal(row_name(0), "app");
	assert_int_equal(ui.table.rows[0].pid, 100);
	assert_int_equal(ui.table.rows[0].amount.total, 80);
	draw(80, LINES);
	assert_true(is_on_screen("40.0%")); /* 0.8 s of 2 s */
	key('t');
	assert_int_equal(ui.table.count, 3);
	keys("/helper\r");
	assert_int_equal(ui.table.count, 1);
	assert_int_equal(ui.table.rows[0].tid, 101);
	draw(80, LINES);
	key('\r'); /* its functions, without the filter */
	assert_int_equal(ui.table.sum, 20);
	assert_string_equal(row_name(0), "cold");
	draw(80, LINES);
	assert_true(is_on_screen("functions of thread 101"));
	key(KEY_ESCAPE);
	assert_int_equal(ui.places[ui.depth].query.view, VIEW_THREADS);
	keys("p/200\r"); /* by its number */
	assert_int_equal(ui.table.count, 1);
	assert_string_equal(row_name(0), "other");
}

static void test_top__callers_and_callees(void **state)
{
	(void)state;
	FEED(&ui, ordinary);
	keys("/work\r\r");
	assert_int_equal(ui.table.count, 4);
	assert_string_equal(row_name(0), "main");
	assert_int_equal(ui.table.rows[0].part, PART_CALLER);
	assert_string_equal(row_name(1), "work");
	assert_int_equal(ui.table.rows[1].amount.total, 80);
	assert_string_equal(row_name(2), "hot");
	assert_int_equal(ui.table.rows[2].part, PART_CALLEE);
	assert_int_equal(ui.table.rows[2].amount.total, 60);
	draw(80, LINES);
	assert_true(is_on_screen("callers and callees of work"));
	assert_true(is_on_screen("< main"));
	assert_true(is_on_screen("> hot"));
	key('\r'); /* on to main */
	assert_string_equal(row_name(0), "main");
	key(KEY_BACKSPACE);
	assert_string_equal(row_name(1), "work");
	key('j');
	key('\r'); /* itself: nothing to see */
	assert_int_equal(ui.depth, 1);
	for (int i = 0; i < 3 * UI_DEPTH_MAX; i++) {
		key(KEY_HOME);
		key('\r');
		draw(80, LINES);
	}
	assert_true(ui.depth < UI_DEPTH_MAX);
}

static void test_top__filter(void **state)
{
	(void)state;
	FEED(&ui, ordinary);
	keys("/^H.T$\r");
	assert_int_equal(ui.table.count, 1);
	assert_string_equal(row_name(0), "hot");
	draw(80, LINES);
	assert_true(is_on_screen("matching \"^H.T$\""));
	key('/');
	for (int i = 0; i < 10; i++)
		key(KEY_BACKSPACE);
	keys("(ho\r"); /* no expression: the text itself */
	assert_int_equal(ui.table.count, 0);
	draw(80, LINES);
	assert_true(is_on_screen("nothing matches"));
	key(KEY_ESCAPE);
	assert_int_equal(ui.table.count, 6);
	keys("/other"); /* not yet: Escape changes nothing */
	key(KEY_ESCAPE);
	assert_int_equal(ui.table.count, 6);
	keys("/other\r"); /* the object and the process count, too */
	assert_int_equal(ui.table.count, 2);
	key('/');
	for (int i = 0; i < 200; i++)
		key('a');
	assert_int_equal(strlen(ui.typed), sizeof(ui.typed) - 1);
	draw(40, 10);
}

static void test_top__filter_of_threads(void **state)
{
	(void)state;
	FEED(&ui, ordinary);
	keys("t/app\r"); /* the process of a thread counts, too */
	assert_int_equal(ui.table.count, 2);
	key(KEY_ESCAPE);
	keys("/^101$\r"); /* and the thread's number */
	assert_int_equal(ui.table.count, 1);
	assert_string_equal(row_name(0), "helper");
}

#define MANY 60

/* f00 to f59, the first one the hottest. */
static const struct made *make_many(void)
{
	static struct made many[MANY];
	static char names[MANY][16];

	for (unsigned int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "f%02u", i);
		many[i] = (struct made){
			.process = "app", .pid = 1, .stack = {names[i]}, .count = 100 - i};
	}
	return many;
}

static void test_top__moves_and_pages(void **state)
{
	(void)state;
	feed(&ui, make_many(), MANY);
	draw(80, LINES);
	assert_true(is_on_screen("f18") && !is_on_screen("f19"));
	key(KEY_PAGE_DOWN);
	draw(80, LINES);
	assert_true(is_on_screen("f19") && !is_on_screen("f00"));
	keys("G");
	draw(80, LINES);
	assert_true(is_on_screen("f59"));
	key(KEY_DOWN);
	assert_int_equal(ui.places[0].chosen, 59);
	key(KEY_PAGE_UP);
	key('k');
	assert_int_equal(ui.places[0].chosen, 59 - 19 - 1);
	key('g');
	key(KEY_UP);
	assert_int_equal(ui.places[0].chosen, 0);
	draw(80, LINES);
	assert_true(is_on_screen("f00"));
	draw(40, 10);
	assert_true(is_on_screen("f04") && !is_on_screen("f05"));
}

/* The chosen row stays on the screen, and the screen full. */
static void test_top__fewer_rows_and_lines(void **state)
{
	(void)state;
	feed(&ui, make_many(), MANY);
	key('G');
	keys("---"); /* one window, with fewer rows */
	feed(&ui, make_many(), 25);
	draw(80, LINES);
	assert_true(is_on_screen("f24") && is_on_screen("f06"));
	FEED(&ui, ordinary);
	draw(80, LINES);
	assert_true(is_on_screen("hot") && is_on_screen("idle"));
	feed(&ui, make_many(), MANY);
	keys("g");
	for (int i = 0; i < 18; i++)
		key('j');
	ui_resize(&ui, 10);
	draw(80, 10);
	assert_true(is_on_screen("f18") && !is_on_screen("f13"));
	key('G');
	ui_resize(&ui, LINES);
	draw(80, LINES);
	assert_true(is_on_screen("f59") && is_on_screen("f41"));
	ui_resize(&ui, 1);
	draw(80, 1);
}

/* A count is the number of events, not of samples. */
static void test_top__counts(void **state)
{
	(void)state;
	FEED(&ui, ordinary);
	ui.history.is_time = false;
	ui.history.portions[0].by = 1000;
	key('p');
	draw(80, LINES);
	assert_true(is_on_screen("COUNT") && is_on_screen("  80000 "));
}

/* There are more names than the limit. Old rows, whose ids are void, are not shown. */
static void test_top__begins_anew_with_too_many_names(void **state)
{
	char name[16];

	(void)state;
	FEED(&ui, ordinary);
	key('\r');
	for (uint32_t i = 0; i <= HISTORY_NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		intern_string(ui.history.names, name);
	}
	assert_true(ui_add(&ui, "no profile", 10) < 0);
	assert_int_equal(ui.history.forgotten, 1);
	assert_int_equal(ui.depth, 0);
	draw(80, LINES);
	assert_true(is_on_screen("too many names"));
	FEED(&ui, ordinary);
	draw(80, LINES);
	assert_true(is_on_screen("hot"));
	key('f');
	draw(80, LINES);
	assert_false(is_on_screen("too many names"));
}

static void test_top__pause_help_quit(void **state)
{
	(void)state;
	FEED(&ui, ordinary);
	key(' ');
	FEED(&ui, ordinary);
	assert_int_equal(ui.table.samples, 100);
	draw(80, LINES);
	assert_true(is_on_screen("paused"));
	key(' ');
	FEED(&ui, ordinary);
	assert_int_equal(ui.table.samples, 200);
	key('?');
	draw(80, LINES);
	assert_true(is_on_screen("callers (<) and callees (>)"));
	draw(40, 10);
	key('x');
	assert_false(ui.quit);
	draw(80, LINES);
	assert_false(is_on_screen("callers (<)"));
	key('q');
	assert_true(ui.quit);
}

/* Targets choose names: no escapes, two columns for wide characters, and no line too long. */
static void test_top__hostile_names(void **state)
{
	static const struct made made[] = {
		{.process = "\033[2J\r\n",
		 .pid = 1,
		 .stack = {"\033]0;title\a\033[H", "a\tb\nc"},
		 .count = 9},
		{.process = "漢字漢字漢字漢字",
		 .pid = 2,
		 .stack = {"関数関数関数関数関数関数"
			   "関数関数関数関数関数関数"},
		 .count = 8},
		{.process = "x",
		 .pid = 3,
		 .stack = {"\xff\xfe\xc3",
			   "std::vector<std::basic_string<char, std::char_traits<char>>, "
			   "std::allocator<int>>::emplace_back<char const*>(char const*&&)"},
		 .count = 7},
		{.process = "\u202egnp", .pid = 4, .stack = {"%s%n%d"}, .count = 6},
	};

	(void)state;
	FEED(&ui, made);
	for (const char *view = "fpts"; *view; view++) {
		key(*view);
		draw(80, LINES);
		draw(40, 10);
		draw(41, 10);
		draw(17, 5);
		draw(3, 2);
		draw(400, 60 < 2 * LINES ? 60 : 2 * LINES);
	}
	keys("f\r");
	draw(80, LINES);
	draw(40, 10);
}

/* Bold, dim and reversed stay; colours are SGR 30 to 49 and 90 on. */
static void test_top__no_colours_where_none_are_wanted(void **state)
{
	struct canvas canvas = {.columns = 80, .lines = LINES, .escapes = true};

	(void)state;
	FEED(&ui, ordinary);
	for (canvas.colour = false;; canvas.colour = true) {
		size_t colours = 0, styles = 0;

		ui_draw(&ui, &canvas);
		for (size_t i = 0; i + 1 < canvas.size; i++) {
			if (canvas.bytes[i] != '\033' && canvas.bytes[i] != ';')
				continue;
			i += canvas.bytes[i] == '\033'; /* the bracket */
			styles += strchr("0127", canvas.bytes[i + 1]) != NULL;
			colours += strchr("3489", canvas.bytes[i + 1]) != NULL;
		}
		assert_true(styles > 0);
		assert_true(canvas.colour == (colours > 0));
		if (canvas.colour)
			break;
	}
	canvas_release(&canvas);
}

static void test_top__text_without_a_terminal(void **state)
{
	struct canvas canvas = {.columns = 80, .lines = LINES};
	char *text;

	(void)state;
	FEED(&ui, ordinary);
	ui_draw(&ui, &canvas);
	text = strndup(canvas.bytes, canvas.size);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\r'));
	assert_null(strstr(text, " \n"));
	assert_non_null(strstr(text, " 60.0%  60.0%   hot "));
	assert_int_equal(text[strlen(text) - 1], '\n');
	free(text);
	canvas_release(&canvas);
}

static void test_top__nothing_yet(void **state)
{
	(void)state;
	draw(80, LINES);
	assert_true(is_on_screen("waiting for the first samples"));
	keys("\rpt\r/x\rsc+-gGjk");
	key(KEY_ESCAPE);
	draw(80, LINES);
	feed(&ui, NULL, 0); /* a window in which nothing ran */
	draw(80, LINES);
	assert_true(is_on_screen("0 samples/s"));
}

#define UI_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UI_TEST(test_top__functions),
		UI_TEST(test_top__names_the_runtime),
		UI_TEST(test_top__recursion_counts_once),
		UI_TEST(test_top__sums_of_windows),
		UI_TEST(test_top__processes_and_threads),
		UI_TEST(test_top__callers_and_callees),
		UI_TEST(test_top__filter),
		UI_TEST(test_top__filter_of_threads),
		UI_TEST(test_top__moves_and_pages),
		UI_TEST(test_top__pause_help_quit),
		UI_TEST(test_top__fewer_rows_and_lines),
		UI_TEST(test_top__counts),
		UI_TEST(test_top__begins_anew_with_too_many_names),
		UI_TEST(test_top__hostile_names),
		UI_TEST(test_top__text_without_a_terminal),
		UI_TEST(test_top__no_colours_where_none_are_wanted),
		UI_TEST(test_top__nothing_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
