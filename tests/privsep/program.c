/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/privsep/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/bpf.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/policy_impl.h"
#include "tests/privsep/privsep.h"

#define LIMIT_MS 30000

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* The kernel counts runs while this is open: no sysctl is changed. */
static int count_runs(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	return bpf(BPF_ENABLE_STATS, &attr);
}

static bool read_info(int fd, struct bpf_prog_info *ret_info)
{
	union bpf_attr attr;

	memset(ret_info, 0, sizeof(*ret_info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*ret_info);
	attr.info.info = (uintptr_t)ret_info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0;
}

/* Returns our own descriptor of the program, or -1 for another program than the sampler. */
static int hold(unsigned int id)
{
	struct bpf_prog_info info;
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	if (fd < 0 || (read_info(fd, &info) && strcmp(info.name, "on_sample") == 0))
		return fd;
	close(fd);
	return -1;
}

static unsigned int program_id(const char *folder, const char *name)
{
	char path[PATH_MAX], text[1024];
	const char *at;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	at = strstr(text, "prog_id:\t");
	return at ? (unsigned int)strtoul(at + 9, NULL, 10) : 0;
}

/* Among its descriptors, so that no other keyhole's is taken for it. */
static int find_sampler(pid_t pid)
{
	struct dirent *entry;
	char folder[40];
	unsigned int id;
	DIR *dir;
	int fd = -1;

	snprintf(folder, sizeof(folder), "/proc/%d/fdinfo", (int)pid);
	dir = opendir(folder);
	while (dir && fd < 0 && (entry = readdir(dir))) {
		id = program_id(folder, entry->d_name);
		fd = id ? hold(id) : -1;
	}
	if (dir)
		closedir(dir);
	return fd;
}

static void build_folder(char *ret_path, size_t size)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(length > 0);
	self[length] = '\0';
	snprintf(ret_path, size, "%s", dirname(dirname(dirname(self))));
}

static void link_anew(const char *from, const char *to)
{
	unlink(to);
	assert_int_equal(link(from, to), 0);
}

/* A folder of links: one program of the program's folder among those of the build. */
static void link_alone(const struct program *program, const char *build, char *ret_path,
		       size_t size)
{
	static const char *const helpers[] = {
		"keyhole-audit", "keyhole-kernel-symbols", "keyhole-options",  "keyhole-output",
		"keyhole-rules", "keyhole-debug-reader",   "keyhole-connector"};
	char from[PATH_MAX + 128], to[PATH_MAX + 128];

	snprintf(ret_path, size, "%s/sabotage/alone", build);
	assert_true(mkdir(ret_path, 0755) == 0 || errno == EEXIST);
	for (enum policy_role role = ROLE_LOADER; role < ROLE_SUPERVISED; role++) {
		const char *name = policy_role(role)->program;
		bool alone = strcmp(name, program->alone) == 0;

		snprintf(from, sizeof(from), "%s/%s/%s", build, alone ? program->folder : "", name);
		snprintf(to, sizeof(to), "%s/sabotage/alone/%s", build, name);
		link_anew(from, to);
	}
	for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++) {
		snprintf(from, sizeof(from), "%s/%s", build, helpers[i]);
		snprintf(to, sizeof(to), "%s/sabotage/alone/%s", build, helpers[i]);
		link_anew(from, to);
	}
	snprintf(ret_path, size, "%s/sabotage/alone/keyhole", build);
}

/* The loader looks for its programs beside the name by which it was started. */
static void program_path(const struct program *program, char *ret_path, size_t size)
{
	char build[PATH_MAX], whole[PATH_MAX + 16];

	build_folder(build, sizeof(build));
	snprintf(ret_path, size, "%s/%s/keyhole%s", build, program->folder,
		 program->whole_loader ? "-whole" : "");
	snprintf(whole, sizeof(whole), "%s/keyhole", build);
	if (program->whole_loader)
		link_anew(whole, ret_path);
	if (program->alone)
		link_alone(program, build, ret_path, size);
}

static pid_t start(const struct program *program, const char *output, int err)
{
	char path[PATH_MAX + 64], require[64];
	pid_t pid;

	program_path(program, path, sizeof(path));
	snprintf(require, sizeof(require), "--require=%s",
		 program->require ? program->require : "seccomp");
	pid = fork();
	if (pid)
		return pid;
	dup2(err, STDERR_FILENO);
	if (program->set_up)
		program->set_up(program->argument);
	execl(path, "keyhole", "record", "-v", "-d", "1", "-a", "-o", output, require, NULL);
	_exit(126);
}

static void be_busy(const void *nothing)
{
	(void)nothing;
	alarm(LIMIT_MS / 1000);
	while (true)
		;
}

static pid_t start_busy(void)
{
	pid_t pid = fork();

	if (pid == 0)
		be_busy(NULL);
	return pid;
}

static int watch(pid_t pid, int *ret_sampler)
{
	int status = -1;

	*ret_sampler = -1;
	for (int i = 0; i < LIMIT_MS && waitpid(pid, &status, WNOHANG) == 0; i++) {
		if (*ret_sampler < 0)
			*ret_sampler = find_sampler(pid);
		poll(NULL, 0, 1);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void program_record(const struct program *program, struct program_result *ret_result)
{
	char folder[] = "/tmp/keyhole-program-XXXXXX", output[64];
	int err = memfd_create("stderr", MFD_CLOEXEC), stats = count_runs(), sampler;
	struct bpf_prog_info info = {0};
	pid_t busy = start_busy();
	ssize_t size;

	assert_non_null(mkdtemp(folder));
	snprintf(output, sizeof(output), "%s/all.folded", folder);
	memset(ret_result, 0, sizeof(*ret_result));
	ret_result->status = watch(start(program, output, err), &sampler);
	privsep_end(busy);
	ret_result->seen = stats >= 0 && sampler >= 0 && read_info(sampler, &info);
	ret_result->samples = info.run_cnt;
	ret_result->file = unlink(output) == 0;
	size = pread(err, ret_result->text, sizeof(ret_result->text) - 1, 0);
	ret_result->text[size > 0 ? size : 0] = '\0';
	close(err);
	close(sampler);
	close(stats);
	assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
}
