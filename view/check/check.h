/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `keyhole check`. Each part writes its own section of the report. */
#ifndef KEYHOLE_VIEW_CHECK_CHECK_H
#define KEYHOLE_VIEW_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "view/check/report.h"
#include "ipc/messages.h"
#include "policy/policy.h"

/* The programs of this build, from the Makefile's KEYHOLE_PROGRAMS. "keyhole" is the loader. */
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

/* Reports what the kernel offers. *ret_lacking: LAYER_BIT()s of the layers that it lacks. */
void check_machine(struct report *report, uint32_t *ret_lacking);

/* Finds, hashes and compares the files of this build. */
void check_files(struct report *report, struct programs *ret_programs);

/* Compares every process of a running keyhole with policy/roles.h. */
void check_processes(struct report *report, const struct programs *programs, uint32_t lacking);

/* Returns a whole file and a NUL behind it, or NULL with errno set. The caller frees it. */
char *check_read(const char *path, size_t *ret_size);

#endif
