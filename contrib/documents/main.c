/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a manual page or a shell's completions of a template, which is standard input. A line
 * "@NAME@" of the template gives place to what is made of the rows of options (rows.h):
 * @options VERB@, and the names below. A build runs this program; nothing installs it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/documents/completions.h"
#include "contrib/documents/manual.h"
#include "contrib/documents/rows.h"

static const struct {
	const char *name;
	void (*put)(FILE *out);
} parts[] = {
	{"verbs", manual_verbs},     {"handed-on", manual_handed_on},
	{"formats", manual_formats}, {"events", manual_events},
	{"bash-words", bash_words},  {"bash-arguments", bash_arguments},
	{"zsh-verbs", zsh_verbs},    {"zsh-options", zsh_options},
	{"fish-verbs", fish_verbs},  {"fish-options", fish_options},
};

static bool put_part(const char *name)
{
	static const char options[] = "options ";
	const struct verb *verb;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].name, name) != 0)
			continue;
		parts[i].put(stdout);
		return true;
	}
	if (strncmp(name, options, sizeof(options) - 1) != 0)
		return false;
	verb = verb_find(name + sizeof(options) - 1);
	if (!verb)
		return false;
	manual_options(stdout, verb);
	return true;
}

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		size_t length = strlen(line);

		if (length < 4 || line[0] != '@' || strcmp(line + length - 2, "@\n") != 0) {
			fputs(line, stdout);
			continue;
		}
		line[length - 2] = '\0';
		if (!put_part(line + 1)) {
			fprintf(stderr, "%s: no such part\n", line + 1);
			return EXIT_FAILURE;
		}
	}
	if (ferror(stdin) || fflush(stdout))
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
