/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "loader/broker/maps_line.h"
#include "loader/broker/thread.h"
#include "policy/procmap.h"

#define PATH_BYTES     80
#define NAME_BYTES     64 /* more than a name below */
#define PIECE_BYTES    4096
#define MAPS_BYTES_MAX (1u << 20) /* of a list that is read to find one mapping */

static void print_link(const struct mapped *mapped, char ret_path[PATH_BYTES])
{
	snprintf(ret_path, PATH_BYTES, "%u/map_files/%llx-%llx", mapped->thread,
		 (unsigned long long)mapped->start, (unsigned long long)mapped->end);
}

bool mapped_is_valid(const struct mapped *mapped)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (mapped->start >= mapped->end)
		return false;
	return mapped->start % page == 0 && mapped->end % page == 0;
}

/* ---- the file ------------------------------------------------------------------------------ */

/*
 * Refuses a mapping whose file is open for writing: data, or shared memory. The kernel and dynamic
 * linkers open code read-only. The permissions of the link are the access mode (proc(5)).
 */
static int check_mode(const char *path)
{
	struct statx link;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_MODE, &link))
		return -errno;
	if (link.stx_mode & S_IWUSR)
		return -EACCES;
	return 0;
}

/*
 * Opens the link, which leads to the mapped inode itself, whatever the file's name is by now.
 * O_PATH asks nothing of the file system: so a file system that does not answer cannot hold the
 * broker.
 */
static int open_link(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fd;
}

/* Returns fd, or closes it for another thread than one of the process's. */
static int check_thread(const struct mapped *mapped, int fd)
{
	char path[PATH_BYTES];
	struct statx thread;
	guard_fd int opened = fd;

	/*
	 * The task folders of a process have no map_files, so the path of the link has no pid. This
	 * question proves that the thread belongs to pid.
	 */
	snprintf(path, sizeof(path), "%u/task/%u", mapped->pid, mapped->thread);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, 0, &thread))
		return -errno;
	if (opened < 0)
		return opened;
	return take_fd(&opened);
}

int mapped_open_any(const struct mapped *mapped)
{
	char path[PATH_BYTES];

	print_link(mapped, path);
	return check_thread(mapped, open_link(path));
}

int mapped_open(const struct mapped *mapped)
{
	char path[PATH_BYTES];
	int fd;

	print_link(mapped, path);
	fd = check_mode(path);
	if (fd == 0)
		fd = open_link(path);
	return check_thread(mapped, fd);
}

int mapped_identify(int fd, struct statx *ret_status, struct message_object_reply *ret_reply)
{
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, ret_status))
		return -errno;
	if (!S_ISREG(ret_status->stx_mode))
		return -EACCES;
	ret_reply->device = makedev(ret_status->stx_dev_major, ret_status->stx_dev_minor);
	ret_reply->inode = ret_status->stx_ino;
	ret_reply->size = ret_status->stx_size;
	ret_reply->change_seconds = (uint64_t)ret_status->stx_ctime.tv_sec;
	ret_reply->change_nanoseconds = ret_status->stx_ctime.tv_nsec;
	return 0;
}

int mapped_name(const struct mapped *mapped, char ret_path[PATH_MAX])
{
	char path[PATH_BYTES];
	ssize_t length;

	print_link(mapped, path);
	length = readlinkat(AT_FDCWD, path, ret_path, PATH_MAX);
	if (length < 0)
		return -errno;
	if (length == PATH_MAX)
		return -ENAMETOOLONG; /* its last part may be cut */
	ret_path[length] = '\0';
	return 0;
}

/* ---- what the kernel says of it -------------------------------------------------------------- */

static const char *const context_names[] = {"/memfd:OTEL_CTX (deleted)", "[anon:OTEL_CTX]",
					    "[anon_shmem:OTEL_CTX]"};
#define CONTEXT_NAMES (sizeof(context_names) / sizeof(*context_names))

struct facts {
	uint64_t start, end, inode;
	uint32_t major, minor; /* of the file's device */
	bool is_code, is_context;
};

static bool is_context(const char *name)
{
	for (size_t i = 0; i < CONTEXT_NAMES; i++)
		if (strcmp(name, context_names[i]) == 0)
			return true;
	return false;
}

static int find_line(int maps, struct maps_line *line)
{
	char piece[PIECE_BYTES];

	for (size_t total = 0; total < MAPS_BYTES_MAX;) {
		ssize_t got = read(maps, piece, sizeof(piece));

		if (got < 0)
			return -errno;
		if (got == 0)
			return -ENOENT;
		if (maps_line_take(line, piece, (size_t)got))
			return 0;
		total += (size_t)got;
	}
	return -E2BIG;
}

static int read_text(int maps, uint64_t address, struct facts *ret_facts)
{
	struct maps_line line;
	int r;

	maps_line_init(&line, address);
	r = find_line(maps, &line);
	if (r < 0)
		return r;
	*ret_facts = (struct facts){
		.start = line.start,
		.end = line.end,
		.inode = line.inode,
		.major = line.major,
		.minor = line.minor,
		.is_code = line.is_code,
		.is_context = is_context(line.name),
	};
	return 0;
}

/* The kernel says -ENAMETOOLONG of a name without room, and nothing else of the mapping then. */
static int query(int maps, struct procmap_query *query)
{
	if (ioctl(maps, PROCMAP_QUERY, query) == 0)
		return 0;
	if (errno != ENAMETOOLONG)
		return -errno;
	query->name = 0; /* a name without a size is -EINVAL */
	query->name_size = 0;
	if (ioctl(maps, PROCMAP_QUERY, query))
		return -errno;
	return 0;
}

static int look_up(const struct mapped *mapped, struct facts *ret_facts)
{
	char name[NAME_BYTES] = "";
	struct procmap_query asked = {.size = sizeof(asked),
				      .address = mapped->start,
				      .name = (uint64_t)(uintptr_t)name,
				      .name_size = sizeof(name)};
	guard_fd int maps = thread_open(mapped->pid, mapped->thread, "maps");
	int r;

	if (maps < 0)
		return maps;
	r = query(maps, &asked);
	if (r == -ENOTTY) /* before Linux 6.11 */
		return read_text(maps, mapped->start, ret_facts);
	if (r < 0)
		return r;
	*ret_facts = (struct facts){
		.start = asked.start,
		.end = asked.end,
		.inode = asked.inode,
		.major = asked.major,
		.minor = asked.minor,
		.is_code = asked.flags & PROCMAP_EXECUTABLE,
		.is_context = asked.name_size > 0 && is_context(name),
	};
	return 0;
}

/* Looks the mapping up that has exactly these bounds. */
static int look_up_whole(const struct mapped *mapped, struct facts *ret_facts)
{
	int r = look_up(mapped, ret_facts);

	if (r < 0)
		return r;
	if (ret_facts->start != mapped->start || ret_facts->end != mapped->end)
		return -ENOENT;
	return 0;
}

int mapped_check_code(const struct mapped *mapped)
{
	struct facts facts;
	int r = look_up_whole(mapped, &facts);

	if (r < 0)
		return r;
	if (!facts.is_code)
		return -EACCES;
	return 0;
}

/* Returns whether no file system but the kernel's own stands behind the memory. */
static bool is_memory(const struct facts *facts, uint64_t memfd_device)
{
	if (facts->inode == 0)
		return facts->major == 0 && facts->minor == 0;
	return makedev(facts->major, facts->minor) == memfd_device;
}

int mapped_check_context(const struct mapped *mapped, uint64_t memfd_device)
{
	struct facts facts;
	int r = look_up_whole(mapped, &facts);

	if (r < 0)
		return r;
	if (!facts.is_context)
		return -EOPNOTSUPP;
	if (!is_memory(&facts, memfd_device))
		return -EACCES;
	return 0;
}

int mapped_find_file(const struct mapped *mapped, uint64_t memfd_device, struct mapped *ret_file)
{
	struct facts facts;
	int r = look_up(mapped, &facts);

	if (r < 0)
		return r;
	if (mapped->end > facts.end)
		return -EACCES;
	*ret_file = (struct mapped){mapped->pid, mapped->thread, facts.start, facts.end};
	return !is_memory(&facts, memfd_device);
}
