/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/go_switch.h"

#include <string.h>

#define NONE	     ((size_t)-1)
#define WORD	     8u
#define DISTANCE_MAX (GO_SWITCH_DISTANCE_MAX * WORD)

/* numbers of registers in instructions */
enum {
	RDX = 2,
	RBX = 3,
	RSP = 4,
	RBP = 5,
	RDI = 7
};

struct code {
	const unsigned char *bytes;
	size_t size;
};

/* ---- instructions (Intel SDM, MOV, SUB and AND) ---- */

/* Bytes at an offset; 0 behind the end. */
static unsigned int at(const struct code *code, size_t offset)
{
	return offset < code->size ? code->bytes[offset] : 0;
}

static s32 word_at(const struct code *code, size_t offset)
{
	u32 word = 0;

	for (size_t i = 0; i < sizeof(word); i++)
		word |= (u32)at(code, offset + i) << 8 * i;
	return (s32)word;
}

static bool is_wide(unsigned int prefix)
{
	return (prefix & 0xf8) == 0x48; /* REX.W */
}

/* mov 0x38(reg), %rsp or mov (%rbx), %rsp: the stack of a goroutine (struct g, sched.sp). */
static size_t loads_stack(const struct code *code, size_t i)
{
	if ((at(code, i) & 0xfe) != 0x48 || at(code, i + 1) != 0x8b)
		return 0;
	if ((at(code, i + 2) & 0xf8) == 0x60 && at(code, i + 3) == 0x38)
		return 4;
	return at(code, i + 2) == 0x23 ? 3 : 0;
}

/* mov from, to */
static bool moves(const struct code *code, size_t i, unsigned int from, unsigned int to)
{
	unsigned int prefix = 0x48 | (from >> 3) << 2 | to >> 3;

	return at(code, i) == prefix && at(code, i + 1) == 0x89 &&
	       at(code, i + 2) == (0xc0u | (from & 7) << 3 | (to & 7));
}

/* Returns the length of an instruction that writes rsp, other than by counting, or 0. */
static size_t writes_stack(const struct code *code, size_t i)
{
	size_t length = loads_stack(code, i);

	if (length > 0)
		return length;
	if (is_wide(at(code, i)) && !(at(code, i) & 1) && at(code, i + 1) == 0x89 &&
	    (at(code, i + 2) & 0xc7) == 0xc4)
		return 3;
	return 0;
}

/* mov reg, disp(%rsp). Returns its length and the displacement, or 0. */
static size_t stores(const struct code *code, size_t i, unsigned int reg, u32 *ret_disp)
{
	unsigned int prefix = 0x48 | (reg >> 3) << 2, place = (reg & 7) << 3 | RSP;

	if (at(code, i) != prefix || at(code, i + 1) != 0x89 || at(code, i + 3) != 0x24)
		return 0;
	*ret_disp = 0;
	if (at(code, i + 2) == place)
		return 4;
	*ret_disp = at(code, i + 4);
	return at(code, i + 2) == (0x40 | place) ? 5 : 0;
}

/* ---- searching ---- */

/* Returns the end of the first instruction from an offset on that writes rsp, or NONE. */
static size_t find_write(const struct code *code, size_t from)
{
	for (size_t i = from; i < code->size; i++) {
		size_t length = writes_stack(code, i);

		if (length > 0)
			return i + length;
	}
	return NONE;
}

static size_t find_move(const struct code *code, size_t from, unsigned int source, unsigned int to)
{
	for (size_t i = from; i < code->size; i++)
		if (moves(code, i, source, to))
			return i;
	return NONE;
}

/* Finds a store of a register into the frame. Returns its end, and the index of the word. */
static size_t find_store(const struct code *code, size_t from, unsigned int reg, u32 *ret_word)
{
	for (size_t i = from; i < code->size; i++) {
		u32 disp = 0;
		size_t length = stores(code, i, reg, &disp);

		if (length > 0 && disp % WORD == 0) {
			*ret_word = disp / WORD;
			return i + length;
		}
	}
	return NONE;
}

static struct go_range *add(struct go_ranges *ranges, size_t start, size_t end,
			    enum go_range_kind kind)
{
	struct go_range *range = &ranges->range[ranges->count++];

	*range = (struct go_range){.start = (u32)start, .end = (u32)end, .kind = kind};
	return range;
}

static struct go_range *add_switch(struct go_ranges *ranges, size_t start, size_t end,
				   enum go_switch kind)
{
	struct go_range *range = add(ranges, start, end, GO_RANGE_SWITCH);

	range->switches = kind;
	return range;
}

/* ---- functions ---- */

/* From one write to the next one the function is on another stack. */
static void find_pair(const struct code *code, enum go_switch kind, struct go_ranges *ranges)
{
	size_t away = find_write(code, 0), back;

	if (away == NONE)
		return;
	back = find_write(code, away);
	if (back != NONE && find_write(code, back) == NONE)
		add_switch(ranges, away, back, kind);
}

static void find_systemstack(const struct code *code, struct go_ranges *ranges)
{
	find_pair(code, GO_SWITCH_SYSTEM, ranges);
}

static void find_callback(const struct code *code, struct go_ranges *ranges)
{
	find_pair(code, GO_SWITCH_CALLBACK, ranges);
}

/* The function never comes back. */
static void find_leaving(const struct code *code, enum go_switch kind, struct go_ranges *ranges)
{
	size_t away = find_write(code, 0);

	if (away != NONE && find_write(code, away) == NONE)
		add_switch(ranges, away, code->size, kind);
}

static void find_morestack(const struct code *code, struct go_ranges *ranges)
{
	find_leaving(code, GO_SWITCH_GROW, ranges);
}

static void find_mcall(const struct code *code, struct go_ranges *ranges)
{
	find_leaving(code, GO_SWITCH_LEAVE, ranges);
}

static void find_gogo(const struct code *code, struct go_ranges *ranges)
{
	find_leaving(code, GO_SWITCH_ENTER, ranges);
}

static void find_preempt(const struct code *code, struct go_ranges *ranges)
{
	add_switch(ranges, 0, code->size, GO_SWITCH_INTERRUPTED);
}

/* sub $imm8, %rsp */
static size_t find_room(const struct code *code, size_t from)
{
	for (size_t i = from; i < code->size; i++)
		if (at(code, i) == 0x48 && at(code, i + 1) == 0x83 && at(code, i + 2) == 0xec)
			return i;
	return NONE;
}

/* Where the function stays on its stack, it keeps that in rdx, and then in the frame. */
static void find_aligned(const struct code *code, size_t from, struct go_ranges *ranges)
{
	size_t room = find_room(code, from), kept, back;
	u32 old;

	if (room == NONE)
		return;
	kept = find_store(code, room, RDX, &old);
	back = find_write(code, room);
	if (kept == NONE || back == NONE || kept > back)
		return;
	add(ranges, room, kept, GO_RANGE_REGISTER)->operand = RDX;
	add(ranges, kept, back, GO_RANGE_WORD)->operand = old;
}

/*
 * The frame on the thread's stack has the goroutine. The word before has the distance of the
 * goroutine's stack pointer from the end of its stack.
 */
static void find_asmcgocall(const struct code *code, struct go_ranges *ranges)
{
	size_t away = find_write(code, 0), back, known;
	u32 goroutine, depth;

	if (away == NONE)
		return;
	back = find_write(code, away);
	known = find_store(code, away, RDI, &goroutine);
	if (known == NONE || back == NONE)
		return;
	known = find_store(code, known, RDI, &depth);
	if (known == NONE || known > back || goroutine != depth + 1)
		return;
	add_switch(ranges, away, known, GO_SWITCH_SYSTEM);
	add_switch(ranges, known, back, GO_SWITCH_CGO)->operand = goroutine;
	find_aligned(code, back, ranges);
}

/* Registers that calls preserve, by their numbers in instructions, and their save slots. */
static const struct {
	unsigned int reg, slot;
} preserved[] = {{RBX, 1}, {12, 2}, {13, 3}, {14, 4}, {15, 5}};
#define PRESERVED (sizeof(preserved) / sizeof(preserved[0]))

static void find_crosscall(const struct code *code, struct go_ranges *ranges)
{
	size_t end = 0;
	u32 saved = 0;

	for (size_t i = 0; i < PRESERVED; i++) {
		u32 word = 0;
		size_t next = find_store(code, end, preserved[i].reg, &word);

		if (next == NONE || word > 15)
			return;
		saved |= word << 4 * preserved[i].slot;
		end = next;
	}
	add(ranges, end, code->size, GO_RANGE_SAVED)->saved = saved;
}

/* DWARF numbers of registers that calls preserve, except rsp. */
static const struct {
	unsigned int reg;
	u32 dwarf;
} keepers[] = {{RBX, 3}, {RBP, 6}, {12, 12}, {13, 13}, {14, 14}, {15, 15}};

/* Any function that keeps the old stack pointer in a register, until it takes it back. */
static void find_kept(const struct code *code, struct go_ranges *ranges)
{
	for (size_t i = 0; i < sizeof(keepers) / sizeof(keepers[0]); i++) {
		size_t start = find_move(code, 0, RSP, keepers[i].reg), end, next;

		if (start == NONE)
			continue;
		end = find_move(code, start, keepers[i].reg, RSP);
		if (end == NONE)
			continue;
		while ((next = find_move(code, end + 1, keepers[i].reg, RSP)) != NONE)
			end = next;
		add_switch(ranges, start + 3, end + 3, GO_SWITCH_KEPT)->operand = keepers[i].dwarf;
		return;
	}
}

static const struct {
	const char *name;
	void (*find)(const struct code *code, struct go_ranges *ranges);
} functions[] = {
	{"runtime.systemstack", find_systemstack},
	{"runtime.morestack", find_morestack},
	{"runtime.mcall", find_mcall},
	{"runtime.asmcgocall", find_asmcgocall},
	{"runtime.cgocallback", find_callback},
	{"gogo", find_gogo},
	{"runtime.gogo", find_gogo}, /* Go 1.16 */
	{"runtime.asyncPreempt", find_preempt},
	{"crosscall2", find_crosscall},
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static size_t number_of(const char *name)
{
	size_t i = 0;

	while (i < FUNCTIONS && strcmp(name, functions[i].name) != 0)
		i++;
	return i;
}

bool go_switch_writes(const void *bytes, size_t size)
{
	const struct code code = {bytes, size};

	return find_write(&code, 0) != NONE;
}

bool go_switch_is_known(const char *name)
{
	return number_of(name) < FUNCTIONS;
}

void go_switch_find(const char *name, bool writes, const void *bytes, size_t size,
		    struct go_ranges *ret_ranges)
{
	const struct code code = {bytes, size};
	size_t number = number_of(name);

	ret_ranges->count = 0;
	if (number < FUNCTIONS)
		functions[number].find(&code, ret_ranges);
	else if (writes)
		find_kept(&code, ret_ranges);
}

/* ---- the layout ---- */

#define LOAD_BYTES 7u

/* mov %fs:disp, reg; or mov $disp, %rcx and mov %fs:(%rcx), reg in code that may lie anywhere. */
static s32 find_thread_local(const struct code *code)
{
	for (size_t i = 0; i < code->size; i++) {
		if (at(code, i) == 0x64 && at(code, i + 1) == 0x48 && at(code, i + 2) == 0x8b &&
		    (at(code, i + 3) & 0xc7) == 0x04 && at(code, i + 4) == 0x25)
			return word_at(code, i + 5);
		if (at(code, i) == 0x48 && at(code, i + 1) == 0xc7 && at(code, i + 2) == 0xc1 &&
		    at(code, i + LOAD_BYTES) == 0x64)
			return word_at(code, i + 3);
	}
	return 0;
}

/*
 * mov disp(%rip), %rcx and mov %fs:(%rcx), reg in a library. Returns the number of the word, as
 * rules have it, or 0.
 */
static s32 find_thread_local_word(const struct code *code, u64 address)
{
	for (size_t i = 0; i + LOAD_BYTES <= code->size; i++) {
		u64 word;

		if (at(code, i) != 0x48 || at(code, i + 1) != 0x8b || at(code, i + 2) != 0x0d ||
		    at(code, i + LOAD_BYTES) != 0x64)
			continue;
		word = address + i + LOAD_BYTES + (u64)(s64)word_at(code, i + 3);
		if (word % WORD != 0 || word / WORD > RULE_OFFSET_MAX)
			return 0;
		return (s32)(word / WORD);
	}
	return 0;
}

static bool find_place(const struct code *code, u64 address, struct go_layout *layout)
{
	s32 found = find_thread_local(code);

	layout->in_word = found == 0;
	layout->thread_local_at = found;
	if (found != 0)
		return found < 0 && found >= -(s32)GO_THREAD_LOCAL_MAX && found % (s32)WORD == 0;
	layout->thread_local_at = find_thread_local_word(code, address);
	return layout->thread_local_at != 0;
}

#define COMPARE_BYTES 7u

/* cmp disp(%rbx), %rax: m.curg */
static s32 find_current(const struct code *code)
{
	for (size_t i = 0; i + COMPARE_BYTES <= code->size; i++)
		if (at(code, i) == 0x48 && at(code, i + 1) == 0x3b && at(code, i + 2) == 0x83)
			return word_at(code, i + 3);
	return 0;
}

bool go_switch_layout(u64 address, const void *bytes, size_t size, struct go_layout *ret_layout)
{
	static const s32 current[] = {GO_CURRENT_116, GO_CURRENT_125};
	const struct code code = {bytes, size};
	s32 found = find_current(&code);

	if (!find_place(&code, address, ret_layout))
		return false;
	for (u32 i = 0; i < sizeof(current) / sizeof(current[0]); i++) {
		if (found == current[i]) {
			ret_layout->number = i;
			ret_layout->current = (u32)found;
			return true;
		}
	}
	return false;
}

/* ---- rules ---- */

static u64 switch_rule(const struct go_range *range, const struct go_layout *layout, s32 distance,
		       bool saved)
{
	u32 operands =
		GO_SWITCH_OPERANDS((u32)distance / WORD, layout->number, range->operand, saved);

	if (layout->thread_local_at == 0)
		return RULE_NONE;
	if (layout->in_word)
		operands |= GO_SWITCH_IN_WORD;
	return RULE_MAKE(RULE_SWITCH, range->switches, operands, layout->thread_local_at, 0);
}

/*
 * Slots count words from the CFA down; the range counts them up from the stack pointer. Behind that
 * stack pointer they are given up.
 */
static u32 saved_slots(const struct go_range *range, s32 distance)
{
	u32 slots = 1;

	if (distance < range->first)
		return 1;
	for (size_t i = 0; i < PRESERVED; i++) {
		u32 shift = 4 * preserved[i].slot, word = range->saved >> shift & 15;
		s32 slot = range->first / (s32)WORD - (s32)word;

		if (slot < 1 || slot > 15)
			return 1;
		slots |= (u32)slot << shift;
	}
	return slots;
}

u64 go_switch_rule(struct go_range *range, const struct go_layout *layout, s32 distance, bool saved)
{
	const u32 slots = saved;

	if (range->first == 0)
		range->first = distance;
	if (distance < 0 || distance > (s32)DISTANCE_MAX || distance % (s32)WORD != 0)
		return RULE_MAKE(RULE_UNSUPPORTED, 0, 0, 0, 0);
	if (range->kind == GO_RANGE_SWITCH)
		return switch_rule(range, layout, distance, saved);
	if (range->kind == GO_RANGE_REGISTER)
		return RULE_MAKE(RULE_REG, 1, slots, distance + 8, 0); /* rdx */
	if (range->kind == GO_RANGE_WORD)
		return RULE_MAKE(RULE_DEREF_SP, distance / 8 + 1, slots, range->operand * WORD, 0);
	return RULE_MAKE(RULE_SP, 0, saved ? saved_slots(range, distance) : 0, distance + 8, 0);
}
