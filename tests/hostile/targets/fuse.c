/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse MOUNTPOINT FILE: a file system in user space, spoken over /dev/fuse without a library, that
 * has one file, "program", with the bytes of FILE. It says "ready" when it is mounted; from SIGUSR1
 * on it reads requests and never answers one. It ends with its mount at SIGTERM. linux/fuse.h
 */
#include <errno.h>
#include <linux/fuse.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>

#include "tests/hostile/targets/hostile.h"

#define FILE_ID	     2
#define BUFFER_BYTES (FUSE_MIN_READ_BUFFER + (1u << 20))

static volatile sig_atomic_t silent, ended;
static char *bytes;
static uint64_t file_bytes;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		silent = 1;
	else
		ended = 1;
}

static void answer(int fd, const struct fuse_in_header *in, int error, const void *data,
		   size_t size)
{
	static char buffer[BUFFER_BYTES];
	struct fuse_out_header head = {.error = error, .unique = in->unique};

	head.len = (uint32_t)(sizeof(head) + (error ? 0 : size));
	memcpy(buffer, &head, sizeof(head));
	if (!error && size > 0)
		memcpy(buffer + sizeof(head), data, size);
	if (write(fd, buffer, head.len) < 0 && errno != ENOENT)
		perror("fuse: write");
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .size = node == FILE_ID ? file_bytes : 0,
				  .mode = node == FILE_ID ? S_IFREG | 0755 : S_IFDIR | 0755,
				  .nlink = 1,
				  .blksize = 4096};
}

static void on_init(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_init_in *init = body;
	const struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
					  .minor = FUSE_KERNEL_MINOR_VERSION,
					  .max_readahead = init->max_readahead,
					  .max_write = 4096};

	answer(fd, in, 0, &out, sizeof(out));
}

static void on_lookup(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_entry_out out = {.nodeid = FILE_ID,
					   .entry_valid = 1000,
					   .attr_valid = 1000,
					   .attr = attributes(FILE_ID)};

	answer(fd, in, strcmp(body, "program") ? -ENOENT : 0, &out, sizeof(out));
}

static void on_getattr(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_attr_out out = {.attr_valid = 1000, .attr = attributes(in->nodeid)};

	(void)body;
	answer(fd, in, 0, &out, sizeof(out));
}

static void on_open(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_open_out out = {.fh = 1, .open_flags = FOPEN_KEEP_CACHE};

	(void)body;
	answer(fd, in, 0, &out, sizeof(out));
}

static void on_read(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_read_in *request = body;
	uint64_t left = request->offset < file_bytes ? file_bytes - request->offset : 0;

	answer(fd, in, 0, bytes + (left ? request->offset : 0),
	       left < request->size ? left : request->size);
}

static void on_statfs(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_statfs_out out = {.st = {.bsize = 4096, .namelen = 255, .frsize = 4096}};

	(void)body;
	answer(fd, in, 0, &out, sizeof(out));
}

static void on_nothing(int fd, const struct fuse_in_header *in, const void *body)
{
	(void)body;
	answer(fd, in, 0, NULL, 0);
}

static void on_forget(int fd, const struct fuse_in_header *in, const void *body)
{
	(void)fd;
	(void)in;
	(void)body;
}

static void (*const handlers[])(int, const struct fuse_in_header *, const void *) = {
	[FUSE_INIT] = on_init,	     [FUSE_LOOKUP] = on_lookup,	      [FUSE_GETATTR] = on_getattr,
	[FUSE_OPEN] = on_open,	     [FUSE_OPENDIR] = on_open,	      [FUSE_READ] = on_read,
	[FUSE_READDIR] = on_nothing, [FUSE_FLUSH] = on_nothing,	      [FUSE_RELEASE] = on_nothing,
	[FUSE_STATFS] = on_statfs,   [FUSE_RELEASEDIR] = on_nothing,  [FUSE_ACCESS] = on_nothing,
	[FUSE_FORGET] = on_forget,   [FUSE_BATCH_FORGET] = on_forget, [FUSE_INTERRUPT] = on_forget,
};

static void serve(int fd)
{
	static union {
		struct fuse_in_header head;
		char bytes[BUFFER_BYTES];
	} request;
	ssize_t got;

	while (!ended) {
		got = read(fd, &request, sizeof(request));
		if (got < 0 && errno == ENODEV)
			return;
		if (got < (ssize_t)sizeof(request.head) || silent)
			continue;
		if (request.head.opcode < sizeof(handlers) / sizeof(*handlers) &&
		    handlers[request.head.opcode])
			handlers[request.head.opcode](fd, &request.head,
						      request.bytes + sizeof(request.head));
		else
			answer(fd, &request.head, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal}; /* read() is to end */
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	if (argc < 3 || fd < 0)
		fail("/dev/fuse");
	bytes = map_code(argv[2], &file_bytes);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fd);
	if (!bytes || mount("hostile", argv[1], "fuse", 0, options))
		fail("mount");
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	say("ready");
	serve(fd);
	umount2(argv[1], MNT_DETACH);
	return 0;
}
