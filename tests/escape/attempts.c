/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each row of attempts.def: 0 when it could be done, or a negative errno. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/capability.h>

#include "tests/escape/prisoner.h"

#define PAGE 4096ul

static char path[128];
static int program_fd = -1; /* memfd with a program in it */
static pid_t parent;

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", around->folder, name);
	return path;
}

/* ---- files ---- */

static int64_t open_path(const char *name, int flags)
{
	int64_t fd = CALL(SYS_openat, AT_FDCWD, name, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close((int)fd);
	return fd < 0 ? fd : 0;
}

int64_t try_open_public(void)
{
	return open_path("/etc/passwd", O_RDONLY);
}

int64_t try_open_secret(void)
{
	return open_path("/etc/shadow", O_RDONLY);
}

int64_t try_open_to_write(void)
{
	return open_path("/dev/null", O_WRONLY);
}

int64_t try_create_file(void)
{
	snprintf(path, sizeof(path), "%s/new-%d", around->folder, (int)getpid());
	return open_path(path, O_CREAT | O_EXCL | O_RDWR);
}

int64_t try_make_folder(void)
{
	snprintf(path, sizeof(path), "%s/folder-%d", around->folder, (int)getpid());
	return DONE(SYS_mkdir, path, 0700);
}

int64_t try_remove_file(void)
{
	return DONE(SYS_unlink, in_folder("own/removed"));
}

int64_t try_truncate_file(void)
{
	return DONE(SYS_truncate, in_folder("shared"), 1);
}

int64_t try_make_symlink(void)
{
	snprintf(path, sizeof(path), "%s/symlink-%d", around->folder, (int)getpid());
	return DONE(SYS_symlink, "/", path);
}

int64_t try_make_link(void)
{
	char to[128];

	snprintf(to, sizeof(to), "%s/link-%d", around->folder, (int)getpid());
	return DONE(SYS_link, in_folder("shared"), to);
}

int64_t try_make_fifo(void)
{
	snprintf(path, sizeof(path), "%s/fifo-%d", around->folder, (int)getpid());
	return DONE(SYS_mknod, path, S_IFIFO | 0600, 0);
}

int64_t try_make_device(void)
{
	snprintf(path, sizeof(path), "%s/device-%d", around->folder, (int)getpid());
	return DONE(SYS_mknod, path, S_IFCHR | 0600, 0x101);
}

int64_t try_change_mode(void)
{
	return DONE(SYS_chmod, in_folder("own/removed"), 0666);
}

int64_t try_stat_path(void)
{
	struct stat status;

	return DONE(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &status, 0);
}

int64_t try_stat_empty_path(void)
{
	struct stat status;

	return DONE(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &status, AT_EMPTY_PATH);
}

int64_t try_statx_path(void)
{
	struct statx status;

	return DONE(SYS_statx, AT_FDCWD, "/etc/passwd", 0, STATX_BASIC_STATS, &status);
}

int64_t try_access_path(void)
{
	return DONE(SYS_faccessat, AT_FDCWD, "/etc/passwd", F_OK);
}

int64_t try_read_link(void)
{
	char target[64];

	return DONE(SYS_readlink, "/proc/self/exe", target, sizeof(target));
}

int64_t try_change_folder(void)
{
	return DONE(SYS_chdir, "/etc");
}

/* More than the two names that an empty folder has. */
int64_t try_list_root(void)
{
	char names[1024];
	int64_t fd = CALL(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);
	int64_t bytes = fd < 0 ? fd : CALL(SYS_getdents64, (int)fd, names, sizeof(names));

	if (bytes < 0)
		return bytes;
	return bytes > 48 ? 0 : -ENOENT;
}

int64_t try_open_by_handle(void)
{
	return DONE(SYS_open_by_handle_at, order_fd, around->handle, O_RDONLY);
}

int64_t try_mount_tmpfs(void)
{
	return DONE(SYS_mount, "none", "/proc", "tmpfs", MS_RDONLY, "size=4k");
}

int64_t try_pivot_root(void)
{
	const char *to = in_folder("mount");

	return DONE(SYS_pivot_root, to, to);
}

int64_t try_change_root(void)
{
	return DONE(SYS_chroot, "/");
}

int64_t try_new_user_ns(void)
{
	return DONE(SYS_unshare, CLONE_NEWUSER);
}

int64_t try_new_net_ns(void)
{
	return DONE(SYS_unshare, CLONE_NEWNET);
}

int64_t try_join_net_ns(void)
{
	return DONE(SYS_setns, order_fd, CLONE_NEWNET);
}

int64_t try_watch_files(void)
{
	return DONE(SYS_inotify_init1, 0);
}

int64_t try_fanotify(void)
{
	return DONE(SYS_fanotify_init, FAN_CLASS_CONTENT, O_RDONLY);
}

/* ---- programs ---- */

int64_t try_fork_child(void)
{
	int64_t pid = CALL(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return pid < 0 ? pid : 0;
}

int64_t try_vfork_child(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : 0;
}

int64_t try_clone3_child(void)
{
	struct clone_args arguments = {.exit_signal = SIGCHLD};
	int64_t pid = CALL(SYS_clone3, &arguments, sizeof(arguments));

	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return pid < 0 ? pid : 0;
}

/* Success is the new program's exit status 0: with an argument always, else when it is root. */
static int64_t exec_fd(int fd, const char *name, const char *argument)
{
	char *argv[] = {(char *)(uintptr_t) "escaped", (char *)(uintptr_t)argument, NULL};
	char *envp[] = {NULL};

	return CALL(SYS_execveat, fd, name, argv, envp, *name ? 0 : AT_EMPTY_PATH);
}

int64_t try_exec_program(void)
{
	return exec_fd(AT_FDCWD, in_folder("program"), "run");
}

int64_t try_exec_descriptor(void)
{
	return exec_fd(order_fd, "", "run");
}

int64_t try_exec_memfd(void)
{
	return exec_fd(program_fd, "", "run");
}

/* Owned by root and with the bit. */
int64_t try_exec_setuid(void)
{
	return exec_fd(order_fd, "", NULL);
}

int64_t try_map_executable(void)
{
	return DONE(SYS_mmap, 0, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int64_t try_make_executable(void)
{
	static char page[2 * PAGE];
	uintptr_t at = ((uintptr_t)page + PAGE - 1) & ~(PAGE - 1);

	return DONE(SYS_mprotect, at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
}

int64_t try_map_memfd_exec(void)
{
	return DONE(SYS_mmap, 0, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, program_fd, 0);
}

int64_t try_personality(void)
{
	return DONE(SYS_personality, READ_IMPLIES_EXEC);
}

/* ---- sockets and System V ---- */

static int64_t connect_to(int family, int type, const void *address, socklen_t size)
{
	int64_t fd = CALL(SYS_socket, family, type, 0);

	return fd < 0 ? fd : DONE(SYS_connect, (int)fd, address, size);
}

static struct sockaddr_in local(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

int64_t try_tcp_connect(void)
{
	struct sockaddr_in address = local(around->tcp_port);

	return connect_to(AF_INET, SOCK_STREAM, &address, sizeof(address));
}

int64_t try_tcp_bind(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(40999)};
	int64_t fd = CALL(SYS_socket, AF_INET, SOCK_STREAM, 0);

	return fd < 0 ? fd : DONE(SYS_bind, (int)fd, &address, sizeof(address));
}

int64_t try_udp_send(void)
{
	struct sockaddr_in address = local(around->udp_port);
	int64_t fd = CALL(SYS_socket, AF_INET, SOCK_DGRAM, 0);

	return fd < 0 ? fd : DONE(SYS_sendto, (int)fd, "x", 1, 0, &address, sizeof(address));
}

static int64_t unix_connect(const char *name, bool abstract)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);

	memcpy(address.sun_path + abstract, name, length);
	length += offsetof(struct sockaddr_un, sun_path) + 1;
	return connect_to(AF_UNIX, SOCK_STREAM, &address, (socklen_t)length);
}

int64_t try_unix_abstract(void)
{
	return unix_connect(around->folder, true);
}

int64_t try_unix_path(void)
{
	return unix_connect(in_folder("socket"), false);
}

int64_t try_packet_socket(void)
{
	return DONE(SYS_socket, AF_PACKET, SOCK_RAW, 0);
}

int64_t try_netlink_socket(void)
{
	return DONE(SYS_socket, AF_NETLINK, SOCK_RAW, 0);
}

int64_t try_shared_memory(void)
{
	return DONE(SYS_shmget, around->shm_key, PAGE, 0666);
}

/* ---- other processes ---- */

int64_t try_signal_victim(void)
{
	return DONE(SYS_kill, around->victim, 0);
}

int64_t try_signal_init(void)
{
	return DONE(SYS_kill, 1, 0);
}

int64_t try_signal_parent(void)
{
	return DONE(SYS_kill, parent, 0);
}

int64_t try_signal_sibling(void)
{
	return DONE(SYS_kill, around->sibling, 0);
}

int64_t try_signal_thread(void)
{
	return DONE(SYS_tgkill, around->victim, around->victim, 0);
}

int64_t try_pidfd_open(void)
{
	return DONE(SYS_pidfd_open, around->victim, 0);
}

int64_t try_pidfd_signal(void)
{
	int64_t fd = CALL(SYS_pidfd_open, around->victim, 0);

	return fd < 0 ? fd : DONE(SYS_pidfd_send_signal, (int)fd, 0, 0, 0);
}

int64_t try_pidfd_getfd(void)
{
	int64_t fd = CALL(SYS_pidfd_open, around->victim, 0);

	return fd < 0 ? fd : DONE(SYS_pidfd_getfd, (int)fd, 0, 0);
}

int64_t try_ptrace_seize(void)
{
	int64_t r = DONE(SYS_ptrace, PTRACE_SEIZE, around->victim, 0, 0);

	if (r == 0)
		syscall(SYS_ptrace, PTRACE_DETACH, around->victim, 0, 0);
	return r;
}

static int64_t vm_copy(long number)
{
	static char word[8];
	struct iovec here = {word, sizeof(word)};
	struct iovec there = {(void *)(uintptr_t)around->victim_address, sizeof(word)};

	return DONE(number, around->victim, &here, 1, &there, 1, 0);
}

int64_t try_vm_readv(void)
{
	return vm_copy(SYS_process_vm_readv);
}

int64_t try_vm_writev(void)
{
	return vm_copy(SYS_process_vm_writev);
}

/* The broker's paths begin in /proc. */
int64_t try_open_victim_mem(void)
{
	int64_t r;

	snprintf(path, sizeof(path), "%d/mem", around->victim);
	r = open_path(path, O_RDONLY);
	if (r == 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", around->victim);
	return open_path(path, O_RDONLY) == 0 ? 0 : r;
}

int64_t try_kcmp_victim(void)
{
	return DONE(SYS_kcmp, getpid(), around->victim, 1 /* KCMP_VM */, 0, 0);
}

/* ---- by number ---- */

static int64_t (*const attempts[])(void) = {
#define A(name, child, broker, loader) try_##name,
#include "tests/escape/attempts.def"
#undef A
};

enum {
#define A(name, child, broker, loader) NUMBER_##name,
#include "tests/escape/attempts.def"
#undef A
};

static void make_program(void)
{
	static char bytes[1 << 16];
	off_t at = 0;
	ssize_t size;

	program_fd = memfd_create("escape", 0);
	for (; (size = pread(order_fd, bytes, sizeof(bytes), at)) > 0; at += size)
		if (write(program_fd, bytes, (size_t)size) != size)
			return;
}

/* Before confinement, as far as the rights of the role allow. */
void attempt_prepare(unsigned int number)
{
	parent = getppid();
	if (number == NUMBER_exec_memfd || number == NUMBER_map_memfd_exec)
		make_program();
	/* where it succeeds, only we shall have another root, or no name in /proc */
	if (number == NUMBER_pivot_root || number == NUMBER_mount_tmpfs)
		unshare(CLONE_NEWNS);
}

int64_t attempt(unsigned int number)
{
	return number < sizeof(attempts) / sizeof(*attempts) ? attempts[number]() : -EINVAL;
}
