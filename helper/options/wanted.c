/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/wanted.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 10000

int wanted_open(struct channel *loader, enum wanted_file file, const char *path)
{
	struct message_wanted_file wanted = {.file = file};
	struct message message;
	int r;

	if (strlen(path) >= sizeof(wanted.path))
		return -ENAMETOOLONG;
	snprintf(wanted.path, sizeof(wanted.path), "%s", path);
	r = channel_send(loader, MESSAGE_WANTED_FILE, &wanted, sizeof(wanted), -1);
	if (r < 0)
		return r;
	r = channel_expect(loader, MESSAGE_FILE_OPENED, ANSWER_MS, &message);
	if (r < 0)
		return r;
	if (message.FILE_OPENED.error)
		return message.FILE_OPENED.error;
	if (file == FILE_CONFIG)
		return message.fd;
	message_release(&message);
	return 0;
}
