/* SPDX-License-Identifier: Apache-2.0 */
#include "view/check/check.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "bpf/abi.h" /* types of the skeletons */
#include "bpf/sched.skel.h"
#include "bpf/walk_for.skel.h"
#include "bpf/walk_loop.skel.h"
#include "generated/install.h"
#include "ipc/guard.h"
#include "ipc/messages.h"

#define POLICY_FILE "/etc/keyhole/policy.conf"
#define MANIFEST    "keyhole-programs.sha256"
#define FIRST_BYTES 65536
#define PATH_BYTES  4096

char *check_read(const char *path, size_t *ret_size)
{
	size_t room = 0, size = 0;
	guard_free char *bytes = NULL;
	guard_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return NULL;
	do {
		if (size == room) {
			size_t grown = room > 0 ? 2 * room : FIRST_BYTES;
			char *more = realloc(bytes, grown + 1);

			if (!more)
				return NULL;
			bytes = more;
			room = grown;
		}
		got = read(fd, bytes + size, room - size);
		if (got < 0)
			return NULL;
		size += (size_t)got;
	} while (got > 0);
	bytes[size] = '\0';
	*ret_size = size;
	return take_pointer(bytes);
}

static void hash_bytes_to_hex(const void *bytes, size_t size, char ret_hex[SHA256_HEX_BYTES])
{
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add(&sha, bytes, size);
	sha256_end_hex(&sha, ret_hex);
}

/* Finds a file beside this program, as in a build, or else in the folder of an installation. */
static bool locate(const char *name, bool loader, char ret_path[PATH_BYTES])
{
	const char *installed = loader ? KEYHOLE_BINDIR : KEYHOLE_LIBEXECDIR, *folder = "";
	char own[PATH_BYTES / 2] = "";
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length > 0)
		folder = dirname(own);
	snprintf(ret_path, PATH_BYTES, "%s/%s", folder, name);
	if (access(ret_path, F_OK) == 0)
		return true;
	snprintf(ret_path, PATH_BYTES, "%s/%s", installed, name);
	return access(ret_path, F_OK) == 0;
}

/* Reports path and hash. Returns the file's bytes, which the caller frees, or NULL. */
static char *report_file(struct report *report, const char *path, size_t *ret_size,
			 char ret_hex[SHA256_HEX_BYTES])
{
	char *bytes = check_read(path, ret_size);
	const char *shown = NULL;

	if (bytes) {
		hash_bytes_to_hex(bytes, *ret_size, ret_hex);
		shown = ret_hex;
	}
	report_text(report, "path", path);
	report_text(report, "sha256", shown);
	return bytes;
}

struct object {
	const char *name;
	const void *bytes;
	size_t size;
};

#define OBJECTS 3

static void find_objects(struct object ret_objects[OBJECTS])
{
	ret_objects[0] = (struct object){.name = "walk_loop"};
	ret_objects[0].bytes = walk_loop_bpf__elf_bytes(&ret_objects[0].size);
	ret_objects[1] = (struct object){.name = "walk_for"};
	ret_objects[1].bytes = walk_for_bpf__elf_bytes(&ret_objects[1].size);
	ret_objects[2] = (struct object){.name = "sched"};
	ret_objects[2].bytes = sched_bpf__elf_bytes(&ret_objects[2].size);
}

/* The loader contains the BPF objects of its build, byte for byte. */
static void compare_objects(struct report *report, const char *bytes, size_t size)
{
	struct object objects[OBJECTS];

	find_objects(objects);
	for (int i = 0; i < OBJECTS; i++)
		if (!memmem(bytes, size, objects[i].bytes, objects[i].size))
			report_add(report, FINDING_DEVIATION, "keyhole",
				   "executable: the BPF object %s is not that of this build",
				   objects[i].name);
}

/* Compares with the output of sha256sum, made when the programs were built or installed. */
static void compare_manifest(struct report *report, const char *name, const char *hex,
			     const char *manifest)
{
	char line[SHA256_HEX_BYTES + 64];
	const char *at;

	snprintf(line, sizeof(line), "%s  %s\n", hex, name);
	at = strstr(manifest, line);
	if (at && (at == manifest || at[-1] == '\n'))
		return;
	report_add(report, FINDING_DEVIATION, name,
		   "executable: is not the one that " MANIFEST " has");
}

static void report_executable(struct report *report, struct program *program, const char *manifest)
{
	const bool loader = strcmp(program->name, "keyhole") == 0;
	guard_free char *bytes = NULL;
	char hex[SHA256_HEX_BYTES];
	struct stat status;
	size_t size;

	if (!locate(program->name, loader, program->path) || stat(program->path, &status)) {
		report_add(report, FINDING_DEVIATION, program->name, "executable: missing");
		return;
	}
	program->there = true;
	program->device = status.st_dev;
	program->inode = status.st_ino;
	report_open(report, program->name, '{');
	bytes = report_file(report, program->path, &size, hex);
	report_close(report);
	if (!bytes) {
		report_add(report, FINDING_UNKNOWN, program->name, "executable: %s",
			   strerror(errno));
		return;
	}
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		report_add(report, FINDING_DEVIATION, program->name,
			   "executable: others may write to it");
	if (manifest)
		compare_manifest(report, program->name, hex, manifest);
	if (loader)
		compare_objects(report, bytes, size);
}

static void name_programs(struct programs *programs)
{
	static char names[] = KEYHOLE_PROGRAMS;
	char *rest = names;

	while (rest && programs->count < PROGRAMS_MAX)
		programs->all[programs->count++].name = strsep(&rest, " ");
}

static void report_executables(struct report *report, struct programs *programs)
{
	guard_free char *manifest = NULL;
	char path[PATH_BYTES];
	size_t size;

	if (locate(MANIFEST, false, path))
		manifest = check_read(path, &size);
	if (!manifest)
		report_add(report, FINDING_UNKNOWN, MANIFEST, "cannot be read: %s",
			   strerror(errno));
	report_open(report, "executables", '{');
	for (unsigned int i = 0; i < programs->count; i++)
		report_executable(report, &programs->all[i], manifest);
	report_close(report);
}

static void report_objects(struct report *report)
{
	struct object objects[OBJECTS];
	char hex[SHA256_HEX_BYTES];

	find_objects(objects);
	report_open(report, "bpf_objects", '{');
	for (int i = 0; i < OBJECTS; i++) {
		hash_bytes_to_hex(objects[i].bytes, objects[i].size, hex);
		report_text(report, objects[i].name, hex);
	}
	report_close(report);
}

void check_files(struct report *report, struct programs *ret_programs)
{
	char hex[SHA256_HEX_BYTES];
	size_t size;

	name_programs(ret_programs);
	report_executables(report, ret_programs);
	report_objects(report);
	report_open(report, "policy", '{');
	free(report_file(report, POLICY_FILE, &size, hex));
	report_close(report);
}
