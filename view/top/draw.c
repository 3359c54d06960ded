/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/runtimes.h"
#include "ipc/time.h"
#include "view/screen.h"
#include "view/top/ui.h"

#define HEAD_LINES 4 /* above the rows; one more where a runtime is named */
#define FOOT_LINES 1
#define PROCESS	   15 /* columns, as many as a comm has */
#define OBJECT	   18
#define PERCENTS   16 /* "100.0% 100.0%  " and a mark */
#define NAME_MIN   20

static const struct place *shown(const struct ui *ui)
{
	return &ui->places[ui->depth];
}

unsigned int ui_body_lines(const struct ui *ui, unsigned int lines)
{
	unsigned int others = HEAD_LINES + FOOT_LINES;

	if (table_runtime(&ui->table, &shown(ui)->query))
		others++;
	if (lines <= others)
		return 1;
	return lines - others;
}

/* Returns the nanoseconds of the table's window, at least 1. */
static double window_ns(const struct top_table *table)
{
	if (table->elapsed_ns == 0)
		return 1;
	return (double)table->elapsed_ns;
}

static void draw_summary(const struct ui *ui, struct canvas *canvas)
{
	const struct top_table *table = &ui->table;
	const struct portion *newest = history_portion(&ui->history, 0);
	const uint64_t seconds = (ui->history.elapsed_ns + NS_PER_SECOND / 2) / NS_PER_SECOND;
	const double span = window_ns(table) / NS_PER_SECOND;

	canvas_ink(canvas, INK_HEAD);
	canvas_printf(canvas, "keyhole top");
	canvas_ink(canvas, INK_PLAIN);
	canvas_printf(canvas, "  %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600,
		      seconds / 60 % 60, seconds % 60);
	if (!newest) {
		canvas_printf(canvas, "  waiting for the first samples");
		canvas_next(canvas);
		canvas_next(canvas);
		return;
	}
	canvas_printf(canvas, "  %s", ui->history.event);
	if (ui->history.is_time && newest->period_ns)
		canvas_printf(canvas, " at %.0f Hz",
			      (double)NS_PER_SECOND / (double)newest->period_ns);
	canvas_printf(canvas, ", %.0f samples/s, sum of %.0f s", (double)table->samples / span,
		      span);
	if (ui->paused)
		canvas_printf(canvas, " (paused)");
	canvas_next(canvas);
	if (ui->history.is_time)
		canvas_printf(canvas, "%.2f of %u CPUs used, ",
			      (double)table->cpu_ns / NS_PER_SECOND / span, ui->cpus);
	canvas_printf(canvas, "%.1f %% of stacks complete, lost %" PRIu64,
		      screen_percent(table->samples - table->unproven, table->samples), ui->lost);
	canvas_next(canvas);
}

static void draw_view(const struct ui *ui, struct canvas *canvas)
{
	static const char *const names[] = {
		[VIEW_FUNCTIONS] = "functions",
		[VIEW_PROCESSES] = "processes",
		[VIEW_THREADS] = "threads",
		[VIEW_CALLS] = "callers and callees of",
	};
	const struct query *query = &shown(ui)->query;

	canvas_ink(canvas, INK_HEAD);
	canvas_printf(canvas, "%s", names[query->view]);
	if (query->view == VIEW_CALLS)
		canvas_printf(canvas, " %s",
			      history_name(&ui->history,
					   history_function(&ui->history, query->function)->name));
	canvas_ink(canvas, INK_PLAIN);
	if (query->tid)
		canvas_printf(canvas, " of thread %" PRIu32, query->tid);
	else if (query->pid)
		canvas_printf(canvas, " of process %" PRIu32, query->pid);
	if (query->view == VIEW_FUNCTIONS)
		canvas_printf(canvas, " by %s", ui->by_total ? "total" : "self");
	if (ui->match.text[0])
		canvas_printf(canvas, ", matching \"%s\"", ui->match.text);
	canvas_printf(canvas, ", %zu", ui->table.count);
	canvas_next(canvas);
}

/* Names the runtime whose functions the table has in place of a script's. */
static void draw_runtime(const struct ui *ui, struct canvas *canvas)
{
	const struct top_runtime *most = table_runtime(&ui->table, &shown(ui)->query);
	const struct history_runtime *runtime;
	char text[RUNTIME_NOTE_BYTES];

	if (!most)
		return;
	runtime = history_runtime(&ui->history, most->runtime);
	runtime_note(text, runtime->runtime, history_name(&ui->history, runtime->name),
		     screen_percent(most->samples, ui->table.sum));
	canvas_sentence(canvas, text);
	canvas_next(canvas);
}

/* ---- rows ---- */

struct columns {
	unsigned int name, object, process;
};

/* Divides the columns. Where there is little room the object gives way first, then the process. */
static struct columns lay_out(const struct canvas *canvas)
{
	const unsigned int used = PERCENTS;
	struct columns columns = {.name = 1};

	if (canvas->columns < used + 1)
		return columns;
	columns.name = canvas->columns - used;
	if (canvas->columns < used + NAME_MIN + PROCESS + 1)
		return columns;
	columns.process = PROCESS;
	columns.name -= PROCESS + 1;
	if (canvas->columns < used + NAME_MIN + OBJECT + PROCESS + 2)
		return columns;
	columns.object = OBJECT;
	columns.name -= OBJECT + 1;
	return columns;
}

static void draw_cells(struct canvas *canvas, const struct columns *columns, const char *name,
		       const char *object, const char *process)
{
	canvas_cell(canvas, name, columns->name);
	if (columns->object) {
		canvas_printf(canvas, " ");
		canvas_cell(canvas, object, columns->object);
	}
	if (columns->process) {
		canvas_printf(canvas, " ");
		canvas_cell(canvas, process, columns->process);
	}
}

static void draw_function(const struct ui *ui, struct canvas *canvas, const struct top_row *row)
{
	static const char *const marks[] = {
		[PART_CALLER] = "<", [PART_ITSELF] = "=", [PART_CALLEE] = ">"};
	const struct columns columns = lay_out(canvas);
	const struct history *history = &ui->history;
	const uint32_t object = history_function(history, row->function)->object;
	const char *mark = " ";

	if (shown(ui)->query.view == VIEW_CALLS)
		mark = marks[row->part];
	canvas_printf(canvas, "%5.1f%% %5.1f%% ", screen_percent(row->amount.self, ui->table.sum),
		      screen_percent(row->amount.total, ui->table.sum));
	canvas_printf(canvas, "%s ", mark);
	draw_cells(canvas, &columns, history_name(history, row->name),
		   history_name(history, object), history_name(history, row->process));
}

/* Draws the percentage of one CPU, or the number of counted events. */
static void draw_use(const struct ui *ui, struct canvas *canvas, uint64_t samples)
{
	const struct portion none = {.by = 1}, *newest = history_portion(&ui->history, 0);
	double ns;

	if (!newest)
		newest = &none;
	ns = (double)samples * (double)newest->period_ns;
	if (ui->history.is_time)
		canvas_printf(canvas, "%6.1f%%", 100.0 * ns / window_ns(&ui->table));
	else
		canvas_printf(canvas, "%7" PRIu64, samples * newest->by);
}

static void draw_process(const struct ui *ui, struct canvas *canvas, const struct top_row *row)
{
	const bool thread = shown(ui)->query.view == VIEW_THREADS;

	draw_use(ui, canvas, row->amount.total);
	canvas_printf(canvas, " %6.1f%% %7" PRIu32,
		      screen_percent(row->amount.total, ui->table.sum), row->pid);
	if (thread)
		canvas_printf(canvas, " %7" PRIu32, row->tid);
	canvas_printf(canvas, "  ");
	if (thread) {
		canvas_cell(canvas, history_name(&ui->history, row->name), PROCESS + 1);
		canvas_printf(canvas, " ");
	}
	canvas_cell(canvas, history_name(&ui->history, row->process), canvas_left(canvas));
}

static void draw_titles(const struct ui *ui, struct canvas *canvas)
{
	const enum view view = shown(ui)->query.view;
	const struct columns columns = lay_out(canvas);

	canvas_ink(canvas, INK_BAR);
	if (view == VIEW_PROCESSES || view == VIEW_THREADS) {
		canvas_printf(canvas, "%7s %7s %7s", ui->history.is_time ? "CPU" : "COUNT", "SHARE",
			      "PID");
		if (view == VIEW_THREADS)
			canvas_printf(canvas, "     TID  THREAD         ");
		canvas_printf(canvas, "  PROCESS");
	} else {
		canvas_printf(canvas, "%6s %6s   ", "SELF", "TOTAL");
		draw_cells(canvas, &columns, "FUNCTION", "OBJECT", "PROCESS");
	}
	canvas_next(canvas);
}

static enum ink heat(const struct ui *ui, const struct top_row *row)
{
	static const enum ink inks[] = {
		[STYLE_PLAIN] = INK_PLAIN,
		[STYLE_HOT] = INK_HOT,
		[STYLE_WARM] = INK_WARM,
	};
	const uint64_t count = ui->by_total ? row->amount.total : row->amount.self;

	return inks[screen_heat(screen_percent(count, ui->table.sum))];
}

static void draw_rows(const struct ui *ui, struct canvas *canvas)
{
	const struct place *place = shown(ui);
	const enum view view = place->query.view;
	const size_t page = ui_body_lines(ui, canvas->lines);

	for (size_t i = place->first; i < ui->table.count && i < place->first + page; i++) {
		const struct top_row *row = &ui->table.rows[i];
		const bool is_chosen = i == place->chosen && canvas->escapes;

		canvas_ink(canvas, is_chosen ? INK_CHOSEN : heat(ui, row));
		if (view == VIEW_PROCESSES || view == VIEW_THREADS)
			draw_process(ui, canvas, row);
		else
			draw_function(ui, canvas, row);
		canvas_next(canvas);
	}
	if (ui->table.count == 0 && ui->history.count) {
		canvas_printf(canvas, ui->match.text[0] ? "  nothing matches" : "  no samples");
		canvas_next(canvas);
	}
}

static void draw_foot(const struct ui *ui, struct canvas *canvas)
{
	while (canvas->line + 1 < canvas->lines)
		canvas_next(canvas);
	if (ui->is_typing) {
		canvas_printf(canvas, "filter (expression or text): %s_", ui->typed);
	} else if (ui->status[0]) {
		canvas_ink(canvas, INK_HEAD);
		canvas_printf(canvas, "%s", ui->status);
	} else {
		canvas_ink(canvas, INK_DIM);
		canvas_printf(canvas,
			      "q quit  h help  f functions  p processes  t threads  / filter  "
			      "Enter expand");
	}
	canvas_next(canvas);
}

static void draw_help(struct canvas *canvas)
{
	static const char *const lines[] = {
		"keys of keyhole top",
		"",
		"f p t       functions, processes, threads",
		"Enter       expand the row: callers (<) and callees (>) of a function,",
		"            functions of a process or thread",
		"Esc         back; in the first table: no filter",
		"j k arrows  move; PgUp PgDn g G",
		"/           filter rows: a regular expression, or text",
		"s           sort by self or total",
		"+ -         sum of the last 1, 5, 15, 60 seconds",
		"space       pause, go on",
		"c           clear: begin the sums anew",
		"q           quit",
		"",
		"SELF   share of samples in the function itself",
		"TOTAL  share of samples with the function on the stack",
		"CPU    of one CPU, so several threads can have more than 100%",
		"any key goes back",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		canvas_printf(canvas, "%s", lines[i]);
		canvas_next(canvas);
	}
}

void ui_draw(const struct ui *ui, struct canvas *canvas)
{
	canvas_begin(canvas);
	if (ui->help) {
		draw_help(canvas);
		canvas_end(canvas);
		return;
	}
	draw_summary(ui, canvas);
	draw_view(ui, canvas);
	draw_runtime(ui, canvas);
	draw_titles(ui, canvas);
	draw_rows(ui, canvas);
	if (canvas->escapes)
		draw_foot(ui, canvas);
	canvas_end(canvas);
}
