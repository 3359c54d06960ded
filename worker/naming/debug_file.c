/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/debug_file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/reader.h"
#include "ipc/guard.h"
#include "object/elf/image.h"
#include "worker/naming/debug_peer.h"

#define LINK_BYTES  272u /* a name of at most 255 bytes, its NUL, padding and the sum */
#define PIECE_BYTES (64u << 10)

/* ---- by build id ---- */

static int by_build_id(struct debug_peer *files, const unsigned char *id, size_t size)
{
	char path[2 * IMAGE_BUILD_ID_MAX + 32] = ".build-id/";
	size_t used = strlen(path);

	if (size < 2)
		return -ENOENT;
	for (size_t i = 0; i < size; i++)
		used += (size_t)snprintf(path + used, sizeof(path) - used,
					 i == 0 ? "%02x/" : "%02x", id[i]);
	snprintf(path + used, sizeof(path) - used, ".debug");
	return debug_peer_open(files, path);
}

static int check_build_id(struct image *image, const unsigned char *id, size_t size)
{
	unsigned char own[IMAGE_BUILD_ID_MAX];

	if (image_build_id(image, own) != size || memcmp(own, id, size) != 0)
		return -ESTALE;
	return 0;
}

/* ---- by link ---- */

/* Reads the link: a name, padded to four bytes, and the sum of the file. */
static int read_link(struct image *object, char ret_name[LINK_BYTES], uint32_t *ret_sum)
{
	struct image_place place;
	struct reader reader;
	const char *name;
	size_t size;
	int r = image_section_place(object, ".gnu_debuglink", &place);

	if (r < 0)
		return r;
	if (place.size > LINK_BYTES)
		return -EBADMSG;
	size = image_read(object, place.offset, ret_name, (size_t)place.size);
	reader_init(&reader, ret_name, size);
	name = reader_string(&reader);
	reader_skip(&reader, -reader_offset(&reader) & 3);
	*ret_sum = reader_u32(&reader);
	if (reader_failed(&reader) || !*name || strchr(name, '/'))
		return -EBADMSG;
	return 0;
}

static int check_sum(int fd, uint32_t expected)
{
	unsigned char piece[PIECE_BYTES];
	struct stat status;
	uLong sum = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;

	if (fstat(fd, &status) < 0 || status.st_size > DEBUG_LINK_BYTES_MAX)
		return -EFBIG;
	while (at < status.st_size && (got = pread(fd, piece, sizeof(piece), at)) > 0) {
		sum = crc32(sum, piece, (uInt)got);
		at += got;
	}
	if (sum != expected)
		return -ESTALE;
	return 0;
}

static int by_link(struct debug_peer *files, struct image *object, const char *object_path)
{
	const char *slash = strrchr(object_path, '/'), *folder;
	char name[LINK_BYTES], path[PATH_MAX];
	guard_fd int fd = -1;
	uint32_t sum;
	int r = read_link(object, name, &sum);

	if (r < 0)
		return r;
	if (object_path[0] != '/')
		return -ENOENT;
	/* The folder keeps its last slash, and loses its first one: paths are below the roots. */
	folder = object_path + 1;
	r = snprintf(path, sizeof(path), "%.*s%s", (int)(slash + 1 - folder), folder, name);
	if (r >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = debug_peer_open(files, path);
	if (fd < 0)
		return fd;
	r = check_sum(fd, sum);
	if (r < 0)
		return r;
	return take_fd(&fd);
}

/* ---- either ---- */

int debug_file_open(struct debug_peer *files, struct image *object, const char *path,
		    struct debug_file *ret_file)
{
	unsigned char id[IMAGE_BUILD_ID_MAX];
	size_t size = image_build_id(object, id);
	guard_fd int fd = by_build_id(files, id, size);
	bool by_id = fd >= 0;
	int r;

	if (!by_id)
		fd = by_link(files, object, path);
	if (fd < 0)
		return fd;
	r = image_open(fd, &ret_file->image);
	if (r < 0)
		return r;
	if (by_id)
		r = check_build_id(ret_file->image, id, size);
	if (r < 0) {
		image_close(ret_file->image);
		return r;
	}
	ret_file->fd = take_fd(&fd);
	return 0;
}

void debug_file_close(struct debug_file *file)
{
	image_close(file->image);
	close(file->fd);
}
