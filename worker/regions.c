/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/regions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "worker/sample/sideband.h"
#include "worker/session.h"

void regions_init(struct regions *regions, size_t page)
{
	*regions = (struct regions){
		.page = page,
		.event_fd = -1,
		.symbols_fd = -1,
		.broker_fd = -1,
		.exporter_fd = -1,
		.debug_fd = -1,
		.spill_fd = -1,
	};
}

int regions_configure(struct regions *regions, const struct message_config *config)
{
	if (regions->segments || config->cpus == 0 || config->cpus > ABI_MAX_CPUS ||
	    config->segments > SEGMENT_MAX || config->sideband_bytes < regions->page ||
	    (config->sideband_bytes & (config->sideband_bytes - 1)) != 0 || config->no_energy > 0 ||
	    config->no_energy < -MESSAGE_ERRNO_MAX)
		return -EINVAL;
	regions->config = *config;
	energy_init(&regions->energy, config->no_energy);
	regions->segments = calloc(config->segments + 1, sizeof(*regions->segments));
	regions->sidebands = calloc(config->cpus, sizeof(*regions->sidebands));
	regions->sideband_fds = calloc(config->cpus, sizeof(*regions->sideband_fds));
	if (!regions->segments || !regions->sidebands || !regions->sideband_fds)
		return -ENOMEM;
	return 0;
}

static int map(int fd, size_t bytes, int protection, size_t offset, void **ret_memory)
{
	void *memory;

	if (*ret_memory)
		return -EEXIST;
	memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, (off_t)offset);
	if (memory == MAP_FAILED)
		return -errno;
	*ret_memory = memory;
	return 0;
}

/* An earlier worker may have written records there, even at the positions of this worker. */
static int clear(int fd, size_t bytes)
{
	void *memory = NULL;
	int r = map(fd, bytes, PROT_READ | PROT_WRITE, 0, &memory);

	if (r < 0)
		return r;
	memset(memory, 0, bytes);
	munmap(memory, bytes);
	return 0;
}

static int add_rings(struct regions *regions, uint32_t index, int *fd)
{
	size_t bytes = (size_t)regions->config.cpus * regions->config.ring_bytes;
	int r = 0;

	(void)index;
	if (regions->config.epoch > 0)
		r = clear(*fd, bytes);
	if (r < 0)
		return r;
	return map(*fd, bytes, PROT_READ, 0, &regions->rings);
}

static int add_tails(struct regions *regions, uint32_t index, int *fd)
{
	(void)index;
	return map(*fd, sizeof(struct ring_tails), PROT_READ | PROT_WRITE, 0, &regions->tails);
}

static int add_processes(struct regions *regions, uint32_t index, int *fd)
{
	(void)index;
	return map(*fd, sizeof(struct process_table), PROT_READ | PROT_WRITE, 0,
		   &regions->processes);
}

static int add_accounts(struct regions *regions, uint32_t index, int *fd)
{
	(void)index;
	return map(*fd, ACCOUNTS * sizeof(struct account), PROT_READ, 0, &regions->accounts);
}

static int add_account_cpus(struct regions *regions, uint32_t index, int *fd)
{
	const size_t bytes = regions->config.cpus * sizeof(struct account_cpu);

	(void)index;
	return map(*fd, bytes, PROT_READ, 0, &regions->account_cpus);
}

static int keep(int *fd, int *ret_kept)
{
	if (*ret_kept >= 0)
		return -EEXIST;
	*ret_kept = take_fd(fd);
	return 0;
}

static int add_events(struct regions *regions, uint32_t index, int *fd)
{
	int r = map(*fd, regions->page, PROT_READ | PROT_WRITE, 0, &regions->event_consumer);

	(void)index;
	if (r == 0)
		r = map(*fd, regions->page + 2 * (size_t)EVENT_RING_BYTES, PROT_READ, regions->page,
			&regions->event_producer);
	if (r < 0)
		return r;
	return keep(fd, &regions->event_fd);
}

static int add_segment(struct regions *regions, uint32_t index, int *fd)
{
	int r;

	if (index != regions->segment_count || index >= regions->config.segments)
		return -EINVAL;
	r = map(*fd, SEGMENT_BYTES, PROT_READ | PROT_WRITE, 0, &regions->segments[index]);
	regions->segment_count += r == 0;
	return r;
}

static int add_sideband(struct regions *regions, uint32_t index, int *fd)
{
	size_t bytes = regions->config.sideband_bytes, at = regions->sideband_count;
	void *page = NULL;
	int r;

	if (index >= ABI_MAX_CPUS || at >= regions->config.cpus)
		return -EINVAL;
	r = map(*fd, regions->page + bytes, PROT_READ | PROT_WRITE, 0, &page);
	if (r < 0)
		return r;
	sideband_init(&regions->sidebands[at], page, (char *)page + regions->page, bytes);
	regions->sideband_fds[at] = take_fd(fd);
	regions->sideband_count++;
	return 0;
}

static int add_symbols(struct regions *regions, uint32_t index, int *fd)
{
	(void)index;
	return keep(fd, &regions->symbols_fd);
}

static int add_broker(struct regions *regions, uint32_t index, int *fd)
{
	(void)index;
	return keep(fd, &regions->broker_fd);
}

static int add_exporter(struct regions *regions, uint32_t index, int *fd)
{
	(void)index;
	return keep(fd, &regions->exporter_fd);
}

static int add_debug_files(struct regions *regions, uint32_t index, int *fd)
{
	(void)index;
	return keep(fd, &regions->debug_fd);
}

static int add_spill(struct regions *regions, uint32_t index, int *fd)
{
	(void)index;
	return keep(fd, &regions->spill_fd);
}

static int add_resource(struct regions *regions, uint32_t index, int *fd)
{
	struct resource_words *words = &regions->resource;

	(void)index;
	if (pread(*fd, words, sizeof(*words), 0) != (ssize_t)sizeof(*words))
		return -EBADMSG;
	/* so that the list ends, whoever made it */
	memset(words->pairs + sizeof(words->pairs) - 3, 0, 3);
	return 0;
}

static int add_zone(struct regions *regions, uint32_t index, int *fd)
{
	return energy_add(&regions->energy, index, take_fd(fd));
}

int regions_add(struct regions *regions, const struct message_descriptor *descriptor, int fd)
{
	static int (*const adders[])(struct regions *, uint32_t, int *) = {
		[DESCRIPTOR_RINGS] = add_rings,
		[DESCRIPTOR_TAILS] = add_tails,
		[DESCRIPTOR_PROCESSES] = add_processes,
		[DESCRIPTOR_EVENTS] = add_events,
		[DESCRIPTOR_SEGMENT] = add_segment,
		[DESCRIPTOR_SIDEBAND] = add_sideband,
		[DESCRIPTOR_KERNEL_SYMBOLS] = add_symbols,
		[DESCRIPTOR_BROKER] = add_broker,
		[DESCRIPTOR_EXPORTER] = add_exporter,
		[DESCRIPTOR_DEBUG_FILES] = add_debug_files,
		[DESCRIPTOR_SPILL] = add_spill,
		[DESCRIPTOR_RESOURCE] = add_resource,
		[DESCRIPTOR_ACCOUNTS] = add_accounts,
		[DESCRIPTOR_ACCOUNT_CPUS] = add_account_cpus,
		[DESCRIPTOR_ZONE] = add_zone,
	};
	guard_fd int owned = fd;

	if (!regions->segments || descriptor->kind >= sizeof(adders) / sizeof(*adders) ||
	    !adders[descriptor->kind])
		return -EINVAL;
	return adders[descriptor->kind](regions, descriptor->index, &owned);
}

int regions_complete(const struct regions *regions)
{
	bool complete = regions->rings && regions->tails && regions->processes &&
			regions->event_fd >= 0 && regions->broker_fd >= 0 &&
			regions->exporter_fd >= 0 &&
			regions->segment_count == regions->config.segments;

	if (!complete)
		return -ENODATA;
	if (regions->config.flags & (OPTIONS_STAT | OPTIONS_ACCOUNTS) &&
	    (!regions->accounts || !regions->account_cpus))
		return -ENODATA;
	return 0;
}

void regions_describe(struct regions *regions, struct session_parts *parts)
{
	parts->config = regions->config;
	parts->page = regions->page;
	parts->spill = regions->spill_fd;
	parts->resource = regions->resource.pairs;
	parts->rings = regions->rings;
	parts->tails = regions->tails;
	parts->processes = regions->processes;
	parts->accounts = regions->accounts;
	parts->account_cpus = regions->account_cpus;
	parts->energy = &regions->energy;
	parts->event_consumer = regions->event_consumer;
	parts->event_producer = regions->event_producer;
	parts->sidebands = regions->sidebands;
	parts->sideband_count = regions->sideband_count;
}

int regions_give_segments(struct regions *regions, struct session *session)
{
	int r = 0;

	for (uint32_t i = 0; i < regions->segment_count && r == 0; i++)
		r = session_attach_segment(session, regions->segments[i]);
	return r;
}
