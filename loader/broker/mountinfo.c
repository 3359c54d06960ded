/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/mountinfo.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"

#define PATH_BYTES 32

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/*
 * A line of mountinfo: "ID PARENT DEVICE ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS". The kernel
 * escapes blanks and newlines of names, and no field before the dash is a dash alone.
 */
static bool parse(char *line, struct mount *ret_mount)
{
	char *rest = strstr(line, " - ");

	if (!rest || !is_digit(*line))
		return false;
	*rest = '\0';
	rest += strlen(" - ");
	ret_mount->id = strtoull(strsep(&line, " "), NULL, 10);
	strsep(&line, " ");
	ret_mount->device = strsep(&line, " ");
	strsep(&line, " ");
	ret_mount->point = strsep(&line, " ");
	ret_mount->type = strsep(&rest, " ");
	strsep(&rest, " ");
	ret_mount->options = rest;
	return rest && ret_mount->point && *ret_mount->point == '/';
}

/* Skips lines that are no mount: they hide no later mount. */
bool mountinfo_next(char **list, struct mount *ret_mount)
{
	char *line;

	while ((line = strsep(list, "\n")) != NULL)
		if (parse(line, ret_mount))
			return true;
	return false;
}

/* Compares the first word of each line, because a list may have 8,000 lines. */
bool mountinfo_find(char *list, uint64_t id, struct mount *ret_mount)
{
	char *line = list, *rest;

	for (; line && *line; line = rest) {
		rest = strchr(line, '\n');
		if (rest)
			rest++;
		if (!is_digit(*line) || strtoull(line, NULL, 10) != id)
			continue;
		if (rest)
			rest[-1] = '\0';
		if (parse(line, ret_mount))
			return true;
	}
	return false;
}

/* Reads as many bytes as fit. Returns their number; 0 after an error. */
static size_t read_file(const char *path, char *bytes)
{
	guard_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;

	if (fd < 0)
		return 0;
	while (size < MOUNTINFO_BYTES) {
		ssize_t got = read(fd, bytes + size, MOUNTINFO_BYTES - size);

		if (got < 0)
			return 0;
		if (got == 0)
			break;
		size += (size_t)got;
	}
	return size;
}

char *mountinfo_read(uint32_t pid, struct mountinfo_list *list)
{
	char path[PATH_BYTES];
	size_t size;

	snprintf(path, sizeof(path), "%u/mountinfo", pid);
	size = read_file(path, list->text);
	while (size && list->text[size - 1] != '\n')
		size--;
	list->text[size] = '\0';
	return list->text;
}
