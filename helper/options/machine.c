/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"

#define PID_NAMESPACE_INIT_INODE 0xeffffffcu /* PROC_PID_INIT_INO of the kernel: fixed */

/* For BPF; perf events; ids and bounding sets of roles; maps and map_files, by the broker. */
static const cap_value_t needed[] = {
	CAP_BPF,     CAP_PERFMON,    CAP_SYS_ADMIN,	     CAP_SETUID,	  CAP_SETGID,
	CAP_SETPCAP, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH,
};

/* At a level above 2, an addition of Debian to the kernel, CAP_PERFMON is not enough. */
static bool events_are_restricted(void)
{
	guard_fd int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	char level;

	return fd < 0 || read(fd, &level, 1) != 1 || level > '2';
}

/* A stream may be read by a program that started keyhole: keyhole top. */
static const char *mend_rights(const struct message_options *options)
{
	if (options->flags & OPTIONS_WHY)
		return "run: sudo keyhole why ...";
	if (options->flags & OPTIONS_STAT)
		return "run: sudo keyhole stat ...";
	if (options->every)
		return "run it with sudo";
	return "run: sudo keyhole record ...";
}

static bool has_capability(cap_t held, cap_value_t capability, const char *mend)
{
	cap_flag_value_t set = CAP_CLEAR;
	char *name;

	cap_get_flag(held, capability, CAP_EFFECTIVE, &set);
	if (set == CAP_SET)
		return true;
	if (capability == CAP_SYS_ADMIN && !events_are_restricted())
		return true;
	name = cap_to_name(capability);
	log_error("rights: %s: not held; %s", name, mend);
	cap_free(name);
	return false;
}

/* Looks at the capabilities of the loader: our own are gone. */
static bool has_capabilities(const struct message_options *options)
{
	const char *mend = mend_rights(options);
	cap_t held = cap_get_pid(getppid());
	bool all = true;

	if (!held)
		return true;
	for (size_t i = 0; all && i < sizeof(needed) / sizeof(needed[0]); i++)
		all = has_capability(held, needed[i], mend);
	cap_free(held);
	return all;
}

/* Returns what is missing and what to do, or NULL. */
static const char *missing(void)
{
	struct stat namespace;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "/sys/kernel/btf/vmlinux: missing; run: mount -t sysfs sysfs /sys, or boot "
		       "a kernel with CONFIG_DEBUG_INFO_BTF=y";
	if (!stat("/proc/self/ns/pid", &namespace) && namespace.st_ino != PID_NAMESPACE_INIT_INODE)
		return "pid namespace: not the host's; start the container with: --pid=host";
	return NULL;
}

static bool is_process(const struct message_options *options, uint32_t pid)
{
	const char *verb = "record: -p ", *reason;
	guard_fd int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0)
		return true;
	reason = strerror(errno);
	if (errno == EINVAL || errno == ENOENT) /* before and since 6.9 */
		reason = "a thread, take the id of its process";
	if (options->flags & OPTIONS_WHY)
		verb = "why: ";
	if (options->flags & OPTIONS_STAT)
		verb = "stat: -p ";
	log_error("%s%u: %s; list processes with: ps -e", verb, pid, reason);
	return false;
}

/*
 * O_PATH takes no right to read the directory. The loader finds out about a path that leads through
 * a directory closed to us.
 */
static bool is_cgroup(const char *path)
{
	guard_fd int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs file_system = {0};
	const char *reason = "not a cgroup";

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return true;
	if (fd < 0)
		reason = strerror(errno);
	else if (!fstatfs(fd, &file_system) && file_system.f_type == CGROUP2_SUPER_MAGIC)
		return true;
	else if (file_system.f_type == CGROUP_SUPER_MAGIC)
		reason = "is cgroup v1, only v2 can be filtered";
	log_error("record: --cgroup %s: %s; find v2 with: findmnt -t cgroup2", path, reason);
	return false;
}

int machine_check(const struct message_options *options, char **argv)
{
	const struct message_text *cgroup = &options->cgroup;
	const char *mend;

	if (!has_capabilities(options))
		return EXIT_RIGHTS;
	mend = missing();
	if (mend) {
		log_error("rights: %s", mend);
		return EXIT_RIGHTS;
	}
	for (uint32_t i = 0; i < options->pid_count; i++)
		if (!is_process(options, options->pids[i]))
			return EXIT_USAGE;
	if (cgroup->index && !is_cgroup(argv[cgroup->index] + cgroup->offset))
		return EXIT_USAGE;
	return OPTIONS_RECORD;
}
