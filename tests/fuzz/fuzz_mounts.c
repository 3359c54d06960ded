/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is an overlay's options, the rest what the first process has mounted. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "loader/broker/mountinfo.h"
#include "loader/broker/mounts.h"

#define DEVICE "0:51"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int judge(const char *options, const char *list, const char *more)
{
	guard_free char *whole = NULL;
	int r;

	if (asprintf(&whole, "%s\n%s", list, more) < 0)
		abort();
	r = mounts_overlay(DEVICE, options, whole);
	if (r != 0 && r != -EACCES)
		abort();
	return r;
}

/* With its first layer on a file system of a server it must be refused. */
static void layer_on_server(const char *options, const char *list)
{
	const char *layer = strstr(options, "lowerdir=/");
	guard_free char *mount = NULL;
	int length;

	if (!layer)
		return;
	layer += strlen("lowerdir=");
	length = (int)strcspn(layer, ":, \n");
	if (length < 2 || layer[length] == ' ')
		return;
	if (asprintf(&mount, "99 1 0:99 / %.*s rw - fuse server rw\n", length, layer) < 0)
		abort();
	if (judge(options, list, mount) == 0)
		abort();
}

/* A mount that the list has is found by its id. */
static void find_each(const char *text)
{
	guard_free char *copy = strdup(text);
	char *list = copy;
	struct mount mount;

	while (mountinfo_next(&list, &mount)) {
		guard_free char *again = strdup(text);
		struct mount found;

		if (!mountinfo_find(again, mount.id, &found) || found.id != mount.id)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	guard_free char *text = strndup((const char *)data, size);
	char *list = text, *options = strsep(&list, "\n");

	if (list)
		find_each(list);
	/* nothing allows one without layers but that all runs on it */
	if (list && judge("", list, "") != 0 && judge(options, list, "") == 0)
		layer_on_server(options, list);
	return 0;
}
