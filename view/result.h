/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of `keyhole report` and `keyhole symbolize`: a file that appears at once and whole,
 * of mode 0600. Each failure is said in one line.
 */
#ifndef KEYHOLE_VIEW_RESULT_H
#define KEYHOLE_VIEW_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/exit_status.h"

#define RESULT_PATH_MAX 4096

struct result {
	const char *program; /* "report": begins every line */
	int fd;
	bool force;
	char path[RESULT_PATH_MAX];
	char temporary[RESULT_PATH_MAX + 8]; /* beside it; "": there is none */
};

/*
 * "-" is standard output. What exists is replaced with force alone. 0 or -EINVAL. A signal that
 * ends the process (HUP, INT, TERM) takes the file away first; there is one result in a process.
 */
int result_open(struct result *ret_result, const char *program, const char *path, bool force);

/* In a child, where the signals are as they were: the file is its parent's to take away. */
void result_disown(void);

/* Gives it its name if it is done, else takes it away. 0 or a negative errno. */
int result_close(struct result *result, bool done);

/* The exit status of who makes it, 1 when it was ended. seconds: its limit of CPU time, 0: none. */
int result_await(const char *program, pid_t child, uint64_t seconds);

#endif
