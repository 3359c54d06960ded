/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/canary/taken_over.h"

#include <unistd.h>

#include "policy/policy.h"

#define WAIT_MS 10000

static int take_message(struct regions *regions, const struct message *message)
{
	if (message->head.type == MESSAGE_CONFIG)
		return regions_configure(regions, &message->CONFIG);
	if (message->head.type == MESSAGE_DESCRIPTOR)
		return regions_add(regions, &message->DESCRIPTOR, message->fd);
	return 0;
}

static void be_equipped(struct channel *loader, struct regions *regions)
{
	struct message message;

	do {
		if (channel_wait(loader, WAIT_MS, &message) != 1)
			_exit(1);
		if (take_message(regions, &message) < 0)
			_exit(1);
	} while (message.head.type != MESSAGE_START);
	if (regions_complete(regions))
		_exit(1);
}

void taken_over_begin(struct channel *loader, struct regions *regions,
		      struct ring rings[ABI_MAX_CPUS])
{
	struct policy_layers layers;

	channel_init(loader, CHANNEL_FD, PARTY_WORKER, PARTY_LOADER);
	regions_init(regions, TAKEN_OVER_PAGE);
	policy_confine(ROLE_WORKER, &layers);
	if (channel_send_ready(loader, layers.lacking, layers.proven))
		_exit(1);
	be_equipped(loader, regions);
	for (uint32_t i = 0; i < regions->config.cpus; i++)
		ring_init(&rings[i],
			  (char *)regions->rings + (size_t)i * regions->config.ring_bytes,
			  regions->config.ring_bytes,
			  &((struct ring_tails *)regions->tails)->tail[i]);
	if (channel_send_bare(loader, MESSAGE_RUNNING, -1))
		_exit(1);
	loader->phase = PHASE_RUN;
}
