/* SPDX-License-Identifier: Apache-2.0 */
/*
 * become comm NAME | uid UID | cgroup FOLDER: works for a second and then changes its name, uid or
 * cgroup without an exec. Then it works for two seconds in another function.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "work.h"

FUNCTION void become_before(uint64_t end)
{
	while (clock_ns(CLOCK_MONOTONIC) < end)
		burn_rounds(2000);
	KEEP_FRAME();
}

FUNCTION void become_after(uint64_t end)
{
	while (clock_ns(CLOCK_MONOTONIC) < end)
		burn_rounds(2000);
	KEEP_FRAME();
}

static int enter(const char *folder)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	fd = open(path, O_WRONLY);
	return fd < 0 || write(fd, "0", 1) != 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int r = 1;

	become_before(clock_ns(CLOCK_MONOTONIC) + 1000000000);
	if (!strcmp(what, "comm"))
		r = prctl(PR_SET_NAME, argv[2]);
	else if (!strcmp(what, "uid"))
		r = setuid((uid_t)strtoul(argv[2], NULL, 10));
	else if (!strcmp(what, "cgroup"))
		r = enter(argv[2]);
	if (!r)
		become_after(clock_ns(CLOCK_MONOTONIC) + 2000000000);
	return r;
}
