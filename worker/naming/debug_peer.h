/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for files of debug information. It waits for each answer, and so does the worker's loop: in
 * a stream while it goes on, else at the end of a recording. */
#ifndef KEYHOLE_WORKER_NAMING_DEBUG_PEER_H
#define KEYHOLE_WORKER_NAMING_DEBUG_PEER_H

#include <stdint.h>

struct debug_peer;
struct message_lines;

/* All answers together: after that nothing is asked any more, until it is allowed again. */
#define DEBUG_PEER_WAIT_MS   1000 /* at the end */
#define DEBUG_PEER_WINDOW_MS 30	  /* of each window of a stream */

struct debug_peer *debug_peer_new(int fd);     /* takes fd; NULL: no memory */
void debug_peer_free(struct debug_peer *peer); /* NULL is fine */

/* Gives the coming answers that much time, all together; NULL is fine. */
void debug_peer_allow(struct debug_peer *peer, unsigned int milliseconds);

/* Returns how many files were not asked for, as there was no time left; NULL is fine. */
uint64_t debug_peer_unasked(const struct debug_peer *peer);

/* Asks for a path below the folders of debug files; the peer is not NULL here and below. Returns
 * the file, owned by the caller; -ENOENT, -EACCES: there is none; -ENAMETOOLONG; -EPIPE: nobody
 * answers, or has not in time. */
int debug_peer_open(struct debug_peer *peer, const char *path);

/*
 * Has the debug information in a file read for addresses (object/debug/ask.h). The answer's file is
 * then as its writer left it, who is not trusted. Waits for as long as the question says and
 * DEBUG_PEER_SLACK_MS, whatever is allowed above. Before that, waits as long as is still allowed
 * for a file that was asked for and has not come yet. 0 or a negative errno (ipc/PROTOCOL); -EPIPE:
 * nobody answers, or one answer was late.
 */
#define DEBUG_PEER_SLACK_MS 400
int debug_peer_lines(struct debug_peer *peer, int file, const struct message_lines *question,
		     int addresses, int answer);

#endif
