/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for the lines of one object, after LINES_FILE or LINES_OBJECT has named its files. */
#ifndef KEYHOLE_OBJECT_DEBUG_ASK_H
#define KEYHOLE_OBJECT_DEBUG_ASK_H

struct channel;
struct message_lines;

/*
 * Sends the question and waits for the reply for at most `milliseconds`. `addresses` is a file of
 * uint64_t, ascending. `answer` is a writable memfd, which then holds the answer
 * (object/dwarf/answer.h). Both stay the caller's. Returns 0 or the error in the reply
 * (ipc/PROTOCOL). -EPIPE: no reply came in time, and the channel cannot be used any more.
 */
int debug_ask(struct channel *service, const struct message_lines *question, int addresses,
	      int answer, int milliseconds);

#endif
