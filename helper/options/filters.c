/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/filters.h"

#include <ctype.h>
#include <errno.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "base/decimal.h"
#include "base/expression.h"

#define USERS	   "/etc/passwd"
#define WORD_BYTES 4096 /* of a word in a list; PATH_MAX */

_Static_assert(sizeof(struct sample_filter) == sizeof(((struct message_options *)NULL)->filter),
	       "the loader copies the filter as it is");

/*
 * Adds each word between commas, and stops at the first word that is refused. The reason names that
 * word when the list has others.
 */
static const char *for_each(struct filters *filters, const char *list,
			    const char *(*add)(struct filters *filters, const char *word))
{
	static char text[256];
	const char *reason = NULL, *at = list;
	char word[WORD_BYTES];

	while (!reason) {
		size_t length = strcspn(at, ",");

		if (length >= sizeof(word))
			return "too long";
		if (!length)
			return "an empty word in the list";
		memcpy(word, at, length);
		word[length] = '\0';
		reason = add(filters, word);
		if (!at[length])
			break;
		at += length + 1;
	}
	if (!reason || !strchr(list, ','))
		return reason;
	snprintf(text, sizeof(text), "%.100s: %s", word, reason);
	return text;
}

/* ---- users --------------------------------------------------------------------------------- */

/*
 * Looks in the file alone: the library's own look-up would load the modules that the machine is
 * configured for.
 */
static bool find_user(const char *name, uint32_t *ret_uid)
{
	FILE *users = fopen(USERS, "re");
	bool found = false;

	if (!users)
		return false;
	while (!found) {
		const struct passwd *user = fgetpwent(users);

		if (!user)
			break;
		*ret_uid = user->pw_uid;
		found = !strcmp(user->pw_name, name);
	}
	fclose(users);
	return found;
}

static const char *add_uid(struct filters *filters, const char *word)
{
	uint32_t uid;

	if (isdigit((unsigned char)*word)) {
		if (!decimal_read32(word, 0, FILTER_UID_NONE - 1, &uid))
			return "not a user id";
	} else if (!find_user(word, &uid)) {
		return "not a user of " USERS;
	}
	for (size_t i = 0; i < FILTER_PLACES; i++) {
		if (filters->filter.uid[i] != FILTER_UID_NONE)
			continue;
		filters->filter.uid[i] = uid;
		return NULL;
	}
	return "more than 6 users";
}

void filters_init(struct filters *filters, struct message_options *options)
{
	*filters = (struct filters){.options = options};
	for (size_t i = 0; i < FILTER_PLACES; i++)
		filters->filter.uid[i] = FILTER_UID_NONE;
}

const char *filters_add_uids(struct filters *filters, const char *list)
{
	return for_each(filters, list, add_uid);
}

/* ---- processes ----------------------------------------------------------------------------- */

static const char *add_pid(struct filters *filters, const char *word)
{
	struct message_options *options = filters->options;
	guard_fd int fd = -1;
	uint32_t pid;

	if (!decimal_read32(word, 1, OPTIONS_PID_MAX, &pid))
		return "not a process id";
	fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0 && errno == ESRCH)
		return "no such process";
	if (fd < 0)
		return "a thread; name its process";
	if (options->pid_count + options->excluded_count == OPTIONS_PIDS_MAX)
		return "more than 64 processes with those of -p";
	options->excluded_pids[options->excluded_count++] = pid;
	filters->filter.excludes |= DENY_BIT(DENY_PROCESS);
	return NULL;
}

const char *filters_add_excluded_pids(struct filters *filters, const char *list)
{
	return for_each(filters, list, add_pid);
}

/* ---- cgroups ------------------------------------------------------------------------------- */

static const char *add_cgroup(struct filters *filters, const char *word)
{
	struct statfs system;
	struct stat status;

	if (stat(word, &status) || statfs(word, &system))
		return strerror(errno);
	if (!S_ISDIR(status.st_mode) || system.f_type != CGROUP2_SUPER_MAGIC)
		return "not a cgroup v2 directory";
	filters->filter.excludes |= DENY_BIT(DENY_CGROUP);
	for (size_t i = 0; i < FILTER_PLACES; i++) {
		if (filters->filter.excluded_cgroup[i])
			continue;
		filters->filter.excluded_cgroup[i] = status.st_ino;
		return NULL;
	}
	return "more than 6 cgroups; one stands for all below it";
}

const char *filters_add_excluded_cgroups(struct filters *filters, const char *list)
{
	return for_each(filters, list, add_cgroup);
}

/* ---- names --------------------------------------------------------------------------------- */

const char *filters_check_comm(const char *expression)
{
	if (!*expression)
		return "an empty expression";
	if (strlen(expression) >= OPTIONS_COMM_BYTES)
		return "an expression of more than 63 bytes";
	return expression_problem(expression);
}

/* ---- modes --------------------------------------------------------------------------------- */

void filters_hide(struct filters *filters, uint32_t hides, bool hide)
{
	filters->filter.hides &= ~hides;
	if (hide)
		filters->filter.hides |= hides;
}

const char *filters_finish(const struct filters *filters)
{
	memcpy(filters->options->filter, &filters->filter, sizeof(filters->filter));
	if (filters->filter.hides == (FILTER_NO_KERNEL | FILTER_NO_USER))
		return "nothing is left of a stack without both";
	return NULL;
}
