/* SPDX-License-Identifier: Apache-2.0 */
/* The attempts on what belongs to nobody: the kernel's own interfaces, rights and limits. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escape/prisoner.h"

/* ---- kernel ---- */

int64_t try_io_uring(void)
{
	static char parameters[120];

	return DONE(SYS_io_uring_setup, 1, parameters);
}

int64_t try_userfaultfd(void)
{
	return DONE(SYS_userfaultfd, O_CLOEXEC);
}

int64_t try_keyctl(void)
{
	return DONE(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1);
}

int64_t try_add_key(void)
{
	return DONE(SYS_add_key, "user", "escape", "x", 1, KEY_SPEC_PROCESS_KEYRING);
}

static int64_t perf(pid_t pid, int cpu, unsigned int exclude_kernel)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .disabled = 1,
				       .exclude_kernel = exclude_kernel & 1,
				       .exclude_hv = exclude_kernel & 1};

	return DONE(SYS_perf_event_open, &attr, pid, cpu, -1, 0);
}

int64_t try_perf_machine(void)
{
	return perf(-1, 0, 0);
}

int64_t try_perf_self(void)
{
	return perf(0, -1, 1);
}

int64_t try_bpf_program(void)
{
	static const struct bpf_insn code[] = {{.code = 0xb7}, {.code = 0x95}};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SYSCALL,
			       .insns = (uintptr_t)code,
			       .insn_cnt = 2,
			       .license = (uintptr_t) "GPL",
			       .prog_flags = BPF_F_SLEEPABLE};

	return DONE(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int64_t try_bpf_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};

	return DONE(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

int64_t try_bpf_next_id(void)
{
	union bpf_attr attr = {.start_id = 0};
	int64_t r = DONE(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr));

	return r == -ENOENT ? 0 : r;
}

int64_t try_io_ports(void)
{
	return DONE(SYS_ioperm, 0x80, 1, 1);
}

/* ---- rights and limits ---- */

int64_t try_become_root(void)
{
	return DONE(SYS_setuid, 0);
}

int64_t try_join_group(void)
{
	const gid_t group = 0;

	return DONE(SYS_setgroups, 1, &group);
}

int64_t try_raise_capability(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{1u << CAP_SYS_ADMIN, 1u << CAP_SYS_ADMIN, 0}};

	return DONE(SYS_capset, &head, data);
}

int64_t try_become_dumpable(void)
{
	return DONE(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
}

int64_t try_raise_priority(void)
{
	return DONE(SYS_setpriority, PRIO_PROCESS, 0, -20);
}

int64_t try_realtime(void)
{
	const struct sched_param one = {.sched_priority = 1};

	return DONE(SYS_sched_setscheduler, 0, SCHED_FIFO, &one);
}

int64_t try_raise_limit(void)
{
	const struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	return DONE(SYS_prlimit64, 0, RLIMIT_NICE, &limit, 0);
}

int64_t try_much_memory(void)
{
	return DONE(SYS_mmap, 0, 3ul << 30, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

int64_t try_big_file(void)
{
	int64_t fd = CALL(SYS_memfd_create, "escape", 0);

	return fd < 0 ? fd : DONE(SYS_ftruncate, (int)fd, 2ul << 30);
}

int64_t try_many_descriptors(void)
{
	int64_t fd = 0;

	for (int i = 0; i < 4200 && fd >= 0; i++)
		fd = CALL(SYS_memfd_create, "escape", 0);
	return fd < 0 ? fd : 0;
}
