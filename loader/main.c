/* SPDX-License-Identifier: Apache-2.0 */
/* The keyhole command. Privileged while it starts: record.c has the order in which that ends. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/messages.h"
#include "ipc/time.h"
#include "loader/options.h"
#include "loader/record.h"

/* Descriptors 0 to 2 exist from here on, so that no file of ours is mistaken for one of them. */
static int sanitise_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO && !fcntl(fd, F_SETFD, 0));
	return fd < 0 ? fd : close(fd);
}

static int run_record(int argc, char **argv, uint64_t begun)
{
	struct options options;

	if (options_parse(argc, argv, &options))
		return EXIT_USAGE;
	if (options.help) {
		options_usage(stdout);
		return EXIT_DONE;
	}
	log_init("keyhole", options.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING);
	return record_run(&options, begun);
}

int main(int argc, char **argv)
{
	uint64_t begun = time_now();
	const char *verb = argc > 1 ? argv[1] : "";

	log_init("keyhole", LOG_LEVEL_WARNING);
	if (sanitise_descriptors())
		return EXIT_FAILED;
	if (!strcmp(verb, "record"))
		return run_record(argc - 1, argv + 1, begun);
	if (!strcmp(verb, "--version")) {
		puts("keyhole " KEYHOLE_VERSION);
		return EXIT_DONE;
	}
	if (!strcmp(verb, "help") || !strcmp(verb, "--help") || !strcmp(verb, "-h")) {
		options_usage(stdout);
		return EXIT_DONE;
	}
	log_error("%s: not a command; run: keyhole help", *verb ? verb : "(nothing)");
	return EXIT_USAGE;
}
