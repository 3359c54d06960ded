/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

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
	char level = '3';
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, &level, 1) != 1)
		level = '3';
	close(fd);
	return level > '2';
}

static int check_capabilities(void)
{
	cap_t held = cap_get_proc();
	char missing[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		cap_flag_value_t set = CAP_CLEAR;
		char *name;

		cap_get_flag(held, needed[i], CAP_EFFECTIVE, &set);
		if (set == CAP_SET || (needed[i] == CAP_SYS_ADMIN && !events_are_restricted()))
			continue;
		name = cap_to_name(needed[i]);
		used += (size_t)snprintf(missing + used, sizeof(missing) - used, " %s", name);
		cap_free(name);
	}
	cap_free(held);
	if (used)
		log_error("rights:%s: not held; run: sudo keyhole record ...", missing);
	return used ? -EPERM : 0;
}

int rights_check(void)
{
	struct stat namespace;
	const char *mend = NULL;
	int r = check_capabilities();

	if (r)
		return r;
	if (syscall(SYS_bpf, 0, NULL, 0) && errno == ENOSYS)
		mend = "kernel: no BPF; boot one with CONFIG_BPF_SYSCALL=y";
	else if (access("/sys/kernel/btf/vmlinux", R_OK))
		mend = "/sys/kernel/btf/vmlinux: missing; run: mount -t sysfs sysfs /sys, or boot "
		       "a "
		       "kernel with CONFIG_DEBUG_INFO_BTF=y";
	else if (!stat("/proc/self/ns/pid", &namespace) &&
		 namespace.st_ino != PID_NAMESPACE_INIT_INODE)
		mend = "pid namespace: not the host's; start the container with: --pid=host";
	if (mend)
		log_error("rights: %s", mend);
	return mend ? -EPERM : 0;
}

static int open_pid(pid_t pid, int *ret_fd)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0) {
		/* A thread's id: EINVAL, since 6.9 ENOENT. */
		log_error("record: -p %d: %s; list processes with: ps -e", pid,
			  errno == ESRCH ? "no such process"
			  : errno == EINVAL || errno == ENOENT
				  ? "a thread, take the id of its process"
				  : strerror(errno));
		return -EINVAL;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	*ret_fd = fd;
	return 0;
}

static int open_cgroup(const char *path, int *ret_fd)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs file_system;
	const char *reason = "not a cgroup";

	if (fd < 0) {
		log_error("record: --cgroup %s: %s; list them with: systemd-cgls", path,
			  strerror(errno));
		return -EINVAL;
	}
	if (!fstatfs(fd, &file_system)) {
		if (file_system.f_type == CGROUP2_SUPER_MAGIC) {
			*ret_fd = fd;
			return 0;
		}
		if (file_system.f_type == CGROUP_SUPER_MAGIC)
			reason = "is cgroup v1, only v2 can be filtered";
	}
	close(fd);
	log_error("record: --cgroup %s: %s; find v2 with: findmnt -t cgroup2", path, reason);
	return -EINVAL;
}

int rights_open_targets(const struct options *options, struct rights_targets *ret_targets)
{
	int r = 0;

	ret_targets->cgroup = -1;
	for (unsigned int i = 0; !r && i < options->pid_count; i++)
		r = open_pid(options->pids[i], &ret_targets->pidfds[i]);
	return r || !options->cgroup ? r : open_cgroup(options->cgroup, &ret_targets->cgroup);
}
