/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/link.h"

#include "ipc/guard.h"

static int send_pair(const int pair[2], const struct link *link, struct channel *child,
		     struct channel *other)
{
	int r = channel_send(other, link->to_other, link->payload, link->size, pair[0]);

	if (r)
		return r;
	return channel_send_bare(child, link->to_child, pair[1]);
}

int link_make(const struct link *link, struct channel *child, struct channel *other)
{
	int pair[2];
	int r = channel_pair(pair);

	if (r)
		return r;
	r = send_pair(pair, link, child, other);
	close_fd(&pair[0]);
	close_fd(&pair[1]);
	return r;
}
