/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in the place of an NSS module (tests/e2e/sudo.cases) and knows nobody. A program of
 * keyhole's libexec folder that loads it is static, and ends: the module is of another C library.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((constructor)) void refuse_static_programs(void)
{
	char path[4096] = "";
	const char *name;

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		abort();
	name = strrchr(path, '/');
	if (name && !strncmp(name, "/keyhole-", strlen("/keyhole-")))
		abort();
}
