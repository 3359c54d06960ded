/* SPDX-License-Identifier: Apache-2.0 */
#include "view/check/check.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/abi.h" /* the types of those below */
#include "bpf/walk_for.skel.h"
#include "bpf/walk_loop.skel.h"
#include "generated/install.h"
#include "ipc/guard.h"
#include "ipc/messages.h"

#define POLICY_FILE "/etc/keyhole/policy.conf"
#define MANIFEST    "keyhole-programs.sha256"
#define HEX_BYTES   (2 * SHA256_DIGEST_LENGTH + 1)

char *check_read(const char *path, size_t *ret_size)
{
	size_t room = 65536, size = 0;
	guard_free char *bytes = malloc(room + 1);
	guard_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = bytes && fd >= 0 ? 1 : -1;

	while (got > 0) {
		if (size == room) {
			char *more = realloc(bytes, (room *= 2) + 1);

			if (!more)
				return NULL;
			bytes = more;
		}
		got = read(fd, bytes + size, room - size);
		size += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		return NULL;
	bytes[size] = '\0';
	*ret_size = size;
	return take_pointer(bytes);
}

static void hash(const void *bytes, size_t size, char ret_hex[HEX_BYTES])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	SHA256(bytes, size, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret_hex + 2 * i, 3, "%02x", digest[i]);
}

/* Beside this program, as in a build, else where it gets installed. */
static bool locate(const char *name, bool loader, char ret_path[4096])
{
	char own[2048] = "";
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	snprintf(ret_path, 4096, "%s/%s", length > 0 ? dirname(own) : "", name);
	if (access(ret_path, F_OK) == 0)
		return true;
	snprintf(ret_path, 4096, "%s/%s", loader ? KEYHOLE_BINDIR : KEYHOLE_LIBEXECDIR, name);
	return access(ret_path, F_OK) == 0;
}

static char *report_file(struct report *report, const char *path, size_t *ret_size)
{
	char *bytes = check_read(path, ret_size), hex[HEX_BYTES];

	if (bytes)
		hash(bytes, *ret_size, hex);
	report_text(report, "path", path);
	report_text(report, "sha256", bytes ? hex : NULL);
	return bytes;
}

struct object {
	const char *name;
	const void *bytes;
	size_t size;
};

static void find_objects(struct object ret_objects[2])
{
	ret_objects[0] = (struct object){.name = "walk_loop"};
	ret_objects[0].bytes = walk_loop_bpf__elf_bytes(&ret_objects[0].size);
	ret_objects[1] = (struct object){.name = "walk_for"};
	ret_objects[1].bytes = walk_for_bpf__elf_bytes(&ret_objects[1].size);
}

/* The loader has the programs of this build in it, as they are. */
static void compare_objects(struct report *report, const char *bytes, size_t size)
{
	struct object objects[2];

	find_objects(objects);
	for (int i = 0; i < 2; i++)
		if (!memmem(bytes, size, objects[i].bytes, objects[i].size))
			report_add(report, FINDING_DEVIATION, "keyhole",
				   "executable: the BPF object %s is not that of this build",
				   objects[i].name);
}

/* The file that sha256sum wrote when the programs were built, or installed. */
static void compare_manifest(struct report *report, const char *name, const char *bytes,
			     size_t size, const char *manifest)
{
	char hex[HEX_BYTES], line[HEX_BYTES + 64];
	const char *at;

	hash(bytes, size, hex);
	snprintf(line, sizeof(line), "%s  %s\n", hex, name);
	at = manifest ? strstr(manifest, line) : line;
	if (!at || (manifest && at != manifest && at[-1] != '\n'))
		report_add(report, FINDING_DEVIATION, name,
			   "executable: is not the one that " MANIFEST " has");
}

static void report_executable(struct report *report, struct program *program, const char *manifest)
{
	const bool loader = strcmp(program->name, "keyhole") == 0;
	guard_free char *bytes = NULL;
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
	bytes = report_file(report, program->path, &size);
	report_close(report);
	if (!bytes) {
		report_add(report, FINDING_UNKNOWN, program->name, "executable: %s",
			   strerror(errno));
		return;
	}
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		report_add(report, FINDING_DEVIATION, program->name,
			   "executable: others may write to it");
	compare_manifest(report, program->name, bytes, size, manifest);
	if (loader)
		compare_objects(report, bytes, size);
}

static void name_programs(struct programs *programs)
{
	static char names[] = KEYHOLE_PROGRAMS;
	char *rest = names, *name;

	while ((name = strsep(&rest, " ")) && programs->count < PROGRAMS_MAX)
		programs->all[programs->count++].name = name;
}

static void report_executables(struct report *report, struct programs *programs)
{
	char path[4096];
	size_t size;
	guard_free char *manifest = locate(MANIFEST, false, path) ? check_read(path, &size) : NULL;

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
	struct object objects[2];
	char hex[HEX_BYTES];

	find_objects(objects);
	report_open(report, "bpf_objects", '{');
	for (int i = 0; i < 2; i++) {
		hash(objects[i].bytes, objects[i].size, hex);
		report_text(report, objects[i].name, hex);
	}
	report_close(report);
}

void check_files(struct report *report, struct programs *ret_programs)
{
	size_t size;

	name_programs(ret_programs);
	report_executables(report, ret_programs);
	report_objects(report);
	report_open(report, "policy", '{');
	free(report_file(report, POLICY_FILE, &size));
	report_close(report);
}
