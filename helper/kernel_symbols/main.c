/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-kernel-symbols: reads the kernel's symbols from two files that the loader opened while it
 * had the rights. Reading takes as long as loading the BPF programs, so both happen at once. This
 * process has the loader's uid and no rights; the kernel wrote the files that it reads.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "helper/kernel_symbols/kernel_symbols.h"
#include "ipc/channel.h"
#include "ipc/guard.h"
#include "policy/policy.h"

#define START_MS 10000

static FILE *receive_file(struct channel *loader)
{
	struct message message;

	if (channel_expect(loader, MESSAGE_KERNEL_FILE, START_MS, &message))
		return NULL;
	return fdopen(message.fd, "r");
}

/* Sends the number of ranges before BPF programs are loaded; the ranges themselves follow later. */
static int send_ranges(struct channel *loader, const struct ksyms *ksyms, int fd)
{
	struct message_ranges ranges = {.count = ksyms_room(ksyms)};

	if (fd < 0)
		ranges.error = -errno;
	return channel_send(loader, MESSAGE_RANGES, &ranges, sizeof(ranges), fd);
}

/* Reads the symbols and writes the ranges. Sends the symbols, or the error. */
static int send_symbols(struct channel *loader, struct ksyms *ksyms, uint32_t told, int ranges)
{
	struct message_reply reply;
	int symbols = -1;

	reply.error = ksyms_read_symbols(ksyms, receive_file(loader));
	if (ksyms->fd >= 0) /* also with -EACCES: a file without symbols */
		reply.error = ksyms_write_ranges(ksyms, told, ranges);
	if (reply.error == 0)
		symbols = ksyms->fd;
	return channel_send(loader, MESSAGE_SYMBOLS, &reply, sizeof(reply), symbols);
}

int main(void)
{
	static struct ksyms ksyms;
	guard_fd int ranges = -1;
	struct channel loader;
	uint32_t told;

	if (close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	ksyms.fd = -1;
	prctl(PR_SET_NAME, message_party_name(PARTY_KERNEL_SYMBOLS));
	prctl(PR_SET_DUMPABLE, 0);
	if (policy_confine_self(ROLE_KERNEL_SYMBOLS, NULL))
		return 1;
	channel_init(&loader, CHANNEL_FD, PARTY_KERNEL_SYMBOLS, PARTY_LOADER);
	ksyms_read_modules(&ksyms, receive_file(&loader));
	told = ksyms_room(&ksyms);
	ranges = memfd_create("keyhole-ranges", MFD_CLOEXEC);
	if (send_ranges(&loader, &ksyms, ranges))
		return 1;
	return send_symbols(&loader, &ksyms, told, ranges) != 0;
}
