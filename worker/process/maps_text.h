/* SPDX-License-Identifier: Apache-2.0 */
/* The text of /proc/PID/maps (proc_pid_maps(5)), line by line. */
#ifndef KEYHOLE_WORKER_PROCESS_MAPS_TEXT_H
#define KEYHOLE_WORKER_PROCESS_MAPS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

#define MAPS_PATH_MAX 4096

struct maps_line {
	uint64_t start, end, offset, device, inode;
	bool executable;
	char path[MAPS_PATH_MAX]; /* "\012" decoded; " (deleted)" stays; empty: none */
};

/* 1 with a line, 0 at the end, -EBADMSG for a line that is not one (the next call goes on). */
int maps_text_next(struct reader *reader, struct maps_line *ret_line);

#endif
