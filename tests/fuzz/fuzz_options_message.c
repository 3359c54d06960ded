/* SPDX-License-Identifier: Apache-2.0 */
/* struct message_options, as the loader takes it: what it then points at is there to read. */
#include <stdlib.h>
#include <string.h>

#include "loader/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const words[] = {"keyhole", "record", "-F99", "--cgroup=/x",
					    "-o",      "f",	 "--",	 "ls"};
	struct options options;
	char *argv[9] = {NULL};
	size_t length = 0;

	if (size < sizeof(options.given))
		return 0;
	memcpy(&options.given, data, sizeof(options.given));
	for (int i = 0; i < 8; i++) /* blocks of their own: an overrun is seen */
		argv[i] = strdup(words[i]);
	if (options_check(8, argv, &options) == 0) {
		length = strlen(options.output);
		length += options.cgroup ? strlen(options.cgroup) : 0;
		for (int i = -2; options.command && i < 1; i++)
			length += strlen(options.command[i]);
		if (options.given.pid_count > OPTIONS_PIDS_MAX ||
		    options.given.excluded_count > OPTIONS_PIDS_MAX ||
		    !options.given.sampling.frequency)
			abort();
	}
	for (int i = 0; i < 8; i++)
		free(argv[i]);
	return length > 100;
}
