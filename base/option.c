/* SPDX-License-Identifier: Apache-2.0 */
#include "base/option.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <string.h>

#include "base/formats.h"
#include "base/nearest.h"
#include "ipc/log.h"

#define HELP_COLUMNS 80
#define LONG_OPTION  256 /* getopt()'s value of row 0; letters are below */
#define OPERAND	     1	 /* getopt()'s value of a word that is no option */
#define HELP_BYTES   512

/* The tables of getopt_long(), made of rows. */
struct tables {
	struct option longs[OPTION_ROWS_MAX + 1];
	char letters[2 * OPTION_ROWS_MAX + 3];
};

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_read(const struct option_reader *reader, size_t index)
{
	const struct option_row *row = &reader->rows[index];

	return row->name && (row->verbs & reader->verbs);
}

/* A word in brackets is an argument that may be left out: such an option has no letter. */
static bool is_optional(const struct option_row *row)
{
	return row->argument && row->argument[0] == '[';
}

static int argument_kind(const struct option_row *row)
{
	if (!row->argument)
		return no_argument;
	return is_optional(row) ? optional_argument : required_argument;
}

static void make_tables(const struct option_reader *reader, struct tables *ret_tables)
{
	struct option *longs = ret_tables->longs;
	char *letters = ret_tables->letters;

	memset(ret_tables, 0, sizeof(*ret_tables));
	if (reader->order != OPTION_PERMUTE)
		*letters++ = (char)reader->order;
	*letters++ = ':'; /* the messages are ours */
	for (size_t i = 0; i < reader->count && i < OPTION_ROWS_MAX; i++) {
		const struct option_row *row = &reader->rows[i];

		if (!is_read(reader, i))
			continue;
		*longs++ =
			(struct option){row->name, argument_kind(row), NULL, LONG_OPTION + (int)i};
		if (!row->letter)
			continue;
		*letters++ = row->letter;
		if (row->argument)
			*letters++ = ':';
	}
}

static const struct option_row *row_of(const struct option_reader *reader, int option)
{
	if (option >= LONG_OPTION)
		return &reader->rows[option - LONG_OPTION];
	for (size_t i = 0; i < reader->count; i++)
		if (is_read(reader, i) && reader->rows[i].letter == option)
			return &reader->rows[i];
	return NULL;
}

/* Says why getopt() refused the last word: a letter, a name, or a name with "=..." behind it. */
static const char *unknown(const struct tables *tables, char **argv)
{
	static char text[128];
	const char *names[OPTION_ROWS_MAX + 1] = {NULL}, *found;
	const char *word = argv[optind - 1];

	if (optopt >= LONG_OPTION)
		return "takes no argument";
	if (optopt)
		return "unknown option";
	for (size_t i = 0; tables->longs[i].name; i++)
		names[i] = tables->longs[i].name;
	found = nearest(word + 2, names);
	if (!found)
		return "unknown option";
	snprintf(text, sizeof(text), "unknown option; did you mean --%s?", found);
	return text;
}

/* Returns whether getopt() took the word "--" as the argument of the option before that word. */
static bool lacks_argument(int option, char **argv)
{
	if (option == OPERAND || !optarg)
		return false;
	return optarg == argv[optind - 1] && strcmp(optarg, "--") == 0;
}

static const char *take(const struct option_reader *reader, const struct tables *tables, int option,
			char **argv)
{
	const struct option_row *row;

	if (option == OPERAND)
		return reader->operand(reader->target, optarg, 0);
	if (option == ':' || lacks_argument(option, argv))
		return "needs an argument";
	row = row_of(reader, option);
	if (!row)
		return unknown(tables, argv);
	return row->set(reader->target, optarg, row->value);
}

/* Returns what a refusal names: the argument, else the letter or word that was read last. */
static const char *object_of(int option, char **argv)
{
	static char letter[] = "-?";

	if (lacks_argument(option, argv))
		return argv[optind - 2];
	if (optarg)
		return optarg;
	if (option != '?' || !optopt || optopt >= LONG_OPTION)
		return argv[optind - 1];
	letter[1] = (char)optopt; /* optind does not count letters that stand together */
	return letter;
}

int option_read(const struct option_reader *reader, int argc, char **argv)
{
	struct tables tables;
	int option, r;

	make_tables(reader, &tables);
	optind = 0; /* glibc: start anew */
	opterr = 0;
	for (;;) {
		option = getopt_long(argc, argv, tables.letters, tables.longs, NULL);
		if (option == -1)
			return 0;
		r = option_refuse(reader->verb, object_of(option, argv),
				  take(reader, &tables, option, argv));
		if (r)
			return r;
	}
}

int option_refuse(const char *verb, const char *object, const char *reason)
{
	if (!reason)
		return 0;
	if (strchr(reason, ';'))
		log_error("%s: %s: %s", verb, object, reason);
	else
		log_error("%s: %s: %s; see: keyhole %s --help", verb, object, reason, verb);
	return -EINVAL;
}

const char *option_set_true(void *target, const char *argument, size_t value)
{
	(void)argument;
	*(bool *)((char *)target + value) = true;
	return NULL;
}

const char *option_set_text(void *target, const char *argument, size_t value)
{
	*(const char **)((char *)target + value) = argument;
	return NULL;
}

/* ---- help ----------------------------------------------------------------------------------- */

void option_help(const struct option_row *row, char *ret_text, size_t max)
{
	const char *place = strstr(row->help, OPTION_FORMATS);

	if (!place) {
		snprintf(ret_text, max, "%s", row->help);
		return;
	}
	snprintf(ret_text, max, "%.*s%s%s", (int)(place - row->help), row->help,
		 formats_names(" or "), place + strlen(OPTION_FORMATS));
}

void option_print_text(FILE *out, const char *label, int column, const char *text)
{
	int used = fprintf(out, "%-*s", column, label);

	while (*text) {
		const int word = (int)strcspn(text, " \n");
		const bool is_too_wide = used + 1 + word > HELP_COLUMNS;

		if (is_too_wide || !word)
			used = fprintf(out, "\n%*s", column, "") - 1;
		if (word)
			used += fprintf(out, " %.*s", word, text);
		text += word;
		if (*text == ' ' || (*text && !word))
			text++;
	}
	fputc('\n', out);
}

static void print_row(FILE *out, const struct option_row *row, int column)
{
	char text[HELP_BYTES], label[64], letter[] = "   ";
	const char *space = "", *argument = "";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c,", row->letter);
	if (row->argument) {
		if (!is_optional(row))
			space = " ";
		argument = row->argument;
	}
	snprintf(label, sizeof(label), "  %s --%s%s%s", letter, row->name, space, argument);
	option_help(row, text, sizeof(text));
	option_print_text(out, label, column, text);
}

void option_print(const struct option_row *rows, size_t count, uint32_t verbs, int column,
		  FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		if (!(rows[i].verbs & verbs) || !rows[i].help)
			continue;
		if (rows[i].name)
			print_row(out, &rows[i], column);
		else
			fputs(rows[i].help, out);
	}
}
