/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/grant.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "ipc/time.h"
#include "loader/broker/entries.h"
#include "loader/broker/mapped.h"
#include "loader/broker/mounts.h"
#include "policy/grants.h"

#define PATH_BYTES 32

/* A process, as the rules ask about it. */
struct subject {
	uint64_t device, inode; /* of the program */
	uint32_t uid;
	char comm[ABI_COMM_BYTES]; /* NUL padded */
};

/* ---- rules of the policy ------------------------------------------------------------------- */

static bool is_rule(const struct message_grant_rule *rule)
{
	if (rule->name[GRANT_NAME_BYTES - 1])
		return false;
	if (rule->name[0])
		return true;
	return rule->key[0] == DENY_UID || rule->key[0] == DENY_COMM ||
	       rule->key[0] == DENY_EXECUTABLE;
}

int grant_take_rule(struct granter *granter, const struct message_grant_rule *rule)
{
	if (granter->rule_count >= GRANT_RULES_MAX || !is_rule(rule))
		return -EPROTO;
	granter->rules[granter->rule_count++] = *rule;
	return 0;
}

/* Returns whether the name begins with the bytes of a key, which NULs follow. */
static bool has_prefix(const char comm[ABI_COMM_BYTES], const uint64_t prefix[2])
{
	char bytes[ABI_COMM_BYTES];

	memcpy(bytes, prefix, sizeof(bytes));
	return memcmp(comm, bytes, strnlen(bytes, sizeof(bytes))) == 0;
}

static bool is_denied_by(const struct message_grant_rule *rule, const struct subject *subject)
{
	if (rule->name[0])
		return false;
	if (rule->key[0] == DENY_UID)
		return rule->key[1] == subject->uid;
	if (rule->key[0] == DENY_COMM)
		return has_prefix(subject->comm, &rule->key[1]);
	return rule->key[1] == subject->device && rule->key[2] == subject->inode;
}

static int check_rules(const struct granter *granter, const struct subject *subject)
{
	for (uint32_t i = 0; i < granter->rule_count; i++)
		if (is_denied_by(&granter->rules[i], subject))
			return -EPERM;
	return 0;
}

static bool is_runtime(const struct granter *granter, const char *path)
{
	if (grant_is_by_name(path))
		return true;
	for (uint32_t i = 0; i < granter->rule_count; i++)
		if (granter->rules[i].name[0] && grant_fits_name(path, granter->rules[i].name))
			return true;
	return false;
}

/* ---- the process --------------------------------------------------------------------------- */

/*
 * Returns 0 for a process of the request's generation that no deny rule covers. A process that is
 * starting a program has the family of the program before, and mappings of the next.
 */
static int check_generation(const struct granter *granter, uint32_t pid, uint64_t generation,
			    uint64_t *ret_family)
{
	struct generation process = {0};
	int r = -EINVAL;

	if (pid >= 1 && pid <= PROCESS_PID_MAX)
		r = entry_read(granter->table.processes, &pid, &process);
	if (r == 0 && process.denied)
		r = -EACCES;
	else if (r == 0 &&
		 (process.number != generation || process.family == 0 || process.mm == MM_OF_EXEC))
		r = -ESRCH;
	*ret_family = process.family;
	explicit_bzero(&process, sizeof(process)); /* process has an address of the kernel */
	return r;
}

/* Refuses a file whose program has rights that its user does not have. */
static int check_set_id(const struct statx *status)
{
	if (status->stx_mode & (S_ISUID | S_ISGID))
		return -EACCES;
	return 0;
}

static int look_at_program(uint32_t pid, struct subject *subject)
{
	struct statx status;
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%u/exe", pid);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status))
		return -errno;
	subject->device =
		(uint64_t)status.stx_dev_major << DENY_DEVICE_MINORS | status.stx_dev_minor;
	subject->inode = status.stx_ino;
	return check_set_id(&status);
}

static int read_comm(uint32_t pid, struct subject *subject)
{
	char path[PATH_BYTES];
	guard_fd int fd = -1;
	ssize_t length;

	snprintf(path, sizeof(path), "%u/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, subject->comm, sizeof(subject->comm));
	if (length < 1)
		return -ESRCH;
	subject->comm[length - 1] = '\0'; /* the end of the line */
	return 0;
}

static int check_process(struct granter *granter, uint32_t pid)
{
	struct subject subject = {0};
	int r = look_at_program(pid, &subject);

	if (r < 0)
		return r;
	r = mounts_group(granter->mounts, pid, &granter->owner);
	if (r < 0)
		return r;
	subject.uid = (uint32_t)granter->owner.id;
	r = read_comm(pid, &subject);
	if (r < 0)
		return r;
	return check_rules(granter, &subject);
}

/* ---- the mapping --------------------------------------------------------------------------- */

static int check_file(const struct mapped *mapped, struct statx *ret_status,
		      struct message_object_reply *ret_reply)
{
	guard_fd int fd = mapped_open(mapped);
	int r;

	if (fd < 0)
		return fd;
	r = mapped_identify(fd, ret_status, ret_reply);
	if (r < 0)
		return r;
	return check_set_id(ret_status);
}

/* Takes away the kernel's word about a file without a name, as that of an upgraded package is. */
static void cut_deleted(char *path, const struct statx *status)
{
	static const char word[] = " (deleted)";
	const size_t length = strlen(path), tail = sizeof(word) - 1;

	if (status->stx_nlink == 0 && length > tail && strcmp(path + length - tail, word) == 0)
		path[length - tail] = '\0';
}

static int check_name(const struct granter *granter, const struct mapped *mapped,
		      const struct statx *status)
{
	char path[PATH_MAX];
	int r = mapped_name(mapped, path);

	if (r < 0)
		return r;
	cut_deleted(path, status);
	if (!is_runtime(granter, path))
		return -EOPNOTSUPP;
	return 0;
}

static int check_mapping(const struct granter *granter, const struct message_grant *request,
			 struct message_object_reply *ret_reply)
{
	const struct mapped mapped = {request->pid, request->thread, request->start, request->end};
	struct statx status;
	int r;

	if (!mapped_is_valid(&mapped))
		return -EINVAL;
	r = check_file(&mapped, &status, ret_reply);
	if (r < 0)
		return r;
	r = mapped_check_code(&mapped);
	if (r < 0)
		return r;
	return check_name(granter, &mapped, &status);
}

/* ---- the grant ----------------------------------------------------------------------------- */

int grant_check(struct granter *granter, const struct message_grant *request,
		struct message_object_reply *ret_reply)
{
	int r = check_generation(granter, request->pid, request->generation, &granter->family);

	if (r < 0)
		return r;
	r = check_mapping(granter, request, ret_reply);
	if (r < 0)
		return r;
	r = check_process(granter, request->pid);
	if (r < 0)
		return r;
	/* what was looked at is still what the generation stands for */
	r = check_generation(granter, request->pid, request->generation, &granter->family);
	if (r < 0)
		return r;
	return grant_table_make_room(&granter->table, granter->family, &granter->owner, time_now());
}

int grant_check_reading(struct granter *granter, uint32_t pid, uint64_t generation)
{
	int r = check_process(granter, pid);

	if (r < 0)
		return r;
	return check_generation(granter, pid, generation, &granter->family);
}

int grant_prepare_context(struct granter *granter)
{
	granter->family |= GRANT_OF_CONTEXT;
	return grant_table_make_room(&granter->table, granter->family, &granter->owner, time_now());
}

int grant_commit(const struct granter *granter)
{
	return grant_table_add(&granter->table, granter->family, &granter->owner);
}
