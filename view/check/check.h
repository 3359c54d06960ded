/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `keyhole check`, each of which writes its own section of the report. */
#ifndef KEYHOLE_VIEW_CHECK_CHECK_H
#define KEYHOLE_VIEW_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "view/check/report.h"
#include "ipc/messages.h"
#include "policy/policy.h"

/* Those of this build: the Makefile has them in KEYHOLE_PROGRAMS. "keyhole" is the loader. */
#define PROGRAMS_MAX 32
struct program {
	const char *name;
	char path[4096];
	dev_t device;
	ino_t inode;
	bool there;
};
struct programs {
	unsigned int count;
	struct program all[PROGRAMS_MAX];
};

/* What the running kernel offers, and the layers that cannot be had: *ret_lacking. */
void check_machine(struct report *report, uint32_t *ret_lacking);

/* Finds, hashes and compares the files of this build. */
void check_files(struct report *report, struct programs *ret_programs);

/* Every process of a running keyhole, held against policy/roles.h. */
void check_processes(struct report *report, const struct programs *programs, uint32_t lacking);

/* All of a file, NUL added; NULL with errno set. The caller frees it. */
char *check_read(const char *path, size_t *ret_size);

#endif
