/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a word is a return address. Pure C. The includer supplies the
 * environment that bpf/walk/step.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_ADDRESS_BPF_H
#define KEYHOLE_BPF_WALK_ADDRESS_BPF_H

#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/table.bpf.h"

/*
 * Calls are e8 rel32, and ff /2 with its five lengths of operand (Intel SDM, CALL). Each function
 * gets the 8 bytes before an address.
 */
INLINE int code_calls_indirectly(u64 before)
{
	return (before >> 48 & 0x38ff) == 0x10ff || (before >> 40 & 0x38ff) == 0x10ff ||
	       (before >> 32 & 0x38ff) == 0x10ff || (before >> 16 & 0x38ff) == 0x10ff ||
	       (before >> 8 & 0x38ff) == 0x10ff;
}

/* Returns whether the bytes are a call of a fixed address, and can be no other call. */
INLINE int code_calls_directly(u64 before)
{
	return (before >> 24 & 0xff) == 0xe8 && !code_calls_indirectly(before);
}

INLINE int walk_is_call(u64 before)
{
	return (before >> 24 & 0xff) == 0xe8 || code_calls_indirectly(before);
}

/*
 * Returns whether the address is behind a call. The text may be unreadable: a child's page tables
 * get the parent's text only when the child runs there. The kernel may also take text back. In that
 * case an executable address is enough.
 */
INLINE int walk_after_call(struct walk *walk, u64 address)
{
	if (address < 8 || address >= WALK_ADDRESS_END)
		return 0;
	if (walk_has_copy(walk))
		return walk_copy_calls(address);
	return walk_read_code(address - 8) ? walk_executable(address) : walk_is_call(walk->code);
}

/* mov $15, %rax; sysc.. : the code to which a signal handler returns (glibc, musl) */
#define SIGRETURN_CODE 0x0f0000000fc0c748ull

/* flags of an address, which walk_copy_calls() is asked about */
#define KEPT_SIGRETURN (1ull << 63)
#define KEPT_SAVED_PC  (1ull << 62)

INLINE int walk_is_sigreturn(struct walk *walk, u64 address)
{
	if (walk_has_copy(walk))
		return walk_copy_calls(address | KEPT_SIGRETURN);
	return walk_read_code(address) ? walk_executable(address) : walk->code == SIGRETURN_CODE;
}

/* Returns whether a saved pc, which may be at any instruction, is that of code. */
INLINE int walk_is_saved_pc(struct walk *walk, u64 address)
{
	if (walk_has_copy(walk) && walk_copy_calls(address | KEPT_SAVED_PC))
		return 1;
	return walk_executable(address);
}

/*
 * Returns whether the address is in the code of a signal return. A handler returns to the first
 * byte. A leaf is at either instruction, or in the kernel behind the second one.
 */
INLINE int walk_at_sigreturn(struct walk *walk, u64 address)
{
	if (walk_is_sigreturn(walk, address))
		return 1;
	return walk->exact &&
	       (walk_is_sigreturn(walk, address - 7) || walk_is_sigreturn(walk, address - 9));
}

/* Returns whether the address is in a known executable mapping, which walk->mapping_* then is. */
INLINE int walk_is_mapped(struct walk *walk, u64 address)
{
	if (address >= walk->mapping_start && address < walk->mapping_end)
		return 1;
	return !table_find_mapping(address);
}

#endif
