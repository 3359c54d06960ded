/* SPDX-License-Identifier: Apache-2.0 */
/* policy_fork() and policy_isolate(): namespaces(7), user_namespaces(7), pivot_root(2). */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/policy_impl.h"
#include "policy/sabotage.h"

#define HARMLESS      (MS_NOSUID | MS_NODEV | MS_NOEXEC)
#define OLD_ROOT      "/proc" /* a folder that every root has */
#define PROC_ROOT_INO 1
#define TEXT_BYTES    48

/*
 * These errors are refusals and no accidents. The causes are the rights, a security module, a
 * kernel built without the feature (tmpfs: ENODEV), user.max_*_namespaces (ENOSPC) or too deep
 * namespaces (EUSERS). Any other error leaves the layer neither lacking nor proven, which stops the
 * start.
 */
static uint32_t lacking_if_refused(int error, uint32_t layers)
{
	static const int refusals[] = {EPERM, EACCES, EINVAL, ENOSYS, ENODEV, ENOSPC, EUSERS};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		if (refusals[i] == error)
			return layers;
	return 0;
}

/* ---- pid and user namespace ---- */

/*
 * Forks with a flag of clone(), so the caller stays in its namespace and its next child can have
 * another. There is one thread, and the child needs no C library that knows its tid.
 */
static pid_t fork_into(unsigned long namespaces)
{
	return (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, NULL, NULL, NULL, NULL);
}

static int write_map(pid_t pid, const char *name, unsigned int id)
{
	char path[TEXT_BYTES], text[TEXT_BYTES];
	int length = snprintf(text, sizeof(text), "%u %u 1", id, id);
	int fd, r;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = 0;
	if (write(fd, text, (size_t)length) != length)
		r = -errno;
	close(fd);
	return r;
}

/* The child's side of the gate: its maps have to be there, and to bring rights (AppArmor). */
static void await_maps(int gate)
{
	char byte;

	if (read(gate, &byte, 1) != 1 || setgroups(0, NULL) || write(gate, &byte, 1) != 1)
		_exit(1);
	close(gate);
}

static bool map_ids(pid_t pid, const struct role *role, int gate)
{
	char byte = 0;

	return !write_map(pid, "gid_map", role->id) && !write_map(pid, "uid_map", role->id) &&
	       write(gate, &byte, 1) == 1 && read(gate, &byte, 1) == 1;
}

/*
 * Forks in a user namespace. CAP_SYS_ADMIN is missing in most containers, and a user namespace
 * brings this capability, which counts in that namespace alone. The namespace knows the role's id
 * only; its owner is the user who started us.
 */
static pid_t fork_with_user_namespace(const struct role *role)
{
	int gate[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, gate))
		return -1;
	pid = fork_into(CLONE_NEWUSER | CLONE_NEWPID);
	close(gate[pid != 0]);
	if (pid == 0)
		await_maps(gate[1]);
	if (pid > 0 && !map_ids(pid, role, gate[0])) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		errno = EPERM;
		pid = -1;
	}
	if (pid)
		close(gate[0]);
	return pid;
}

pid_t policy_fork(enum policy_role role, struct policy_layers *ret_layers)
{
	const struct role *data = policy_role(role);
	pid_t pid;

	*ret_layers = (struct policy_layers){0, 0};
	if (!(data->layers & LAYER_BIT(pid)) || !POLICY_ISOLATES(pid))
		return fork();
	pid = fork_into(CLONE_NEWPID);
	if (pid < 0 && errno == EPERM)
		pid = fork_with_user_namespace(data);
	if (pid >= 0)
		return pid;
	ret_layers->lacking = lacking_if_refused(errno, LAYER_BIT(pid));
	return fork();
}

/* The spawner is the first process of the namespace; policy_verify() sees that there is one. */
bool policy_has_pid(const struct role *role)
{
	(void)role;
	return getppid() == 1;
}

/* ---- the other namespaces ---- */

static const struct {
	const char *file;
	int flag;
} namespaces[] = {
	{"mnt", CLONE_NEWNS},  {"net", CLONE_NEWNET},	    {"ipc", CLONE_NEWIPC},
	{"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP},
};
#define NAMESPACES (sizeof(namespaces) / sizeof(*namespaces))
#define MOUNT	   0

static ino_t namespace_of(const char *file)
{
	char path[TEXT_BYTES];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", file);
	if (stat(path, &status))
		return 0;
	return status.st_ino;
}

/*
 * Leaves a namespace. Returns whether the kernel then shows a new one. Without a mount namespace
 * the role has no root.
 */
static bool leave_namespace(size_t i, struct policy_layers *layers)
{
	ino_t before = namespace_of(namespaces[i].file), after;
	uint32_t lost = LAYER_BIT(namespaces);

	if (i == MOUNT)
		lost |= LAYER_BIT(root);
	if (unshare(namespaces[i].flag))
		layers->lacking |= lacking_if_refused(errno, lost);
	after = namespace_of(namespaces[i].file);
	return before && after && before != after;
}

/*
 * Leaves one namespace after the other, as a kernel may lack some. Returns a bit for each row that
 * was left.
 */
static unsigned int leave_namespaces(struct policy_layers *layers)
{
	unsigned int left = 0;

	for (size_t i = 0; i < NAMESPACES && POLICY_ISOLATES(namespaces); i++)
		left |= (unsigned int)leave_namespace(i, layers) << i;
	if (left == (1u << NAMESPACES) - 1)
		layers->proven |= LAYER_BIT(namespaces);
	return left;
}

/* ---- root ---- */

/*
 * Makes the working directory the root. EINVAL: the old root is an initial ramfs or a chroot. Then
 * the old root stays where it is: the way back needs CAP_SYS_CHROOT and a descriptor of it.
 */
static int enter_root(void)
{
	int r = 0;

	if (!syscall(SYS_pivot_root, ".", "."))
		r = umount2(".", MNT_DETACH);
	else if (errno == EINVAL)
		r = chroot(".");
	else
		r = -1;
	if (r < 0)
		return -errno;
	return 0;
}

/* Hides the next steps from the host. In a chroot "/" need not be a mount. */
static int make_private(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	    mount(NULL, OLD_ROOT, NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	return 0;
}

/* Room for the one folder, so that nothing can ever be in it. The broker's: /proc, bound. */
static int change_root(const struct role *role)
{
	unsigned long flags = MS_REMOUNT | MS_RDONLY | HARMLESS;
	int r = make_private();

	if (r < 0)
		return r;
	if (role->root == ROOT_PROC)
		flags |= MS_BIND;
	if (role->root == ROOT_EMPTY &&
	    mount("keyhole", OLD_ROOT, "tmpfs", HARMLESS, "size=4k,nr_inodes=1,mode=0555"))
		return -errno;
	if (chdir(OLD_ROOT))
		return -errno;
	r = enter_root();
	if (r)
		return r;
	if (chdir("/") || mount(NULL, "/", NULL, flags, NULL))
		return -errno;
	return 0;
}

/* Looks for what no other root has: room for one file that is taken, or the root of a procfs. */
static bool is_root(const char *path, enum role_root root)
{
	const unsigned long flags = ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC;
	struct statfs fs;
	struct stat status;

	if (statfs(path, &fs) || stat(path, &status) ||
	    ((unsigned long)fs.f_flags & flags) != flags)
		return false;
	if (root == ROOT_PROC)
		return fs.f_type == PROC_SUPER_MAGIC && status.st_ino == PROC_ROOT_INO;
	return fs.f_type == TMPFS_MAGIC && fs.f_files == 1 && fs.f_ffree == 0;
}

/* ".." would show an old root that is still mounted over this one. */
bool policy_has_root(const struct role *role)
{
	return is_root("/", role->root) && is_root("/..", role->root) && is_root(".", role->root);
}

/* ---- both ---- */

void policy_isolate(enum policy_role role, struct policy_layers *layers)
{
	const struct role *data = policy_role(role);
	unsigned int left = 0;
	int r = 0;

	if (data->layers & LAYER_BIT(namespaces))
		left = leave_namespaces(layers);
	/* only in a mount namespace that was seen to be another: else it would be the host's */
	if (left & 1u << MOUNT && POLICY_PUTS_ON(root))
		r = change_root(data);
	if (r)
		layers->lacking |= lacking_if_refused(-r, LAYER_BIT(root));
	/* the broker's paths begin here, whichever root it has; without it, no start */
	if (data->root == ROOT_PROC && !policy_has_root(data) && chdir("/proc"))
		layers->lacking &= ~LAYER_BIT(root);
}
