/* SPDX-License-Identifier: GPL-2.0-only */
/* The offer of Linux 5.17 and newer, under the same names as in kernel_for.bpf.h. */
#ifndef KEYHOLE_BPF_KERNEL_LOOP_BPF_H
#define KEYHOLE_BPF_KERNEL_LOOP_BPF_H

#include "bpf/env.bpf.h"

#define WALK_NAMES_WASM /* bpf/walk/v8_wasm.bpf.h */

INLINE struct task_struct *task_now(void)
{
	return (void *)bpf_get_current_task_btf();
}

INLINE u32 task_flags(struct task_struct *task)
{
	return task->flags;
}

/* Returns the registers that the entry saved: struct pt_regs, to be read as kernel memory. */
INLINE void *task_registers(struct task_struct *task)
{
	return (void *)bpf_task_pt_regs((void *)task);
}

INLINE int has_kernel_symbols(void)
{
	return 1;
}

INLINE int has_outer_helper(void)
{
	return 1;
}

INLINE int reads_outer(void)
{
	return 0;
}

/*
 * Writes the kernel's name of an address; the caller has padded the buffer with NUL. Returns 0
 * without a name, and less without room to make the name.
 */
INLINE long kernel_symbol(void *to, u32 bytes, u64 address)
{
	return bpf_snprintf(to, bytes, symbol_format, &address, sizeof(address));
}

/* Counts up atomically: a hook may be preempted by another one. */
INLINE u64 next_count(u64 *count)
{
	return __sync_fetch_and_add(count, 1) + 1;
}

static long remember_code(struct task_struct *task, struct vm_area_struct *area, void *unused)
{
	struct walk *walk = walk_state();

	if (walk && area->vm_flags & VM_EXEC) {
		walk->code_start = area->vm_start;
		walk->code_end = area->vm_end;
	}
	return 0;
}

/*
 * The kernel answers one question per interrupt. Work at the interrupt's end gives the lock back;
 * until then further questions are -EBUSY. So the walk keeps the area of the answer, and also
 * trusts the kernel's bounds of the program's code. The kernel does not answer while another thread
 * changes the address space.
 */
GLOBAL int walk_executable(u64 address)
{
	struct task_struct *task = task_now();
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	if (address - walk->code_start < walk->code_end - walk->code_start)
		return 1;
	/* a copy has the bounds of the program alone */
	if (walk_has_copy(walk))
		return 0;
	bpf_find_vma(task, address, remember_code, NULL, 0);
	if (address - walk->code_start < walk->code_end - walk->code_start)
		return 1;
	struct mm_struct *mm = task->mm;

	return mm && address >= mm->start_code && address < mm->end_code;
}

static long walk_loop_body(u32 index, void *unused)
{
	return BOUND((u64)(u32)(walk_step() && runtime_refuse()), 2);
}

/* Takes all frames. */
INLINE void walk_all(void)
{
	bpf_loop(WALK_STEPS_MAX, walk_loop_body, NULL, 0);
}

#endif
