/* SPDX-License-Identifier: Apache-2.0 */
#include "contrib/documents/manual.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static void put_lower(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		fputc(tolower((unsigned char)text[i]), out);
}

/* WORD, or WORD[:WORD]. */
static void put_argument(FILE *out, const char *argument)
{
	const size_t first = strcspn(argument, "[");

	fputs(" Ar ", out);
	put_lower(out, argument, first);
	if (!argument[first])
		return;
	fputs(" Ns Op : Ns Ar ", out);
	put_lower(out, argument + first + 2, strlen(argument + first + 2) - 1);
}

static void put_option(FILE *out, const struct row *row, const char *before)
{
	const struct option_row *option = &row->option;

	fputs(before, out);
	if (option->letter)
		fprintf(out, "%c , ", option->letter);
	fprintf(out, "-%s", option->name);
	if (option->argument)
		put_argument(out, option->argument);
}

void manual_options(FILE *out, const struct verb *verb)
{
	const char *before = ".It Fl ";

	for (size_t i = 0; i < row_count; i++) {
		const struct row *row = &rows[i];
		const bool is_foreign = row_is_handed_on(row) && !strcmp(verb->name, "top");

		if (!(row->option.verbs & verb->bit) || is_foreign)
			continue;
		if (row->option.name)
			put_option(out, row, before);
		before = " , ";
		if (row->option.name && !row->option.help)
			continue; /* the next row's item is this one's too */
		before = ".It Fl ";
		if (row->option.name)
			fputc('\n', out);
		fputs(row->manual, out);
	}
}

void manual_handed_on(FILE *out)
{
	const char *before = ".Fl ";

	for (size_t i = 0; i < row_count; i++) {
		const struct option_row *option = &rows[i].option;

		if (!option->name || !row_is_handed_on(&rows[i]))
			continue;
		if (option->letter)
			fprintf(out, "%s%c", before, option->letter);
		else
			fprintf(out, "%s-%s", before, option->name);
		before = " , ";
	}
	fputs(" .\n", out);
}

void manual_verbs(FILE *out)
{
	for (size_t i = 0; i < verb_count; i++) {
		fprintf(out, ".It Cm %s\n%s\n", verbs[i].name, verbs[i].manual);
		if (verbs[i].bit)
			fprintf(out, "See\n.Xr keyhole-%s 1 .\n", verbs[i].name);
	}
}

void manual_formats(FILE *out)
{
#define F(number, id, name, suffix, help) \
	fprintf(out, ".It Cm %s Pq Pa %s\n%s", name, suffix, help);
#include "ipc/formats.def"
#undef F
}

void manual_events(FILE *out)
{
	static const struct {
		const char *name;
		bool is_counted; /* by default */
	} events[] = {
#define E(name, kind, what, counted, period, least) {name, (period) > 0},
#include "ipc/events.def"
#undef E
	};
	const char *before = ".Cm ";

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (!events[i].is_counted)
			continue;
		fprintf(out, "%s%s", before, events[i].name);
		before = " , ";
	}
	fputs(" .\n", out);
}
