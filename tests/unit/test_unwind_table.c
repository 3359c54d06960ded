/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/build_cfi.h"
#include "tests/unit/build_elf.h"
#include "object/elf/image.h"
#include "object/unwind/function_starts.h"
#include "object/unwind/unwind_table.h"

#define TEXT	  0x10000ull
#define TEXT_SIZE 0x80000ull
#define NOTHING	  ((struct build_cfi_code){NULL, 0})
#define SP(n)	  RULE_MAKE(RULE_SP, 0, 0, n, 0)

static struct build_cfi frames;
static size_t cie;
static struct unwind_table *table;
static u64 damaged;

static void start_frames(void)
{
	build_cfi_release(&frames);
	cie = build_cfi_usual_cie(&frames);
}

static void add(u64 start, u64 size, struct build_cfi_code code)
{
	build_cfi_fde(&frames, cie, start, size, code);
}

/* A function whose CFA is rsp + offset throughout. */
static void add_plain(u64 start, u64 size, u32 offset)
{
	struct build_cfi code = {0};

	build_cfi_number(&code, 0x0e, 1);
	build_cfi_uleb(&code, offset);
	add(start, size, (struct build_cfi_code){code.bytes, code.size});
	build_cfi_release(&code);
}

static struct image *open_frames(void)
{
	struct image *image = NULL;
	size_t size;
	unsigned char *bytes =
		build_elf_with_frames(TEXT, TEXT_SIZE, frames.bytes, frames.size, &size);

	assert_int_equal(image_open_memory(bytes, size, &image), 0);
	free(bytes);
	return image;
}

static int build(void)
{
	struct image *image = open_frames();
	int r;

	unwind_table_free(table);
	table = NULL;
	r = unwind_table_build(image, &table, &damaged);
	image_close(image);
	return r;
}

static void must_build(void)
{
	assert_int_equal(build(), 0);
	assert_int_equal(damaged, 0);
}

static void expect(u64 from, u64 to, u64 rule)
{
	for (u64 pc = from; pc < to; pc++)
		assert_true(unwind_table_rule(table, pc) == rule);
}

/* ---- rows ---- */

static void test_unwind_table__one_function(void **state)
{
	(void)state;
	start_frames();
	add(TEXT + 0x10, 0x30,
	    INSTRUCTIONS(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x60, 0x0c, 7, 8));
	must_build();
	expect(TEXT - 0x1000, TEXT + 0x10, RULE_NONE);
	expect(TEXT + 0x10, TEXT + 0x11, SP(8));
	expect(TEXT + 0x11, TEXT + 0x14, RULE_MAKE(RULE_SP, 0, 1, 16, 0));
	expect(TEXT + 0x14, TEXT + 0x34, RULE_MAKE(RULE_BP, 0, 1, 16, 0));
	expect(TEXT + 0x34, TEXT + 0x40, RULE_MAKE(RULE_SP, 0, 1, 8, 0));
	expect(TEXT + 0x40, TEXT + 0x9000, RULE_NONE);
	assert_int_equal(table->frames, 1);
	assert_int_equal(table->rows, 5);
	assert_int_equal(table->rules_unsupported, 0);
	assert_int_equal(table->chunks, 1);
	assert_int_equal(table->pages, CHUNK_PAGES);
	assert_int_equal(table->first_page, TEXT >> PAGE_BITS);
	assert_true(unwind_table_rule(table, 0) == RULE_NONE);
	assert_true(unwind_table_rule(table, UINT64_MAX) == RULE_NONE);
}

static void test_unwind_table__functions_in_any_order(void **state)
{
	(void)state;
	start_frames();
	for (u64 i = 0; i < 1000; i++) {
		u64 at = i * 7919 % 1000;

		add_plain(TEXT + at * 32, 32, (u32)(8 + 8 * (at % 50)));
	}
	must_build();
	for (u64 i = 0; i < 1000; i++)
		expect(TEXT + i * 32, TEXT + i * 32 + 32, SP(8 + 8 * (i % 50)));
	assert_int_equal(table->frames, 1000);
}

static void test_unwind_table__identical_neighbours_are_one_row(void **state)
{
	(void)state;
	start_frames();
	for (u64 i = 0; i < 100; i++)
		add_plain(TEXT + i * 16, 16, 16);
	must_build();
	expect(TEXT, TEXT + 1600, SP(16));
	assert_int_equal(table->rows, 2);
}

static void test_unwind_table__small_gaps_are_padding(void **state)
{
	(void)state;
	start_frames();
	add_plain(TEXT, 0x20, 16);
	add_plain(TEXT + 0x2f, 0x11, 24);
	add_plain(TEXT + 0x50, 0x10, 32);
	must_build();
	expect(TEXT, TEXT + 0x2f, SP(16));
	expect(TEXT + 0x2f, TEXT + 0x40, SP(24));
	expect(TEXT + 0x40, TEXT + 0x50, RULE_NONE);
	expect(TEXT + 0x50, TEXT + 0x60, SP(32));
	expect(TEXT + 0x60, TEXT + 0x100, RULE_NONE);
}

static void test_unwind_table__overlapping_functions(void **state)
{
	(void)state;
	start_frames();
	add_plain(TEXT, 0x100, 16);
	/* inside: the text behind the function has no information */
	add_plain(TEXT + 0x40, 0x20, 24);
	add_plain(TEXT + 0x200, 0x40, 32);
	add_plain(TEXT + 0x200, 0x80, 40); /* the same start */
	must_build();
	expect(TEXT, TEXT + 0x40, SP(16));
	expect(TEXT + 0x40, TEXT + 0x60, SP(24));
	expect(TEXT + 0x60, TEXT + 0x200, RULE_NONE);
	expect(TEXT + 0x200, TEXT + 0x280, SP(40));
}

/* ---- chunks and pages ---- */

static const u16 *chunk(u32 number)
{
	return (const u16 *)(table->words + table->chunk_at[number]);
}

static void test_unwind_table__pages_and_chunks_carry_rules_in(void **state)
{
	const u64 size = 3ull << CHUNK_BITS;

	(void)state;
	start_frames();
	/* from the second chunk into the fifth, exactly to a chunk's end, a byte on each side */
	add_plain(TEXT + 0x4000 + 0x100, size, 16);
	add_plain(TEXT + 0x4000 + 0x100 + size, 0x4000 - 0x100, 24);
	add_plain(TEXT + 0x14000, 1, 32);
	add_plain(TEXT + 0x17fff, 1, 40);
	add_plain(TEXT + 0x18000 + 0x3fff, 2, 48);
	must_build();
	expect(TEXT, TEXT + 0x4100, RULE_NONE);
	expect(TEXT + 0x4100, TEXT + 0x4100 + size, SP(16));
	expect(TEXT + 0x4100 + size, TEXT + 0x14000, SP(24));
	expect(TEXT + 0x14000, TEXT + 0x14001, SP(32));
	expect(TEXT + 0x14001, TEXT + 0x17fff, RULE_NONE);
	expect(TEXT + 0x17fff, TEXT + 0x18000, SP(40));
	expect(TEXT + 0x18000, TEXT + 0x1bfff, RULE_NONE);
	expect(TEXT + 0x1bfff, TEXT + 0x1c001, SP(48));
	expect(TEXT + 0x1c001, TEXT + 0x20000, RULE_NONE);
	/* the table begins with the first chunk that has rows */
	assert_int_equal(table->first_page, (TEXT + 0x4000) >> PAGE_BITS);
	/* a chunk without rows of its own has the carry-in alone */
	assert_int_equal(chunk(1)[CHUNK_ROWS_AT], 1);
	assert_int_equal(table->chunk_words[1], CHUNK_HEAD_WORDS + 1);
	/* a row at a chunk's first byte is its carry-in */
	assert_int_equal(chunk(4)[CHUNK_ROWS_AT], 3);
}

static void test_unwind_table__chunks_without_rows_are_left_out(void **state)
{
	(void)state;
	start_frames();
	add_plain(TEXT, 0x20, 16);
	add_plain(TEXT + 0x40000, 0x20, 16);
	must_build();
	assert_int_equal(table->chunks, 17);
	for (u32 i = 1; i < 16; i++) {
		assert_int_equal(table->chunk_at[i], UINT32_MAX);
		assert_int_equal(table->chunk_words[i], 0);
	}
	expect(TEXT + 0x3fff0, TEXT + 0x40000, RULE_NONE);
	expect(TEXT + 0x40000, TEXT + 0x40020, SP(16));
	/* text that ends with its chunk needs no chunk behind it */
	start_frames();
	add_plain(TEXT + 0x3ff0, 0x10, 16);
	must_build();
	expect(TEXT + 0x3ff0, TEXT + 0x4000, SP(16));
	expect(TEXT + 0x4000, TEXT + 0x4100, RULE_NONE);
}

/* ---- the dictionary ---- */

static void test_unwind_table__more_than_255_rules_are_escaped(void **state)
{
	enum {
		RULES = 3000
	};
	(void)state;
	start_frames();
	for (u32 i = 0; i < RULES; i++) {
		add_plain(TEXT + i * 48, 16, 8 * (i + 1));
		add_plain(TEXT + i * 48 + 16, 32, 8 * (i % 100 + 1));
	}
	must_build();
	assert_int_equal(table->dictionary_count, RULES + 1);
	for (u32 i = 0; i < RULES; i++) {
		expect(TEXT + i * 48, TEXT + i * 48 + 16, SP(8 * ((s32)i + 1)));
		expect(TEXT + i * 48 + 16, TEXT + i * 48 + 48, SP(8 * ((s32)i % 100 + 1)));
	}
}

static void test_unwind_table__wide_rules_lie_behind_the_others(void **state)
{
	struct rule_wide wide;
	u64 rule, other;

	(void)state;
	start_frames();
	add(TEXT, 0x20, INSTRUCTIONS(0x0e, 0x80, 0x80, 0x80, 8)); /* rsp + 2^24 */
	add(TEXT + 0x20, 0x20, INSTRUCTIONS(0x86, 40));
	add(TEXT + 0x40, 0x20, INSTRUCTIONS(0x0e, 0x80, 0x80, 0x80, 8));
	must_build();
	assert_int_equal(table->dictionary_count, 4 + 2 * 6); /* three rules and padding */
	rule = unwind_table_rule(table, TEXT);
	other = unwind_table_rule(table, TEXT + 0x20);
	assert_int_equal(rule_kind(rule), RULE_WIDE);
	assert_int_equal(rule_kind(other), RULE_WIDE);
	assert_true(rule == unwind_table_rule(table, TEXT + 0x5f));
	assert_int_equal(rule_offset(rule), 4);
	assert_int_equal(rule_offset(other), 10);
	memcpy(&wide, table->dictionary + rule_offset(rule), sizeof(wide));
	assert_int_equal(wide.cfa_offset, 1 << 24);
	memcpy(&wide, table->dictionary + rule_offset(other), sizeof(wide));
	assert_int_equal(wide.save[0], -320);
}

static void test_unwind_table__unsupported_rows_are_counted(void **state)
{
	(void)state;
	start_frames();
	add_plain(TEXT, 0x20, 16);
	add(TEXT + 0x20, 0x20, INSTRUCTIONS(0x0f, 1, 0x1a));
	must_build();
	expect(TEXT + 0x20, TEXT + 0x40, RULE_UNSUPPORTED);
	assert_int_equal(table->rules_unsupported, 1);
}

/* ---- damage ---- */

static void test_unwind_table__damaged_functions_leave_gaps(void **state)
{
	(void)state;
	start_frames();
	add_plain(TEXT, 0x20, 16);
	add(TEXT + 0x20, 0x20, INSTRUCTIONS(0x44, 0x0e, 24, 0x44, 0x3f)); /* breaks at + 8 */
	add(TEXT + 0x40, 0x08, INSTRUCTIONS(0x3f));
	add_plain(TEXT + 0x48, 0x08, 32);
	assert_int_equal(build(), 0);
	assert_int_equal(damaged, 2);
	expect(TEXT, TEXT + 0x20, SP(16));
	expect(TEXT + 0x20, TEXT + 0x24, SP(8));
	expect(TEXT + 0x24, TEXT + 0x28, SP(24));
	expect(TEXT + 0x28, TEXT + 0x48, RULE_NONE);
	expect(TEXT + 0x48, TEXT + 0x50, SP(32));
}

static void test_unwind_table__functions_outside_of_text_are_refused(void **state)
{
	(void)state;
	start_frames();
	add_plain(0, 0x20, 16);			      /* removed by the linker */
	add_plain(TEXT - 1, 0x20, 16);		      /* starts before the text */
	add_plain(TEXT + TEXT_SIZE - 0x10, 0x11, 16); /* ends behind it */
	add_plain(TEXT + TEXT_SIZE, 0x10, 16);
	add_plain(UINT64_MAX - 0x100, 0x10, 16);
	add_plain(TEXT + TEXT_SIZE - 0x10, 0x10, 24);
	assert_int_equal(build(), 0);
	assert_int_equal(damaged, 5);
	expect(TEXT + TEXT_SIZE - 0x10, TEXT + TEXT_SIZE, SP(24));
	expect(0, 0x20, RULE_NONE);
	assert_int_equal(table->frames, 1);
}

static void test_unwind_table__nothing_usable(void **state)
{
	(void)state;
	start_frames();
	assert_int_equal(build(), -ENOENT);
	add_plain(0, 0x20, 16);
	assert_int_equal(build(), -EBADMSG);
	assert_int_equal(damaged, 1);
	build_cfi_release(&frames);
	cie = build_cfi_cie(&frames, "", INSTRUCTIONS(0x3f));
	add_plain(TEXT, 0x20, 16);
	assert_int_equal(build(), -EBADMSG);
	unwind_table_free(NULL);
}

static void test_unwind_table__no_unwind_information(void **state)
{
	struct image *image = NULL;
	struct build_elf elf;
	unsigned char *bytes;
	size_t size;

	(void)state;
	build_elf_init(&elf);
	build_elf_segment(&elf, PT_LOAD, PF_X, TEXT, "", 0)->p_memsz = TEXT_SIZE;
	bytes = build_elf_finish(&elf, &size);
	assert_int_equal(image_open_memory(bytes, size, &image), 0);
	free(bytes);
	unwind_table_free(table);
	table = NULL;
	assert_int_equal(unwind_table_build(image, &table, &damaged), -ENOENT);
	assert_null(table);
	image_close(image);
}

/* ---- the entry point ---- */

static int build_program(u64 entry, u16 type)
{
	struct image *image = NULL;
	struct build_elf elf;
	unsigned char *bytes;
	size_t size;
	int r;

	build_elf_init(&elf);
	elf.header.e_type = type;
	elf.header.e_entry = entry;
	build_elf_text(&elf, TEXT, TEXT_SIZE);
	build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, BUILD_ELF_EH_FRAME, frames.bytes,
			  frames.size);
	bytes = build_elf_finish(&elf, &size);
	assert_int_equal(image_open_memory(bytes, size, &image), 0);
	free(bytes);
	unwind_table_free(table);
	table = NULL;
	r = unwind_table_build(image, &table, &damaged);
	image_close(image);
	return r;
}

static void test_unwind_table__an_uncovered_entry_point_is_a_root(void **state)
{
	const u64 end = RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY);

	(void)state;
	start_frames();
	add_plain(TEXT + 0x200, 0x20, 16);
	assert_int_equal(build_program(TEXT + 0x100, ET_EXEC), 0);
	expect(TEXT, TEXT + 0x100, RULE_NONE);
	expect(TEXT + 0x100, TEXT + 0x140, end);
	expect(TEXT + 0x140, TEXT + 0x200, RULE_NONE);
	expect(TEXT + 0x200, TEXT + 0x220, SP(16));
	assert_int_equal(table->frames, 1);
	/* up to the next function; at the very end of the text */
	assert_int_equal(build_program(TEXT + 0x1e0, ET_EXEC), 0);
	expect(TEXT + 0x1e0, TEXT + 0x200, end);
	expect(TEXT + 0x200, TEXT + 0x220, SP(16));
	assert_int_equal(build_program(TEXT + TEXT_SIZE - 8, ET_EXEC), 0);
	expect(TEXT + TEXT_SIZE - 8, TEXT + TEXT_SIZE, end);
	expect(TEXT + TEXT_SIZE, TEXT + TEXT_SIZE + 64, RULE_NONE);
}

static void test_unwind_table__other_entry_points_are_not(void **state)
{
	(void)state;
	start_frames();
	add_plain(TEXT + 0x200, 0x20, 16);
	/* a shared library's; one inside a function; one outside of the text */
	assert_int_equal(build_program(TEXT + 0x100, ET_DYN), 0);
	expect(TEXT, TEXT + 0x200, RULE_NONE);
	assert_int_equal(build_program(TEXT + 0x210, ET_EXEC), 0);
	expect(TEXT + 0x200, TEXT + 0x220, SP(16));
	expect(TEXT + 0x220, TEXT + 0x280, RULE_NONE);
	assert_int_equal(build_program(0x100, ET_EXEC), 0);
	expect(TEXT, TEXT + 0x200, RULE_NONE);
}

/* ---- limits of addresses ---- */

/* The text is a hole in the file. */
static int build_sparse(u64 text, u64 text_size, u64 file_size)
{
	int fd = memfd_create("text", MFD_CLOEXEC), r;
	struct image *image = NULL;
	struct build_elf elf;
	unsigned char *bytes;
	Elf64_Phdr *segment;
	size_t size;

	build_elf_init(&elf);
	segment = build_elf_segment(&elf, PT_LOAD, PF_R | PF_X, text, NULL, 0);
	segment->p_offset = 0;
	segment->p_filesz = segment->p_memsz = text_size;
	build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, BUILD_ELF_EH_FRAME, frames.bytes,
			  frames.size);
	bytes = build_elf_finish(&elf, &size);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(ftruncate(fd, (off_t)(file_size > size ? file_size : size)), 0);
	free(bytes);
	assert_int_equal(image_open(fd, &image), 0);
	unwind_table_free(table);
	table = NULL;
	r = unwind_table_build(image, &table, &damaged);
	image_close(image);
	close(fd);
	return r;
}

static int build_at(u64 text, u64 text_size, u64 start)
{
	start_frames();
	add_plain(start, 0x20, 16);
	return build_sparse(text, text_size, text_size);
}

static void test_unwind_table__text_is_what_the_file_has(void **state)
{
	(void)state;
	start_frames();
	add_plain(TEXT, 0x100000, 16);
	assert_int_equal(build_sparse(TEXT, 0x100000, 0x100000), 0);
	assert_int_equal(build_sparse(TEXT, 0x100000, 0xfffff), -EBADMSG);
	assert_int_equal(build_sparse(TEXT, 0xfffff, 0x100000), -EBADMSG);
}

static void test_unwind_table__little_information_for_much_text_is_refused(void **state)
{
	(void)state;
	start_frames();
	add_plain(TEXT, 25ull << 20, 16);
	assert_int_equal(build_sparse(TEXT, 1ull << 32, 1ull << 32), 0);
	start_frames();
	add_plain(TEXT, 0xf0000000, 16);
	assert_int_equal(build_sparse(TEXT, 1ull << 32, 1ull << 32), -EFBIG);
	/* the directory counts too */
	start_frames();
	add_plain(TEXT, 16, 16);
	add_plain(0xf0000000, 16, 16);
	assert_int_equal(build_sparse(TEXT, 1ull << 32, 1ull << 32), -EFBIG);
}

static void test_unwind_table__text_at_the_limits(void **state)
{
	(void)state;
	assert_int_equal(build_at(0x1000, 1ull << 33, 0xfffff000), 0);
	expect(0xfffff000, 0xfffff020, SP(16));
	assert_int_equal(build_at(0x1000, 1ull << 33, 1ull << 32), -EBADMSG);
	assert_int_equal(build_at(1ull << 39, 0x1000, 1ull << 39), 0);
	expect(1ull << 39, (1ull << 39) + 0x20, SP(16));
	assert_int_equal(build_at(1ull << 47, 0x1000, 1ull << 47), -EFBIG);
}

/* ---- identity ---- */

static void test_unwind_table__equal_content_has_an_equal_hash(void **state)
{
	u64 hash;

	(void)state;
	start_frames();
	add_plain(TEXT, 0x20, 16);
	must_build();
	hash = table->content_hash;
	must_build();
	assert_true(table->content_hash == hash);
	assert_int_equal(build_program(TEXT + 8, ET_DYN), 0);
	assert_true(table->content_hash != hash);
	start_frames();
	add_plain(TEXT, 0x20, 24);
	must_build();
	assert_true(table->content_hash != hash);
	assert_int_equal(build_at(TEXT, TEXT_SIZE, TEXT), 0);
	assert_true(table->content_hash == hash);
	assert_int_equal(build_at(TEXT, TEXT_SIZE + 1, TEXT), 0);
	assert_true(table->content_hash != hash);
}

/* ---- function starts ---- */

static void test_unwind_table__function_starts(void **state)
{
	const uint64_t pcs[] = {0,	     TEXT,	   TEXT + 0x1f, TEXT + 0x20,
				TEXT + 0x40, TEXT + 0x50,  TEXT + 0x5f, TEXT + 0x60,
				TEXT + 0x7f, TEXT + 0x300, UINT64_MAX};
	const u64 starts[] = {0, TEXT, TEXT, 0, TEXT + 0x40, TEXT + 0x50, TEXT + 0x50, 0, 0, 0, 0};
	const u64 ends[] = {0, TEXT + 0x20, TEXT + 0x20, 0, TEXT + 0x80, TEXT + 0x60, TEXT + 0x60,
			    0, 0,	    0,		 0};
	uint64_t found[sizeof(pcs) / sizeof(*pcs)], found_ends[sizeof(pcs) / sizeof(*pcs)];
	struct image *image;

	(void)state;
	start_frames();
	add_plain(TEXT + 0x50, 0x10, 8); /* inside the next one */
	add_plain(TEXT + 0x40, 0x40, 8);
	add_plain(TEXT, 0x20, 8);
	add_plain(TEXT - 0x10, 0x1000, 8); /* not in the text */
	image = open_frames();
	assert_int_equal(unwind_function_starts(image, pcs, sizeof(pcs) / sizeof(*pcs), found), 0);
	for (size_t i = 0; i < sizeof(pcs) / sizeof(*pcs); i++)
		assert_true(found[i] == starts[i]);
	assert_int_equal(
		unwind_function_ranges(image, pcs, sizeof(pcs) / sizeof(*pcs), found, found_ends),
		0);
	for (size_t i = 0; i < sizeof(pcs) / sizeof(*pcs); i++)
		assert_true(found[i] == starts[i] && found_ends[i] == ends[i]);
	assert_int_equal(unwind_function_starts(image, NULL, 0, NULL), 0);
	image_close(image);
}

static int release(void **state)
{
	(void)state;
	unwind_table_free(table);
	build_cfi_release(&frames);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwind_table__one_function),
		cmocka_unit_test(test_unwind_table__functions_in_any_order),
		cmocka_unit_test(test_unwind_table__identical_neighbours_are_one_row),
		cmocka_unit_test(test_unwind_table__small_gaps_are_padding),
		cmocka_unit_test(test_unwind_table__overlapping_functions),
		cmocka_unit_test(test_unwind_table__pages_and_chunks_carry_rules_in),
		cmocka_unit_test(test_unwind_table__chunks_without_rows_are_left_out),
		cmocka_unit_test(test_unwind_table__more_than_255_rules_are_escaped),
		cmocka_unit_test(test_unwind_table__wide_rules_lie_behind_the_others),
		cmocka_unit_test(test_unwind_table__unsupported_rows_are_counted),
		cmocka_unit_test(test_unwind_table__damaged_functions_leave_gaps),
		cmocka_unit_test(test_unwind_table__functions_outside_of_text_are_refused),
		cmocka_unit_test(test_unwind_table__nothing_usable),
		cmocka_unit_test(test_unwind_table__no_unwind_information),
		cmocka_unit_test(test_unwind_table__an_uncovered_entry_point_is_a_root),
		cmocka_unit_test(test_unwind_table__other_entry_points_are_not),
		cmocka_unit_test(test_unwind_table__text_is_what_the_file_has),
		cmocka_unit_test(test_unwind_table__little_information_for_much_text_is_refused),
		cmocka_unit_test(test_unwind_table__text_at_the_limits),
		cmocka_unit_test(test_unwind_table__equal_content_has_an_equal_hash),
		cmocka_unit_test(test_unwind_table__function_starts),
	};

	return cmocka_run_group_tests_name("unwind_table", tests, NULL, release);
}
