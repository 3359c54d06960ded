/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/snapshot.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "base/array.h"
#include "base/reader.h"
#include "object/elf/image.h"
#include "worker/process/maps_text.h"
#include "object/unwind/unwind_table.h"
#include "worker/vdso.h"

#define VDSO_DEVICE   (~0ull)
#define MAPS_TEXT_MAX (1u << 20)

static struct elf_object *objects;
static struct snapshot *snapshots; /* newest first */

struct elf_object *snapshot_objects(void)
{
	return objects;
}

/* ---- objects ---- */

static int open_vdso(void)
{
	size_t bytes;
	const void *image = vdso_image(&bytes);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd >= 0 && image && write(fd, image, bytes) == (ssize_t)bytes)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_mapped(u32 pid, const struct maps_line *line)
{
	char path[96];

	if (strcmp(line->path, "[vdso]") == 0)
		return open_vdso();
	snprintf(path, sizeof(path), "/proc/%u/map_files/%lx-%lx", pid, (unsigned long)line->start,
		 (unsigned long)line->end);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static struct elf_object *object_new(int taken, const struct maps_line *line)
{
	int fd guard_fd = taken;
	struct elf_object *object guard_free = calloc(1, sizeof(*object));
	struct stat status;
	u64 damaged;

	if (!object || fd < 0 || fstat(fd, &status) < 0 || image_open(fd, &object->image) < 0)
		return NULL;
	object->name = strdup(line->path);
	object->size = (u64)status.st_size;
	object->bytes = mmap(NULL, object->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!object->name || object->bytes == MAP_FAILED)
		return NULL;
	unwind_table_build(object->image, &object->table, &damaged);
	object->fd = take_fd(&fd);
	object->device = line->device;
	object->inode = line->inode;
	object->next = objects;
	objects = object;
	return take_pointer(object);
}

/* Returns the object behind a mapping. NULL: no file, or a file that is not ELF. */
static struct elf_object *object_of(u32 pid, struct maps_line *line)
{
	if (strcmp(line->path, "[vdso]") == 0)
		line->device = VDSO_DEVICE;
	else if (!line->inode)
		return NULL;
	for (struct elf_object *at = objects; at; at = at->next)
		if (at->device == line->device && at->inode == line->inode)
			return at;
	return object_new(open_mapped(pid, line), line);
}

static u64 bias_of(const struct elf_object *object, const struct area *area)
{
	const struct image_segment *segment;
	size_t count = image_segments(object->image, &segment);

	for (size_t i = 0; i < count; i++) {
		u64 from = segment[i].file_offset & ~4095ull;

		if (segment[i].executable && area->offset >= from &&
		    area->offset < segment[i].file_offset + segment[i].file_size)
			return area->start - area->offset - segment[i].address +
			       segment[i].file_offset;
	}
	return area->start - area->offset;
}

/* ---- snapshots ---- */

static size_t read_maps(u32 pid, char *text)
{
	char path[32];
	size_t size = 0;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	int fd guard_fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && size < MAPS_TEXT_MAX &&
	       (got = read(fd, text + size, MAPS_TEXT_MAX - size)) > 0)
		size += (size_t)got;
	return size;
}

static struct snapshot *snapshot_of(u32 pid)
{
	for (struct snapshot *at = snapshots; at; at = at->next)
		if (at->pid == pid)
			return at;
	return NULL;
}

static bool same(const struct snapshot *one, const struct snapshot *other)
{
	if (!one || one->count != other->count)
		return false;
	return memcmp(one->area, other->area, one->count * sizeof(*one->area)) == 0;
}

static int add_area(struct snapshot *snapshot, size_t *capacity, struct maps_line *line)
{
	struct area area = {.start = line->start, .end = line->end, .offset = line->offset};

	if (!line->executable || line->start >= 1ull << 47)
		return 0;
	if (ARRAY_RESERVE(snapshot->area, *capacity, snapshot->count + 1) < 0)
		return -1;
	area.object = object_of(snapshot->pid, line);
	if (area.object)
		area.bias = bias_of(area.object, &area);
	snapshot->area[snapshot->count++] = area;
	return 0;
}

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

struct snapshot *snapshot_take(u32 pid)
{
	static char text[MAPS_TEXT_MAX];
	static struct maps_line line;
	struct snapshot *last = snapshot_of(pid), now = {.pid = pid, .time = now_ns()};
	size_t capacity = 0, size = read_maps(pid, text);
	struct reader reader;

	reader_init(&reader, text, size);
	while (maps_text_next(&reader, &line) > 0)
		if (add_area(&now, &capacity, &line) < 0)
			break;
	if (!now.count || same(last, &now)) {
		free(now.area);
		return last;
	}
	struct snapshot *snapshot = malloc(sizeof(*snapshot));

	if (!snapshot)
		return last;
	*snapshot = now;
	snapshot->next = snapshots;
	snapshots = snapshot;
	return snapshot;
}

const struct area *snapshot_find(const struct snapshot *snapshot, u64 address)
{
	for (size_t i = 0; i < snapshot->count; i++)
		if (address >= snapshot->area[i].start && address < snapshot->area[i].end)
			return &snapshot->area[i];
	return NULL;
}

int snapshot_read(const struct snapshot *snapshot, u64 address, u64 bytes, void *to)
{
	const struct area *area = snapshot_find(snapshot, address);
	u64 at = area ? address - area->start + area->offset : 0;

	if (!area || !area->object || address + bytes > area->end ||
	    at + bytes > area->object->size)
		return -1;
	memcpy(to, area->object->bytes + at, bytes);
	return 0;
}
