/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row for each object that the process has mapped or that is in a stack of it, two lines each:
 * those in which most walks ended first, as many as fit, then how many more there are.
 */
#include "worker/why/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/messages.h"
#include "ipc/time.h"
#include "profile/format/output.h"
#include "worker/why/why_rows.h"
#include "profile/profile.h"
#include "worker/why/causes.h"

#define ROWS_SHOWN    6
#define REASONS_TEXT  37 /* columns, with its NUL */
#define BUILD_ID_MAX  40
#define WORD_MAX      60
#define WRAPPED_BYTES 640

static const char *const rules_names[] = {
	[RULES_NONE] = "none",	       [RULES_EH_FRAME] = ".eh_frame", [RULES_DAMAGED] = "damaged",
	[RULES_GO] = "Go table",       [RULES_NO_ROOM] = "no room",    [RULES_PENDING] = "not yet",
	[RULES_NOT_READ] = "not read",
};
static const char *const names_names[] = {
	[NAMES_NONE] = "none",
	[NAMES_NOT_READ] = "not read",
	[NAMES_DYNSYM] = ".dynsym",
	[NAMES_DEBUGDATA] = ".gnu_debugdata",
	[NAMES_DEBUG_FILE] = "debug file",
	[NAMES_SYMTAB] = ".symtab",
	[NAMES_GO] = ".gopclntab",
};
static const char *const lines_names[] = {
	[LINES_NONE] = "none",	 [LINES_NOT_READ] = "not read", [LINES_DEBUG_FILE] = "debug file",
	[LINES_DWARF] = "DWARF", [LINES_GO] = ".gopclntab",
};

/* ---- text ---- */

static void add_line(struct why *why, const char *line)
{
	size_t length = strlen(line);

	while (length > 0 && line[length - 1] == ' ')
		length--;
	output_write(&why->output, line, length);
	output_string(&why->output, "\n");
	why->lines++;
}

/* Words, as many as fit a line, the lines after the first one indented. How many lines. */
static unsigned int wrap(const char *text, char ret_text[WRAPPED_BYTES])
{
	unsigned int lines = 1;
	size_t used = 0, column = 0;

	for (; *text; text += *text == ' ') {
		size_t length = strcspn(text, " ");
		bool next = column > 0 && column + 1 + length > WHY_COLUMNS;
		const char *before = next ? "\n    " : column > 0 ? " " : "";

		length = length < WORD_MAX ? length : WORD_MAX;
		if (used + length + sizeof("\n    ") > WRAPPED_BYTES)
			break;
		used += (size_t)snprintf(ret_text + used, WRAPPED_BYTES - used, "%s%.*s", before,
					 (int)length, text);
		column = next ? 4 + length : column + (column > 0) + length;
		lines += next;
		text += length;
	}
	ret_text[used] = '\0';
	return lines;
}

static void add_wrapped(struct why *why, const char *text)
{
	char wrapped[WRAPPED_BYTES];
	unsigned int lines = wrap(text, wrapped);

	add_line(why, wrapped);
	why->lines += lines - 1;
}

/* Where it does not fit it is counted; a line is left for that. */
static void add_advice(struct why *why, const char *text)
{
	char wrapped[WRAPPED_BYTES];

	if (why->lines + wrap(text, wrapped) < WHY_LINES)
		add_wrapped(why, text);
	else
		why->left_out++;
}

/* ---- rows ---- */

static void share(char ret_text[16], uint64_t part, uint64_t whole)
{
	if (whole == 0)
		snprintf(ret_text, 16, "-");
	else
		snprintf(ret_text, 16, "%.1f", 100.0 * (double)part / (double)whole);
}

static void count_text(char ret_text[16], uint64_t count)
{
	if (count < 1000000)
		snprintf(ret_text, 16, "%" PRIu64, count);
	else
		snprintf(ret_text, 16, "%.0fM", (double)count / 1e6);
}

/* Its name, and how often it is mapped where that is not once; cut to a column's width. */
static void row_name(const struct why *why, const struct row *row, char ret_text[ROW_NAME])
{
	const struct source *source = row->source;
	char mark[16] = "";

	if (source && source->mappings == 0 && why->sources->listed)
		snprintf(mark, sizeof(mark), " (gone)");
	else if (source && source->mappings > 1)
		snprintf(mark, sizeof(mark), " (%" PRIu32 ")", source->mappings);
	why_name(why->profile, row->object, ret_text, ROW_NAME - strlen(mark));
	strncat(ret_text, mark, ROW_NAME - 1 - strlen(ret_text));
}

static const char *build_id(const struct why *why, const struct row *row)
{
	const struct profile_object *object = profile_object_get(why->profile, row->object);

	if (!row->source || row->source->anonymous)
		return "";
	return object && object->build_id ? profile_string_get(why->profile, object->build_id)
					  : "no build id";
}

/* "cut_no_rule 12, end_root 3", the most frequent ones first. */
static void reasons_text(const struct row *row, char ret_text[REASONS_TEXT])
{
	bool done[SUMMARY_REASONS] = {false};
	size_t used = 0, next;

	ret_text[0] = '\0';
	while ((next = why_most(row->reason, done)) < SUMMARY_REASONS) {
		int added = snprintf(ret_text + used, REASONS_TEXT - used, "%s%s %" PRIu64,
				     used > 0 ? ", " : "", profile_reason((uint32_t)next)->name,
				     row->reason[next]);

		if (used + (size_t)added >= REASONS_TEXT) {
			snprintf(ret_text + (used < REASONS_TEXT - 5 ? used : REASONS_TEXT - 5), 5,
				 "...");
			return;
		}
		used += (size_t)added;
		done[next] = true;
	}
}

static void add_row(struct why *why, const struct row *row)
{
	const struct source *source = row->source;
	char name[ROW_NAME], ended[16], self[16], rows[16] = "", reasons[REASONS_TEXT];
	char line[2 * WHY_COLUMNS];

	row_name(why, row, name);
	share(ended, row->ended, why->samples);
	share(self, row->self, why->samples);
	if (source)
		count_text(rows, source->rows);
	snprintf(line, sizeof(line), "%6s %6s  %-20s %-9s %6s  %-14s %s", ended, self, name,
		 source ? rules_names[source->rules] : "", rows,
		 source ? names_names[source->names] : "",
		 source ? lines_names[source->lines] : "");
	add_line(why, line);
	reasons_text(row, reasons);
	if (!reasons[0] && !build_id(why, row)[0])
		return;
	snprintf(line, sizeof(line), "  %-36s %.*s", reasons, BUILD_ID_MAX, build_id(why, row));
	add_line(why, line);
}

static void add_rows(struct why *why)
{
	size_t with = 0, shown;
	char line[WHY_COLUMNS + 1];

	add_line(why, "ended%  self%  mapping              rules       rows  names          lines");
	while (with < why->count && why->rows[with].samples > 0)
		with++;
	shown = with > 0 ? with : why->count;
	shown = shown < ROWS_SHOWN ? shown : ROWS_SHOWN;
	for (size_t i = 0; i < shown; i++)
		add_row(why, &why->rows[i]);
	if (with > shown) {
		snprintf(line, sizeof(line), "%15s%zu more with samples, %zu without", "",
			 with - shown, why->count - with);
		add_line(why, line);
	} else if (why->count > shown) {
		snprintf(line, sizeof(line), "%15s%zu more %s without samples", "",
			 why->count - shown, why->count - shown == 1 ? "mapping" : "mappings");
		add_line(why, line);
	}
}

/* ---- head ---- */

static void add_head(struct why *why, const struct profile_times *times)
{
	const struct sources *sources = why->sources;
	double seconds = (double)times->duration_ns / NS_PER_SECOND;
	char name[32], line[2 * WHY_COLUMNS];

	why_clean(profile_string_get(why->profile, sources->name), name, sizeof(name));
	if (why->samples > 0) {
		uint64_t complete = why->samples - why->cut;
		uint64_t part = complete * 10000 / why->samples;

		snprintf(line, sizeof(line),
			 "%s %" PRIu32 ": %" PRIu64 " samples in %.1f s, %" PRIu64
			 " complete (%" PRIu64 ".%02" PRIu64 " %%), %" PRIu64 " cut%s",
			 name, sources->pid, why->samples, seconds, complete, part / 100,
			 part % 100, why->cut, sources->ended ? "; it has ended" : "");
	} else {
		snprintf(line, sizeof(line), "%s %" PRIu32 ": no samples in %.1f s: it %s", name,
			 sources->pid, seconds, sources->ended ? "has ended" : "slept");
	}
	add_wrapped(why, line);
	if (why->others > 0) {
		snprintf(line, sizeof(line), "not shown: %" PRIu64 " samples of its children",
			 why->others);
		add_line(why, line);
	}
}

static bool has_mappings(const struct why *why)
{
	for (size_t i = 0; i < why->count; i++)
		if (why->rows[i].source)
			return true;
	return false;
}

static void add_nothing(struct why *why)
{
	add_wrapped(why,
		    why->sources->pid == 0
			    ? "nothing is known of it: it used no CPU time and is a kernel thread, "
			      "or is over; or its mappings (/proc/PID/maps) may not be read; or a "
			      "rule of the policy denies it (keyhole check-config)"
			    : "no mappings: it is a kernel thread, or was over before they could "
			      "be listed");
}

/* ---- all ---- */

static void render(struct why *why, const struct profile_times *times)
{
	char line[WHY_COLUMNS + 1];

	if (why->sources->pid != 0)
		add_head(why, times);
	if (why->count > 0)
		add_rows(why);
	if (has_mappings(why))
		why_advise(why, add_advice);
	else
		add_nothing(why);
	if (why->left_out > 0) {
		snprintf(line, sizeof(line), "and %u more things to do", why->left_out);
		add_line(why, line);
	}
}

int why_render(const struct profile *profile, const struct sources *sources,
	       const struct profile_times *times, int fd)
{
	struct why why = {.profile = profile, .sources = sources};
	int r = why_rows(&why);

	if (r == 0)
		r = output_init(&why.output, fd, false);
	if (r == 0) {
		render(&why, times);
		r = output_finish(&why.output);
		output_release(&why.output);
	}
	free(why.rows);
	return r;
}
