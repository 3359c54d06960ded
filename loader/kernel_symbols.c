/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "loader/helper.h"

#define READ_MS 60000 /* on a saturated machine, or an emulated one */

/* Sends a file of procfs, which its holder can read without rights; or an empty file. */
static int send_file(struct channel *channel, int proc, const char *name)
{
	guard_fd int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return channel_send_bare(channel, MESSAGE_KERNEL_FILE, fd);
}

/* Sends both files, and waits for the number of ranges. */
static int exchange(struct channel *channel, int proc, struct message *ret_message)
{
	int r = send_file(channel, proc, "modules");

	if (r)
		return r;
	r = send_file(channel, proc, "kallsyms");
	if (r)
		return r;
	return channel_expect(channel, MESSAGE_RANGES, READ_MS, ret_message);
}

int ksyms_start(struct ksyms *ksyms, int proc)
{
	const char *const argv[] = {message_party_name(PARTY_KERNEL_SYMBOLS), NULL};
	struct message message;
	int r;

	ksyms->pid = helper_start(PARTY_KERNEL_SYMBOLS, argv, NULL, &ksyms->channel);
	if (ksyms->pid < 0)
		return ksyms->pid;
	r = exchange(&ksyms->channel, proc, &message);
	if (r)
		return r;
	ksyms->known = message.fd;
	ksyms->count = message.RANGES.count;
	if (message.RANGES.error)
		return message.RANGES.error;
	if (ksyms->count > KERNEL_RANGES_MAX)
		return -EPROTO;
	return 0;
}

/* Has BPF read tables within 2 GiB of the kernel's text alone, which is what rows can reach. */
static void check_orc(struct ksyms *ksyms)
{
	struct kernel_orc *orc = &ksyms->orc;

	orc->text_start = ksyms->ranges[0].start;
	orc->text_end = ksyms->ranges[0].end;
	if (orc->rows >> KERNEL_ORC_ROWS_BITS || orc->text_start >> 63 == 0 ||
	    orc->addresses - orc->text_start > INT32_MAX ||
	    orc->first_row - orc->text_start > INT32_MAX)
		orc->rows = 0;
}

int ksyms_wait(struct ksyms *ksyms)
{
	const size_t bytes = (ksyms->count + 1) * sizeof(*ksyms->ranges);
	struct iovec parts[] = {{ksyms->ranges, bytes}, {&ksyms->orc, sizeof(ksyms->orc)}};
	struct message message;
	ssize_t got;
	int r = channel_expect(&ksyms->channel, MESSAGE_SYMBOLS, READ_MS, &message);

	if (r)
		return r;
	ksyms->fd = message.fd;
	channel_release(&ksyms->channel);
	kill(ksyms->pid, SIGKILL); /* keyhole-kernel-symbols has nothing more to do */
	waitpid(ksyms->pid, NULL, 0);
	got = preadv(ksyms->known, parts, sizeof(parts) / sizeof(parts[0]), 0);
	close_fd(&ksyms->known);
	if (message.SYMBOLS.error)
		return message.SYMBOLS.error;
	if (got != (ssize_t)(bytes + sizeof(ksyms->orc)))
		return -EBADMSG;
	if (ksyms->ranges[0].end == 0)
		return -EACCES;
	check_orc(ksyms);
	return 0;
}
