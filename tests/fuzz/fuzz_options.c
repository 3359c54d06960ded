/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments, each ended by a NUL: the loader takes what keyhole-options makes of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper/options/command_line.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "loader/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct channel nowhere = {.fd = -1};
	static FILE *null;
	char *argv[100] = {strdup("keyhole"), strdup("record")};
	struct options options;
	int argc = 2;

	null = null ? null : fopen("/dev/null", "we");
	channel_carry_log(&nowhere);
	while (size && argc < 99) {
		size_t length = strnlen((const char *)data, size);

		argv[argc++] = strndup((const char *)data, length);
		length += length < size;
		data += length;
		size -= length;
	}
	command_line_read(argc, argv, null, NULL, &options.given);
	if (options.given.status == OPTIONS_RECORD && options_check(argc, argv, &options))
		abort();
	while (argc)
		free(argv[--argc]);
	return 0;
}
