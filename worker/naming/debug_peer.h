/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks keyhole-debug for files of debug information. The worker's loop waits for each answer:
 * during a stream, else at the end of a recording.
 */
#ifndef KEYHOLE_WORKER_NAMING_DEBUG_PEER_H
#define KEYHOLE_WORKER_NAMING_DEBUG_PEER_H

#include <stdint.h>

struct debug_peer;
struct message_lines;

/* Times to wait for all answers together. After that, requests need debug_peer_allow() again. */
#define DEBUG_PEER_WAIT_MS   1000 /* at the end */
#define DEBUG_PEER_WINDOW_MS 30	  /* of each window of a stream */

/* Files in memory, which the caller made: a confined worker makes none. */
struct debug_peer_files {
	int addresses; /* of a question */
	int answer;
};

/* Takes fd, and borrows the files for its whole life. NULL: no memory. */
struct debug_peer *debug_peer_new(int fd, const struct debug_peer_files *files);
void debug_peer_free(struct debug_peer *peer); /* NULL is fine */

/* Allows so much time for all answers from now on. NULL is fine. */
void debug_peer_allow(struct debug_peer *peer, unsigned int milliseconds);

/* Returns the number of files that were not asked for, because no time was left. NULL is fine. */
uint64_t debug_peer_unasked(const struct debug_peer *peer);

/* Asks for a path below the folders of debug files; the peer is not NULL here and below. Returns
 * the file, owned by the caller; -ENOENT, -EACCES: there is none; -ENAMETOOLONG; -EPIPE: nobody
 * answers, or has not in time. */
int debug_peer_open(struct debug_peer *peer, const char *path);

/*
 * Has the debug information in a file read for question->count addresses (object/debug/ask.h). The
 * answer is in the file *ret_answer until the next question; its writer is not trusted. Returns 0
 * or a negative errno (ipc/PROTOCOL). -EPIPE: no answer came, or one answer was late.
 *
 * First waits for a late answer to debug_peer_open(), within the time that is still allowed. Then
 * waits for the question's time and DEBUG_PEER_SLACK_MS, whatever time is allowed.
 */
#define DEBUG_PEER_SLACK_MS 400
int debug_peer_lines(struct debug_peer *peer, int file, const struct message_lines *question,
		     const uint64_t *addresses, int *ret_answer);

#endif
