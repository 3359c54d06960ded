/* SPDX-License-Identifier: Apache-2.0 */
#include "view/check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/guard.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
#define RULESET_VERSION 1u /* LANDLOCK_CREATE_RULESET_VERSION */

/* Helpers, by their names in the kernel's own type information. */
static const char *const helpers[] = {"bpf_ringbuf_reserve", "bpf_loop", "bpf_find_vma",
				      "bpf_task_pt_regs", "bpf_get_current_task_btf"};
#define NEEDED 0 /* keyhole can do without the others */

static const char *const settings[] = {
	"kernel/perf_event_paranoid", "kernel/unprivileged_bpf_disabled", "kernel/kptr_restrict",
	"user/max_user_namespaces",   "user/max_pid_namespaces",	  "user/max_mnt_namespaces",
	"user/max_net_namespaces",    "user/max_ipc_namespaces",	  "user/max_uts_namespaces",
	"user/max_cgroup_namespaces",
};

static void report_helpers(struct report *report)
{
	size_t size;
	guard_free char *types = check_read("/sys/kernel/btf/vmlinux", &size);

	report_bool(report, "btf", types != NULL);
	if (!types) {
		report_add(report, FINDING_DEVIATION, "kernel",
			   "/sys/kernel/btf/vmlinux: missing, keyhole does not start");
		return;
	}
	for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++) {
		bool there = memmem(types, size, helpers[i], strlen(helpers[i]) + 1) != NULL;

		report_bool(report, helpers[i], there);
		if (i == NEEDED && !there)
			report_add(report, FINDING_DEVIATION, "kernel",
				   "BPF ring buffer: missing, keyhole does not start; boot "
				   "Linux 5.10 or newer");
	}
}

static bool begins(const char *setting, const char *with)
{
	return strncmp(setting, with, strlen(with)) == 0;
}

/* Returns the layers that a setting of 0 takes away. */
static uint32_t layers_without(const char *setting)
{
	if (!begins(setting, "user/") || begins(setting, "user/max_user_"))
		return 0;
	if (begins(setting, "user/max_pid_"))
		return LAYER_BIT(pid);
	if (begins(setting, "user/max_mnt_"))
		return LAYER_BIT(namespaces) | LAYER_BIT(root);
	return LAYER_BIT(namespaces);
}

static void report_setting(struct report *report, const char *setting, uint32_t *lacking)
{
	char path[64], *value;
	size_t size;

	snprintf(path, sizeof(path), "/proc/sys/%s", setting);
	value = check_read(path, &size);
	if (value)
		value[strcspn(value, "\n")] = '\0';
	report_text(report, strchr(setting, '/') + 1, value);
	if (value && strcmp(value, "0") == 0)
		*lacking |= layers_without(setting);
	free(value);
}

static bool passes_no_rights(void)
{
	int fds[2], off = 0;
	bool refuses;

	if (channel_pair(fds))
		return false;
	refuses = setsockopt(fds[0], SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off)) == 0;
	close(fds[0]);
	close(fds[1]);
	return refuses;
}

static void report_layers(struct report *report, uint32_t lacking)
{
	report_open(report, "layers", '{');
	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++)
		report_bool(report, policy_layer_name(layer), !(lacking >> layer & 1));
	report_close(report);
}

void check_machine(struct report *report, uint32_t *ret_lacking)
{
	long landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, RULESET_VERSION);
	const char *release = NULL;
	struct utsname names;
	size_t size;
	guard_free char *actions = check_read("/proc/sys/kernel/seccomp/actions_avail", &size);
	bool seccomp = actions && strstr(actions, "kill_process");

	*ret_lacking = 0;
	if (landlock <= 0) {
		landlock = 0;
		*ret_lacking |= LAYER_BIT(landlock);
	}
	if (!seccomp)
		*ret_lacking |= LAYER_BIT(seccomp);
	if (uname(&names) == 0)
		release = names.release;
	report_open(report, "kernel", '{');
	report_text(report, "release", release);
	report_helpers(report);
	report_number(report, "landlock", (uint64_t)landlock);
	report_bool(report, "seccomp_kill_process", seccomp);
	report_bool(report, "so_passrights", passes_no_rights());
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		report_setting(report, settings[i], ret_lacking);
	report_close(report);
	report_layers(report, *ret_lacking);
	if (*ret_lacking & ~LAYERS_THAT_MAY_LACK)
		report_add(report, FINDING_DEVIATION, "kernel",
			   "seccomp: missing, keyhole does not start");
}
