/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/rotation.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/output/window_file.h"

#define PREFIX	   "keyhole-"
#define STAMP	   "%Y%m%dT%H%M%SZ"
#define STAMP_SIZE (sizeof("20260101T000000Z") - 1)
#define NAME_BYTES 64

/* ---- room ------------------------------------------------------------------------------------ */

/* Returns whether the name is one that rotation_keep() gives. */
static bool is_ours(const char *name)
{
	const char *stamp = name + strlen(PREFIX);

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || strlen(stamp) <= STAMP_SIZE)
		return false;
	return strspn(stamp, "0123456789TZ") == STAMP_SIZE && stamp[8] == 'T' &&
	       stamp[STAMP_SIZE] == '.';
}

static int select_ours(const struct dirent *entry)
{
	return is_ours(entry->d_name);
}

/* Names sort by time, and the newest come first. */
static int compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*b)->d_name, (*a)->d_name);
}

static void remove_if(const char *name, const struct stat *status, uint64_t used, time_t now)
{
	if (used > ROTATION_BYTES || status->st_mtime + ROTATION_SECONDS < now)
		unlink(name);
}

/* Keeps the newest files, and `room` bytes for the next one. */
static void make_room(uint64_t room, time_t now)
{
	struct dirent **entries;
	const int count = scandir(".", &entries, select_ours, compare);
	uint64_t used = room;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		struct stat status;

		if (lstat(name, &status) == 0 && S_ISREG(status.st_mode)) {
			used += (uint64_t)status.st_size;
			remove_if(name, &status, used, now);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* ---- both ------------------------------------------------------------------------------------ */

static int make_name(const char *suffix, time_t now, char ret_name[NAME_BYTES])
{
	char stamp[STAMP_SIZE + 1];
	struct tm broken;
	int length;

	if (!gmtime_r(&now, &broken) || !strftime(stamp, sizeof(stamp), STAMP, &broken))
		return -EOVERFLOW;
	length = snprintf(ret_name, NAME_BYTES, PREFIX "%s%s", stamp, suffix);
	if (length < 0 || length >= NAME_BYTES)
		return -ENAMETOOLONG;
	return 0;
}

int rotation_keep(int memfd, uint64_t bytes, const char *suffix, time_t now)
{
	char name[NAME_BYTES];
	int r = window_file_check(memfd, bytes);

	if (r < 0)
		return r;
	r = make_name(suffix, now, name);
	if (r < 0)
		return r;
	make_room(bytes, now);
	return window_file_write(name, "." PREFIX "window.tmp", NULL, 0, memfd, bytes);
}
