/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/workloads/work.h"

typedef uint64_t body_function(uint64_t rounds);

/* Line-buffered, so that the test sees it at once. */
static inline void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static inline void fail(const char *what)
{
	perror(what);
	exit(1);
}

static inline uint64_t end_after(double seconds)
{
	return clock_ns(CLOCK_MONOTONIC) + (uint64_t)(1e9 * seconds);
}

static inline int before(uint64_t end)
{
	return clock_ns(CLOCK_MONOTONIC) < end;
}

/* Returns NULL for a file that cannot be mapped. */
static inline void *map_code(const char *path, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *code;

	if (fd < 0 || fstat(fd, &status) || status.st_size == 0) {
		close(fd);
		return NULL;
	}
	*ret_size = (size_t)status.st_size;
	code = mmap(NULL, *ret_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return code == MAP_FAILED ? NULL : code;
}

#endif
