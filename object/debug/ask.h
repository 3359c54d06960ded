/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for the lines of one object, once its files were named: LINES_FILE or LINES_OBJECT. */
#ifndef KEYHOLE_OBJECT_DEBUG_ASK_H
#define KEYHOLE_OBJECT_DEBUG_ASK_H

struct channel;
struct message_lines;

/*
 * Sends the question and waits for the reply for at most `milliseconds`. addresses: a file of
 * uint64_t, ascending; answer: a memfd that can be written to, in which the answer is then
 * (object/dwarf/answer.h). Both stay the caller's. 0, or what the reply says (ipc/PROTOCOL);
 * -EPIPE: no reply came, or not in time: the channel is of no use any more.
 */
int debug_ask(struct channel *service, const struct message_lines *question, int addresses,
	      int answer, int milliseconds);

#endif
