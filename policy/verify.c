/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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
	VALUE_FILTER,
	VALUE_COUNT
};

static const struct {
	const char *field;
	enum value value;
	const char *reason;
} checks[] = {
	{"Uid", VALUE_ID, "it does not have its uid"},
	{"Gid", VALUE_ID, "it does not have its gid"},
	{"Groups", VALUE_NO_GROUPS, "it is in other groups"},
	{"CapInh", VALUE_CAPABILITIES, "its inheritable capabilities differ"},
	{"CapPrm", VALUE_CAPABILITIES, "its permitted capabilities differ"},
	{"CapEff", VALUE_CAPABILITIES, "its effective capabilities differ"},
	{"CapAmb", VALUE_CAPABILITIES, "its ambient capabilities differ"},
	{"CapBnd", VALUE_NO_CAPABILITIES, "its bounding set is not empty"},
	{"NoNewPrivs", VALUE_YES, "no_new_privs is not set"},
	{"Seccomp", VALUE_FILTER, "it has no system call filter"},
};

static bool read_status(pid_t pid, char text[STATUS_BYTES])
{
	char path[32];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, STATUS_BYTES - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

const char *policy_verify(enum policy_role role, pid_t pid)
{
	const struct role *data = policy_role(role);
	char id[48], capabilities[20], text[STATUS_BYTES], line[80];
	const char *const values[VALUE_COUNT] = {id,  " ", capabilities, "0000000000000000",
						 "1", "2"};

	if (!data)
		return "there is no such role";
	if (!read_status(pid, text))
		return "its /proc/<pid>/status cannot be read";
	snprintf(id, sizeof(id), "%u\t%u\t%u\t%u", data->id, data->id, data->id, data->id);
	snprintf(capabilities, sizeof(capabilities), "%016llx",
		 (unsigned long long)data->capabilities);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		if (POLICY_UNCONFINED && checks[i].value == VALUE_FILTER)
			continue;
		snprintf(line, sizeof(line), "\n%s:\t%s\n", checks[i].field,
			 values[checks[i].value]);
		if (!strstr(text, line))
			return checks[i].reason;
	}
	return NULL;
}
