/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_image PID REPORT FOLDER: records a thread of image.py, image.lua, image.php, image.rb,
 * image.pl, image.js or Image.java.
 * An image has the memory that the walk and the naming read, and what the interpreter said in
 * REPORT-KIND. Both must agree.
 * The image is FOLDER/VERSION-KIND. Root.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "tests/bpf/image_walk.h"
#include "tests/bpf/live_thread.h"
#include "tests/runtimes/code_mappings.h"
#include "worker/runtime/runtime.h"

static struct memory_image image;
static bool is_without_lock;
static pid_t process;

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "record_image: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the process ---- */

static int read_process(void *to, u64 bytes, u64 address)
{
	const struct iovec here = {to, bytes}, there = {(void *)address, bytes};

	if (process_vm_readv(process, &here, 1, &there, 1, 0) != (ssize_t)bytes)
		return -EFAULT;
	return 0;
}

/* Reads memory, and keeps the words in which it is. Other words of a line are 0. */
static int read_and_keep(void *to, u64 bytes, u64 address)
{
	int r = read_process(to, bytes, address);
	u64 word;

	if (r < 0)
		return r;
	for (u64 at = address & ~7ull; at < address + bytes; at += sizeof(word)) {
		must(read_process(&word, sizeof(word), at) == 0, "a word");
		must(memory_image_keep(&image, at, word) == 0, "room");
	}
	return 0;
}

/* ---- the interpreter ---- */

static u64 bias_of(struct image *elf, u64 start, u64 end, u64 offset)
{
	const struct image_segment *segments;
	const size_t count = image_segments(elf, &segments);
	const struct image_segment *segment =
		image_segment_of(segments, count, offset, end - start);

	must(segment != NULL, "segment");
	return start - offset + segment->file_offset - segment->address;
}

static void describe_cpython(struct image *elf, u64 bias, const struct runtime_setup *setup)
{
	struct exported_symbol runtime;
	struct exported exported;

	must(exported_open(elf, &exported) == 0 && exported_find(&exported, "_PyRuntime", &runtime),
	     "_PyRuntime");
	image.head.version = setup->layout.cpython.version;
	is_without_lock = setup->layout.cpython.is_without_lock;
	image.head.runtime = runtime.address + bias;
	image.head.types = setup->types;
	image.head.types.code += bias;
	image.head.types.text += bias;
	image.head.types.bytes += bias;
}

static void describe(enum runtime runtime, struct image *elf, u64 bias)
{
	struct runtime_setup setup;

	errno = -runtime_configure(runtime, elf, &setup);
	must(errno == 0, "configure");
	image.config = setup.config;
	image.head.version = setup.version;
	image.head.bias = bias;
	if (runtime == RUNTIME_CPYTHON)
		describe_cpython(elf, bias, &setup);
	if (runtime == RUNTIME_HOTSPOT)
		image.code.layout.hotspot = setup.layout.hotspot;
	if (runtime == RUNTIME_NODE)
		image.code.layout.v8 = setup.layout.v8;
}

/* Describes the interpreter if a mapping is its code. */
static bool is_interpreter(u64 start, u64 end, u64 offset)
{
	enum runtime runtime;
	char path[128];
	struct image *elf;
	bool is_one = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", process, start, end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (image_open(fd, &elf) == 0) {
		runtime = runtime_recognise(elf);
		is_one = runtime == RUNTIME_CPYTHON || runtime == RUNTIME_LUA ||
			 runtime == RUNTIME_LUAJIT || runtime == RUNTIME_PHP ||
			 runtime == RUNTIME_RUBY || runtime == RUNTIME_PERL ||
			 runtime == RUNTIME_HOTSPOT || runtime == RUNTIME_NODE;
		if (is_one)
			describe(runtime, elf, bias_of(elf, start, end, offset));
		if (is_one && memory_image_has_code(&image))
			must(code_mappings(process, elf, start, &image) == 0, "mappings");
		image_close(elf);
	}
	close(fd);
	image.head.pc = start;
	return is_one;
}

static void find_interpreter(void)
{
	char path[64], line[4096];
	u64 start, end, offset;
	char executable;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", process);
	maps = fopen(path, "r");
	must(maps != NULL, path);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*2c%c%*c %llx", &start, &end, &executable, &offset) ==
			    4 &&
		    executable == 'x' && is_interpreter(start, end, offset)) {
			fclose(maps);
			return;
		}
	errno = ENOENT;
	must(0, "no interpreter");
}

/* ---- what the interpreter said ---- */

static void read_frame(char *line, struct memory_image_frame *frame)
{
	char *file = strchr(line, '\t'), *name = file ? strchr(file + 1, '\t') : NULL;

	must(name != NULL && strlen(name) < sizeof(frame->name), "report");
	frame->line = (u32)strtoul(line, NULL, 10);
	snprintf(frame->file, sizeof(frame->file), "%.*s", (int)(name - file - 1), file + 1);
	snprintf(frame->name, sizeof(frame->name), "%s", name + 1);
	frame->name[strcspn(frame->name, "\n")] = '\0';
}

/* Returns the thread. */
static pid_t read_report(const char *path)
{
	FILE *report = fopen(path, "r");
	char line[1024];
	pid_t thread;

	must(report && fgets(line, sizeof(line), report), path);
	thread = (pid_t)strtol(line, NULL, 10);
	image.frame = calloc(MEMORY_IMAGE_FRAMES_MAX, sizeof(*image.frame));
	must(image.frame != NULL, "memory");
	while (fgets(line, sizeof(line), report)) {
		must(image.head.frames < MEMORY_IMAGE_FRAMES_MAX, "frames");
		read_frame(line, &image.frame[image.head.frames++]);
	}
	fclose(report);
	return thread;
}

/* ---- all ---- */

/* Returns whether an address is in memory without a file. */
static bool is_made(u64 address)
{
	char path[64], line[4096];
	bool found = false;
	u64 start, end, inode;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", process);
	maps = fopen(path, "r");
	must(maps != NULL, path);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %*s %*s %llu", &start, &end, &inode) == 3)
			found |= address - start < end - start && inode == 0;
	fclose(maps);
	return found;
}

static void find_thread(pid_t id)
{
	struct live_thread thread;

	errno = -live_thread_get(id, &thread);
	must(errno == 0, "thread");
	image.head.thread = thread.pointer;
	image.head.stack = thread.stack;
	_Static_assert(sizeof(image.head.leaf) == sizeof(thread.reg), "registers");
	memcpy(image.head.leaf, thread.reg, sizeof(thread.reg));
	image.head.made = 0;
	if (memory_image_has_code(&image) || is_made(thread.pc))
		image.head.made = thread.pc;
}

/* Returns whether the walk finds what the interpreter said. */
static bool agrees(struct functions *functions)
{
	static struct image_frames found;
	const u32 words = image_walk(&image);

	image_name_all(&image, functions, words, &found);
	for (u32 i = 0; i < found.count && i < image.head.frames; i++) {
		const struct memory_image_frame *frame = &found.frame[i], *said = &image.frame[i];

		if (image_is_said(&image, said, frame))
			continue;
		fprintf(stderr, "record_image: frame %u: %s %s:%u, not %s %s:%u\n", i, frame->name,
			frame->file, frame->line, said->name, said->file, said->line);
		return false;
	}
	fprintf(stderr, "record_image: %u of %u frames, result %u, reason %u, %u lines\n",
		found.count, image.head.frames, host.walk.list.result, host.walk.reason,
		image.head.lines);
	return found.count == image.head.frames && host.walk.list.result == RUNTIME_WHOLE;
}

/* Returns what tells builds of one version apart. */
static const char *variant(void)
{
	const u32 start = image.config.root[0].start;
	static char year[16];

	if (memory_image_is_hotspot(&image))
		return "-java";
	if (memory_image_is_v8(&image))
		return "-v8";
	if (memory_image_is_luajit(&image)) {
		snprintf(year, sizeof(year), "-%s", memory_image_year(&image));
		return year;
	}
	if (is_without_lock)
		return "t";
	if (start == RUNTIME_AT_MODULE_MUSL || start == RUNTIME_AT_KEY_MUSL ||
	    start == RUNTIME_AT_DESCRIPTOR_MUSL)
		return "-musl";
	if (start == RUNTIME_AT_DESCRIPTOR)
		return "-descriptors";
	return "";
}

static void write_image(const char *folder, const char *kind)
{
	const u32 version = image.head.version;
	char path[256];

	must(kind != NULL, "kind");
	snprintf(path, sizeof(path), "%s/%u.%u.%u%s%s", folder, version >> 24, version >> 16 & 0xff,
		 version >> 8 & 0xff, variant(), kind);
	errno = -memory_image_write(&image, path);
	must(errno == 0, path);
}

/* The code of a trace is of several functions, and only in some places of the reported one. */
#define TRIES 200u

/* Records the thread as it is now. Returns whether the walk finds what the interpreter said. */
static bool try(pid_t thread, struct functions *functions)
{
	static unsigned char description[MEMORY_IMAGE_DESCRIPTION];

	image.head.lines = 0;
	must(!image.head.runtime ||
		     read_and_keep(description, sizeof(description), image.head.runtime) == 0,
	     "_PyRuntime");
	find_thread(thread);
	return agrees(functions);
}

int main(int argc, char **argv)
{
	struct functions *functions = functions_new();
	bool is_good = false;
	pid_t thread;

	if (argc != 4 || !functions) {
		fprintf(stderr, "usage: record_image PID REPORT FOLDER\n");
		return 2;
	}
	process = (pid_t)strtol(argv[1], NULL, 10);
	image.head = (struct memory_image_head){.magic = MEMORY_IMAGE_MAGIC,
						.config_bytes = sizeof(image.config)};
	thread = read_report(argv[2]);
	find_interpreter();
	host.read_at = read_and_keep;
	for (u32 i = 0; !is_good && i < TRIES; i++)
		is_good = try(thread, functions);
	if (!is_good)
		return 1;
	write_image(argv[3], strrchr(argv[2], '-'));
	memory_image_release(&image);
	functions_free(functions);
	return 0;
}
