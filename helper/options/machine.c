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

/* Load; open events; the roles' ids and empty bounding sets; the broker's maps and map_files. */
static const cap_value_t needed[] = {
	CAP_BPF,     CAP_PERFMON,    CAP_SYS_ADMIN,	     CAP_SETUID,	  CAP_SETGID,
	CAP_SETPCAP, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH,
};

/* Above 2 (Debian's addition to the kernel) CAP_PERFMON does not do. */
static bool events_are_restricted(void)
{
	guard_fd int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	char level;

	return fd < 0 || read(fd, &level, 1) != 1 || level > '2';
}

/* The loader's: our own are gone. */
static bool has_capabilities(const struct message_options *options)
{
	/* who reads a stream may have been started in our place: keyhole top */
	const char *mend = options->flags & OPTIONS_WHY ? "run: sudo keyhole why ..."
			   : options->every		? "run it with sudo"
							: "run: sudo keyhole record ...";
	cap_t held = cap_get_pid(getppid());
	bool all = true;

	for (size_t i = 0; held && all && i < sizeof(needed) / sizeof(needed[0]); i++) {
		cap_flag_value_t set = CAP_CLEAR;
		char *name = cap_to_name(needed[i]);

		cap_get_flag(held, needed[i], CAP_EFFECTIVE, &set);
		if (set != CAP_SET && (needed[i] != CAP_SYS_ADMIN || events_are_restricted())) {
			log_error("rights: %s: not held; %s", name, mend);
			all = false;
		}
		cap_free(name);
	}
	cap_free(held);
	return all;
}

/* NULL, or what is missing and what to do. */
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
	const char *verb = options->flags & OPTIONS_WHY ? "why: " : "record: -p ";
	guard_fd int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	/* A thread's id: EINVAL, since 6.9 ENOENT. */
	if (fd < 0)
		log_error("%s%u: %s; list processes with: ps -e", verb, pid,
			  errno == EINVAL || errno == ENOENT
				  ? "a thread, take the id of its process"
				  : strerror(errno));
	return fd >= 0;
}

/* O_PATH: it need not be readable for us. Nor need what leads to it, which the loader finds out. */
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
