/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is a file of the spool, behind a byte. Where that byte is odd, the input has a head and
 * the bytes behind it. The head is added to one that fits these bytes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exporter/delivery/delivery.h"
#include "exporter/spool_file.h"
#include "ipc/spool.h"

#define MOST (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds)
{
	if (!holds)
		__builtin_trap();
}

/* Queues a window, as if it came from the worker. */
static void queue(uint8_t *bytes, uint64_t size)
{
	const struct delivery_limits limits = {MOST, UINT64_MAX, MOST};
	struct delivery *delivery = delivery_new(&limits, 1);
	struct delivery_part part;
	int r = delivery_add(delivery, bytes, size, 0, 1);

	demand(r <= 0);
	if (r == 0 && delivery_next(delivery, 1, &part))
		demand(part.size <= size || part.size <= MOST);
	delivery_free(delivery);
}

static void read_file(int fd, const struct spool_head *head, size_t size)
{
	uint8_t *bytes;
	uint64_t got;

	if (spool_file_read(fd, MOST, &bytes, &got) < 0)
		return;
	demand(head->bytes == got && got == size && got > 0 && got <= MOST);
	demand(spool_file_checksum(bytes, got) == head->checksum);
	queue(bytes, got);
}

static void read_fitting(int fd, const uint8_t *data, size_t size)
{
	struct spool_head head = {SPOOL_MAGIC, SPOOL_VERSION, 0, 0, 0}, change;

	if (size < sizeof(head))
		return;
	memcpy(&change, data, sizeof(change));
	data += sizeof(head);
	size -= sizeof(head);
	head.bytes = size + change.bytes;
	head.checksum = spool_file_checksum(data, size) + change.checksum;
	head.magic += change.magic;
	head.version += change.version;
	demand(pwrite(fd, &head, sizeof(head), 0) == sizeof(head));
	demand(pwrite(fd, data, size, sizeof(head)) == (ssize_t)size);
	read_file(fd, &head, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_head head = {0};

	demand(fd >= 0);
	if (size > 0 && data[0] & 1) {
		read_fitting(fd, data + 1, size - 1);
	} else if (size > 0) {
		data++;
		size--;
		memcpy(&head, data, size < sizeof(head) ? size : sizeof(head));
		demand(pwrite(fd, data, size, 0) == (ssize_t)size);
		read_file(fd, &head, size - sizeof(head));
	}
	close(fd);
	return 0;
}
