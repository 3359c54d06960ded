/* SPDX-License-Identifier: Apache-2.0 */
#include "view/check/report.h"

#include <inttypes.h>
#include <stdarg.h>

#define EXIT_WELL    0
#define EXIT_DEVIATE 1
#define EXIT_UNKNOWN 3

/* Returns whether a byte stands for itself: in the audit stream the others are \xHH as well. */
static bool is_plain(char byte)
{
	return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
}

static void put_escaped(const struct report *report, const char *text)
{
	const char *backslash = report->json ? "\\\\" : "\\";

	for (; *text; text++) {
		if (is_plain(*text))
			fputc(*text, report->stream);
		else
			fprintf(report->stream, "%sx%02x", backslash, (unsigned char)*text);
	}
}

static void put_name(struct report *report, const char *name)
{
	bool *filled = &report->filled[report->depth];

	if (report->json && *filled)
		fputc(',', report->stream);
	if (report->json)
		fputc('\n', report->stream);
	fprintf(report->stream, "%*s", (int)report->depth * 2, "");
	*filled = true;
	if (name && report->json)
		fprintf(report->stream, "\"%s\": ", name);
	else if (name)
		fprintf(report->stream, "%s: ", name);
	else if (!report->json)
		fputs("- ", report->stream);
}

void report_open(struct report *report, const char *name, char bracket)
{
	if (report->depth > 0 || name)
		put_name(report, name);
	if (report->json)
		fputc(bracket, report->stream);
	else if (report->depth > 0 || name)
		fputc('\n', report->stream);
	report->closing[report->depth++] = bracket == '{' ? '}' : ']';
	report->filled[report->depth] = false;
}

void report_close(struct report *report)
{
	bool filled = report->filled[report->depth--];

	if (report->json && filled)
		fprintf(report->stream, "\n%*s", (int)report->depth * 2, "");
	if (report->json)
		fputc(report->closing[report->depth], report->stream);
	if (report->json && report->depth == 0)
		fputc('\n', report->stream);
}

static void end_line(const struct report *report)
{
	if (!report->json)
		fputc('\n', report->stream);
}

static void put_value(const struct report *report, const char *value)
{
	if (report->json)
		fputc('"', report->stream);
	put_escaped(report, value);
	if (report->json)
		fputc('"', report->stream);
}

void report_text(struct report *report, const char *name, const char *value)
{
	put_name(report, name);
	if (value)
		put_value(report, value);
	else
		fputs(report->json ? "null" : "none", report->stream);
	end_line(report);
}

void report_number(struct report *report, const char *name, uint64_t value)
{
	put_name(report, name);
	fprintf(report->stream, "%" PRIu64, value);
	end_line(report);
}

void report_bool(struct report *report, const char *name, bool value)
{
	put_name(report, name);
	fputs(value ? "true" : "false", report->stream);
	end_line(report);
}

void report_add(struct report *report, enum report_finding kind, const char *object,
		const char *format, ...)
{
	unsigned int index = report->findings[kind];
	va_list arguments;

	if (index == REPORT_FINDINGS_MAX)
		return;
	report->findings[kind]++;
	if (index == REPORT_FINDINGS_MAX - 1) {
		object = "others";
		format = "there are more";
	}
	snprintf(report->finding[kind][index].object, sizeof(report->finding[kind][index].object),
		 "%s", object);
	va_start(arguments, format);
	vsnprintf(report->finding[kind][index].what, sizeof(report->finding[kind][index].what),
		  format, arguments);
	va_end(arguments);
}

int report_end(struct report *report)
{
	static const char *const names[] = {"deviations", "unknown"};

	for (int kind = 0; kind < FINDING_COUNT; kind++) {
		report_open(report, names[kind], '[');
		for (unsigned int i = 0; i < report->findings[kind]; i++) {
			report_open(report, NULL, '{');
			report_text(report, "object", report->finding[kind][i].object);
			report_text(report, "what", report->finding[kind][i].what);
			report_close(report);
		}
		report_close(report);
	}
	if (report->findings[FINDING_DEVIATION]) {
		report_text(report, "result", "deviation");
		return EXIT_DEVIATE;
	}
	if (report->findings[FINDING_UNKNOWN]) {
		report_text(report, "result", "unknown");
		return EXIT_UNKNOWN;
	}
	report_text(report, "result", "ok");
	return EXIT_WELL;
}
