/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/canary/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIECE (4u << 20)
#define PAGE  4096u
#define CPUS  1024u

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static bool complain(const char *text)
{
	fprintf(stderr, "place: %s: %s\n", text, strerror(errno));
	return false;
}

/* ---- BPF maps ---- */

static int map_by_id(uint32_t id, struct bpf_map_info *info)
{
	union bpf_attr attr = {.map_id = id};
	int fd = bpf(BPF_MAP_GET_FD_BY_ID, &attr);

	if (fd < 0)
		return fd;
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uint64_t)info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) ? -1 : fd;
}

static size_t rounded(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

static bool map_shared(struct place *place, int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	place->bytes = bytes;
	place->size = size;
	return bytes != MAP_FAILED;
}

/* Reads the values of all keys, one after another. All our keys have 32 bits. */
static bool copy_values(struct place *place, int fd, const struct bpf_map_info *info)
{
	bool per_cpu = info->type == BPF_MAP_TYPE_PERCPU_ARRAY;
	size_t width = rounded(info->value_size, 8) * (per_cpu ? CPUS : 1), count = 0;
	uint8_t *bytes = calloc(info->max_entries, width);
	uint32_t key, *before = NULL;

	if (!bytes)
		return false;
	while (count < info->max_entries) {
		union bpf_attr attr = {.map_fd = (uint32_t)fd};

		attr.key = (uint64_t)before;
		attr.next_key = (uint64_t)&key;
		if (bpf(BPF_MAP_GET_NEXT_KEY, &attr))
			break;
		before = &key;
		attr.key = (uint64_t)&key;
		attr.value = (uint64_t)(bytes + count * width);
		count += bpf(BPF_MAP_LOOKUP_ELEM, &attr) == 0;
	}
	place->bytes = bytes;
	place->size = count * width;
	return true;
}

static bool open_map(const char *text, struct place *place)
{
	struct bpf_map_info info = {0};
	int fd = map_by_id((uint32_t)strtoul(text, NULL, 10), &info);
	bool good;

	if (fd < 0)
		return false;
	snprintf(place->name, sizeof(place->name), "map %.15s", info.name);
	if (info.type == BPF_MAP_TYPE_RINGBUF) {
		place->kind = PLACE_KERNEL;
		good = map_shared(place, fd, 2 * PAGE + 2 * (size_t)info.max_entries);
	} else if (info.type == BPF_MAP_TYPE_ARRAY && info.map_flags & BPF_F_MMAPABLE) {
		bool kernel = !strcmp(info.name, "rings") || !strcmp(info.name, "counters");

		place->kind = kernel ? PLACE_KERNEL : PLACE_WORKER;
		good = map_shared(place, fd,
				  rounded(rounded(info.value_size, 8) * info.max_entries, PAGE));
	} else if (info.type == BPF_MAP_TYPE_ARRAY || info.type == BPF_MAP_TYPE_PERCPU_ARRAY ||
		   info.type == BPF_MAP_TYPE_HASH) {
		place->kind = PLACE_PRIVATE;
		good = copy_values(place, fd, &info);
	} else {
		errno = ENOTSUP;
		good = false;
	}
	close(fd);
	return good;
}

/* ---- the others ---- */

static bool open_perf(const char *text, struct place *place)
{
	int pid, number, pidfd, fd;
	size_t bytes;

	if (sscanf(text, "%d:%d:%zu", &pid, &number, &bytes) != 3)
		return false;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	place->kind = PLACE_PERF;
	snprintf(place->name, sizeof(place->name), "side-band ring");
	return fd >= 0 && map_shared(place, fd, bytes);
}

static bool open_file(const char *path, struct place *place)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	uint8_t *bytes = size < 0 ? NULL : malloc((size_t)size + 1);

	if (!bytes || pread(fd, bytes, (size_t)size, 0) != size)
		return false;
	close(fd);
	place->kind = PLACE_FILE;
	place->bytes = bytes;
	place->size = (size_t)size;
	snprintf(place->name, sizeof(place->name), "file %.100s", path);
	return true;
}

bool place_open(const char *text, struct place *ret_place)
{
	const char *behind = strchr(text, ':');
	bool good = false;

	*ret_place = (struct place){0};
	errno = EINVAL;
	if (!behind)
		return complain(text);
	behind++;
	if (!strncmp(text, "map:", 4)) {
		good = open_map(behind, ret_place);
	} else if (!strncmp(text, "perf:", 5)) {
		good = open_perf(behind, ret_place);
	} else if (!strncmp(text, "file:", 5)) {
		good = open_file(behind, ret_place);
	} else if (!strncmp(text, "memory:", 7) || !strncmp(text, "parser:", 7)) {
		ret_place->kind = *text == 'm' ? PLACE_MEMORY : PLACE_PARSER;
		ret_place->pid = (int)strtol(behind, NULL, 10);
		snprintf(ret_place->name, sizeof(ret_place->name), "memory of %d", ret_place->pid);
		good = true;
	}
	return good || complain(text);
}

/* ---- reading ---- */

/* Leaves out pages that cannot be read. */
static uint64_t read_area(const struct place *place, int memory, uint64_t start, uint64_t end,
			  size_t overlap, bool fresh, place_visit *visit, void *context)
{
	static uint8_t piece[PIECE];
	uint64_t sum = 0;

	while (start < end) {
		size_t want = end - start < PIECE ? end - start : PIECE;
		ssize_t got = pread(memory, piece, want, (off_t)start);

		if (got <= 0) {
			start = (start & ~(PAGE - 1ull)) + PAGE;
			continue;
		}
		visit(context, place, start, piece, (size_t)got, fresh);
		sum += (uint64_t)got;
		start += (uint64_t)got;
		if (start < end && (size_t)got == PIECE)
			start -= overlap;
	}
	return sum;
}

static uint64_t read_memory(const struct place *place, size_t overlap, place_visit *visit,
			    void *context)
{
	char path[64], line[4400];
	uint64_t sum = 0;
	FILE *maps;
	int memory;

	snprintf(path, sizeof(path), "/proc/%d/mem", place->pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", place->pid);
	maps = fopen(path, "re");
	while (memory >= 0 && maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, inode;
		char access[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %" SCNu64, &start, &end,
			   access, &inode) != 4 ||
		    access[0] != 'r' || strstr(line, "[vsyscall]") || strstr(line, "[vvar"))
			continue;
		/* a private file mapping without write access holds the file's bytes */
		sum += read_area(place, memory, start, end, overlap, inode == 0 || access[1] == 'w',
				 visit, context);
	}
	if (maps)
		fclose(maps);
	if (memory >= 0)
		close(memory);
	return sum;
}

uint64_t place_read(const struct place *place, size_t overlap, place_visit *visit, void *context)
{
	if (place->kind == PLACE_MEMORY || place->kind == PLACE_PARSER)
		return read_memory(place, overlap, visit, context);
	visit(context, place, 0, place->bytes, place->size, true);
	return place->size;
}
