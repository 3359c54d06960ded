/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/rights.h"

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
#include "loader/programs.h"

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

static int check_capabilities(void)
{
	cap_t held = cap_get_proc();
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(needed) / sizeof(needed[0]); i++) {
		cap_flag_value_t set = CAP_CLEAR;
		char *name = cap_to_name(needed[i]);

		cap_get_flag(held, needed[i], CAP_EFFECTIVE, &set);
		if (set != CAP_SET && (needed[i] != CAP_SYS_ADMIN || events_are_restricted())) {
			log_error("rights: %s: not held; run: sudo keyhole record ...", name);
			r = -EPERM;
		}
		cap_free(name);
	}
	cap_free(held);
	return r;
}

int rights_check(void)
{
	struct stat namespace;
	const char *mend = NULL;
	int r = check_capabilities();

	if (r)
		return r;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		mend = "/sys/kernel/btf/vmlinux: missing; run: mount -t sysfs sysfs /sys, or boot "
		       "a kernel with CONFIG_DEBUG_INFO_BTF=y";
	else if (!stat("/proc/self/ns/pid", &namespace) &&
		 namespace.st_ino != PID_NAMESPACE_INIT_INODE)
		mend = "pid namespace: not the host's; start the container with: --pid=host";
	else if (!programs_supported())
		mend = "kernel: has no BPF ring buffer; boot Linux 5.10 or newer";
	if (mend)
		log_error("rights: %s", mend);
	return mend ? -EPERM : 0;
}

int rights_open_pid(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	/* A thread's id: EINVAL, since 6.9 ENOENT. */
	if (fd < 0)
		log_error("record: -p %d: %s; list processes with: ps -e", pid,
			  errno == EINVAL || errno == ENOENT
				  ? "a thread, take the id of its process"
				  : strerror(errno));
	return fd;
}

int rights_open_cgroup(const char *path)
{
	guard_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs file_system = {0};
	const char *reason = "not a cgroup";

	if (fd < 0)
		reason = strerror(errno);
	else if (!fstatfs(fd, &file_system) && file_system.f_type == CGROUP2_SUPER_MAGIC)
		return take_fd(&fd);
	else if (file_system.f_type == CGROUP_SUPER_MAGIC)
		reason = "is cgroup v1, only v2 can be filtered";
	log_error("record: --cgroup %s: %s; find v2 with: findmnt -t cgroup2", path, reason);
	return -EINVAL;
}
