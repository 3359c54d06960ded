/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/command_line.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/nearest.h"
#include "generated/version.h"
#include "helper/options/agent.h"
#include "helper/options/help.h"
#include "helper/options/record.h"
#include "ipc/log.h"

/* A verb's reader returns OPTIONS_RECORD or an exit status; argv[0] is the verb. */
struct verb {
	const char *name;
	int (*read)(int argc, char **argv, FILE *out, struct channel *loader,
		    struct message_options *ret_options);
};

static int refuse_verb(const char *name)
{
	static const char *const names[] = {
		"record",
#define W(verb, help) verb,
#include "helper/options/verbs.def"
#undef W
		"help",
#define V(verb, program, help) #verb,
#include "ipc/verbs.def"
#undef V
		NULL,
	};
	const char *found = nearest(name, names);

	if (found)
		log_error("%s: not a command; did you mean %s? run: keyhole help", name, found);
	else if (*name)
		log_error("%s: not a command; run: keyhole help", name);
	else
		log_error("(nothing): not a command; run: keyhole help");
	return EXIT_USAGE;
}

static int read_version(int argc, char **argv, FILE *out, struct channel *loader,
			struct message_options *ret_options)
{
	(void)argc;
	(void)argv;
	(void)loader;
	(void)ret_options;
	fputs("keyhole " KEYHOLE_VERSION "\n", out);
	return EXIT_DONE;
}

static int read_record(int argc, char **argv, FILE *out, struct channel *loader,
		       struct message_options *ret_options)
{
	int status = record_read(argc, argv, ret_options);

	(void)loader;
	if (status == EXIT_DONE)
		help_print(out);
	return status;
}

static int read_stat(int argc, char **argv, FILE *out, struct channel *loader,
		     struct message_options *ret_options)
{
	int status = record_read_stat(argc, argv, ret_options);

	(void)loader;
	if (status == EXIT_DONE)
		help_print_stat(out);
	return status;
}

static int read_why(int argc, char **argv, FILE *out, struct channel *loader,
		    struct message_options *ret_options)
{
	int status = record_read_why(argc, argv, ret_options);

	(void)loader;
	if (status == EXIT_DONE)
		help_print_why(out);
	return status;
}

/* Sees only command lines with an option: the loader itself serves one that names a file. */
static int read_check_config(int argc, char **argv, FILE *out, struct channel *loader,
			     struct message_options *ret_options)
{
	const char *word = "";

	(void)loader;
	(void)ret_options;
	if (argc > 1)
		word = argv[1];
	if (strcmp(word, "--help") != 0 && strcmp(word, "-h") != 0) {
		log_error("check-config: %s: unknown option; see: keyhole check-config --help",
			  word);
		return EXIT_USAGE;
	}
	help_print_check_config(out);
	return EXIT_DONE;
}

/* Prints the help of one command. A program of its own prints its own help. */
static int read_help(int argc, char **argv, FILE *out, struct channel *loader,
		     struct message_options *ret_options)
{
	static const struct {
		const char *verb;
		void (*print)(FILE *out);
	} ours[] = {
		{"", help_print},
		{"help", help_print},
		{"record", help_print},
		{"agent", help_print_agent},
		{"stat", help_print_stat},
		{"why", help_print_why},
		{"check-config", help_print_check_config},
	};
	static const char *const programs[] = {
#define V(verb, program, help) #verb,
#include "ipc/verbs.def"
#undef V
	};
	const char *verb = "";

	(void)loader;
	(void)ret_options;
	if (argc > 1)
		verb = argv[1];
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (strcmp(ours[i].verb, verb) != 0)
			continue;
		ours[i].print(out);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(programs[i], verb) != 0)
			continue;
		fprintf(out, "see: keyhole %s --help\n", verb);
		return EXIT_DONE;
	}
	return refuse_verb(verb);
}

static int flush(FILE *out, const char *verb)
{
	if (fflush(out) == 0 && !ferror(out))
		return EXIT_DONE;
	if (errno == EPIPE) /* the reader has seen enough */
		return EXIT_PIPE;
	log_error("%s: standard output: %s", verb, strerror(errno));
	return EXIT_FAILED;
}

static int read_verb(int argc, char **argv, FILE *out, struct channel *loader,
		     struct message_options *ret_options)
{
	static const struct verb verbs[] = {
		{"record", read_record},     {"agent", agent_read},
		{"why", read_why},	     {"check-config", read_check_config},
		{"stat", read_stat},	     {"help", read_help},
		{"--help", read_help},	     {"-h", read_help},
		{"--version", read_version},
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].name, argv[0]))
			return verbs[i].read(argc, argv, out, loader, ret_options);
	return refuse_verb(argv[0]);
}

void command_line_read(int argc, char **argv, FILE *out, struct channel *loader,
		       struct message_options *ret_options)
{
	static char nothing[] = "";
	char *none[] = {nothing, NULL};
	char **verb = none;
	int words = 1, status;

	if (argc > 1) {
		verb = argv + 1;
		words = argc - 1;
	}
	memset(ret_options, 0, sizeof(*ret_options));
	status = read_verb(words, verb, out, loader, ret_options);
	if (status == EXIT_DONE)
		status = flush(out, verb[0]);
	ret_options->status = status;
}
