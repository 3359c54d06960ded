/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/self.h"

#include <errno.h>

#include "exporter/server.h"
#include "exporter/site.h"
#include "ipc/guard.h"
#include "ipc/time.h"

static struct figures *update(void *owner)
{
	struct self *self = owner;
	struct figures *figures = &self->figures;
	struct shipper *shipper = self->server->shipper;

	figures_update(figures);
	figures->has_server = shipper != NULL;
	figures->has_push = self->server->pusher != NULL;
	if (!shipper)
		return figures;
	figures->delivery = *shipper_counts(shipper);
	figures->own.queue_age = shipper_queue_age(shipper, time_now());
	return figures;
}

void self_init(struct self *ret_self, struct event_base *base, struct server *server)
{
	*ret_self = (struct self){.base = base, .server = server};
	figures_init(&ret_self->figures);
	server_tell(server, update, ret_self);
}

void self_release(struct self *self)
{
	site_free(self->site);
	figures_release(&self->figures);
}

static int take_listener(struct self *self, struct message *message)
{
	const struct site_owner owner = {update, self};

	return site_new(self->base, take_fd(&message->fd), &owner, &self->site);
}

bool self_wants(const struct message *message)
{
	switch (message->head.type) {
	case MESSAGE_PAGE_LISTENER:
	case MESSAGE_COUNTERS:
	case MESSAGE_CPU_TIME:
	case MESSAGE_STATUS:
	case MESSAGE_WORK:
	case MESSAGE_ACCOUNT:
	case MESSAGE_INTERRUPTS:
	case MESSAGE_ACCOUNT_SUMS:
		return true;
	default:
		return false;
	}
}

static int take(struct self *self, struct message *message)
{
	switch (message->head.type) {
	case MESSAGE_PAGE_LISTENER:
		return take_listener(self, message);
	case MESSAGE_COUNTERS:
		return figures_map(&self->figures, &message->COUNTERS, message->fd);
	case MESSAGE_CPU_TIME:
		return figures_take_cpu_time(&self->figures, &message->CPU_TIME,
					     take_fd(&message->fd));
	case MESSAGE_STATUS:
		figures_take_status(&self->figures, &message->STATUS);
		return 0;
	case MESSAGE_WORK:
		figures_take_work(&self->figures, &message->WORK);
		return 0;
	case MESSAGE_ACCOUNT:
		return shares_take(&self->figures.shares, &message->ACCOUNT);
	case MESSAGE_INTERRUPTS:
		shares_take_interrupts(&self->figures.shares, &message->INTERRUPTS);
		return 0;
	case MESSAGE_ACCOUNT_SUMS:
		shares_take_sums(&self->figures.shares, &message->ACCOUNT_SUMS);
		return 0;
	default:
		return -EPROTO;
	}
}

int self_take(struct self *self, struct message *message)
{
	int r = take(self, message);

	message_release(message);
	return r;
}
