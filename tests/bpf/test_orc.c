/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of the kernel's stack by its tables (bpf/orc.bpf.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/bpf/sampler.h"

#define TEXT_BYTES 65536u
#define ROWS_MAX   64u
#define CODE(at)   ((u64)(text + (at)))
#define PID	   77u

/* As struct orc_entry since Linux 6.4: the fields that older kernels have differ. */
enum orc_type {
	TYPE_UNDEFINED,
	TYPE_END,
	TYPE_CALL,
	TYPE_REGISTERS,
	TYPE_PARTIAL
};
#define SIGNAL		     (1u << 11)
#define FIELDS(sp, bp, type) ((u16)((sp) | (bp) << 4 | (type) << 8))
#define OLD_END		     (1u << 10)
#define MIDDLE_SIGNAL	     (1u << 10)
#define MIDDLE_END	     (1u << 11)

static char text[TEXT_BYTES];
static struct {
	s32 distance[ROWS_MAX + 1];
	struct __attribute__((packed)) {
		s16 sp, bp;
		u16 fields;
	} row[ROWS_MAX];
} tables;
#define STACK_WORDS 256u
static u64 stack[STACK_WORDS];
static u64 context[PT_WORDS];

/* Adds the row of the text from `at` on. Rows come in order. */
static void row(u32 at, s16 sp, s16 bp, u16 fields)
{
	const u64 number = sampler.orc->tables.rows++;

	tables.distance[number] = (s32)(CODE(at) - (u64)&tables.distance[number]);
	tables.row[number].sp = sp;
	tables.row[number].bp = bp;
	tables.row[number].fields = fields;
}

static int setup(void **state)
{
	(void)state;
	memset(&sampler, 0, sizeof(sampler));
	memset(&tables, 0, sizeof(tables));
	memset(stack, 0, sizeof(stack));
	kernel_members = "->signal";
	sampler.orc->tables.addresses = (u64)tables.distance;
	sampler.orc->tables.first_row = (u64)tables.row;
	sampler.task.stack = stack;
	sampler.orc->tables.function = CODE(0);
	sampler.orc->tables.text_start = CODE(0);
	sampler.orc->tables.text_end = CODE(TEXT_BYTES);
	context[PT_RIP] = CODE(0x104);
	context[PT_RSP] = (u64)&stack[4];
	context[PT_RBP] = 0xb;
	row(0, 8, 0, FIELDS(ORC_SP, ORC_UNDEFINED, TYPE_CALL));
	return 0;
}

/* A leaf at 0x104 that has pushed BP, its caller at 0x5000, and the end of a kernel's thread. */
static void set_call(void)
{
	row(0x100, 16, -16, FIELDS(ORC_SP, ORC_PREVIOUS_SP, TYPE_CALL));
	row(0x140, 0, 0, FIELDS(ORC_UNDEFINED, ORC_UNDEFINED, TYPE_UNDEFINED));
	row(0x5000 - 16, 8, 0, FIELDS(ORC_SP, ORC_UNDEFINED, TYPE_CALL));
	row(0x5000, 0, 0, FIELDS(ORC_UNDEFINED, ORC_UNDEFINED, TYPE_UNDEFINED));
	row(0x9000 - 16, 0, 0, FIELDS(ORC_UNDEFINED, ORC_UNDEFINED, TYPE_END));
	row(0x9000, 0, 0, FIELDS(ORC_UNDEFINED, ORC_UNDEFINED, TYPE_UNDEFINED));
	stack[4] = 0xbb; /* BP */
	stack[5] = CODE(0x5000);
	stack[6] = CODE(0x9000);
}

static void set_leaf(void **state, u16 of_leaf)
{
	setup(state);
	set_call();
	tables.row[1].fields = of_leaf;
}

static u32 walk(void)
{
	if (!orc_begin(context, &sampler.scratch))
		return 0;
	return orc_walk(&sampler.scratch, ~0ull);
}

static void assert_frames(const u32 *at, u32 count)
{
	assert_int_equal(walk(), count);
	for (u32 i = 0; i < count; i++)
		assert_true(sampler.scratch.sample.kernel[i] == CODE(at[i]));
}

static void test_orc__calls(void **state)
{
	static const u32 frames[] = {0x104, 0x5000, 0x9000};

	(void)state;
	set_call();
	assert_frames(frames, 3);
	assert_int_equal(sampler.scratch.orc.bp, 0xbb);
	assert_false(sampler.scratch.sample.record.flags & RECORD_FLAG_KERNEL_CUT);
	memset(tables.row, 0, sizeof(tables.row)); /* the rules are in the cache */
	assert_frames(frames, 3);
}

/* A row of the cache holds for its own text alone, within 64 bytes too. */
static void test_orc__rows_that_share_a_line(void **state)
{
	(void)state;
	set_call();
	assert_int_equal(walk(), 3);
	context[PT_RIP] = CODE(0xff);
	context[PT_RSP] = (u64)&stack[5];
	assert_int_equal(walk(), 3);
	context[PT_RIP] = CODE(0x140);
	assert_int_equal(walk(), 0);
	context[PT_RIP] = CODE(0x13f);
	context[PT_RSP] = (u64)&stack[4];
	assert_int_equal(walk(), 3);
}

/* Any address is found, whatever was sought before: blocks of text begin within a row or not. */
static void test_orc__search(void **state)
{
	static const u32 starts[] = {0,	     0x10,   0x3fff, 0x4000, 0x4001,
				     0x8000, 0xbffe, 0xc123, 0xfff0};

	(void)state;
	sampler.orc->tables.rows = 0;
	for (u32 i = 0; i < 9; i++)
		row(starts[i], (s16)(8 + 8 * i), 0, FIELDS(ORC_SP, ORC_UNDEFINED, TYPE_CALL));
	for (u32 pass = 0; pass < 2; pass++) {
		for (u32 at = 0, i = 0; at < TEXT_BYTES; at++) {
			u64 rule;

			while (i + 1 < 9 && starts[i + 1] <= at)
				i++;
			rule = orc_rule_of(&sampler.orc->tables, CODE(at));
			assert_int_equal(ORC_SP_OFFSET(rule), 8 + 8 * i);
			assert_int_equal(ORC_KIND(rule), ORC_CALL);
		}
	}
}

/* After an interrupt, the address is the very instruction, and other registers are known. */
static void test_orc__interrupt_and_entry(void **state)
{
	static const u32 frames[] = {0x104, 0x300, 0x9000};
	u64 *saved = &stack[8], *entry = &stack[32];

	(void)state;
	row(0x100, 0, 0, FIELDS(ORC_SP, ORC_UNDEFINED, TYPE_REGISTERS) | SIGNAL);
	row(0x300, 16, -16, FIELDS(ORC_BP, ORC_PREVIOUS_SP, TYPE_CALL));
	row(0x9000 - 16, 0, 0, FIELDS(ORC_SP, ORC_UNDEFINED, TYPE_REGISTERS));
	context[PT_RSP] = (u64)saved;
	saved[PT_RIP] = CODE(0x300);
	saved[PT_RSP] = (u64)&stack[0];
	saved[PT_RBP] = (u64)&entry[-2];
	saved[PT_CS] = 0x10;
	entry[-2] = 0x1234;
	entry[-1] = CODE(0x9000);
	entry[PT_RIP] = CODE(0x104);
	entry[PT_CS] = CS_RPL_USER;
	assert_frames(frames, 3);
}

/* The kernel's own walk knows these, and takes the whole stack then. */
static void test_orc__gives_up(void **state)
{
	(void)state;
	set_call();
	sampler.orc->tables.replaced[0] = CODE(0x5000);
	assert_int_equal(walk(), 0);
	sampler.orc->tables.replaced[0] = 0;
	sampler.orc->tables.replaced[1] = CODE(0x9000);
	assert_int_equal(walk(), 0);
	sampler.orc->tables.replaced[1] = 0;
	assert_int_equal(walk(), 3);
	stack[6] = CODE(TEXT_BYTES);
	assert_int_equal(walk(), 0);
	stack[6] = CODE(0x5080); /* no row */
	assert_int_equal(walk(), 0);
	context[PT_RSP] = 16; /* no memory */
	assert_int_equal(walk(), 0);
	context[PT_RIP] = CODE(TEXT_BYTES);
	assert_int_equal(walk(), 0);
	context[PT_RIP] = CODE(0x104);
	context[PT_RSP] = (u64)&stack[4];
	stack[6] = CODE(0x9000);
	assert_int_equal(walk(), 3);
	sampler.orc->tables.rows = 0;
	assert_int_equal(walk(), 0);
}

/* In the middle of a switch, SP is that of another task, whose frames are not this one's. */
static void test_orc__stack_of_another_task(void **state)
{
	(void)state;
	set_call();
	row(0xa000, 0, 0, FIELDS(ORC_SP, ORC_UNDEFINED, TYPE_REGISTERS));
	sampler.task.stack = stack + STACK_WORDS;
	assert_int_equal(walk(), 0);
	sampler.task.stack = (u8 *)stack - KERNEL_STACK_BYTES;
	assert_int_equal(walk(), 0);
	sampler.task.stack = stack + 6; /* it ends at stack[7] */
	assert_int_equal(walk(), 3);
	sampler.task.stack = stack;
	context[PT_RIP] = CODE(0xa000);
	context[PT_RSP] = (u64)&stack[32];
	stack[32 + PT_CS] = CS_RPL_USER;
	assert_int_equal(walk(), 1);
	sampler.task.stack = stack + STACK_WORDS;
	assert_int_equal(walk(), 0);
}

/* A caller has more of a stack than the function. */
static void test_orc__wrong_direction(void **state)
{
	(void)state;
	set_call();
	tables.row[1].sp = 0;
	stack[3] = CODE(0x5000);
	assert_int_equal(walk(), 0);
	tables.row[1].sp = 16;
	memset(sampler.orc + 1, 0, sizeof(sampler.orc) - sizeof(sampler.orc[0]));
	assert_int_equal(walk(), 3);
}

/* Registers other than SP and BP, and kinds of rows that no version has. */
static void test_orc__rows_that_are_not_known(void **state)
{
	static const u16 refused[] = {
		FIELDS(ORC_UNDEFINED, ORC_UNDEFINED, TYPE_CALL),
		FIELDS(2, ORC_UNDEFINED, TYPE_CALL),
		FIELDS(3, ORC_UNDEFINED, TYPE_REGISTERS),
		FIELDS(6, ORC_UNDEFINED, TYPE_CALL),
		FIELDS(15, ORC_UNDEFINED, TYPE_CALL),
		FIELDS(ORC_SP, 2, TYPE_CALL),
		FIELDS(ORC_SP, 15, TYPE_CALL),
		FIELDS(ORC_SP, ORC_UNDEFINED, TYPE_PARTIAL),
		FIELDS(ORC_SP, ORC_UNDEFINED, 7),
	};

	for (u32 i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		set_leaf(state, refused[i]);
		assert_int_equal(walk(), 0);
	}
}

static void test_orc__bases(void **state)
{
	static const u32 frames[] = {0x104, 0x5000, 0x9000};

	set_leaf(state, FIELDS(ORC_BP, ORC_BP, TYPE_CALL));
	context[PT_RBP] = (u64)&stack[4];
	assert_frames(frames, 3);
	set_leaf(state, FIELDS(ORC_SP_INDIRECT, ORC_UNDEFINED, TYPE_CALL));
	context[PT_RSP] = (u64)&stack[20];
	stack[20] = (u64)&stack[4];
	assert_frames(frames, 3);
	set_leaf(state, FIELDS(ORC_BP_INDIRECT, ORC_UNDEFINED, TYPE_CALL));
	context[PT_RBP] = (u64)&stack[18];
	stack[20] = (u64)&stack[6];
	assert_frames(frames, 3);
}

/* All rows are of calls, but the last frame's has the bit for the end. */
static void set_older(void **state, const char *members, u16 end)
{
	setup(state);
	set_call();
	kernel_members = members;
	for (u64 i = 0; i < sampler.orc->tables.rows; i++)
		tables.row[i].fields &= 0xff;
	tables.row[5].fields = end;
}

/* Before 6.4 a row had a bit for the end, and before 6.3 none for an interrupt. */
static void test_orc__older_kernels(void **state)
{
	static const u32 frames[] = {0x104, 0x5000, 0x9000};

	set_older(state, "->end", OLD_END);
	assert_frames(frames, 3);
	assert_true(ORC_SIGNAL(orc_rule(0x185ull << 32, ORC_SP)));
	assert_false(ORC_SIGNAL(orc_rule(0x085ull << 32, ORC_SP)));
	assert_int_equal(ORC_KIND(orc_rule(0x285ull << 32, ORC_SP)), ORC_UNKNOWN);
	assert_int_equal(ORC_KIND(orc_rule(0x385ull << 32, ORC_SP)), ORC_UNKNOWN);
	assert_int_equal(ORC_KIND(orc_rule(0x089ull << 32, ORC_SP)), ORC_UNKNOWN);
	set_older(state, "->end ->signal", MIDDLE_END);
	assert_frames(frames, 3);
	assert_false(ORC_SIGNAL(orc_rule(0x185ull << 32, ORC_SP)));
	assert_true(ORC_SIGNAL(orc_rule((0x185ull | MIDDLE_SIGNAL) << 32, ORC_SP)));
	kernel_members = "";
	assert_int_equal(orc_rule(0x085ull << 32, ORC_SP) >> 40, ORC_UNKNOWN);
}

/* Linux 7.0 gave registers other numbers. A number that neither has makes the walk give up. */
static void test_orc__numbers_since_7_0(void **state)
{
	static const u32 frames[] = {0x104, 0x5000, 0x9000};
	static const u8 now[16] = {[ORC_PREVIOUS_SP] = 8,
				   [ORC_BP] = 4,
				   [ORC_SP] = 3,
				   [ORC_BP_INDIRECT] = 10,
				   [ORC_SP_INDIRECT] = 9};

	(void)state;
	set_call();
	assert_frames(frames, 3);
	assert_int_equal(sampler.orc->tables.sp, ORC_SP);
	setup(state);
	set_call();
	for (u64 i = 0; i < sampler.orc->tables.rows; i++)
		tables.row[i].fields =
			FIELDS(now[tables.row[i].fields & 15], now[tables.row[i].fields >> 4 & 15],
			       tables.row[i].fields >> 8);
	assert_frames(frames, 3);
	assert_int_equal(sampler.orc->tables.sp, ORC_NEW_SP);
	assert_int_equal(sampler.scratch.orc.bp, 0xbb);
	for (u32 i = 0; i < 16; i++)
		assert_int_equal(orc_registers(now[i] | now[i] << 4, ORC_NEW_SP),
				 now[i] ? i * 17 : 0);
	assert_int_equal(orc_registers(0x65, ORC_NEW_SP), 0xff);
	setup(state);
	set_call();
	tables.row[0].fields = FIELDS(6, ORC_UNDEFINED, TYPE_CALL);
	assert_int_equal(walk(), 0);
}

/* A stack without an end: the record says that it is cut. */
static void test_orc__deep_stack(void **state)
{
	(void)state;
	row(0x100, 8, 0, FIELDS(ORC_SP, ORC_UNDEFINED, TYPE_CALL));
	for (u32 i = 0; i < STACK_WORDS; i++)
		stack[i] = CODE(0x104);
	assert_int_equal(walk(), RECORD_KERNEL_FRAMES_MAX);
	assert_true(sampler.scratch.sample.record.flags & RECORD_FLAG_KERNEL_CUT);
	assert_true(orc_begin(context, &sampler.scratch));
	assert_int_equal(orc_walk(&sampler.scratch, 0), KERNEL_FRAMES_FIRST);
}

/* A sample has these frames, or those of the kernel's walk. */
static void test_orc__sample(void **state)
{
	const struct record *record = (const struct record *)sampler.ring;
	const u64 *words = (const u64 *)(record + 1);

	(void)state;
	set_call();
	sampler.id = (u64)PID << 32 | PID;
	sampler.task.flags = PF_KTHREAD;
	sampler.range[0] = (struct kernel_range){CODE(0), CODE(TEXT_BYTES), 0};
	sampler.kernel_depth = 1;
	assert_int_equal(on_sample(context), 0);
	assert_int_equal(record->kernel_frames, 3);
	assert_int_equal(words[1], KERNEL_FRAME(0, 0x5000));
	sampler.orc->tables.rows = sampler.scratch.head = 0;
	assert_int_equal(on_sample(context), 0);
	assert_int_equal(record->kernel_frames, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_orc__calls, setup),
		cmocka_unit_test_setup(test_orc__rows_that_share_a_line, setup),
		cmocka_unit_test_setup(test_orc__search, setup),
		cmocka_unit_test_setup(test_orc__interrupt_and_entry, setup),
		cmocka_unit_test_setup(test_orc__gives_up, setup),
		cmocka_unit_test_setup(test_orc__stack_of_another_task, setup),
		cmocka_unit_test_setup(test_orc__wrong_direction, setup),
		cmocka_unit_test_setup(test_orc__rows_that_are_not_known, setup),
		cmocka_unit_test_setup(test_orc__bases, setup),
		cmocka_unit_test_setup(test_orc__older_kernels, setup),
		cmocka_unit_test_setup(test_orc__numbers_since_7_0, setup),
		cmocka_unit_test_setup(test_orc__deep_stack, setup),
		cmocka_unit_test_setup(test_orc__sample, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
