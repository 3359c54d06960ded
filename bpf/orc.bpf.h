/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel part of a sample by the kernel's own unwind tables (ORC). The kernel's own walk is
 * most of what a sample in kernel mode costs: 15 us for 10 frames, where caches are cold. This walk
 * does what unwind_next_frame() does (arch/x86/kernel/unwind_orc.c), with the rows of recent
 * addresses in a cache.
 *
 * The walk gives up at code of modules and of BPF, at a return address that a tracer replaced, and
 * at rare kinds of rows. The caller then has the kernel walk. A walk is whole only if it ends on
 * the task's own stack, because a switch takes the next task's stack before the next task. All
 * addresses are the kernel's, and stay in maps that no process has.
 *
 * Layout of the tables: arch/x86/include/asm/orc_types.h of Linux 5.10 to 7.x. A row has 6 bytes:
 * s16 offset from SP, s16 offset of BP, u16 of bit-fields. Linux 6.3 and 6.4 changed the fields.
 * The includer supplies what its kernels offer (kernel_*.bpf.h).
 */
#ifndef KEYHOLE_BPF_ORC_BPF_H
#define KEYHOLE_BPF_ORC_BPF_H

#include "bpf/base.bpf.h"
#include "bpf/config.bpf.h"
#include "bpf/env.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/walk/cache.bpf.h"

#define ORC_STEPS KERNEL_ORC_ROWS_BITS /* of a search */

enum orc_register { /* ORC_REG_* before 7.0 */
	ORC_UNDEFINED = 0,
	ORC_PREVIOUS_SP = 1,
	ORC_BP = 4,
	ORC_SP = 5,
	ORC_BP_INDIRECT = 8,
	ORC_SP_INDIRECT = 9,
};

/* Since 7.0 SP is 3, the previous SP 8, indirect by BP 10. Four bits each: what the number was. */
#define ORC_NEW_SP	3u
#define ORC_NEW_NUMBERS 0xfffff891fff45ff0ull

enum orc_kind {
	ORC_UNKNOWN, /* also no row: a rule that is 0 */
	ORC_END,     /* of the stack */
	ORC_CALL,
	ORC_REGISTERS, /* of an interrupt or a system call: a struct pt_regs */
};

/* A rule is a row whose bit-fields are those below. */
#define ORC_SP_OFFSET(rule)   ((s64)(s16)(rule))
#define ORC_BP_OFFSET(rule)   ((s64)(s16)((rule) >> 16))
#define ORC_SP_REGISTER(rule) ((rule) >> 32 & 15)
#define ORC_BP_REGISTER(rule) ((rule) >> 36 & 15)
#define ORC_KIND(rule)	      ((rule) >> 40 & 3)
#define ORC_SIGNAL(rule)      ((rule) >> 42 & 1) /* the next frame did not call */

enum orc_result {
	ORC_GOES_ON,
	ORC_IS_WHOLE,
	ORC_IS_CUT, /* for lack of time */
	ORC_GIVES_UP
};

INLINE struct kernel_orc *orc_tables(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&orc_places, &zero);
}

/* Returns kind and signal of a row before Linux 6.4, which had a bit for the end. */
INLINE u64 orc_old_kind(u64 fields, int has_signal)
{
	u64 type = fields >> 8 & 3, signal = type != 0, end = fields >> 10 & 1;

	if (has_signal) {
		signal = fields >> 10 & 1;
		end = fields >> 11 & 1;
	}
	if ((fields & 15) == ORC_UNDEFINED)
		return end ? ORC_END : ORC_UNKNOWN;
	/* 5.10 adds the offset of SP_INDIRECT before it reads */
	if (type > 1 || (!has_signal && (fields & 15) == ORC_SP_INDIRECT))
		return ORC_UNKNOWN;
	return (type + ORC_CALL) | signal << 2;
}

INLINE u64 orc_new_kind(u64 fields)
{
	u64 type = fields >> 8 & 7;

	return (type > ORC_REGISTERS ? ORC_UNKNOWN : type) | (fields >> 11 & 1) << 2;
}

/* Returns the registers of a row by their numbers before 7.0. */
INLINE u64 orc_registers(u64 fields, u32 sp)
{
	u64 registers = fields & 255;

	if (sp == ORC_NEW_SP)
		registers = (ORC_NEW_NUMBERS >> (fields & 15) * 4 & 15) |
			    (ORC_NEW_NUMBERS >> (fields >> 4 & 15) * 4 & 15) << 4;
	return registers;
}

/* Returns the rule of a row. sp: the number of SP in rows. */
INLINE u64 orc_rule(u64 row, u32 sp)
{
	u64 fields = row >> 32 & 0xffff, kind;
	int has_signal = bpf_core_field_exists(((struct orc_entry *)0)->signal);

	if (bpf_core_field_exists(((struct orc_entry *)0)->end))
		kind = orc_old_kind(fields, has_signal);
	else
		kind = has_signal ? orc_new_kind(fields) : ORC_UNKNOWN;
	return (row & 0xffffffff) | orc_registers(fields, sp) << 32 | kind << 40;
}

/* Returns the address of which a row is the first one. addresses: as in struct kernel_orc. */
INLINE u64 orc_address(u64 addresses, u64 row)
{
	u64 at = addresses + row * KERNEL_ORC_ADDRESS_BYTES;
	s32 distance = 0;

	bpf_probe_read_kernel(&distance, sizeof(distance), (void *)at);
	return at + (s64)distance;
}

/* Returns the last row of [row, row + count) that is not behind the address. */
GLOBAL u64 orc_search(u64 addresses, u64 address, u64 row, u64 count)
{
	NOT_UNROLLED
	for (u32 i = 0; i < ORC_STEPS; i++) {
		u64 half = count >> 1;

		if (!half)
			break;
		/* without a branch, as TABLE_SEARCH() */
		row += half & (0 - ((orc_address(addresses, row + half) - address - 1) >> 63));
		count -= half;
	}
	return row;
}

/* Returns the row at the start of a block of text, of which it makes a note. */
INLINE u64 orc_block(const struct kernel_orc *orc, u32 block)
{
	u32 number = ORC_NOTES_AT + block / ORC_NOTES;
	union orc_place *place = bpf_map_lookup_elem(&orc_places, &number);
	volatile u32 *note = place ? &place->note[block % ORC_NOTES] : NULL;
	u64 row = note ? *note : 0;

	if (row)
		return row - 1;
	row = orc_search(orc->addresses, orc->text_start + ((u64)block << ORC_BLOCK_BITS), 0,
			 orc->rows);
	if (note)
		*note = row + 1;
	return row;
}

/* Finds the row of an address. */
INLINE u64 orc_row(const struct kernel_orc *orc, u64 address)
{
	u32 block = (address - orc->text_start) >> ORC_BLOCK_BITS;
	u64 low = 0, high = 0;

	NOT_UNROLLED
	for (u32 i = 0; i < 2; i++) {
		low = high;
		high = orc_block(orc, block + i);
	}
	return orc_search(orc->addresses, address, low, high - low + 1);
}

INLINE u64 orc_read_row(const struct kernel_orc *orc, u64 row)
{
	u64 packed = 0;

	bpf_probe_read_kernel(&packed, KERNEL_ORC_ROW_BYTES,
			      (void *)(orc->first_row + row * KERNEL_ORC_ROW_BYTES));
	return packed;
}

/* Finds the rule of an address. Returns first << 6 | last, as table_find_rule() does. */
INLINE u64 orc_find(const struct kernel_orc *orc, u64 address, u64 *ret_rule)
{
	u64 row = orc_row(orc, address);
	u64 first = orc_address(orc->addresses, row) - (address & ~63ull);
	u64 end = orc_address(orc->addresses, row + 1) - (address & ~63ull);

	*ret_rule = orc_rule(orc_read_row(orc, row), orc->sp);
	if ((s64)first < 0)
		first = 0;
	if (end > 64)
		end = 64;
	return (first & 63) << 6 | ((end - 1) & 63);
}

/* Returns the rule of an address of the kernel's text: out of the cache, or of the tables. */
INLINE u64 orc_rule_of(const struct kernel_orc *orc, u64 address)
{
	u64 key = cache_key(address, 0, cache_multiplier), rule = 0, packed;
	u32 number = 1 + (key >> 12 & (ORC_LINES - 1));
	struct cache_line *line = bpf_map_lookup_elem(&orc_places, &number);

	if (!line)
		return 0;
	if (cache_probe(line, key, address & 63, cache_multiplier, &rule) != CACHE_MISS)
		return rule;
	packed = orc_find(orc, address, &rule);
	cache_put(line, address >> 4, cache_pack(key, packed >> 6 & 63, packed & 63), rule,
		  cache_multiplier);
	return rule;
}

INLINE int orc_is_text(const struct kernel_orc *orc, u64 address)
{
	return address - orc->text_start < orc->text_end - orc->text_start;
}

/* Reads `words` words of the kernel's stack. Returns 0 or 1. */
INLINE int orc_read(u64 *to, u32 words, u64 address)
{
	return bpf_probe_read_kernel(to, words * 8, (void *)address) != 0;
}

/* Finds the frame's CFA. Returns 0 or 1. */
INLINE int orc_base(const struct orc_walk *walk, u64 rule, u64 *ret_base)
{
	u64 offset = ORC_SP_OFFSET(rule), word = 0;

	switch (ORC_SP_REGISTER(rule)) {
	case ORC_SP:
		*ret_base = walk->sp + offset;
		/* a caller has more on the same stack, and registers may lie at SP */
		return ORC_KIND(rule) == ORC_CALL && (s64)offset <= 0;
	case ORC_BP:
		*ret_base = walk->bp + offset;
		return 0;
	case ORC_BP_INDIRECT:
		if (orc_read(&word, 1, walk->bp + offset))
			return 1;
		*ret_base = word;
		return 0;
	case ORC_SP_INDIRECT:
		if (orc_read(&word, 1, walk->sp))
			return 1;
		*ret_base = word + offset;
		return 0;
	default:
		return 1;
	}
}

/* Returns whether the task's own stack has an address. */
INLINE int orc_is_own(const struct orc_walk *walk, u64 address)
{
	return address - walk->stack < KERNEL_STACK_BYTES;
}

/* Goes on at what an interrupt, or the entry from user mode, saved at the base. */
INLINE int orc_resume(struct orc_walk *walk, u64 base)
{
	u64 saved[PT_RSP - PT_RIP + 1];

	if (orc_read(saved, PT_RSP - PT_RIP + 1, base + PT_RIP * 8) ||
	    orc_read(&walk->bp, 1, base + PT_RBP * 8))
		return ORC_GIVES_UP;
	if ((saved[PT_CS - PT_RIP] & CS_RPL_USER) == CS_RPL_USER)
		return orc_is_own(walk, base) ? ORC_IS_WHOLE : ORC_GIVES_UP;
	walk->ip = saved[0];
	walk->sp = saved[PT_RSP - PT_RIP];
	return ORC_GOES_ON;
}

/* Goes on at the caller. Most frames have BP saved below the return address. */
INLINE int orc_return(struct orc_walk *walk, u64 rule, u64 base)
{
	u64 saved[2], offset = ORC_BP_OFFSET(rule);

	if (orc_read(saved, 2, base - 16))
		return ORC_GIVES_UP;
	switch (ORC_BP_REGISTER(rule)) {
	case ORC_UNDEFINED:
		break;
	case ORC_PREVIOUS_SP:
		if (offset != -16ull && orc_read(saved, 1, base + offset))
			return ORC_GIVES_UP;
		walk->bp = saved[0];
		break;
	case ORC_BP:
		if (orc_read(&walk->bp, 1, walk->bp + offset))
			return ORC_GIVES_UP;
		break;
	default:
		return ORC_GIVES_UP;
	}
	walk->ip = saved[1];
	walk->sp = base;
	return ORC_GOES_ON;
}

/* Goes one frame up. */
GLOBAL int orc_step(void)
{
	struct scratch *scratch = scratch_state();
	struct kernel_orc *orc = orc_tables();
	int result = ORC_GIVES_UP;
	u64 base;

	if (!scratch || !orc)
		return result;
	struct orc_walk *walk = &scratch->orc;
	u64 rule = orc_rule_of(orc, walk->signal ? walk->ip : walk->ip - 1);

	if (ORC_KIND(rule) == ORC_END)
		return orc_is_own(walk, walk->sp - 1) ? ORC_IS_WHOLE : ORC_GIVES_UP;
	if (ORC_KIND(rule) == ORC_UNKNOWN || orc_base(walk, rule, &base))
		return result;
	if (ORC_KIND(rule) == ORC_REGISTERS)
		result = orc_resume(walk, base);
	else
		result = orc_return(walk, rule, base);
	if (result != ORC_GOES_ON)
		return result;
	walk->signal = ORC_SIGNAL(rule);
	if (!orc_is_text(orc, walk->ip) || walk->ip == orc->replaced[0] ||
	    walk->ip == orc->replaced[1])
		return ORC_GIVES_UP;
	return ORC_GOES_ON;
}

#define ORC_GROUP 16u /* frames that one function takes */

/*
 * Takes some of the frames. The first KERNEL_FRAMES_FIRST come in any case, others until the
 * deadline. A group has its own loop: the verifier takes that loop once.
 */
GLOBAL int orc_group(u64 deadline)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return ORC_GIVES_UP;
	struct orc_walk *walk = &scratch->orc;

	if (walk->frames >= KERNEL_FRAMES_FIRST && bpf_ktime_get_ns() > deadline)
		return ORC_IS_CUT;
	NOT_UNROLLED
	for (u32 i = 0; i < ORC_GROUP && walk->frames < RECORD_KERNEL_FRAMES_MAX; i++) {
		int result;

		scratch->sample.kernel[BOUND(walk->frames, RECORD_KERNEL_FRAMES_MAX)] = walk->ip;
		walk->frames++;
		result = orc_step();
		if (result != ORC_GOES_ON)
			return result;
	}
	return ORC_GOES_ON;
}

/*
 * Stores the addresses of the stack from scratch->orc on. Returns how many there are, or 0 where
 * the kernel has to walk.
 */
INLINE u32 orc_walk(struct scratch *scratch, u64 deadline)
{
	int result = ORC_GOES_ON;

	NOT_UNROLLED
	for (u32 i = 0; i <= RECORD_KERNEL_FRAMES_MAX / ORC_GROUP && result == ORC_GOES_ON; i++)
		result = orc_group(deadline);
	if (result == ORC_GIVES_UP)
		return 0;
	if (result != ORC_IS_WHOLE)
		scratch->sample.record.flags |= RECORD_FLAG_KERNEL_CUT;
	return scratch->orc.frames;
}

/*
 * Returns whether the numbers of registers are known. Linux 7.0 gave them others, and nothing of
 * the kernel says which it has. A function begins with the return address at SP: its row tells.
 */
INLINE int orc_knows_numbers(struct kernel_orc *orc)
{
	if (!orc->sp) {
		u64 row = orc_search(orc->addresses, orc->function, 0, orc->rows);

		orc->sp = orc_read_row(orc, row) >> 32 & 15;
	}
	return orc->sp == ORC_SP || orc->sp == ORC_NEW_SP;
}

/* Begins at the registers of an interrupt. Returns 0 where there are no tables, or no text. */
INLINE int orc_begin(void *ctx, struct scratch *scratch)
{
	const volatile u64 *regs = ctx;
	struct kernel_orc *orc = orc_tables();
	struct orc_walk *walk = &scratch->orc;

	if (!orc || !orc->rows || !orc_knows_numbers(orc))
		return 0;
	walk->stack = (u64)BPF_CORE_READ(task_now(), stack);
	walk->ip = regs[PT_RIP];
	walk->sp = regs[PT_RSP];
	walk->bp = regs[PT_RBP];
	walk->signal = 1;
	walk->frames = 0;
	return orc_is_text(orc, walk->ip);
}

#endif
