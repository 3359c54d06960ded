/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into each program that the loader starts, but for its children, whose READY says it: one
 * that was started by a loader of another build ends before main(). The loader puts its own build
 * into the environment (KEYHOLE_BUILD); without that a person started the program, for themselves.
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

	if (!build || !strcmp(build, KEYHOLE_VERSION))
		return;
	log_init("keyhole", LOG_LEVEL_WARNING);
	log_error("start: %s: %s, but keyhole is %.24s; install all programs together",
		  readlink("/proc/self/exe", own, sizeof(own) - 1) > 0 ? basename(own) : "program",
		  KEYHOLE_VERSION, build);
	exit(1);
}
