/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/runtime.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"

int runtime_open(struct runtime *runtime, int link, int cgroup)
{
	runtime->cpu_stat = cgroup < 0 ? -1 : openat(cgroup, "cpu.stat", O_RDONLY | O_CLOEXEC);
	if (cgroup >= 0)
		return runtime->cpu_stat < 0 ? -errno : 0;
	for (int i = 0; i < 2; i++) {
		runtime->readings[i] = bpf_iter_create(link);
		if (runtime->readings[i] < 0)
			return runtime->readings[i];
	}
	return 0;
}

static int read_cgroup(int fd, uint64_t *ret_nanoseconds)
{
	static const char key[] = "usage_usec ";
	char text[1024];
	ssize_t size = pread(fd, text, sizeof(text) - 1, 0);
	const char *line;

	if (size < 0)
		return -errno;
	text[size] = 0;
	line = strstr(text, key);
	if (!line)
		return -EBADMSG;
	*ret_nanoseconds = strtoull(line + sizeof(key) - 1, NULL, 10) * 1000;
	return 0;
}

static int used(const struct runtime *runtime, int reading, uint64_t exited, uint64_t *ret_used)
{
	struct task_runtime alive;
	ssize_t size;

	if (runtime->cpu_stat >= 0)
		return read_cgroup(runtime->cpu_stat, ret_used);
	size = read(runtime->readings[reading], &alive, sizeof(alive));
	if (size != (ssize_t)sizeof(alive))
		return size < 0 ? -errno : -EBADMSG;
	*ret_used = alive.nanoseconds + exited;
	return 0;
}

int runtime_begin(struct runtime *runtime, uint64_t exited)
{
	return used(runtime, 0, exited, &runtime->baseline);
}

int runtime_end(struct runtime *runtime, uint64_t exited, uint64_t *ret_nanoseconds)
{
	uint64_t total;
	int r = used(runtime, 1, exited, &total);

	if (!r)
		*ret_nanoseconds = total > runtime->baseline ? total - runtime->baseline : 0;
	return r;
}
