/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/agent.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_file.h"
#include "helper/options/configuration.h"
#include "helper/options/destination.h"
#include "helper/options/environment.h"
#include "helper/options/help.h"
#include "helper/options/record.h"
#include "helper/options/setters.h"
#include "helper/options/wanted.h"
#include "ipc/guard.h"
#include "ipc/log.h"

#define DEFAULT_HZ	 20
#define DEFAULT_INTERVAL 15
#define CHANCE_INTERVAL	 60
#define DEFAULT_CONFIG	 "/etc/keyhole/agent.conf"
#define DEFAULT_FOLDER	 "/var/lib/keyhole"

/* ---- the file -------------------------------------------------------------------------------- */

static int refuse_line(const char *path, unsigned int number, const char *reason)
{
	if (number)
		log_error("%s:%u: %s", path, number, reason);
	else
		log_error("agent: %s: %s", path, reason);
	return EXIT_USAGE;
}

static int take_file(struct line *line, const char *path, int fd)
{
	/* a byte more tells a file that is too large */
	static char text[CONFIGURATION_BYTES_MAX + 1];
	const ssize_t size = text_file_read(fd, text, sizeof(text));
	const char *reason;
	unsigned int number;

	if (size < 0)
		return refuse_line(path, 0, strerror((int)-size));
	reason = configuration_read(text, (size_t)size, setters_rows, setters_count, CONFIG, line,
				    &number);
	if (reason)
		return refuse_line(path, number, reason);
	return EXIT_DONE;
}

/* Without --config a missing file is no error. */
static int read_config(struct line *line, const char *given, struct channel *loader)
{
	const char *path = DEFAULT_CONFIG;
	guard_fd int fd = -1;

	if (!loader)
		return EXIT_DONE;
	if (given)
		path = given;
	fd = wanted_open(loader, FILE_CONFIG, path);
	if (fd == -ENOENT && !given)
		return EXIT_DONE;
	if (fd < 0)
		return refuse_line(path, 0, strerror(-fd));
	return take_file(line, path, fd);
}

/* ---- flags ----------------------------------------------------------------------------------- */

static int read_flags(struct line *line, int argc, char **argv)
{
	const struct option_reader reader = {.verb = argv[0],
					     .rows = setters_rows,
					     .count = setters_count,
					     .verbs = AGENT,
					     .order = OPTION_STOP,
					     .target = line};

	return option_read(&reader, argc, argv);
}

static void begin(struct line *line, char **argv, struct message_options *options,
		  struct destination *destination)
{
	memset(options, 0, sizeof(*options));
	*line = (struct line){.options = options, .argv = argv, .destination = destination};
	filters_init(&line->filters, options);
	destination_init(destination);
}

static int read_environment(struct destination *destination)
{
	const char *name, *reason = environment_read(destination, &name);

	if (reason)
		return refuse_line(name, 0, reason);
	return EXIT_DONE;
}

/*
 * Reads the flags twice: first for the name of the configuration file, then over what that file and
 * the environment say.
 */
static int read_all(struct line *line, int argc, char **argv, struct channel *loader,
		    struct message_options *options, struct destination *destination)
{
	const char *config;
	int r;

	begin(line, argv, options, destination);
	if (read_flags(line, argc, argv))
		return EXIT_USAGE;
	if (line->help)
		return EXIT_DONE;
	config = line->config;
	begin(line, argv, options, destination);
	r = read_config(line, config, loader);
	if (r)
		return r;
	r = read_environment(destination);
	if (r)
		return r;
	read_flags(line, argc, argv);
	return OPTIONS_RECORD;
}

/* ---- together -------------------------------------------------------------------------------- */

/* Without a server, windows go into files; with a spool, those that wait do. */
static void fill_in(struct message_options *options, const struct destination *destination)
{
	if (!options->sampling.frequency && !options->sampling.period)
		options->sampling.frequency = DEFAULT_HZ;
	if (!options->every)
		options->every = DEFAULT_INTERVAL;
	if (!options->chance.interval)
		options->chance.interval = CHANCE_INTERVAL;
	options->flags |= OPTIONS_AGENT;
	if (destination->listener.family || destination->endpoint.metrics_ms)
		options->flags |= OPTIONS_METRICS;
	options->format = FORMAT_otlp;
	snprintf(options->name, sizeof(options->name), DEFAULT_FOLDER);
	if (!destination->is_given)
		options->format = FORMAT_pprof;
	else if (!options->spool)
		snprintf(options->name, sizeof(options->name), "the server");
}

/* Returns why the accounts cannot be told, or NULL. */
static const char *finish_accounts(const struct message_options *options)
{
	if (options->flags & OPTIONS_ACCOUNTS && !(options->flags & OPTIONS_METRICS))
		return "they are numbers of --metrics or --otlp-metrics; give one of these too";
	if (options->flags & OPTIONS_COUNTERS && !(options->flags & OPTIONS_ACCOUNTS))
		return "--counters are counters of --accounts; give this one too";
	return NULL;
}

static int finish_destination(struct destination *destination)
{
	const char *name = "endpoint", *reason = NULL;

	if (!destination->is_given && destination->endpoint.metrics_ms)
		return option_refuse("agent", "otlp-metrics", "there is no endpoint");
	if (!destination->is_given)
		return 0;
	reason = destination_finish(destination);
	if (!reason)
		reason = environment_read_proxy(destination, &name);
	return option_refuse("agent", name, reason);
}

static int send(const struct destination *destination, struct channel *loader)
{
	const char *path;
	int r;

	if (!loader)
		return 0;
	r = destination_send_page(destination, loader);
	if (r < 0)
		return refuse_line("metrics", 0, strerror(-r));
	if (!destination->is_given)
		return 0;
	r = destination_send(destination, loader, &path);
	if (r < 0 && path)
		return refuse_line(path, 0, strerror(-r));
	if (r < 0)
		return refuse_line("destination", 0, strerror(-r));
	return 0;
}

int agent_read(int argc, char **argv, FILE *out, struct channel *loader,
	       struct message_options *ret_options)
{
	static struct destination destination;
	struct line line;
	int r = read_all(&line, argc, argv, loader, ret_options, &destination);

	if (line.help)
		help_print_agent(out);
	if (r != OPTIONS_RECORD)
		return r;
	fill_in(ret_options, &destination);
	if (record_finish(&line, argc))
		return EXIT_USAGE;
	if (option_refuse(argv[0], "accounts", finish_accounts(ret_options)))
		return EXIT_USAGE;
	if (finish_destination(&destination))
		return EXIT_USAGE;
	if (send(&destination, loader))
		return EXIT_USAGE;
	if (line.check)
		return OPTIONS_CHECK;
	return OPTIONS_RECORD;
}
