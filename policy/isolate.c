/* SPDX-License-Identifier: Apache-2.0 */
/* policy_isolate(): namespaces(7) and pivot_root(2). */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "policy/policy_impl.h"

/* One call: they come together or not at all, so that one of them seen proves the others. */
#define NAMESPACES (CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)
#define HARMLESS   (MS_NOSUID | MS_NODEV | MS_NOEXEC)
#define OLD_ROOT   "/proc" /* a folder that every root has */

/* ---- namespaces ---- */

/*
 * The caller goes on in its own namespace, so that its next child can have another one. The C
 * library has to know of the fork, so it is not clone() with a flag.
 */
pid_t policy_fork(enum policy_role role, uint32_t *ret_lacking)
{
	const struct role *data = policy_role(role);
	int own;
	pid_t pid;

	*ret_lacking = 0;
	if (!data->pid_namespace || !POLICY_PUTS_ON(pid))
		return fork();
	own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	if (own < 0 || unshare(CLONE_NEWPID))
		*ret_lacking = LAYER_BIT(pid);
	pid = fork();
	if (pid > 0 && !*ret_lacking && setns(own, CLONE_NEWPID)) {
		kill(pid, SIGKILL);
		pid = -1;
	}
	if (pid && own >= 0)
		close(own);
	return pid;
}

static int unshare_all(const struct role *role)
{
	if (unshare(NAMESPACES) || setdomainname(role->program, strlen(role->program)))
		return -errno;
	return 0;
}

bool policy_has_namespaces(const struct role *role)
{
	struct utsname names;

	return !uname(&names) && !strcmp(names.domainname, role->program);
}

/* The spawner is the first process of the namespace; its child finds it by its number. */
bool policy_has_pid(const struct role *role)
{
	(void)role;
	return getppid() == 1;
}

/* ---- root ---- */

/* The working directory becomes the root; an initial ramfs cannot be pivoted away from. */
static int enter_root(void)
{
	if (!syscall(SYS_pivot_root, ".", "."))
		return umount2(".", MNT_DETACH) ? -errno : 0;
	if (errno != EINVAL || mount(".", "/", NULL, MS_MOVE, NULL) || chroot("."))
		return -errno;
	return 0;
}

static int make_empty_root(void)
{
	if (mount("keyhole", OLD_ROOT, "tmpfs", HARMLESS, "size=4k,nr_inodes=1,mode=0555"))
		return -errno;
	return 0;
}

/* The broker's: /proc and nothing beside it. */
static int change_root(const struct role *role)
{
	const unsigned long bind = role->root == ROOT_PROC ? MS_BIND : 0;
	int r;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	r = role->root == ROOT_EMPTY ? make_empty_root() : 0;
	if (r)
		return r;
	if (chdir(OLD_ROOT))
		return -errno;
	r = enter_root();
	if (r)
		return r;
	if (chdir("/") || mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY | HARMLESS | bind, NULL))
		return -errno;
	return 0;
}

bool policy_has_root(const struct role *role)
{
	if (role->root == ROOT_PROC)
		return access("/self", F_OK) == 0 && access("/proc", F_OK) && access("/etc", F_OK);
	return access("/proc", F_OK) && access("/etc", F_OK) && access("/dev", F_OK) &&
	       mkdir("/x", 0700) && errno == EROFS;
}

/* ---- both ---- */

uint32_t policy_isolate(enum policy_role role)
{
	const struct role *data = policy_role(role);
	uint32_t lacking = 0;

	if (data->namespaces && POLICY_PUTS_ON(namespaces) && unshare_all(data))
		lacking = LAYER_BIT(namespaces) | LAYER_BIT(root);
	else if (data->root != ROOT_HOST && POLICY_PUTS_ON(root) && change_root(data))
		lacking = LAYER_BIT(root);
	/* the broker's paths begin here, whichever root it has */
	if (data->root == ROOT_PROC && chdir("/proc") && chdir("/"))
		lacking |= LAYER_BIT(root);
	return lacking;
}
