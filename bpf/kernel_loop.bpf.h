/* SPDX-License-Identifier: GPL-2.0-only */
/* What Linux 5.17 and newer offer; the same names as in kernel_for.bpf.h. */
#ifndef KEYHOLE_BPF_KERNEL_LOOP_BPF_H
#define KEYHOLE_BPF_KERNEL_LOOP_BPF_H

#include "bpf/env.bpf.h"

INLINE struct task_struct *task_now(void)
{
	return (void *)bpf_get_current_task_btf();
}

INLINE u64 task_mm(struct task_struct *task)
{
	return (u64)task->mm;
}

INLINE u32 task_flags(struct task_struct *task)
{
	return task->flags;
}

/* What the entry to the kernel saved: struct pt_regs, to be read as kernel memory. */
INLINE void *task_registers(struct task_struct *task)
{
	return (void *)bpf_task_pt_regs((void *)task);
}

/* Counts up; a hook may be preempted by another. */
INLINE u64 next_count(u64 *count)
{
	return __sync_fetch_and_add(count, 1) + 1;
}

static long is_executable(struct task_struct *task, struct vm_area_struct *area, void *result)
{
	*(int *)result = (area->vm_flags & VM_EXEC) != 0;
	return 0;
}

/* Not when somebody else changes the address space at this moment. */
GLOBAL int walk_executable(u64 address)
{
	int result = 0;

	bpf_find_vma(task_now(), address, is_executable, &result, 0);
	return result;
}

int walk_step(void);

static long walk_loop_body(u32 index, void *unused)
{
	return BOUND((u64)(u32)walk_step(), 2);
}

/* All frames. */
INLINE void walk_all(void)
{
	bpf_loop(RECORD_FRAMES_MAX + 1, walk_loop_body, NULL, 0);
}

#endif
