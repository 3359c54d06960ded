/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a program before main() when a loader of another build started the program. The loader puts
 * its build into the environment (KEYHOLE_BUILD). A viewer that a person starts has no such
 * variable. The loader's children are linked without this file, because their READY has the build.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generated/version.h"
#include "ipc/log.h"

static __attribute__((constructor)) void refuse_another_build(void)
{
	const char *build = getenv("KEYHOLE_BUILD");
	char own[PATH_MAX] = "";
	const char *name = "program";

	if (!build || !strcmp(build, KEYHOLE_VERSION))
		return;
	if (readlink("/proc/self/exe", own, sizeof(own) - 1) > 0)
		name = basename(own);
	log_init("keyhole", LOG_LEVEL_WARNING);
	log_error("start: %s: %s, but keyhole is %.24s; install all programs together", name,
		  KEYHOLE_VERSION, build);
	exit(1);
}
