/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-kernel-symbols: reads the kernel's symbols from two files that the loader opened while
 * it could, while the BPF programs are loaded, which takes as long. It has the loader's uid and no
 * rights; what it reads was written by the kernel.
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

/* How many there are is needed before the programs are loaded, and what they are later. */
static int send_ranges(struct channel *loader, const struct ksyms *ksyms, int fd)
{
	const struct message_ranges ranges = {.error = fd < 0 ? -errno : 0,
					      .count = ksyms_room(ksyms)};

	return channel_send(loader, MESSAGE_RANGES, &ranges, sizeof(ranges), fd);
}

int main(void)
{
	static struct ksyms ksyms;
	struct message_reply reply;
	guard_fd int ranges = -1;
	struct channel loader;
	uint32_t told;
	FILE *file;
	int r;

	if (close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	ksyms.fd = -1;
	prctl(PR_SET_NAME, message_party_name(PARTY_KERNEL_SYMBOLS));
	prctl(PR_SET_DUMPABLE, 0);
	if (policy_confine_self(ROLE_KERNEL_SYMBOLS, NULL))
		return 1;
	channel_init(&loader, CHANNEL_FD, PARTY_KERNEL_SYMBOLS, PARTY_LOADER);
	file = receive_file(&loader);
	ksyms_read_modules(&ksyms, file);
	told = ksyms_room(&ksyms);
	ranges = memfd_create("keyhole-ranges", MFD_CLOEXEC);
	r = send_ranges(&loader, &ksyms, ranges);
	if (r)
		return 1;
	file = receive_file(&loader);
	r = ksyms_read_symbols(&ksyms, file);
	reply.error = ksyms.fd < 0 ? r : ksyms_write_ranges(&ksyms, told, ranges);
	r = channel_send(&loader, MESSAGE_SYMBOLS, &reply, sizeof(reply),
			 reply.error ? -1 : ksyms.fd);
	return r != 0;
}
