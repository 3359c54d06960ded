/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few kernel types that the programs read, with only the members that are used. CO-RE relocates
 * the members to the running kernel, so the build needs no kernel BTF. Names are as in
 * include/linux/sched.h and other headers of the kernel.
 */
#ifndef KEYHOLE_BPF_KERNEL_H
#define KEYHOLE_BPF_KERNEL_H

#include "bpf/abi.h"

/*
 * libbpf searches all types of the kernel for each type that is relocated: 5 ms in an emulated
 * guest. So types that have not changed since they came are not relocated.
 */
struct rb_node {
	unsigned long parent_and_color;
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct seq_file;
struct task_struct;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct super_block {
	unsigned int s_dev; /* dev_t */
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long start_code, end_code; /* of the program, its dynamic linker not included */
	unsigned long start_stack;	    /* of the main thread, below its arguments */
	struct rb_root mm_rb;		    /* before 6.1 */
};

struct upid {
	int nr; /* in the initial namespace, as the first of a struct pid */
};

struct pid {
	struct upid numbers[1];
};

#define PIDTYPE_SID 3 /* include/linux/pid_types.h, since 4.19 */

struct thread_struct {
	unsigned long fsbase;
};

struct signal_struct {
	atomic_t live;	       /* threads that have not reached do_exit() */
	struct pid *pids[4];   /* by enum pid_type */
	u64 sum_sched_runtime; /* ns, of threads that are gone */
};

struct sched_entity {
	u64 exec_start;		   /* the scheduler's clock, ns: when the task was last charged */
	u64 sum_exec_runtime;	   /* ns */
	u64 prev_sum_exec_runtime; /* the same when the task came to its CPU last */
	u64 nr_migrations;
	struct cfs_rq *cfs_rq; /* as struct cfs_rq.rq; that of the task's CPU */
};

struct sched_info {
	unsigned long long run_delay; /* ns */
};

struct rq {
	u64 clock; /* ns; since an instant of the CPU's own (kernel/sched/sched.h) */
};

struct cfs_rq {
	struct rq *rq; /* where CONFIG_FAIR_GROUP_SCHED is set */
};

typedef struct {
	unsigned int val; /* as in the initial user namespace */
} kuid_t;

struct cred {
	kuid_t uid, euid;
};

struct kernfs_node {
	u64 id;
	const char *name;
	struct kernfs_node *parent;   /* before 6.15 */
	struct kernfs_node *__parent; /* since 6.15 */
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	int level;
	struct kernfs_node *kn;
	u64 ancestor_ids[CGROUP_OUTER + 1];	    /* before 6.1; by level, its own included */
	struct cgroup *ancestors[CGROUP_OUTER + 1]; /* since 6.1 */
};

struct css_set {
	struct cgroup *dfl_cgrp; /* in version 2 */
};

struct pt_regs {
	unsigned long orig_ax; /* the number of the system call */
};

struct task_struct {
	void *stack; /* lowest address of the kernel's stack */
	unsigned int flags;
	int exit_state; /* not 0 after sched_process_exit */
	struct sched_entity se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	unsigned in_iowait : 1;
	long state;	      /* before 5.14 */
	unsigned int __state; /* since 5.14 */
	int pid;
	int tgid;
	struct task_struct *group_leader;
	u64 utime, stime; /* ns, by ticks */
	unsigned long nvcsw, nivcsw;
	u64 start_time; /* CLOCK_MONOTONIC, ns */
	unsigned long min_flt, maj_flt;
	const struct cred *real_cred;
	struct css_set *cgroups;
	struct signal_struct *signal;
	char comm[16];
	struct thread_struct thread;
};

struct orc_entry {
	unsigned end : 1;    /* before 6.4 */
	unsigned signal : 1; /* since 6.3 */
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct rb_node vm_rb; /* before 6.1 */
	unsigned long vm_flags;
};

#pragma clang attribute pop

#define VM_EXEC		   0x00000004 /* include/linux/mm.h */
#define PF_EXITING	   0x00000004
#define TASK_DEAD	   0x00000080u /* of __state: the thread runs no more */
#define TASK_INTERRUPTIBLE 0x00000001u
#define TASK_STOPS	   0x0000000cu /* __TASK_STOPPED | __TASK_TRACED */
#define PF_KTHREAD	   0x00200000  /* include/linux/sched.h; the same since 2.6.23 */

/* struct pt_regs of x86-64 as an array of words (arch/x86/include/asm/ptrace.h). */
enum pt_reg {
	PT_R15,
	PT_R14,
	PT_R13,
	PT_R12,
	PT_RBP,
	PT_RBX,
	PT_R11,
	PT_R10,
	PT_R9,
	PT_R8,
	PT_RAX,
	PT_RCX,
	PT_RDX,
	PT_RSI,
	PT_RDI,
	PT_ORIG_RAX,
	PT_RIP,
	PT_CS,
	PT_FLAGS,
	PT_RSP,
	PT_SS,
	PT_WORDS
};
/* THREAD_SIZE of x86-64 (arch/x86/include/asm/page_64_types.h), without KASAN. */
#define KERNEL_STACK_BYTES 16384u
#define CS_RPL_USER	   3u
#define CS_USER32	   0x23u
/* arch/x86/entry/syscalls/syscall_64.tbl; orig_rax has it until the call has returned */
#define NR_RT_SIGRETURN 15u

#endif
