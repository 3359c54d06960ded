/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock without a single rule: what is handled is refused, except through descriptors that are
 * open already. Numbers from include/uapi/linux/landlock.h, because the build's may be older.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/policy_impl.h"

#define RULESET_VERSION 1u /* LANDLOCK_CREATE_RULESET_VERSION */

#define FS_READ (1u << 2 | 1u << 3) /* READ_FILE, READ_DIR */

struct ruleset {
	uint64_t files, net, scoped;
};

/* Each version of the interface refuses these; `size` is its part of struct ruleset. */
static const struct {
	struct ruleset handled;
	size_t size;
} versions[] = {
	{{0x1fff, 0, 0}, 8},  /* 5.13 */
	{{0x3fff, 0, 0}, 8},  /* 5.19: link and rename between folders */
	{{0x7fff, 0, 0}, 8},  /* 6.2: truncate */
	{{0x7fff, 3, 0}, 16}, /* 6.7: TCP bind and connect */
	{{0xffff, 3, 0}, 16}, /* 6.10: ioctl of devices */
	{{0xffff, 3, 3}, 24}, /* 6.12: abstract sockets and signals outside */
};
#define VERSIONS ((long)(sizeof(versions) / sizeof(*versions)))

/* Opens a file that its mode allows and Landlock refuses. Returns 0 or a negative errno. */
static int try(const struct role *role)
{
	bool supervisor = role->landlock == LANDLOCK_SUPERVISOR;
	int fd;

	if (supervisor)
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	else
		fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static bool was_allowed; /* before Landlock: the test means something */

static int restrict_self(const struct ruleset *refused, size_t size)
{
	long fd = syscall(SYS_landlock_create_ruleset, refused, size, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = 0;
	if (syscall(SYS_landlock_restrict_self, fd, 0))
		r = -errno;
	close((int)fd);
	return r;
}

int policy_landlock(const struct role *role)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, RULESET_VERSION);
	struct ruleset refused;

	if (version <= 0)
		return -ENOSYS;
	if (version > VERSIONS)
		version = VERSIONS;
	refused = versions[version - 1].handled;
	if (role->landlock == LANDLOCK_SUPERVISOR)
		refused.files &= ~(uint64_t)FS_READ;
	was_allowed = try(role) == 0;
	return restrict_self(&refused, versions[version - 1].size);
}

/* Runs before the filter, which would kill. */
bool policy_has_landlock(const struct role *role)
{
	return was_allowed && try(role) == -EACCES;
}
