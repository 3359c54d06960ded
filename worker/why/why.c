/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the page: a head, a row of two lines for each object, and advice. An object has a row if
 * the process has mapped it, or if it is in a stack. The objects in which most walks ended come
 * first; a line counts the objects that do not fit.
 */
#include "worker/why/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/messages.h"
#include "ipc/time.h"
#include "profile/format/output.h"
#include "profile/profile.h"
#include "worker/why/advice.h"
#include "worker/why/findings.h"
#include "worker/why/sources.h"

#define ROWS_SHOWN    6
#define ROW_NAME      21 /* columns, with the NUL */
#define NUMBER_BYTES  16
#define COUNT_DIGITS  1000000 /* from here on a count is in millions */
#define INDENT	      "\n    "
#define REASONS_TEXT  37 /* columns, with its NUL */
#define BUILD_ID_MAX  40
#define WORD_MAX      60
#define WRAPPED_BYTES 640

static const char *const rules_names[] = {
	[RULES_NONE] = "none",		[RULES_EH_FRAME] = ".eh_frame",
	[RULES_GO] = "Go table",	[RULES_DEBUG_FRAME] = "DWARF",
	[RULES_EH_FRAME_GO] = "eh, Go", [RULES_EH_FRAME_DEBUG] = "eh, DWARF",
	[RULES_GO_DEBUG] = "Go, DWARF", [RULES_ALL] = "all three",
	[RULES_DAMAGED] = "damaged",	[RULES_NO_ROOM] = "no room",
	[RULES_OVERDRAWN] = "rests",	[RULES_GIVEN_UP] = "given up",
	[RULES_PENDING] = "not yet",	[RULES_NOT_READ] = "not read",
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

struct page {
	const struct findings *findings;
	struct output output;
	unsigned int lines;    /* written */
	unsigned int left_out; /* pieces of advice that did not fit */
};

/* ---- text ---- */

static void add_line(struct page *page, const char *line)
{
	size_t length = strlen(line);

	while (length > 0 && line[length - 1] == ' ')
		length--;
	output_write(&page->output, line, length);
	output_string(&page->output, "\n");
	page->lines++;
}

/* Breaks a text between words; lines after the first one are indented. Returns the lines. */
static unsigned int wrap(const char *text, char ret_text[WRAPPED_BYTES])
{
	unsigned int lines = 1;
	size_t used = 0, column = 0;

	while (*text) {
		size_t length = strcspn(text, " ");
		size_t shown = length < WORD_MAX ? length : WORD_MAX;
		const char *before = "";

		if (used + shown + sizeof(INDENT) > WRAPPED_BYTES)
			break;
		if (column > 0 && column + 1 + shown > WHY_COLUMNS) {
			before = INDENT;
			column = strlen(INDENT) - 1;
			lines++;
		} else if (column > 0) {
			before = " ";
			column++;
		}
		used += (size_t)snprintf(ret_text + used, WRAPPED_BYTES - used, "%s%.*s", before,
					 (int)shown, text);
		column += shown;
		text += shown;
		if (*text == ' ')
			text++;
	}
	ret_text[used] = '\0';
	return lines;
}

static void add_wrapped(struct page *page, const char *text)
{
	char wrapped[WRAPPED_BYTES];
	unsigned int lines = wrap(text, wrapped);

	add_line(page, wrapped);
	page->lines += lines - 1;
}

/* Counts a piece of advice that does not fit; the page keeps a line for the count. */
static void add_advice(void *context, const char *text)
{
	struct page *page = context;
	char wrapped[WRAPPED_BYTES];

	if (page->lines + wrap(text, wrapped) < WHY_LINES)
		add_wrapped(page, text);
	else
		page->left_out++;
}

/* ---- rows ---- */

static void share(char ret_text[NUMBER_BYTES], uint64_t part, uint64_t whole)
{
	if (whole == 0)
		snprintf(ret_text, NUMBER_BYTES, "-");
	else
		snprintf(ret_text, NUMBER_BYTES, "%.1f", 100.0 * (double)part / (double)whole);
}

static void count_text(char ret_text[NUMBER_BYTES], uint64_t count)
{
	if (count < COUNT_DIGITS)
		snprintf(ret_text, NUMBER_BYTES, "%" PRIu64, count);
	else
		snprintf(ret_text, NUMBER_BYTES, "%.0fM", (double)count / COUNT_DIGITS);
}

/* Makes an object's name, and says how often the object is mapped unless that is once. */
static void row_name(const struct findings *findings, const struct finding *finding,
		     char ret_text[ROW_NAME])
{
	const struct source *source = finding->source;
	char mark[NUMBER_BYTES] = "";

	if (source && source->mappings == 0 && findings->sources->listed)
		snprintf(mark, sizeof(mark), " (gone)");
	else if (source && source->mappings > 1)
		snprintf(mark, sizeof(mark), " (%" PRIu32 ")", source->mappings);
	findings_name(findings, finding->object, ret_text, ROW_NAME - strlen(mark));
	strncat(ret_text, mark, ROW_NAME - 1 - strlen(ret_text));
}

static const char *build_id(const struct findings *findings, const struct finding *finding)
{
	const struct profile *profile = findings->profile;
	const struct profile_object *object = profile_object_get(profile, finding->object);

	if (!finding->source || finding->source->anonymous)
		return "";
	if (!object || !object->build_id)
		return "no build id";
	return profile_string_get(profile, object->build_id);
}

/* Ends a text that has no room for more with an ellipsis. */
static void cut_short(char text[REASONS_TEXT], size_t used)
{
	size_t at = REASONS_TEXT - sizeof("...") - 1;

	if (used < at)
		at = used;
	memcpy(text + at, "...", sizeof("..."));
}

/* Makes "cut_no_rule 12, end_root 3", the most frequent reasons first. */
static void reasons_text(const struct finding *finding, char ret_text[REASONS_TEXT])
{
	bool done[SUMMARY_REASONS] = {false};
	size_t used = 0, next;

	ret_text[0] = '\0';
	next = findings_next_reason(finding->reason, done);
	while (next < SUMMARY_REASONS) {
		int added = snprintf(ret_text + used, REASONS_TEXT - used, "%s%s %" PRIu64,
				     used > 0 ? ", " : "", profile_reason((uint32_t)next)->name,
				     finding->reason[next]);

		if (used + (size_t)added >= REASONS_TEXT) {
			cut_short(ret_text, used);
			return;
		}
		used += (size_t)added;
		done[next] = true;
		next = findings_next_reason(finding->reason, done);
	}
}

static void add_sources(struct page *page, const struct finding *finding)
{
	const struct findings *findings = page->findings;
	const struct source *source = finding->source;
	const char *rules = "", *names = "", *lines = "";
	char name[ROW_NAME], ended[NUMBER_BYTES], self[NUMBER_BYTES], rows[NUMBER_BYTES] = "";
	char line[2 * WHY_COLUMNS];

	row_name(findings, finding, name);
	share(ended, finding->ended, findings->samples);
	share(self, finding->self, findings->samples);
	if (source) {
		count_text(rows, source->rows);
		rules = rules_names[source->rules];
		names = names_names[source->names];
		lines = lines_names[source->lines];
	}
	snprintf(line, sizeof(line), "%6s %6s  %-20s %-9s %6s  %-14s %s", ended, self, name, rules,
		 rows, names, lines);
	add_line(page, line);
}

static void add_row(struct page *page, const struct finding *finding)
{
	const char *id = build_id(page->findings, finding);
	char reasons[REASONS_TEXT], line[2 * WHY_COLUMNS];

	add_sources(page, finding);
	reasons_text(finding, reasons);
	if (!reasons[0] && !id[0])
		return;
	snprintf(line, sizeof(line), "  %-36s %.*s", reasons, BUILD_ID_MAX, id);
	add_line(page, line);
}

/* Returns how many objects have samples; they come first. */
static size_t sampled_objects(const struct findings *findings)
{
	size_t count = 0;

	while (count < findings->count && findings->items[count].samples > 0)
		count++;
	return count;
}

static void add_rest(struct page *page, size_t sampled, size_t shown)
{
	size_t all = page->findings->count;
	char line[WHY_COLUMNS + 1];

	if (sampled > shown)
		snprintf(line, sizeof(line), "%15s%zu more with samples, %zu without", "",
			 sampled - shown, all - sampled);
	else if (all > shown)
		snprintf(line, sizeof(line), "%15s%zu more %s without samples", "", all - shown,
			 all - shown == 1 ? "mapping" : "mappings");
	else
		return;
	add_line(page, line);
}

static void add_rows(struct page *page)
{
	const struct findings *findings = page->findings;
	size_t sampled = sampled_objects(findings), shown = sampled;

	add_line(page,
		 "ended%  self%  mapping              rules       rows  names          lines");
	if (shown == 0)
		shown = findings->count;
	if (shown > ROWS_SHOWN)
		shown = ROWS_SHOWN;
	for (size_t i = 0; i < shown; i++)
		add_row(page, &findings->items[i]);
	add_rest(page, sampled, shown);
}

/* ---- head ---- */

static void sampled_text(const struct findings *findings, const char *name, double seconds,
			 char *ret_line, size_t size)
{
	uint64_t complete = findings->samples - findings->guessed - findings->cut;
	uint64_t part = complete * 10000 / findings->samples;
	char guessed[48] = "";

	if (findings->guessed)
		snprintf(guessed, sizeof(guessed), "%" PRIu64 " complete (guessed), ",
			 findings->guessed);
	snprintf(ret_line, size,
		 "%s %" PRIu32 ": %" PRIu64 " samples in %.1f s, %" PRIu64 " complete (%" PRIu64
		 ".%02" PRIu64 " %%), %s%" PRIu64 " cut%s",
		 name, findings->sources->pid, findings->samples, seconds, complete, part / 100,
		 part % 100, guessed, findings->cut,
		 findings->sources->ended ? "; it has ended" : "");
}

static void add_head(struct page *page, const struct profile_times *times)
{
	const struct findings *findings = page->findings;
	const struct sources *sources = findings->sources;
	double seconds = (double)times->duration_ns / NS_PER_SECOND;
	char name[32], line[4 * WHY_COLUMNS];

	findings_clean(profile_string_get(findings->profile, sources->name), name, sizeof(name));
	if (findings->samples > 0)
		sampled_text(findings, name, seconds, line, sizeof(line));
	else
		snprintf(line, sizeof(line), "%s %" PRIu32 ": no samples in %.1f s: it %s", name,
			 sources->pid, seconds, sources->ended ? "has ended" : "slept");
	add_wrapped(page, line);
	if (findings->others > 0) {
		snprintf(line, sizeof(line), "not shown: %" PRIu64 " samples of its children",
			 findings->others);
		add_line(page, line);
	}
}

static bool has_mappings(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].source)
			return true;
	return false;
}

static void add_nothing(struct page *page)
{
	static const char unknown[] =
		"nothing is known of it: it used no CPU time and is a kernel thread, or is over; "
		"or its mappings (/proc/PID/maps) may not be read; or a rule of the policy denies "
		"it (keyhole check-config)";
	static const char unmapped[] =
		"no mappings: it is a kernel thread, or was over before they could be listed";

	add_wrapped(page, page->findings->sources->pid == 0 ? unknown : unmapped);
}

/* ---- all ---- */

static void render(struct page *page, const struct profile_times *times)
{
	const struct findings *findings = page->findings;
	char line[WHY_COLUMNS + 1];

	if (findings->sources->pid != 0)
		add_head(page, times);
	if (findings->count > 0)
		add_rows(page);
	if (has_mappings(findings))
		advice_give(findings, add_advice, page);
	else
		add_nothing(page);
	if (page->left_out > 0) {
		snprintf(line, sizeof(line), "and %u more %s to do", page->left_out,
			 page->left_out == 1 ? "thing" : "things");
		add_line(page, line);
	}
}

static int write_page(const struct findings *findings, const struct profile_times *times, int fd)
{
	struct page page = {.findings = findings};
	int r = output_init(&page.output, fd, false);

	if (r == 0) {
		render(&page, times);
		r = output_finish(&page.output);
	}
	output_release(&page.output);
	return r;
}

int why_render(const struct profile *profile, const struct sources *sources,
	       const struct profile_times *times, int fd)
{
	struct findings findings;
	int r = findings_collect(profile, sources, &findings);

	if (r < 0)
		return r;
	r = write_page(&findings, times, fd);
	findings_release(&findings);
	return r;
}
