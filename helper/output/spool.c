/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/output/window_file.h"
#include "ipc/guard.h"
#include "ipc/spool.h"

#define PREFIX	   "keyhole-spool-"
#define DIGITS	   16 /* of an id: names sort as ids do */
#define NAME_BYTES (sizeof(PREFIX) + DIGITS)
#define BLOCK	   4096u /* of a disk: a file takes no less, which bounds how many there are */

/* ---- names ----------------------------------------------------------------------------------- */

static void make_name(uint64_t id, char ret_name[static NAME_BYTES])
{
	snprintf(ret_name, NAME_BYTES, PREFIX "%016" PRIx64, id);
}

/* Returns whether the name is one that make_name() gives. */
static bool is_ours(const char *name)
{
	const char *digits = name + strlen(PREFIX);

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || strlen(digits) != DIGITS)
		return false;
	return strspn(digits, "0123456789abcdef") == DIGITS;
}

static int select_ours(const struct dirent *entry)
{
	return is_ours(entry->d_name);
}

static int compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* ---- the folder ------------------------------------------------------------------------------ */

static void release(struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
}

static uint64_t in_blocks(uint64_t size)
{
	return (size + BLOCK - 1) / BLOCK * BLOCK;
}

/* Returns what a regular file takes, and whether it is too old; 0 for another one. */
static uint64_t look(const char *name, time_t now, bool *ret_is_old)
{
	struct stat status;

	*ret_is_old = false;
	if (lstat(name, &status) || !S_ISREG(status.st_mode))
		return 0;
	*ret_is_old = status.st_mtime + SPOOL_SECONDS < now;
	return in_blocks((uint64_t)status.st_size);
}

/* Returns how many events a file says that it has. */
static uint64_t events_of(const char *name)
{
	guard_fd int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct spool_head head;

	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    head.magic != SPOOL_MAGIC)
		return 0;
	return head.events;
}

static void push(struct spool *spool, const char *name)
{
	const uint64_t events = events_of(name);

	if (unlink(name))
		return;
	spool->pushed_windows++;
	spool->pushed_events += events;
}

/* Removes what is too old, and the oldest files beyond `most` bytes. */
static void make_room(struct spool *spool, uint64_t most, time_t now)
{
	struct dirent **entries;
	const int count = scandir(".", &entries, select_ours, compare);
	uint64_t used = 0;
	bool is_old;

	for (int i = 0; i < count; i++)
		used += look(entries[i]->d_name, now, &is_old);
	for (int i = 0; i < count; i++) {
		const uint64_t size = look(entries[i]->d_name, now, &is_old);

		if (used <= most && !is_old)
			continue;
		push(spool, entries[i]->d_name);
		used -= size;
	}
	release(entries, count);
}

/* ---- windows --------------------------------------------------------------------------------- */

int spool_write(struct spool *spool, int memfd, const struct message_spool *window, time_t now)
{
	const struct spool_head head = {
		.magic = SPOOL_MAGIC,
		.version = SPOOL_VERSION,
		.bytes = window->bytes,
		.events = window->events,
		.checksum = window->checksum,
	};
	const uint64_t size = in_blocks(sizeof(head) + window->bytes);
	char name[NAME_BYTES];
	int r = window_file_check(memfd, window->bytes);

	if (r < 0)
		return r;
	if (size > spool->most)
		return -EFBIG;
	make_room(spool, spool->most - size, now);
	make_name(window->id, name);
	return window_file_write(name, "." PREFIX "window.tmp", &head, sizeof(head), memfd,
				 window->bytes);
}

int spool_open_oldest(struct spool *spool, time_t now, uint64_t *ret_id)
{
	struct dirent **entries;
	int count, fd = -ENOENT;

	make_room(spool, spool->most, now);
	count = scandir(".", &entries, select_ours, compare);
	if (count < 0)
		return -errno;
	if (count > 0) {
		*ret_id = strtoull(entries[0]->d_name + strlen(PREFIX), NULL, 16);
		fd = open(entries[0]->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	release(entries, count);
	return fd;
}

void spool_remove(uint64_t id)
{
	char name[NAME_BYTES];

	make_name(id, name);
	unlink(name);
}

void spool_take_pushed(struct spool *spool, struct message_spooled *answer)
{
	answer->pushed = spool->pushed_windows;
	answer->events = spool->pushed_events;
	spool->pushed_windows = 0;
	spool->pushed_events = 0;
}
