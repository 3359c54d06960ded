/* SPDX-License-Identifier: Apache-2.0 */
/* One process of a running keyhole, as /proc shows it. */
#ifndef KEYHOLE_VIEW_CHECK_PROCESS_H
#define KEYHOLE_VIEW_CHECK_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "policy/policy.h"
#include "view/check/report.h"

#define PROCESS_PATH_BYTES 64

enum process_kind {
	PROCESS_PROGRAM, /* a role's own program */
	PROCESS_SPAWNER, /* of that role */
	PROCESS_USER,	 /* keyhole-output: has the invoking user's ids */
	PROCESS_HELPER,	 /* has the loader's later ids and no rights */
	PROCESS_START,	 /* the loader or a helper, before the loader has given its rights up */
	PROCESS_FOREIGN, /* has a role's uid and runs no program of ours */
	PROCESS_KINDS
};

struct process {
	struct report *report; /* borrowed */
	pid_t pid;
	char *status; /* owned: /proc/<pid>/status */
	char name[32];
	const char *program; /* NULL: none of ours */
	enum process_kind kind;
	enum policy_role role;
	char label[64];		  /* in findings */
	uint32_t missing, unseen; /* LAYER_BIT()s */
};

void process_path(const struct process *process, const char *file,
		  char ret_path[PROCESS_PATH_BYTES]);

/* Gets a field of status: its text, or "" where the field is missing; or its number, or 0. */
void process_field(const struct process *process, const char *name, char *ret_value, size_t size);
unsigned long long process_number(const struct process *process, const char *name, int base);

#endif
