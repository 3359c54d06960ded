/* SPDX-License-Identifier: Apache-2.0 */
/* Several sources of rules in one object: each serves the ranges that it describes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "tests/unit/build_cfi.h"
#include "tests/unit/build_elf.h"
#include "object/elf/image.h"
#include "object/unwind/unwind_table.h"

#define TEXT	  0x10000ull
#define TEXT_SIZE 0x80000ull
#define SP(n)	  RULE_MAKE(RULE_SP, 0, 0, n, 0)
#define ROOT	  RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY)

static struct build_cfi eh, debug;
static size_t eh_cie, debug_cie;
static struct unwind_table *table;
static u64 damaged;

static void start(void)
{
	build_cfi_release(&eh);
	build_cfi_release(&debug);
	eh_cie = build_cfi_usual_cie(&eh);
	debug_cie = build_cfi_debug_cie(&debug, 4, "");
}

static void add_eh(u64 at, u64 size, unsigned char offset)
{
	build_cfi_fde(&eh, eh_cie, at, size, INSTRUCTIONS(0x0e, offset));
}

static void add_debug(u64 at, u64 size, unsigned char offset)
{
	build_cfi_debug_fde(&debug, debug_cie, at, size, INSTRUCTIONS(0x0e, offset));
}

/* flags: SHF_COMPRESSED or 0. entry: of a program, or 0 for a library. */
static int build_as(u64 flags, u64 entry)
{
	struct image *image = NULL;
	struct build_elf elf;
	unsigned char *bytes;
	size_t size;
	int r;

	build_elf_init(&elf);
	if (entry) {
		elf.header.e_type = ET_EXEC;
		elf.header.e_entry = entry;
	}
	build_elf_text(&elf, TEXT, TEXT_SIZE);
	build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, BUILD_ELF_EH_FRAME, eh.bytes, eh.size);
	build_elf_section(&elf, ".debug_frame", SHT_PROGBITS, 0, debug.bytes, debug.size)
		->sh_flags = flags;
	bytes = build_elf_finish(&elf, &size);
	assert_int_equal(image_open_memory(bytes, size, &image), 0);
	free(bytes);
	unwind_table_free(table);
	table = NULL;
	r = unwind_table_build(image, &table, &damaged);
	image_close(image);
	return r;
}

static void must_build(void)
{
	assert_int_equal(build_as(0, 0), 0);
	assert_int_equal(damaged, 0);
}

static void expect(u64 from, u64 to, u64 rule)
{
	for (u64 pc = from; pc < to; pc++)
		assert_true(unwind_table_rule(table, pc) == rule);
}

static void test_unwind_sources__debug_frame_alone(void **state)
{
	(void)state;
	start();
	add_debug(TEXT + 0x40, 0x20, 24);
	add_debug(TEXT, 0x20, 16);
	must_build();
	expect(TEXT, TEXT + 0x20, SP(16));
	expect(TEXT + 0x20, TEXT + 0x40, RULE_NONE);
	expect(TEXT + 0x40, TEXT + 0x60, SP(24));
	expect(TEXT + 0x60, TEXT + 0x100, RULE_NONE);
	assert_int_equal(table->sources, UNWIND_DEBUG_FRAME);
	assert_int_equal(table->frames, 2);
}

static void test_unwind_sources__each_range_has_its_own(void **state)
{
	(void)state;
	start();
	add_eh(TEXT, 0x20, 16);
	add_eh(TEXT + 0x100, 0x20, 24);
	add_debug(TEXT + 0x10, 0x40, 32);  /* begins inside of the first one */
	add_debug(TEXT + 0x80, 0x100, 40); /* around the second one */
	must_build();
	expect(TEXT, TEXT + 0x20, SP(16));
	expect(TEXT + 0x20, TEXT + 0x50, SP(32));
	expect(TEXT + 0x50, TEXT + 0x80, RULE_NONE);
	expect(TEXT + 0x80, TEXT + 0x100, SP(40));
	expect(TEXT + 0x100, TEXT + 0x120, SP(24));
	expect(TEXT + 0x120, TEXT + 0x180, SP(40));
	expect(TEXT + 0x180, TEXT + 0x200, RULE_NONE);
	assert_int_equal(table->sources, UNWIND_EH_FRAME | UNWIND_DEBUG_FRAME);
}

/* Bytes between two FDEs are padding only where no other source has a function. */
static void test_unwind_sources__a_small_function_is_not_padding(void **state)
{
	(void)state;
	start();
	add_eh(TEXT, 0x20, 16);
	add_eh(TEXT + 0x2f, 0x11, 24);
	add_debug(TEXT + 0x24, 0x8, 32);
	must_build();
	expect(TEXT, TEXT + 0x20, SP(16));
	expect(TEXT + 0x20, TEXT + 0x24, SP(16));
	expect(TEXT + 0x24, TEXT + 0x2f, SP(32));
	expect(TEXT + 0x2f, TEXT + 0x40, SP(24));
	expect(TEXT + 0x40, TEXT + 0x80, RULE_NONE);
}

static void test_unwind_sources__the_same_twice_is_one_source(void **state)
{
	u64 hash;

	(void)state;
	start();
	add_eh(TEXT, 0x20, 16);
	must_build();
	hash = table->content_hash;
	add_debug(TEXT, 0x20, 24);
	must_build();
	expect(TEXT, TEXT + 0x20, SP(16));
	assert_int_equal(table->sources, UNWIND_EH_FRAME);
	assert_true(table->content_hash == hash);
	add_debug(TEXT + 0x40, 0x20, 24);
	must_build();
	assert_true(table->content_hash != hash);
	hash = table->content_hash;
	must_build();
	assert_true(table->content_hash == hash);
}

/* Linkers leave the FDEs of functions that they remove, at address 0. */
static void test_unwind_sources__removed_functions_are_no_damage(void **state)
{
	(void)state;
	start();
	add_debug(0, 0x20, 16);
	assert_int_equal(build_as(0, 0), -ENOENT);
	assert_int_equal(damaged, 0);
	add_debug(TEXT, 0x20, 16);
	must_build();
	assert_int_equal(table->frames, 1);
	add_debug(TEXT + TEXT_SIZE - 8, 0x20, 16);
	assert_int_equal(build_as(0, 0), 0);
	assert_int_equal(damaged, 1);
}

static void test_unwind_sources__compressed_is_not_read(void **state)
{
	(void)state;
	start();
	add_debug(TEXT + 0x40, 0x20, 16);
	assert_int_equal(build_as(SHF_COMPRESSED, 0), -ENOENT);
	add_eh(TEXT, 0x20, 16);
	assert_int_equal(build_as(SHF_COMPRESSED, 0), 0);
	assert_int_equal(damaged, 0);
	expect(TEXT + 0x40, TEXT + 0x60, RULE_NONE);
	assert_int_equal(table->sources, UNWIND_EH_FRAME);
}

/* Damage in one source costs nothing of another one. */
static void test_unwind_sources__damage_stays_with_its_source(void **state)
{
	(void)state;
	start();
	build_cfi_fde(&eh, eh_cie, TEXT, 0x20, INSTRUCTIONS(0x3f));
	add_debug(TEXT, 0x20, 16);
	assert_int_equal(build_as(0, 0), 0);
	assert_int_equal(damaged, 1);
	expect(TEXT, TEXT + 0x20, SP(16));
	start();
	add_eh(TEXT, 0x20, 16);
	build_cfi_debug_fde(&debug, debug_cie, TEXT + 0x40, 0x20, INSTRUCTIONS(0x3f));
	assert_int_equal(build_as(0, 0), 0);
	assert_int_equal(damaged, 1);
	expect(TEXT, TEXT + 0x20, SP(16));
	expect(TEXT + 0x20, TEXT + 0x80, RULE_NONE);
}

/* A function that .debug_frame describes right behind _start is no root. */
static void test_unwind_sources__the_entry_point_ends_at_the_next_rule(void **state)
{
	(void)state;
	start();
	add_eh(TEXT, 0x20, 16);
	add_debug(TEXT + 0x60, 0x10, 24);
	assert_int_equal(build_as(0, TEXT + 0x40), 0);
	expect(TEXT + 0x20, TEXT + 0x40, RULE_NONE);
	expect(TEXT + 0x40, TEXT + 0x60, ROOT);
	expect(TEXT + 0x60, TEXT + 0x70, SP(24));
	expect(TEXT + 0x70, TEXT + 0x100, RULE_NONE);
	/* before all rows; behind all rows; where .debug_frame has a rule */
	assert_int_equal(build_as(0, TEXT + 0x200), 0);
	expect(TEXT + 0x200, TEXT + 0x240, ROOT);
	expect(TEXT + 0x240, TEXT + 0x280, RULE_NONE);
	start();
	add_debug(TEXT + 0x60, 0x10, 24);
	assert_int_equal(build_as(0, TEXT), 0);
	expect(TEXT, TEXT + 0x40, ROOT);
	expect(TEXT + 0x40, TEXT + 0x60, RULE_NONE);
	assert_int_equal(build_as(0, TEXT + 0x60), 0);
	expect(TEXT + 0x60, TEXT + 0x70, SP(24));
	expect(TEXT + 0x70, TEXT + 0x100, RULE_NONE);
}

static int release(void **state)
{
	(void)state;
	unwind_table_free(table);
	build_cfi_release(&eh);
	build_cfi_release(&debug);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwind_sources__debug_frame_alone),
		cmocka_unit_test(test_unwind_sources__each_range_has_its_own),
		cmocka_unit_test(test_unwind_sources__a_small_function_is_not_padding),
		cmocka_unit_test(test_unwind_sources__the_same_twice_is_one_source),
		cmocka_unit_test(test_unwind_sources__removed_functions_are_no_damage),
		cmocka_unit_test(test_unwind_sources__compressed_is_not_read),
		cmocka_unit_test(test_unwind_sources__damage_stays_with_its_source),
		cmocka_unit_test(test_unwind_sources__the_entry_point_ends_at_the_next_rule),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
