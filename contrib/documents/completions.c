/* SPDX-License-Identifier: Apache-2.0 */
#include "contrib/documents/completions.h"

#include <stdbool.h>
#include <string.h>

#include "contrib/documents/rows.h"

#define HELP_BYTES 512
#define PIDS	   "$(cd /proc && printf '%s\\n' [0-9]*)"

/* Names of variables have no '-'. */
static void put_name(FILE *out, const char *verb)
{
	for (; *verb; verb++)
		fputc(*verb == '-' ? '_' : *verb, out);
}

static bool is_option(const struct row *row, const struct verb *verb)
{
	return row->option.name && (row->option.verbs & verb->bit);
}

/* Puts the help on one line, in single quotes that are open, with a '\' before those characters. */
static void put_help(FILE *out, const struct row *row, const char *special, const char *quote)
{
	char text[HELP_BYTES] = "";

	if (row->option.help)
		option_help(&row->option, text, sizeof(text));
	for (const char *at = text; *at; at++) {
		if (*at == '\n') {
			if (at > text)
				fputc(' ', out);
		} else if (*at == '\'') {
			fputs(quote, out);
		} else {
			if (strchr(special, *at))
				fputc('\\', out);
			fputc(*at, out);
		}
	}
}

/* Trims the blank at the end of a list. */
static int words_length(const char *words)
{
	size_t length = strlen(words);

	while (length && words[length - 1] == ' ')
		length--;
	return (int)length;
}

/* ---- bash ------------------------------------------------------------------------------------ */

void bash_words(FILE *out)
{
	fputs("_keyhole_verbs='", out);
	for (size_t i = 0; i < verb_count; i++)
		fprintf(out, "%s%s", i ? " " : "", verbs[i].name);
	fputs("'\n", out);
	for (size_t i = 0; i < verb_count; i++) {
		fputs("_keyhole_", out);
		put_name(out, verbs[i].name);
		fputs("='", out);
		for (size_t j = 0; j < row_count; j++)
			if (is_option(&rows[j], &verbs[i]))
				fprintf(out, "--%s ", rows[j].option.name);
		fputs("'\n", out);
	}
}

static void put_bash_action(FILE *out, const struct row *row)
{
	switch (row->completion) {
	case COMPLETE_NOTHING:
		break;
	case COMPLETE_FILES:
		fputs("kind=files ", out);
		break;
	case COMPLETE_FOLDERS:
		fputs("kind=folders at=/usr/lib/debug ", out);
		break;
	case COMPLETE_CGROUPS:
		fputs("kind=folders at=/sys/fs/cgroup/ ", out);
		break;
	case COMPLETE_PROCESSES:
		fputs("words=" PIDS " ", out);
		break;
	case COMPLETE_USERS:
		fputs("words=$(cut -d: -f1 /etc/passwd) ", out);
		break;
	case COMPLETE_WORDS:
	case COMPLETE_LIST:
		fprintf(out, "words='%.*s' ", words_length(row->words), row->words);
		break;
	}
}

void bash_arguments(FILE *out)
{
	for (size_t i = 0; i < verb_count; i++) {
		const char *verb = verbs[i].name;

		for (size_t j = 0; j < row_count; j++) {
			const struct option_row *option = &rows[j].option;

			if (!is_option(&rows[j], &verbs[i]) || !option->argument)
				continue;
			fputc('\t', out);
			if (option->letter)
				fprintf(out, "'%s -%c' | ", verb, option->letter);
			fprintf(out, "'%s --%s') ", verb, option->name);
			put_bash_action(out, &rows[j]);
			fputs(";;\n", out);
		}
	}
}

/* ---- zsh ------------------------------------------------------------------------------------- */

void zsh_verbs(FILE *out)
{
	for (size_t i = 0; i < verb_count; i++)
		fprintf(out, "\t\t'%s:%s'\n", verbs[i].name, verbs[i].help);
}

static void put_zsh_action(FILE *out, const struct row *row)
{
	static const char *const actions[] = {
		[COMPLETE_NOTHING] = "",
		[COMPLETE_FILES] = "_files",
		[COMPLETE_FOLDERS] = "_files -/",
		[COMPLETE_CGROUPS] = "_files -/ -W /sys/fs/cgroup",
		[COMPLETE_PROCESSES] = "_pids",
		[COMPLETE_USERS] = "_users",
	};

	if (row->completion == COMPLETE_WORDS)
		fprintf(out, "(%.*s)", words_length(row->words), row->words);
	else if (row->completion == COMPLETE_LIST)
		fprintf(out, "_values -s , %s %s", row->option.name, row->words);
	else
		fputs(actions[row->completion], out);
}

/* An option without an argument is offered once, any other again. */
static void put_zsh_option(FILE *out, const struct row *row)
{
	const struct option_row *option = &row->option;

	fputs("\t\t'", out);
	if (option->argument)
		fputc('*', out);
	else if (option->letter)
		fprintf(out, "(-%c --%s)", option->letter, option->name);
	if (option->letter)
		fprintf(out, "'{-%c,--%s}'", option->letter, option->name);
	else
		fprintf(out, "--%s", option->name);
	if (option->help) {
		fputc('[', out);
		put_help(out, row, "[]\\", "'\\''");
		fputc(']', out);
	}
	if (option->argument) {
		fprintf(out, ":%s:", option->name);
		put_zsh_action(out, row);
	}
	fputs("'\n", out);
}

void zsh_options(FILE *out)
{
	for (size_t i = 0; i < verb_count; i++) {
		fputs("\tlocal -a ", out);
		put_name(out, verbs[i].name);
		fputs("_options=(\n", out);
		for (size_t j = 0; j < row_count; j++)
			if (is_option(&rows[j], &verbs[i]))
				put_zsh_option(out, &rows[j]);
		fputs("\t)\n", out);
	}
}

/* ---- fish ------------------------------------------------------------------------------------ */

void fish_verbs(FILE *out)
{
	for (size_t i = 0; i < verb_count; i++) {
		fprintf(out, "complete -c keyhole -n __fish_use_subcommand -a %s -d '%s'\n",
			verbs[i].name, verbs[i].help);
		fprintf(out, "complete -c keyhole -n '__fish_seen_subcommand_from help' -a %s\n",
			verbs[i].name);
	}
}

static void put_fish_action(FILE *out, const struct row *row)
{
	static const char *const actions[] = {
		[COMPLETE_NOTHING] = "-x",
		[COMPLETE_FILES] = "-r -F",
		[COMPLETE_FOLDERS] = "-x -a '(__fish_complete_directories)'",
		[COMPLETE_CGROUPS] = "-x -a '(__fish_complete_directories)'",
		[COMPLETE_PROCESSES] = "-x -a '(__fish_complete_pids)'",
		[COMPLETE_USERS] = "-x -a '(__fish_complete_users)'",
	};

	if (row->words)
		fprintf(out, " -x -a '%.*s'", words_length(row->words), row->words);
	else
		fprintf(out, " %s", actions[row->completion]);
}

void fish_options(FILE *out)
{
	for (size_t i = 0; i < row_count; i++) {
		const struct row *row = &rows[i];

		if (!row->option.name)
			continue;
		fputs("complete -c keyhole -n '__fish_seen_subcommand_from", out);
		for (size_t j = 0; j < verb_count; j++)
			if (is_option(row, &verbs[j]))
				fprintf(out, " %s", verbs[j].name);
		fputc('\'', out);
		if (row->option.letter)
			fprintf(out, " -s %c", row->option.letter);
		fprintf(out, " -l %s", row->option.name);
		if (row->option.argument)
			put_fish_action(out, row);
		if (row->option.help) {
			fputs(" -d '", out);
			put_help(out, row, "\\", "\\'");
			fputc('\'', out);
		}
		fputc('\n', out);
	}
}
