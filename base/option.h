/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a command. Each option is one row of an options.def, which makes the entry of the
 * help. contrib/documents makes the entries of manual page and completions of the same row.
 */
#ifndef KEYHOLE_BASE_OPTION_H
#define KEYHOLE_BASE_OPTION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTION_ROWS_MAX 80
#define OPTION_FORMATS	"FORMATS" /* in a row's help: the list of formats stands there */

/*
 * Takes an option into `target`; argument is NULL for an option without one, and value is the
 * row's. Returns NULL, or the reason of a refusal, valid until the next call.
 */
typedef const char *option_setter(void *target, const char *argument, size_t value);

struct option_row {
	const char *name; /* the long form; NULL: a text of the help between options */
	char letter;	  /* the short form; '\0': none */
	/* a word for the argument; "[=WORD]": may be left out; NULL: the option takes none */
	const char *argument;
	uint32_t verbs;	  /* bits, of the verbs that have this option */
	const char *help; /* each '\n' continues below; NULL: part of the next row's help */
	option_setter *set;
	size_t value;
};

enum option_order {
	OPTION_PERMUTE = '\0', /* words that are no options may stand anywhere */
	OPTION_STOP = '+',     /* the first word that is no option ends the options */
	OPTION_IN_ORDER = '-'  /* option_reader.operand() takes each word that is no option */
};

struct option_reader {
	const char *verb;
	const struct option_row *rows;
	size_t count;	/* of rows, at most OPTION_ROWS_MAX */
	uint32_t verbs; /* only rows that have one of these bits count */
	enum option_order order;
	option_setter *operand; /* OPTION_IN_ORDER alone; its value is 0 */
	void *target;
};

/*
 * Reads argv behind its first word. Returns 0, with optind of getopt() at the first word that was
 * not read, or -EINVAL after one line in the log.
 */
int option_read(const struct option_reader *reader, int argc, char **argv);

/*
 * Logs a refusal in one line. Adds where help can be found to a reason that does not say what to
 * do: such a reason has no ';'. Returns -EINVAL, or 0 where reason is NULL.
 */
int option_refuse(const char *verb, const char *object, const char *reason);

/* Writes the help of a row, which is not NULL, with what OPTION_FORMATS stands for. */
void option_help(const struct option_row *row, char *ret_text, size_t max);

/* Prints the help of the rows that have one of the bits; the texts begin behind that column. */
void option_print(const struct option_row *rows, size_t count, uint32_t verbs, int column,
		  FILE *out);

/* Prints a label and its text behind that column, continued below where it is too wide. */
void option_print_text(FILE *out, const char *label, int column, const char *text);

/* Setters. Value is the offset in target of a bool that becomes true, or of a const char *. */
option_setter option_set_true, option_set_text;

#endif
