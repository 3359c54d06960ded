/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layers ROLE: makes every attempt of attempts.def from inside, and prints the table. Without
 * any layer an attempt must succeed, since it would prove nothing otherwise. With each layer alone,
 * exactly the layers that the table names must stop the attempt. The attempt is also made with all
 * layers but seccomp, with all layers, and with the layers of the role's spawner.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escape/cell.h"

/* ---- the table ---- */

enum column {
	COLUMN_NONE,
	COLUMN_N,
	COLUMN_P,
	COLUMN_R,
	COLUMN_I,
	COLUMN_W,
	COLUMN_M,
	COLUMN_L,
	COLUMN_S,
	COLUMN_ALL_BUT_S,
	COLUMN_ALL,
	COLUMN_F,
	COLUMN_SPAWNER,
	COLUMN_COUNT
};

#define IDS   (LAYER_BIT(ids) | LAYER_BIT(capabilities))
#define EVERY ((1u << LAYER_COUNT) - 1)
#define BEFORE \
	(LAYER_BIT(namespaces) | LAYER_BIT(pid) | LAYER_BIT(root) | IDS | LAYER_BIT(no_new_privs))

/* Root is above limits, and needs no setuid program: those two are tried without. */
static const struct {
	const char *name;
	uint32_t on;
	enum policy_layer layer; /* the role must have it */
} columns[COLUMN_COUNT] = {
	[COLUMN_NONE] = {"none", 0, LAYER_COUNT},
	[COLUMN_N] = {"namesp", LAYER_BIT(namespaces), LAYER_namespaces},
	[COLUMN_P] = {"pid", LAYER_BIT(pid), LAYER_pid},
	[COLUMN_R] = {"root", LAYER_BIT(root), LAYER_root},
	[COLUMN_I] = {"ids", IDS, LAYER_ids},
	[COLUMN_W] = {"nnp", IDS | LAYER_BIT(no_new_privs), LAYER_no_new_privs},
	[COLUMN_M] = {"limits", IDS | LAYER_BIT(limits), LAYER_limits},
	[COLUMN_L] = {"landlk", LAYER_BIT(landlock), LAYER_landlock},
	[COLUMN_S] = {"seccmp", LAYER_BIT(seccomp), LAYER_seccomp},
	[COLUMN_ALL_BUT_S] = {"all-s", EVERY & ~LAYER_BIT(seccomp), LAYER_COUNT},
	[COLUMN_ALL] = {"all", EVERY, LAYER_COUNT},
	[COLUMN_F] = {"filter", LAYER_BIT(seccomp), LAYER_namespaces}, /* its spawner's */
	[COLUMN_SPAWNER] = {"spawnr", BEFORE | LAYER_BIT(seccomp), LAYER_namespaces},
};

#define NOTHING 0
#define N	(1u << COLUMN_N)
#define P	(1u << COLUMN_P)
#define R	(1u << COLUMN_R)
#define I	(1u << COLUMN_I)
#define W	(1u << COLUMN_W)
#define M	(1u << COLUMN_M)
#define L	(1u << COLUMN_L)
#define S	(1u << COLUMN_S)
#define F	(1u << COLUMN_F)

static const struct {
	const char *name;
	unsigned int child, broker, loader; /* columns that stop it */
} attempts[] = {
#define A(name, child, broker, loader) {#name, child, broker, loader},
#include "tests/escape/attempts.def"
#undef A
};
#define ATTEMPTS (sizeof(attempts) / sizeof(*attempts))

enum {
#define A(name, child, broker, loader) NUMBER_##name,
#include "tests/escape/attempts.def"
#undef A
};

static bool stopped[ATTEMPTS][COLUMN_COUNT];
static int64_t results[ATTEMPTS][COLUMN_COUNT];

static bool has_column(enum policy_role role, enum column column)
{
	if (columns[column].layer == LAYER_COUNT)
		return true;
	return policy_layers_of(role) >> columns[column].layer & 1;
}

/* By the filter that a spawner has and its child inherits. */
static const size_t spawner_filter[] = {
	NUMBER_open_by_handle, NUMBER_mount_tmpfs,   NUMBER_pivot_root,	    NUMBER_change_root,
	NUMBER_new_user_ns,    NUMBER_new_net_ns,    NUMBER_join_net_ns,    NUMBER_fanotify,
	NUMBER_clone3_child,   NUMBER_personality,   NUMBER_tcp_connect,    NUMBER_tcp_bind,
	NUMBER_udp_send,       NUMBER_packet_socket, NUMBER_netlink_socket, NUMBER_pidfd_getfd,
	NUMBER_ptrace_seize,   NUMBER_vm_readv,	     NUMBER_vm_writev,	    NUMBER_kcmp_victim,
	NUMBER_io_uring,       NUMBER_userfaultfd,   NUMBER_keyctl,	    NUMBER_add_key,
	NUMBER_perf_machine,   NUMBER_perf_self,     NUMBER_bpf_program,    NUMBER_bpf_map,
	NUMBER_bpf_next_id,
};

static unsigned int by_spawner(enum policy_role role, size_t i)
{
	bool bpf = i == NUMBER_bpf_program || i == NUMBER_bpf_map || i == NUMBER_bpf_next_id;

	if (role == ROLE_LOADER || (role == ROLE_BROKER && bpf))
		return 0;
	for (size_t at = 0; at < sizeof(spawner_filter) / sizeof(*spawner_filter); at++)
		if (spawner_filter[at] == i)
			return F;
	return 0;
}

static unsigned int claims(enum policy_role role, size_t i)
{
	unsigned int mask = role == ROLE_BROKER	  ? attempts[i].broker
			    : role == ROLE_LOADER ? attempts[i].loader
						  : attempts[i].child;

	/* the exporter grows no files, makes no descriptors: those calls are not in its filter */
	if (role == ROLE_EXPORTER && i == NUMBER_big_file)
		return S;
	if (role == ROLE_EXPORTER && i == NUMBER_many_descriptors)
		return M | S;
	return mask | by_spawner(role, i);
}

/* ---- what is there to be attacked ---- */

static char folder[64];
static uint64_t secret = 42;
static int program, setuid_program, root_folder, host_net;

static int copy_program(const char *name, mode_t mode)
{
	static char bytes[1 << 16];
	char path[128];
	ssize_t size;
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;

	/* the prisoner lies beside this program */
	size = readlink("/proc/self/exe", bytes, sizeof(bytes) - 16);
	close(from);
	while (size > 0 && bytes[size - 1] != '/')
		size--;
	memcpy(bytes + size, "prisoner", sizeof("prisoner"));
	from = open(bytes, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
	while ((size = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)size) != size)
			give_up(path);
	if (from < 0 || to < 0 || fchmod(to, mode))
		give_up(path);
	close(from);
	close(to);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void make_file(const char *name, uid_t owner)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
	if (fd < 0 || fchmod(fd, 0666) || fchown(fd, owner, owner))
		give_up(path);
	close(fd);
}

static void make_subfolder(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (mkdir(path, 0777) || chmod(path, 0777))
		give_up(path);
}

static void make_folder(struct surroundings *around)
{
	const char *where = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%.40s/keyhole-escape.XXXXXX", where ? where : "/tmp");
	if (!mkdtemp(folder) || chmod(folder, 0777))
		give_up(folder);
	memcpy(around->folder, folder, sizeof(folder));
	make_subfolder("own");
	make_subfolder("mount");
	make_file("shared", 0);
	program = copy_program("program", 0755);
	setuid_program = copy_program("setuid", 04755);
	root_folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	host_net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static void mount_something(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/mount", folder);
	if (mount("none", path, "tmpfs", 0, "size=4k"))
		give_up(path);
}

static void listen_unix(const char *name, bool abstract)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + abstract, name, length);
	length += offsetof(struct sockaddr_un, sun_path) + 1;
	if (bind(fd, (struct sockaddr *)&address, (socklen_t)length) || listen(fd, 4096))
		give_up(name);
	if (!abstract && chmod(name, 0777))
		give_up(name);
}

static uint16_t bind_local(int type)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&address, size) ||
	    (type == SOCK_STREAM && listen(fd, 4096)) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		give_up("loopback");
	return ntohs(address.sin_port);
}

static pid_t start_sleeper(uid_t uid)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		give_up("pipe");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], "", 1) == 1)
			poll(NULL, 0, -1);
		_exit(0);
	}
	if (read(ready[0], &byte, 1) != 1)
		give_up("a process to be attacked");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void make_surroundings(enum policy_role role, struct surroundings *around)
{
	struct file_handle *handle = (struct file_handle *)around->handle;
	char path[128];
	int mount_id;

	make_folder(around);
	mount_something();
	snprintf(path, sizeof(path), "%s/socket", folder);
	listen_unix(path, false);
	listen_unix(folder, true);
	around->tcp_port = bind_local(SOCK_STREAM);
	around->udp_port = bind_local(SOCK_DGRAM);
	around->shm_key = 0x6b680000 + getpid();
	if (shmget(around->shm_key, 4096, IPC_CREAT | 0666) < 0)
		give_up("shmget");
	handle->handle_bytes = sizeof(around->handle) - sizeof(*handle);
	if (name_to_handle_at(AT_FDCWD, "/etc/shadow", handle, &mount_id, 0))
		printf("# name_to_handle_at: %s\n", strerror(errno));
	around->victim = start_sleeper(1000);
	around->sibling = start_sleeper(policy_role(role)->id);
	around->victim_address = (uintptr_t)&secret;
}

static void remove_surroundings(const struct surroundings *around)
{
	char *argv[] = {(char *)(uintptr_t) "rm", (char *)(uintptr_t) "-rf", folder, NULL};
	char path[128];
	pid_t pid;

	shmctl(shmget(around->shm_key, 0, 0), IPC_RMID, NULL);
	kill(around->victim, SIGKILL);
	kill(around->sibling, SIGKILL);
	snprintf(path, sizeof(path), "%s/mount", folder);
	umount2(path, MNT_DETACH);
	pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

/* ---- trying ---- */

static int descriptor_of(size_t i)
{
	switch (i) {
	case NUMBER_exec_setuid:
		return setuid_program;
	case NUMBER_exec_descriptor:
	case NUMBER_exec_memfd:
	case NUMBER_map_memfd_exec:
		return program;
	case NUMBER_open_by_handle:
		return root_folder;
	case NUMBER_join_net_ns:
		return host_net;
	default:
		return -1;
	}
}

static void try_one(struct cell *cell, size_t i, enum column column,
		    const struct surroundings *around)
{
	struct order order = {.kind = ORDER_ATTEMPT, .number = (uint32_t)i, .around = *around};
	int64_t result = 0;

	make_file("own/removed", policy_role(cell->role)->id);
	switch (cell_do(cell, &order, descriptor_of(i), &result)) {
	case OUTCOME_RETURNED:
		stopped[i][column] = result < 0;
		break;
	case OUTCOME_KILLED:
		stopped[i][column] = true;
		break;
	case OUTCOME_ENDED:
		/* an exec that succeeded says so by its status; SIGXFSZ is a limit */
		stopped[i][column] = !WIFEXITED(cell->status) || WEXITSTATUS(cell->status) != 0;
		result = -cell->status;
	}
	results[i][column] = result;
	cell_renew(cell);
}

static void try_column(enum policy_role role, enum column column, const struct surroundings *around)
{
	struct cell cell;

	cell_open(&cell, role, EVERY & ~columns[column].on);
	cell.as_spawner = column == COLUMN_SPAWNER || column == COLUMN_F;
	for (size_t i = 0; i < ATTEMPTS; i++)
		try_one(&cell, i, column, around);
	cell_close(&cell);
}

/* ---- judging ---- */

static void print_table(enum policy_role role)
{
	printf("# %-16s", policy_role(role)->program);
	for (enum column column = 0; column < COLUMN_COUNT; column++)
		if (has_column(role, column))
			printf(" %-6s", columns[column].name);
	putchar('\n');
	for (size_t i = 0; i < ATTEMPTS; i++) {
		printf("# %-16s", attempts[i].name);
		for (enum column column = 0; column < COLUMN_COUNT; column++)
			if (has_column(role, column))
				printf(" %-6s", stopped[i][column] ? "stops" : "-");
		putchar('\n');
	}
}

/* Whether the column must, may or must not stop it; ids are part of two other columns. */
static bool as_claimed(enum policy_role role, size_t i, enum column column)
{
	unsigned int claimed = claims(role, i);
	bool stops = stopped[i][column];

	if ((column == COLUMN_W || column == COLUMN_M) && claimed & I)
		return stops;
	if (stops == !!(claimed & 1u << column))
		return true;
	printf("# %s: %s alone: %s (%lld)\n", attempts[i].name, columns[column].name,
	       stops ? "stops it, not in the table" : "does NOT stop it",
	       (long long)results[i][column]);
	return false;
}

static void judge_layer(enum policy_role role, enum column column)
{
	unsigned int count = 0, wrong = 0;

	for (size_t i = 0; i < ATTEMPTS; i++) {
		if (stopped[i][COLUMN_NONE])
			continue; /* proves nothing */
		count += !!(claims(role, i) & 1u << column);
		wrong += !as_claimed(role, i, column);
	}
	tap(!wrong, "%s: %s alone stops its %u attempts and no other", policy_role(role)->program,
	    columns[column].name, count);
}

static void judge_none(enum policy_role role)
{
	unsigned int possible = 0;

	for (size_t i = 0; i < ATTEMPTS; i++) {
		possible += !stopped[i][COLUMN_NONE];
		if (stopped[i][COLUMN_NONE])
			printf("# %s: not possible here without any layer: %s\n", attempts[i].name,
			       strerror((int)-results[i][COLUMN_NONE]));
	}
	tap(possible + 3 >= ATTEMPTS, "%s: %u of %u attempts succeed without any layer",
	    policy_role(role)->program, possible, (unsigned int)ATTEMPTS);
}

static bool in_vain(enum policy_role role, size_t i, enum column column, unsigned int layers)
{
	if (!(claims(role, i) & layers) == !stopped[i][column])
		return true;
	/* layers together may do what none does alone */
	if (stopped[i][column] && column != COLUMN_ALL)
		return true;
	/* in its namespace that is itself */
	if (column == COLUMN_SPAWNER && i == NUMBER_signal_init)
		return true;
	printf("# %s: %s: %s (%lld)\n", attempts[i].name, columns[column].name,
	       stopped[i][column] ? "stopped, not in the table" : "POSSIBLE",
	       (long long)results[i][column]);
	return false;
}

static void judge_together(enum policy_role role, enum column column, unsigned int layers,
			   const char *what)
{
	unsigned int count = 0, wrong = 0;
	const char *name = policy_role(role)->program;

	for (size_t i = 0; i < ATTEMPTS; i++) {
		count += stopped[i][column];
		wrong += !in_vain(role, i, column, layers);
		if (!stopped[i][column])
			printf("# %s: possible with %s: %s\n", name, what, attempts[i].name);
	}
	tap(!wrong, "%s: %s: %u attempts stopped, %u possible as listed", name, what, count,
	    (unsigned int)ATTEMPTS - count);
}

/* ---- the layer that others meet ---- */

/* A process of the role's own uid that is not confined wants to trace it. */
static bool can_be_traced(struct cell *cell)
{
	struct order order = {.kind = ORDER_NOTHING};
	uid_t uid = policy_role(cell->role)->id;
	int64_t result;
	int status;
	pid_t pid;

	cell_do(cell, &order, -1, &result);
	pid = fork();
	if (pid == 0) {
		if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			_exit(2);
		_exit(ptrace(PTRACE_SEIZE, cell->pid, 0, 0) ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

static void test_dumpable(enum policy_role role)
{
	bool traced[2];

	for (int on = 0; on < 2; on++) {
		struct cell cell;

		cell_open(&cell, role, EVERY & ~IDS & ~(on ? LAYER_BIT(dumpable) : 0));
		traced[on] = can_be_traced(&cell);
		cell_close(&cell);
	}
	/* who lacks the broker's capabilities cannot trace it; the loader changes its uid after
	 * exec, and that alone has the same effect */
	tap(!traced[1] && traced[0] == (role == ROLE_WORKER || role == ROLE_EXPORTER),
	    "%s: dumpable alone keeps tracers of the same uid off", policy_role(role)->program);
}

int main(int argc, char **argv)
{
	enum policy_role role = argc == 2 ? cell_role(argv[1]) : ROLE_SUPERVISED;
	static struct surroundings around;

	if (role == ROLE_SUPERVISED)
		return 2;
	cell_setup();
	make_surroundings(role, &around);
	for (enum column column = 0; column < COLUMN_COUNT; column++)
		if (has_column(role, column))
			try_column(role, column, &around);
	print_table(role);
	judge_none(role);
	for (enum column column = COLUMN_N; column <= COLUMN_S; column++)
		if (has_column(role, column))
			judge_layer(role, column);
	if (has_column(role, COLUMN_F))
		judge_layer(role, COLUMN_F);
	judge_together(role, COLUMN_ALL_BUT_S, N | P | R | I | W | M | L, "all but seccomp");
	judge_together(role, COLUMN_ALL, ~0u, "all layers");
	if (has_column(role, COLUMN_SPAWNER))
		judge_together(role, COLUMN_SPAWNER, N | P | R | I | W | F, "its spawner's layers");
	test_dumpable(role);
	remove_surroundings(&around);
	return tap_end();
}
