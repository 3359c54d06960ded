/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that reads the stream of profiles and draws. Targets chose the content of the stream.
 * The process can therefore only compute, read open descriptors, and write to the terminal.
 */
#ifndef KEYHOLE_VIEW_TOP_VIEWER_H
#define KEYHOLE_VIEW_TOP_VIEWER_H

#include <stdbool.h>

#include "ipc/exit_status.h"
#include "view/top/options.h"

struct viewer_files { /* both stay open */
	int profiles; /* of `keyhole record --every` */
	int messages; /* its standard error */
};

/* Sent to the terminal, besides the changes of termios. */
#define VIEWER_ENTER "\033[?1049h\033[?25l"
#define VIEWER_LEAVE "\033[0m\033[?25h\033[?1049l"

#define VIEWER_QUIT   0
#define VIEWER_FAILED 1
#define VIEWER_ENDED  3 /* the recording has ended by itself */
#define VIEWER_UNREAD EXIT_PIPE

/* Confines the process, then runs. Returns one of VIEWER_*. */
int viewer_run(const struct top_options *options, const struct viewer_files *files,
	       bool interactive);

#endif
