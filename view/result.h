/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of `keyhole report` and `keyhole symbolize`: a file of mode 0600 that appears at once
 * and whole; or a FIFO or an open descriptor. Each failure is one line on standard error.
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
	char temporary[RESULT_PATH_MAX + 8]; /* the unfinished file beside path; "": none */
};

/*
 * Opens the file, or standard output for "-". base/output_name.h says what other names stand for.
 * `force` replaces an existing regular file. Returns 0 or -EINVAL. A signal of signals_that_end()
 * removes the unfinished file before the signal ends the process. A process has one result.
 */
int result_open(struct result *ret_result, const char *program, const char *path, bool force);

/* Resets the signals in a child: removing the file is the parent's task. */
void result_disown(void);

/* Gives a finished file its name, and removes an unfinished one. Returns 0 or a negative errno. */
int result_close(struct result *result, bool done);

/*
 * Waits for the child that writes the result. Returns the child's exit status, EXIT_PIPE when
 * nobody reads the result any more, or 1 after another signal. seconds: the child's limit of CPU
 * time; 0 means no limit.
 */
int result_await(const char *program, pid_t child, uint64_t seconds);

#endif
