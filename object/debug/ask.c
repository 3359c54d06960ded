/* SPDX-License-Identifier: Apache-2.0 */
#include "object/debug/ask.h"

#include <errno.h>

#include "ipc/channel.h"

int debug_ask(struct channel *service, const struct message_lines *question, int addresses,
	      int answer, int milliseconds)
{
	struct message message;

	if (channel_send_bare(service, MESSAGE_LINES_ANSWER, answer))
		return -EPIPE;
	if (channel_send(service, MESSAGE_LINES, question, sizeof(*question), addresses))
		return -EPIPE;
	if (channel_expect(service, MESSAGE_LINES_REPLY, milliseconds, &message))
		return -EPIPE;
	return message.LINES_REPLY.error;
}
