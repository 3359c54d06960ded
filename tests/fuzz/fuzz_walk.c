/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over tables, registers, code and a stack that the input makes up, then damages. */
#include <stdint.h>

#include "tests/bpf/host.h"

#define TEXT  0x5555550f0000ull
#define STACK 0x7ffe00000000ull

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static u64 text[512];
static u64 stack[1024];
static struct build_table table;
static struct build_row row[64];

/* The next eight bytes of the input, then what follows from its size. */
static u64 take(const u8 **data, size_t *size)
{
	static u64 random;
	u64 value = 0, bytes = *size < 8 ? *size : 8;

	if (!bytes)
		return build_random(&random);
	memcpy(&value, *data, bytes);
	*data += bytes;
	*size -= bytes;
	random = *size + 1;
	return value;
}

/* Mostly a word that means something to a walk: return address, stack address; top bits choose. */
static u64 word(u64 value)
{
	if (value >> 59 == 31)
		return value & 1 ? value << 6 >> 6 : value & 2;
	return value >> 63 ? STACK + (value & 0x1ff8) : TEXT + (value & 0xff8);
}

/* Mostly a rule that a stack of small frames could have. */
static u64 rule(u64 value)
{
	static const u8 kinds[8] = {RULE_NONE, RULE_SP,	 RULE_SP,   RULE_SP,
				    RULE_BP,   RULE_PLT, RULE_WIDE, RULE_SIGNAL};

	if (!(value >> 60))
		return value;
	return RULE_MAKE(kinds[value >> 57 & 7], value, value >> 8 & value >> 32 & 0x333333,
			 value >> 40 & 0x78, 0);
}

static struct rule_wide make_wide(const u8 **data, size_t *size)
{
	u64 value = take(data, size);
	struct rule_wide wide = {.cfa_offset = value & 0xf8,
				 .cfa_add = value >> 8 & 0x18,
				 .base = value >> 16 & 1 ? REG_RSP : value >> 20,
				 .deref = value >> 17 & 1,
				 .ra_reg = value >> 18 & 3 ? 16 : value >> 24,
				 .ra_offset = -8 * (s32)(value >> 32 & 7)};

	for (u32 i = 0; i < RULE_SLOTS; i++) {
		value = take(data, size);
		wide.save[i] =
			value >> 63 ? (s32)(0x80000000u | (value & 0x1f)) : -8 * (s32)(value & 7);
	}
	return wide;
}

static void make_process(const u8 **data, size_t *size)
{
	struct rule_wide wide = make_wide(data, size);

	table.rules = 0;
	for (u32 i = 0; i < 64; i++) {
		row[i].pc = 0x10000 + i * 64ull;
		row[i].rule = rule(take(data, size));
		if (rule_kind(row[i].rule) == RULE_WIDE)
			row[i].rule = build_wide(&table, &wide);
	}
	build_reset(&host.build);
	build_table(&host.build, &table, row, 64, 0x11000);
	struct mapping_entry entry =
		build_mapping(&table, TEXT, TEXT + sizeof(text), TEXT - 0x10000);

	host.walk.block = build_block(&host.build, &entry, 1);
	for (u64 damage = take(data, size); damage >> 63; damage = take(data, size))
		*build_at(&host.build, 16 + (u32)(damage >> 1 & 0xfff)) ^= (u32)(damage >> 32);
}

static void make_thread(const u8 **data, size_t *size)
{
	for (u32 i = 0; i < sizeof(text) / 8; i++) {
		u64 code = take(data, size), kind = code >> 60;

		text[i] = !kind ? code : kind < 5 ? SIGRETURN_CODE : code << 32 | 0xe8000000;
	}
	for (u32 i = 0; i < sizeof(stack) / 8; i++)
		stack[i] = word(take(data, size));
	walk_init(&host.walk);
	for (u32 i = 0; i < 16; i++)
		host.walk.reg[i] = word(take(data, size));
	host.walk.reg[REG_RSP] &= ~0x1c00ull;
	host.walk.address = word(take(data, size) & ~0ull >> 1);
}

#define FRAME_MARKS (FRAME_EXACT | FRAME_GUESSED | FRAME_BY_POINTER)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (!size)
		return 0;
	if (!host.build.next)
		build_init(&host.build);
	memset(&host.cache, 0, sizeof(host.cache));
	host.region[0] = (struct host_region){TEXT, sizeof(text), text};
	host.region[1] = (struct host_region){STACK, sizeof(stack), stack};
	make_process(&data, &size);
	host.walk.mappings =
		1 + (u32)(take(&data, &size) & take(&data, &size) & BLOCK_MAPPINGS_MAX);
	host.walk.multiplier = take(&data, &size) | 1;
	host.walk.deadline = ~0ull;
	host.walk.looked = host.clock;
	make_thread(&data, &size);
	host.walk.in_sigreturn = size & 1;
	assert(host_walk() <= RECORD_FRAMES_MAX);
	assert(host.walk.frames <= RECORD_FRAMES_MAX && host.walk.reason < REASON_lost_ring_full);
	for (u32 i = 0; i < host.walk.frames; i++)
		assert((host.frame[i] & ~FRAME_MARKS) < WALK_ADDRESS_END);
	return 0;
}
