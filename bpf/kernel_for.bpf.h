/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The offer of Linux 5.10, under the same names as in kernel_loop.bpf.h. Newer helpers are used
 * where the running kernel has them. The loader sets that constant, and the verifier skips the
 * other branch.
 */
#ifndef KEYHOLE_BPF_KERNEL_FOR_BPF_H
#define KEYHOLE_BPF_KERNEL_FOR_BPF_H

#include <bpf/bpf_core_read.h>

#include "bpf/env.bpf.h"

INLINE struct task_struct *task_now(void)
{
	return (void *)bpf_get_current_task();
}

INLINE u32 task_flags(struct task_struct *task)
{
	return BPF_CORE_READ(task, flags);
}

/*
 * Returns the registers that the entry to the kernel saved: struct pt_regs, to be read as kernel
 * memory. Kernels that leave room above the registers (FRED, 6.9) have the helper.
 */
INLINE void *task_registers(struct task_struct *task)
{
	if (newer_helpers & NEWER_TASK_PT_REGS)
		return (void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	return (char *)BPF_CORE_READ(task, stack) + KERNEL_STACK_BYTES - PT_WORDS * 8;
}

/* Since 5.15. */
INLINE int has_outer_helper(void)
{
	return 0;
}

/* Newer kernels run these programs in tests alone, where nothing needs to be read. */
INLINE int reads_outer(void)
{
	struct cgroup *cgroup = NULL;

	return !bpf_core_field_exists(cgroup->ancestors);
}

/* Since 5.13. */
INLINE int has_kernel_symbols(void)
{
	return newer_helpers & NEWER_SNPRINTF;
}

/*
 * Writes the kernel's name of an address; the caller has padded the buffer with NUL. Returns 0
 * without a name, and less without room to make the name.
 */
INLINE long kernel_symbol(void *to, u32 bytes, u64 address)
{
	if (!has_kernel_symbols())
		return 0;
	return bpf_snprintf(to, bytes, symbol_format, &address, sizeof(address));
}

/* Counts up, without an atomic operation: before 6.0 no hook is preempted by a hook of its kind. */
INLINE u64 next_count(u64 *count)
{
	return *(volatile u64 *)count = *(volatile u64 *)count + 1;
}

/*
 * Before the maple tree of 6.1, the areas of an address space are in a red-black tree
 * (include/linux/mm_types.h). A level costs up to 0.3 us, cold, without a look at the clock. So a
 * walk begins no search after AREA_LEVELS_WALK levels; then further addresses count as not
 * executable.
 */
#define AREA_TREE_DEPTH	 40u
#define AREA_LEVELS_WALK 32u

/* Returns the area of an address, or NULL. Takes no lock of the tree: see walk_executable(). */
INLINE struct vm_area_struct *find_area(struct walk *walk, struct mm_struct *mm, u64 address)
{
	struct rb_node *node = BPF_CORE_READ(mm, mm_rb.rb_node);

	for (u32 i = 0; node && i < AREA_TREE_DEPTH; i++) {
		struct vm_area_struct *area =
			(void *)((char *)node -
				 bpf_core_field_offset(struct vm_area_struct, vm_rb));

		walk->area_levels++;
		if (address >= BPF_CORE_READ(area, vm_end))
			node = BPF_PROBE_READ(node, rb_right);
		else if (address < BPF_CORE_READ(area, vm_start))
			node = BPF_PROBE_READ(node, rb_left);
		else
			return area;
	}
	return NULL;
}

/*
 * Searches the red-black tree without its lock. While another thread changes the address space, the
 * answer may be wrong in either direction, but all reads fail or end. Keeps the area that was
 * found.
 */
GLOBAL int walk_executable(u64 address)
{
	struct mm_struct *mm = BPF_CORE_READ(task_now(), mm);
	struct walk *walk = walk_state();
	struct vm_area_struct *area;

	if (!walk)
		return 0;
	if (address - walk->code_start < walk->code_end - walk->code_start)
		return 1;
	if (!bpf_core_field_exists(mm->mm_rb))
		return 0;
	/* a copy has the bounds of the program alone */
	if (walk_has_copy(walk) || walk->area_levels >= AREA_LEVELS_WALK)
		return 0;
	area = find_area(walk, mm, address);
	if (!area || !(BPF_CORE_READ(area, vm_flags) & VM_EXEC))
		return 0;
	walk->code_start = BPF_CORE_READ(area, vm_start);
	walk->code_end = BPF_CORE_READ(area, vm_end);
	return 1;
}

#define WALK_GROUP 32u /* frames */

/*
 * Takes some frames. Returns 0 if there are more. A global function: two short loops take the
 * verifier fewer instructions than a long one.
 */
GLOBAL int walk_group(void)
{
	for (u32 i = 0; i < WALK_GROUP; i++)
		if (walk_step())
			return runtime_refuse();
	return 0;
}

/* Takes all frames. */
INLINE void walk_all(void)
{
	NOT_UNROLLED
	for (u32 i = 0; i <= WALK_STEPS_MAX / WALK_GROUP; i++)
		if (walk_group())
			break;
}

#endif
