/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool of an agent: windows that its server does not have yet, each in a file of the working
 * directory. The oldest files make room for new ones, and none stays for more than a day. Other
 * files of the folder are left alone. A file is whole where its name is, but for a crash of the
 * machine: whoever reads a file checks its head (ipc/spool.h). One agent at a time has the folder.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_SPOOL_H
#define KEYHOLE_HELPER_OUTPUT_SPOOL_H

#include <stdint.h>
#include <time.h>

#include "ipc/messages.h"

#define SPOOL_SECONDS (24 * 3600) /* that a file stays: receivers refuse older profiles */

struct spool {
	uint64_t most; /* bytes of all files together, each in blocks of 4 KiB */
	/* what had to go, for room or by its age, since spool_take_pushed() */
	uint32_t pushed_windows;
	uint64_t pushed_events;
};

/*
 * Writes the first `window->bytes` of a sealed memfd into a file. Returns 0 or a negative errno;
 * -EPERM: the memfd can shrink; -EFBIG: the window is larger than the spool or WINDOW_FILE_MAX.
 */
int spool_write(struct spool *spool, int memfd, const struct message_spool *window, time_t now);

/*
 * Opens the oldest file for reading, which the caller owns. Returns the descriptor or a negative
 * errno; -ENOENT: there is none.
 */
int spool_open_oldest(struct spool *spool, time_t now, uint64_t *ret_id);

void spool_remove(uint64_t id);

/* Fills in what had to go, and counts from 0 again. */
void spool_take_pushed(struct spool *spool, struct message_spooled *answer);

#endif
