/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "policy/policy_impl.h"

/* Lines of /proc/<pid>/status, see proc(5), in one piece; the first line, Name, is escaped. */
#define STATUS_BYTES 8192

enum value {
	VALUE_ID,
	VALUE_NO_GROUPS,
	VALUE_CAPABILITIES,
	VALUE_NO_CAPABILITIES,
	VALUE_YES,
	VALUE_FILTERS,
	VALUE_COUNT
};

static const struct {
	const char *field;
	enum value value;
	enum policy_layer layer;
} checks[] = {
	{"Uid", VALUE_ID, LAYER_ids},
	{"Gid", VALUE_ID, LAYER_ids},
	{"Groups", VALUE_NO_GROUPS, LAYER_ids},
	{"CapInh", VALUE_CAPABILITIES, LAYER_capabilities},
	{"CapPrm", VALUE_CAPABILITIES, LAYER_capabilities},
	{"CapEff", VALUE_CAPABILITIES, LAYER_capabilities},
	{"CapAmb", VALUE_CAPABILITIES, LAYER_capabilities},
	{"CapBnd", VALUE_NO_CAPABILITIES, LAYER_capabilities},
	{"NoNewPrivs", VALUE_YES, LAYER_no_new_privs},
	{"Seccomp_filters", VALUE_FILTERS, LAYER_seccomp},
};

static int proc = -1;

int policy_proc(void)
{
	int context;

	if (proc >= 0)
		return proc;
	context = fsopen("proc", FSOPEN_CLOEXEC);
	if (context >= 0 && !fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		proc = fsmount(context, FSMOUNT_CLOEXEC,
			       MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				       MOUNT_ATTR_NOEXEC);
	if (context >= 0)
		close(context);
	if (proc < 0)
		proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return proc;
}

static bool read_status(pid_t pid, char text[STATUS_BYTES])
{
	char path[32];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "%d/status", (int)pid);
	fd = openat(policy_proc(), path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, STATUS_BYTES - 1);
	close(fd);
	if (length <= 0)
		return false;
	text[length] = '\0';
	return true;
}

static unsigned long number_of(const char *text, const char *field)
{
	const char *at = strstr(text, field);

	if (!at)
		return 0;
	return strtoul(at + strlen(field), NULL, 10);
}

/*
 * Returns whether NSpid has several pids: one for each namespace, from the outer namespace to the
 * inner.
 */
static bool has_pid_namespace(const char *text)
{
	static const char name[] = "\nNSpid:\t";
	const char *at = strstr(text, name);

	if (!at)
		return false;
	at += strlen(name);
	return at[strcspn(at, "\t\n")] == '\t';
}

static uint32_t compare(const char *text, const char *const values[VALUE_COUNT])
{
	uint32_t failed = 0;
	char line[80];

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		snprintf(line, sizeof(line), "\n%s:\t%s\n", checks[i].field,
			 values[checks[i].value]);
		if (!strstr(text, line))
			failed |= 1u << checks[i].layer;
	}
	return failed;
}

uint32_t policy_verify(enum policy_role role, pid_t pid, unsigned int filters)
{
	const struct role *data = policy_role(role);
	char id[48], capabilities[20], count[12], text[STATUS_BYTES];
	const char *const values[VALUE_COUNT] = {id,  " ",  capabilities, "0000000000000000",
						 "1", count};
	uint32_t failed;

	if (!data || !read_status(getpid(), text))
		return policy_layers_of(role);
	snprintf(id, sizeof(id), "%u\t%u\t%u\t%u", data->id, data->id, data->id, data->id);
	snprintf(capabilities, sizeof(capabilities), "%016llx",
		 (unsigned long long)data->capabilities);
	snprintf(count, sizeof(count), "%lu", number_of(text, "\nSeccomp_filters:\t") + filters);
	if (!read_status(pid, text))
		return policy_layers_of(role);
	failed = compare(text, values);
	if (data->layers & LAYER_BIT(pid) && !has_pid_namespace(text))
		failed |= LAYER_BIT(pid);
	if (POLICY_UNCONFINED)
		failed &= ~(LAYER_BIT(seccomp) | LAYER_BIT(pid));
	return failed;
}
