/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/failures.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/redact.h"
#include "ipc/log.h"

/* Targets can make as many bad files as they like. Both together are fewer than the lines of a
 * second that end the worker (loader/monitor.c). */
#define FAILURES_LOGGED 100 /* in detail (-v) */
#define FAILURES_WARNED 50

static const char *shown(const struct failures *failures, const char *name, char text[REDACT_BYTES])
{
	if (!failures->redact)
		return name;
	return redact_name(failures->redact, REDACT_PATH, name, text);
}

static void log_detail(struct failures *failures, const char *part, const char *name,
		       const char *why)
{
	char text[REDACT_BYTES];

	if (failures->logged++ < FAILURES_LOGGED)
		log_info("%s: %s: %s", part, shown(failures, name, text), why);
}

/* Returns true for files that went before the worker looked, that are no programs, or for which
 * there is no CPU time. */
static bool is_everyday(int reason)
{
	return reason == -ESRCH || reason == -ENOENT || reason == -ESTALE || reason == -ENOEXEC ||
	       reason == -EDQUOT;
}

void failures_object(struct failures *failures, const char *name, int reason)
{
	const char *why = strerror(-reason);
	char text[REDACT_BYTES];

	if (reason == -EACCES)
		why = "not opened: no regular file, open for writing, or its file system is not "
		      "allowed";
	if (reason == -EDQUOT)
		why = "not parsed: its cgroup, or its owner, has used up the CPU time for that";
	if (reason == -EOWNERDEAD)
		log_warning("quarantined: %s: a worker ended while it parsed it",
			    shown(failures, name, text));
	else if (!is_everyday(reason) && failures->warned++ < FAILURES_WARNED)
		log_warning("object: %s: %s", shown(failures, name, text), why);
	else
		log_detail(failures, "object", name, why);
}

void failures_part(struct failures *failures, const char *part, const char *name, int reason)
{
	log_detail(failures, part, name, strerror(-reason));
}
