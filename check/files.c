/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check.h"

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
#include "ipc/guard.h"
#include "ipc/messages.h"

#define POLICY_FILE "/etc/keyhole/policy.conf"
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

static void report_executable(struct report *report, enum message_party party,
			      struct executable *ret_executable)
{
	const char *name = message_party_name(party);
	guard_free char *bytes = NULL;
	struct stat status;
	size_t size;

	*ret_executable = (struct executable){.there = false};
	if (!locate(name, party == PARTY_LOADER, ret_executable->path) ||
	    stat(ret_executable->path, &status)) {
		report_add(report, FINDING_DEVIATION, name, "executable: missing");
		return;
	}
	ret_executable->there = true;
	ret_executable->device = status.st_dev;
	ret_executable->inode = status.st_ino;
	report_open(report, name, '{');
	bytes = report_file(report, ret_executable->path, &size);
	report_close(report);
	if (!bytes)
		report_add(report, FINDING_UNKNOWN, name, "executable: %s", strerror(errno));
	else if (status.st_mode & (S_IWGRP | S_IWOTH))
		report_add(report, FINDING_DEVIATION, name, "executable: others may write to it");
	else if (party == PARTY_LOADER)
		compare_objects(report, bytes, size);
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

void check_files(struct report *report, struct executable ret_executables[EXECUTABLES])
{
	size_t size;

	report_open(report, "executables", '{');
	for (int party = PARTY_LOADER; party < EXECUTABLES; party++)
		if (party != PARTY_SPAWNER)
			report_executable(report, (enum message_party)party,
					  &ret_executables[party]);
	report_close(report);
	report_objects(report);
	report_open(report, "policy", '{');
	free(report_file(report, POLICY_FILE, &size));
	report_close(report);
}
