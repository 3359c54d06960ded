/* SPDX-License-Identifier: Apache-2.0 */
#include "view/symbolize/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "view/symbolize/debug.h"
#include "object/dwarf/answer.h"

/*
 * Regular files of these are the kernel: to read or map one is to ask it, and, with the rights for
 * it, may be to use a device (/sys/bus/pci/devices/x/resource0).
 */
static bool is_of_kernel(const struct statfs *system)
{
	static const uint32_t types[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,	     DEBUGFS_MAGIC,
					 TRACEFS_MAGIC,	   SECURITYFS_MAGIC, EFIVARFS_MAGIC};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((uint32_t)system->f_type == types[i])
			return true;
	return false;
}

/*
 * The profile chose the path. To open a device may do something, or wait: what it is must be known
 * before. A file on a disk, on a network or in memory that has something in it is opened.
 */
static int open_file(const char *path)
{
	guard_fd int place = open(path, O_PATH | O_CLOEXEC);
	char again[sizeof("/proc/self/fd/") + 10];
	struct statfs system;
	struct stat status;
	int fd;

	if (place < 0)
		return -errno;
	if (fstat(place, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
	    fstatfs(place, &system) || is_of_kernel(&system))
		return -ENOENT;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static void add_file(struct debug_files *files, const char *path)
{
	int fd = files->count < DEBUG_FILES_MAX ? open_file(path) : -1;

	if (fd >= 0)
		files->fds[files->count++] = fd;
}

/* DIR/.build-id/xx/yyyy */
static void path_of_id(char path[PATH_MAX], const char *folder, const unsigned char *id,
		       size_t size, const char *suffix)
{
	char hex[2 * EXCHANGE_ID_MAX + 1] = "";

	for (size_t i = 1; i < size; i++)
		snprintf(hex + 2 * (i - 1), 3, "%02x", id[i]);
	snprintf(path, PATH_MAX, "%s/.build-id/%02x/%s%s", folder, id[0], hex, suffix);
}

/* What has debug information first. */
static void open_files(const struct folders *folders, const struct ask *ask,
		       struct debug_files *files)
{
	static const char *const suffixes[] = {".debug", ""};
	char path[PATH_MAX];

	for (size_t kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < folders->count; i++) {
			path_of_id(path, folders->paths[i], ask->id, ask->id_size, suffixes[kind]);
			add_file(files, path);
		}
	}
	if (ask->path[0] == '/')
		add_file(files, ask->path);
}

static void close_files(struct debug_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		close(files->fds[i]);
	if (files->alternate >= 0)
		close(files->alternate);
}

/* By its build id, else by its name below DIR/.dwz, which is what distributions have. */
static int open_alternate(const struct folders *folders, const struct answer_summary *summary)
{
	const char *name = strstr(summary->alt_name, ".dwz/");
	char path[PATH_MAX];
	int fd = -ENOENT;

	for (size_t i = 0; i < folders->count && fd < 0; i++) {
		path_of_id(path, folders->paths[i], summary->alt_id, summary->alt_id_size,
			   ".debug");
		fd = open_file(path);
		if (fd >= 0 || !name || strstr(name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folders->paths[i], name);
		fd = open_file(path);
	}
	return fd;
}

static bool wants_alternate(const struct exchange *exchange, struct answer_summary *ret_summary)
{
	return answer_peek(exchange->answer, ret_summary) == 0 && ret_summary->alt_id_size > 0;
}

/* Whole files; to has the other one's size then. */
static int copy_file(int from, int to)
{
	struct stat status;
	off_t at = 0;

	if (fstat(from, &status) || ftruncate(to, 0) || lseek(to, 0, SEEK_SET))
		return -errno;
	while (at < status.st_size) {
		ssize_t done = sendfile(to, from, &at, (size_t)(status.st_size - at));

		if (done <= 0)
			return done < 0 ? -errno : -EIO;
	}
	return 0;
}

/* There is more to read then, which may end it: only a complete answer is better than the first. */
static int read_with_alternate(const struct exchange *exchange, const struct ask *ask,
			       const struct debug_files *files)
{
	guard_fd int answer = memfd_create("keyhole-lines", MFD_CLOEXEC);
	struct exchange again = *exchange;
	struct told told;

	if (answer < 0)
		return 0;
	again.answer = answer;
	told = debug_read(&again, ask, files);
	return told.error || told.signal || !answer_is_complete(answer)
		       ? 0
		       : copy_file(answer, exchange->answer);
}

static struct told tell(const struct folders *folders, const struct exchange *exchange,
			const struct ask *ask)
{
	struct debug_files files = {.alternate = -1};
	struct answer_summary summary;
	struct told told = {.error = -ENOENT};

	open_files(folders, ask, &files);
	if (files.count > 0)
		told = debug_read(exchange, ask, &files);
	if (!told.error && !told.signal && wants_alternate(exchange, &summary)) {
		files.alternate = open_alternate(folders, &summary);
		if (files.alternate >= 0)
			told.error = read_with_alternate(exchange, ask, &files);
	}
	close_files(&files);
	return told;
}

static bool is_sound(const struct ask *ask, ssize_t size)
{
	return size == sizeof(*ask) && ask->id_size > 0 && ask->id_size <= EXCHANGE_ID_MAX &&
	       ask->count > 0 && ask->count <= EXCHANGE_ADDRESSES_MAX &&
	       memchr(ask->path, '\0', sizeof(ask->path));
}

int folders_serve(const struct folders *folders, const struct exchange *exchange)
{
	for (;;) {
		static struct ask ask;
		ssize_t size = read(exchange->socket, &ask, sizeof(ask));
		struct told told;

		if (size <= 0)
			return size == 0 || errno == ECONNRESET ? 0 : -errno;
		if (!is_sound(&ask, size))
			return -EPROTO;
		told = tell(folders, exchange, &ask);
		if (send(exchange->socket, &told, sizeof(told), MSG_NOSIGNAL) < 0)
			return errno == EPIPE ? 0 : -errno;
	}
}
