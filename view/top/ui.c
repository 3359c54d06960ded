/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/ui.h"

#include <stdio.h>
#include <string.h>

#include "ipc/time.h"

const unsigned int ui_windows[UI_WINDOWS] = {1, 5, 15, 60};

int ui_init(struct ui *ui, unsigned int cpus)
{
	*ui = (struct ui){.cpus = cpus, .window = 1, .lines = UI_LINES};
	return history_init(&ui->history);
}

void ui_release(struct ui *ui)
{
	table_release(&ui->table);
	match_release(&ui->match);
	history_release(&ui->history);
}

void ui_set_window(struct ui *ui, unsigned int seconds)
{
	ui->window = 0;
	while (ui->window + 1 < UI_WINDOWS && ui_windows[ui->window] < seconds)
		ui->window++;
}

static struct place *here(struct ui *ui)
{
	return &ui->places[ui->depth];
}

static size_t last_row(const struct ui *ui)
{
	if (ui->table.count == 0)
		return 0;
	return ui->table.count - 1;
}

/*
 * Brings the chosen row onto the screen, and fills the screen as far as there are rows. Rows may
 * have become fewer, and the screen smaller or larger.
 */
static void scroll(struct ui *ui)
{
	struct place *place = here(ui);
	const size_t page = ui_body_lines(ui, ui->lines), count = ui->table.count;

	if (place->chosen >= count)
		place->chosen = last_row(ui);
	if (page >= count)
		place->first = 0;
	else if (place->first + page > count)
		place->first = count - page;
	if (place->chosen < place->first)
		place->first = place->chosen;
	if (place->chosen >= place->first + page)
		place->first = place->chosen - page + 1;
}

void ui_resize(struct ui *ui, unsigned int lines)
{
	ui->lines = lines;
	scroll(ui);
}

int ui_refresh(struct ui *ui)
{
	struct place *place = here(ui);
	struct top_table table;
	int r;

	place->query.by_total = ui->by_total;
	place->query.window_ns = ui_windows[ui->window] * NS_PER_SECOND;
	r = table_make(&ui->history, &place->query, &ui->match, &table);
	if (r) {
		table_release(&table);
		return r;
	}
	table_release(&ui->table);
	ui->table = table;
	scroll(ui);
	return 0;
}

/* Leaves all places and drops the table: after the history began anew, its ids mean other names. */
static void leave_all(struct ui *ui)
{
	table_release(&ui->table);
	snprintf(ui->status, sizeof(ui->status), "too many names: the sums begin anew");
	ui->depth = 0;
	*here(ui) = (struct place){.query.view = VIEW_FUNCTIONS};
}

int ui_add(struct ui *ui, const void *bytes, size_t size)
{
	const uint64_t forgotten = ui->history.forgotten;
	int r;

	if (ui->paused)
		return 0;
	r = history_add(&ui->history, bytes, size);
	if (ui->history.forgotten != forgotten)
		leave_all(ui);
	if (r)
		return r;
	return ui_refresh(ui);
}

/* ---- keys ---- */

static const struct {
	const char *bytes;
	int key;
} sequences[] = {
	{"\033[A", KEY_UP},	    {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT},
	{"\033[D", KEY_LEFT},	    {"\033OA", KEY_UP},	  {"\033OB", KEY_DOWN},
	{"\033OC", KEY_RIGHT},	    {"\033OD", KEY_LEFT}, {"\033[5~", KEY_PAGE_UP},
	{"\033[6~", KEY_PAGE_DOWN}, {"\033[H", KEY_HOME}, {"\033[F", KEY_END},
	{"\033[1~", KEY_HOME},	    {"\033[4~", KEY_END}, {"\033OH", KEY_HOME},
	{"\033OF", KEY_END},
};

/* Returns the bytes of an unknown sequence, up to its final byte (ECMA-48, 5.4). */
static size_t skip_sequence(const char *bytes, size_t size)
{
	for (size_t at = 2; at < size; at++)
		if ((unsigned char)bytes[at] >= 0x40 && bytes[at] != 0x7f)
			return at + 1;
	return size;
}

size_t ui_decode(const char *bytes, size_t size, int *ret_key)
{
	*ret_key = KEY_NONE;
	if (size == 0)
		return 0;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		size_t length = strlen(sequences[i].bytes);

		if (size >= length && !memcmp(bytes, sequences[i].bytes, length)) {
			*ret_key = sequences[i].key;
			return length;
		}
	}
	if (size > 1 && bytes[0] == KEY_ESCAPE && (bytes[1] == '[' || bytes[1] == 'O'))
		return skip_sequence(bytes, size);
	*ret_key = (unsigned char)bytes[0];
	if (*ret_key == '\n')
		*ret_key = KEY_ENTER;
	if (*ret_key == '\b')
		*ret_key = KEY_BACKSPACE;
	return 1;
}

/*
 * Shows another table, which leave() leaves again. At the greatest depth it replaces the last one.
 */
static void enter(struct ui *ui, const struct query *query)
{
	if (ui->depth + 1 < UI_DEPTH_MAX)
		ui->depth++;
	*here(ui) = (struct place){.query = *query};
}

static void leave(struct ui *ui)
{
	if (ui->depth > 0)
		ui->depth--;
	else if (ui->match.text[0])
		match_set(&ui->match, "");
}

static void expand(struct ui *ui)
{
	const struct place *place = here(ui);
	struct query query = place->query;
	const struct top_row *row;

	if (place->chosen >= ui->table.count)
		return;
	row = &ui->table.rows[place->chosen];
	if (query.view == VIEW_PROCESSES || query.view == VIEW_THREADS) {
		query.view = VIEW_FUNCTIONS;
		query.pid = row->pid;
		query.tid = row->tid;
	} else {
		if (query.view == VIEW_CALLS && row->part == PART_ITSELF)
			return;
		query.view = VIEW_CALLS;
		query.function = row->function;
	}
	match_set(&ui->match, "");
	enter(ui, &query);
}

static void show_view(struct ui *ui, enum view view)
{
	ui->depth = 0;
	*here(ui) = (struct place){.query.view = view};
}

static void move(struct ui *ui, int by)
{
	struct place *place = here(ui);
	const size_t last = last_row(ui);

	if (by < 0 && place->chosen < (size_t)-by)
		place->chosen = 0;
	else if (by > 0 && last - place->chosen < (size_t)by)
		place->chosen = last;
	else
		place->chosen += (size_t)by;
}

static bool move_key(struct ui *ui, int key, int page)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		move(ui, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		move(ui, 1);
		return true;
	case KEY_PAGE_UP:
		move(ui, -page);
		return true;
	case KEY_PAGE_DOWN:
		move(ui, page);
		return true;
	case KEY_HOME:
	case 'g':
		here(ui)->chosen = 0;
		return true;
	case KEY_END:
	case 'G':
		here(ui)->chosen = last_row(ui);
		return true;
	default:
		return false;
	}
}

/* Takes a key of the filter that the user types. */
static void type_key(struct ui *ui, int key)
{
	size_t length = strlen(ui->typed);

	if (key == KEY_ENTER) {
		match_set(&ui->match, ui->typed);
		here(ui)->chosen = here(ui)->first = 0;
		ui->is_typing = false;
	} else if (key == KEY_ESCAPE) {
		ui->is_typing = false;
	} else if (key == KEY_BACKSPACE && length > 0) {
		ui->typed[length - 1] = '\0';
	} else if (key >= ' ' && key < KEY_BACKSPACE && length + 1 < sizeof(ui->typed)) {
		ui->typed[length] = (char)key;
		ui->typed[length + 1] = '\0';
	}
}

static void command_key(struct ui *ui, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		ui->quit = true;
		break;
	case 'h':
	case '?':
		ui->help = true;
		break;
	case 'f':
		show_view(ui, VIEW_FUNCTIONS);
		break;
	case 'p':
		show_view(ui, VIEW_PROCESSES);
		break;
	case 't':
		show_view(ui, VIEW_THREADS);
		break;
	case '/':
		ui->is_typing = true;
		snprintf(ui->typed, sizeof(ui->typed), "%s", ui->match.text);
		break;
	case KEY_ENTER:
	case KEY_RIGHT:
		expand(ui);
		break;
	case KEY_ESCAPE:
	case KEY_BACKSPACE:
	case KEY_LEFT:
		leave(ui);
		break;
	case 's':
		ui->by_total = !ui->by_total;
		break;
	case ' ':
		ui->paused = !ui->paused;
		break;
	case '+':
	case '=':
		if (ui->window + 1 < UI_WINDOWS)
			ui->window++;
		break;
	case '-':
		if (ui->window > 0)
			ui->window--;
		break;
	case 'c':
		history_clear(&ui->history);
		break;
	}
}

int ui_key(struct ui *ui, int key)
{
	const unsigned int page = ui_body_lines(ui, ui->lines);
	int r = 0;

	ui->status[0] = '\0';
	if (ui->help) {
		ui->quit = key == 'q';
		ui->help = false;
	} else if (ui->is_typing) {
		type_key(ui, key);
		r = ui_refresh(ui);
	} else if (!move_key(ui, key, (int)page)) {
		command_key(ui, key);
		r = ui_refresh(ui);
	}
	scroll(ui);
	return r;
}
