/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/build_cfi.h"
#include "object/unwind/frame.h"

#define SECTION_AT 0x4000ull
#define NOTHING	   ((struct build_cfi_code){NULL, 0})

static struct frame_section section;

static void start_reading(const struct build_cfi *cfi)
{
	frame_section_init(&section, cfi->bytes, cfi->size, SECTION_AT);
}

static void expect_fde(uint64_t start, uint64_t end)
{
	struct frame_fde fde;

	assert_true(frame_next(&section, &fde));
	assert_true(fde.start == start);
	assert_true(fde.end == end);
}

static void expect_end(uint64_t damaged)
{
	struct frame_fde fde;

	assert_false(frame_next(&section, &fde));
	assert_true(section.damaged == damaged);
}

static void test_frame__records_in_the_order_of_the_section(void **state)
{
	struct build_cfi cfi = {0};
	size_t cie = build_cfi_usual_cie(&cfi), second;
	struct frame_fde fde;

	(void)state;
	build_cfi_fde(&cfi, cie, 0x2000, 0x10, INSTRUCTIONS(0x0e, 16));
	second = build_cfi_cie(&cfi, "", INSTRUCTIONS(0x0c, 7, 8));
	build_cfi_fde(&cfi, second, 0x1000, 0x20, NOTHING);
	build_cfi_fde(&cfi, cie, 0x3000, 0x30, NOTHING);
	start_reading(&cfi);
	assert_true(frame_next(&section, &fde));
	assert_int_equal(fde.start, 0x2000);
	assert_int_equal(fde.cie->offset, cie);
	assert_int_equal(fde.instructions_end - fde.instructions, 2);
	assert_int_equal(section.bytes[fde.instructions], 0x0e);
	assert_int_equal(fde.cie->code_alignment, 1);
	assert_int_equal(fde.cie->data_alignment, -8);
	assert_int_equal(fde.cie->return_register, 16);
	assert_int_equal(fde.cie->instructions_end - fde.cie->instructions, 5);
	assert_true(frame_next(&section, &fde));
	assert_int_equal(fde.cie->offset, second);
	assert_false(fde.cie->has_data);
	expect_fde(0x3000, 0x3030);
	expect_end(0);
	build_cfi_release(&cfi);
}

static void test_frame__a_record_can_be_read_again(void **state)
{
	struct build_cfi cfi = {0};
	size_t cie = build_cfi_usual_cie(&cfi);
	size_t offset = build_cfi_fde(&cfi, cie, 0x2000, 0x10, NOTHING);
	struct frame_fde fde;

	(void)state;
	start_reading(&cfi);
	assert_int_equal(frame_fde_at(&section, offset, &fde), 0);
	assert_int_equal(fde.start, 0x2000);
	assert_int_equal(fde.offset, offset);
	assert_int_equal(frame_fde_at(&section, cie, &fde), -EBADMSG);
	assert_int_equal(frame_fde_at(&section, cfi.size, &fde), -EBADMSG);
	assert_int_equal(frame_fde_at(&section, SIZE_MAX, &fde), -EBADMSG);
	build_cfi_release(&cfi);
}

/* ---- .debug_frame ---- */

static void test_frame__debug_frame_of_each_version(void **state)
{
	static const unsigned int versions[] = {1, 3, 4};
	struct frame_fde fde;

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		struct build_cfi cfi = {0};
		size_t cie = build_cfi_debug_cie(&cfi, versions[i], ""), other;

		build_cfi_debug_fde(&cfi, cie, 0x2000, 0x10, INSTRUCTIONS(0x0e, 16));
		other = build_cfi_debug_cie(&cfi, versions[i], "");
		build_cfi_debug_fde(&cfi, other, 0x3000, 0x20, NOTHING);
		frame_section_init_debug(&section, cfi.bytes, cfi.size);
		assert_true(frame_next(&section, &fde));
		assert_int_equal(fde.start, 0x2000);
		assert_int_equal(fde.end, 0x2010);
		assert_int_equal(fde.cie->offset, cie);
		assert_int_equal(fde.cie->data_alignment, -8);
		assert_int_equal(fde.cie->return_register, 16);
		assert_int_equal(fde.cie->instructions_end - fde.cie->instructions, 5);
		assert_int_equal(fde.instructions_end - fde.instructions, 2);
		assert_int_equal(frame_fde_at(&section, fde.offset, &fde), 0);
		assert_int_equal(frame_fde_at(&section, cie, &fde), -EBADMSG);
		assert_true(frame_next(&section, &fde));
		assert_int_equal(fde.cie->offset, other);
		expect_end(0);
		build_cfi_release(&cfi);
	}
}

static void test_frame__debug_frame_of_64_bit_dwarf(void **state)
{
	struct build_cfi cfi = {0};
	static const unsigned char cie[] = {3, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1};

	(void)state;
	build_cfi_number(&cfi, 0, 4); /* a record of length 0 */
	build_cfi_number(&cfi, UINT32_MAX, 4);
	build_cfi_number(&cfi, 8 + sizeof(cie), 8);
	build_cfi_number(&cfi, UINT64_MAX, 8);
	build_cfi_bytes(&cfi, cie, sizeof(cie));
	build_cfi_number(&cfi, UINT32_MAX, 4);
	build_cfi_number(&cfi, 24, 8);
	build_cfi_number(&cfi, 4, 8);
	build_cfi_number(&cfi, 0x2000, 8);
	build_cfi_number(&cfi, 0x30, 8);
	frame_section_init_debug(&section, cfi.bytes, cfi.size);
	expect_fde(0x2000, 0x2030);
	expect_end(0);
	build_cfi_release(&cfi);
}

static void test_frame__damage_in_debug_frame(void **state)
{
	struct build_cfi cfi = {0};
	size_t cie = build_cfi_debug_cie(&cfi, 4, ""), encoded, version, size;

	(void)state;
	encoded = build_cfi_debug_cie(&cfi, 4, "");
	cfi.bytes[encoded + 10] = 4; /* bytes of an address */
	version = build_cfi_debug_cie(&cfi, 2, "");
	build_cfi_debug_fde(&cfi, encoded, 0x2000, 0x10, NOTHING);
	build_cfi_debug_fde(&cfi, version, 0x2000, 0x10, NOTHING);
	build_cfi_debug_fde(&cfi, cfi.size, 0x2000, 0x10, NOTHING);    /* its own CIE */
	build_cfi_debug_fde(&cfi, 0x7fffffff, 0x2000, 0x10, NOTHING);  /* behind the section */
	build_cfi_debug_fde(&cfi, cie, UINT64_MAX - 4, 0x10, NOTHING); /* no address is there */
	build_cfi_debug_fde(&cfi, cie, 0x3000, 0x10, NOTHING);
	size = cfi.size;
	build_cfi_debug_fde(&cfi, cie, 0x4000, 0x10, NOTHING);
	frame_section_init_debug(&section, cfi.bytes, size + 9); /* cut short */
	expect_fde(0x3000, 0x3010);
	expect_end(6);
	build_cfi_release(&cfi);
}

/* Addresses in .debug_frame have no encoding: where a section is loaded has no meaning there. */
static void test_frame__encoded_addresses_in_debug_frame(void **state)
{
	static const unsigned char relative[] = {3, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b};
	struct build_cfi cfi = {0};
	size_t cie = build_cfi_begin(&cfi, UINT32_MAX);

	(void)state;
	build_cfi_bytes(&cfi, relative, sizeof(relative));
	build_cfi_end(&cfi);
	build_cfi_debug_fde(&cfi, cie, 0x2000, 0x10, INSTRUCTIONS(0));
	frame_section_init_debug(&section, cfi.bytes, cfi.size);
	expect_end(1);
	build_cfi_release(&cfi);
}

/* ---- pointers ---- */

static uint64_t read_pointer(uint8_t encoding, const void *bytes, size_t size, bool *ret_failed)
{
	struct reader reader;
	uint64_t value;

	reader_init(&reader, bytes, size);
	reader_skip(&reader, 1);
	value = frame_pointer(&reader, encoding, SECTION_AT);
	*ret_failed = reader_failed(&reader);
	return value;
}

static void test_frame__every_pointer_encoding_in_use(void **state)
{
	static const uint8_t bytes[] = {0,    0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 1,    2,	  3,	4,    5,    6,	  7};
	static const uint8_t leb[] = {0, 0xf0, 0x7f};
	static const struct {
		uint8_t encoding;
		uint64_t value;
	} cases[] = {
		{0x00, -16ull},
		{0x02, 0xfff0},
		{0x03, 0xfffffff0},
		{0x04, -16ull},
		{0x0a, -16ull},
		{0x0b, -16ull},
		{0x0c, -16ull},
		{0x10, SECTION_AT + 1 - 16},
		{0x12, SECTION_AT + 1 + 0xfff0},
		{0x13, SECTION_AT + 1 + 0xfffffff0},
		{0x1a, SECTION_AT + 1 - 16},
		{0x1b, SECTION_AT + 1 - 16},
		{0x1c, SECTION_AT + 1 - 16},
	};
	bool failed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(read_pointer(cases[i].encoding, bytes, sizeof(bytes), &failed) ==
			    cases[i].value);
		assert_false(failed);
	}
	/* aligned: the next multiple of eight */
	assert_true(read_pointer(0x50, bytes, sizeof(bytes), &failed) == 0x07060504030201ff);
	assert_true(read_pointer(0x01, leb, sizeof(leb), &failed) == 0x3ff0);
	assert_true(read_pointer(0x09, leb, sizeof(leb), &failed) == -16ull);
	assert_false(failed);
}

static void test_frame__pointers_that_a_file_cannot_resolve(void **state)
{
	static const uint8_t encodings[] = {0x20, 0x30, 0x40, 0x60, 0x70, 0x05, 0x0f, 0xff};
	static const uint8_t bytes[17];
	bool failed;

	(void)state;
	for (size_t i = 0; i < sizeof(encodings); i++) {
		read_pointer(encodings[i], bytes, sizeof(bytes), &failed);
		assert_true(failed);
	}
	read_pointer(0x00, bytes, 8, &failed);
	assert_true(failed);
}

static void test_frame__addresses_relative_to_their_place(void **state)
{
	struct build_cfi cfi = {0};
	size_t cie = build_cfi_begin(&cfi, 0);

	(void)state;
	build_cfi_bytes(&cfi, "\1zR\0\1\x78\x10\1\x1b", 9);
	build_cfi_end(&cfi);
	build_cfi_begin(&cfi, (uint32_t)(cfi.size + 4 - cie));
	build_cfi_number(&cfi, 0x1000 - (SECTION_AT + cfi.size), 4);
	build_cfi_number(&cfi, 0x80, 4);
	build_cfi_uleb(&cfi, 0);
	build_cfi_end(&cfi);
	start_reading(&cfi);
	expect_fde(0x1000, 0x1080);
	expect_end(0);
	build_cfi_release(&cfi);
}

/* ---- CIEs ---- */

/*
 * Adds a CIE with these bytes behind its id, and an FDE with 8-byte addresses and `data` behind
 * them.
 */
static bool read_cie(const void *bytes, size_t size, const void *data, size_t data_size,
		     struct frame_fde *ret_fde)
{
	static struct build_cfi cfi;
	size_t cie;

	build_cfi_release(&cfi);
	cie = build_cfi_begin(&cfi, 0);
	build_cfi_bytes(&cfi, bytes, size);
	build_cfi_end(&cfi);
	build_cfi_begin(&cfi, (uint32_t)(cfi.size + 4 - cie));
	build_cfi_number(&cfi, 0x1000, 8);
	build_cfi_number(&cfi, 0x10, 8);
	build_cfi_bytes(&cfi, data, data_size);
	build_cfi_end(&cfi);
	start_reading(&cfi);
	return frame_next(&section, ret_fde);
}
#define READ_CIE(bytes, data, fde) read_cie(bytes, sizeof(bytes) - 1, data, sizeof(data) - 1, fde)

static void test_frame__augmentations(void **state)
{
	struct frame_fde fde;

	(void)state;
	/* personality (indirect, relative, 4 bytes), language data, address encoding, signal */
	assert_true(READ_CIE("\1zPLRS\0\1\x78\x10\7\x9b\1\2\3\4\x1b\0\x0c\7\x8",
			     "\4\1\2\3\4\x0e\x10", &fde));
	assert_true(fde.cie->signal);
	assert_true(fde.cie->has_data);
	assert_int_equal(fde.cie->encoding, 0);
	assert_int_equal(fde.cie->instructions_end - fde.cie->instructions, 3);
	assert_int_equal(fde.instructions_end - fde.instructions, 2);
	/* no personality; unused data at the end is skipped */
	assert_true(READ_CIE("\1zPR\0\1\x78\x10\4\xff\0\7\7\x0c\7\x8", "\0", &fde));
	assert_int_equal(fde.cie->instructions_end - fde.cie->instructions, 3);
	assert_true(READ_CIE("\1zRB\0\1\x78\x10\1\0", "\0", &fde));
	assert_true(READ_CIE("\1\0\1\x78\x10\x0c\7\x8", "\x0e\x10", &fde));
	assert_int_equal(fde.instructions_end - fde.instructions, 2);
	assert_true(READ_CIE("\1eh\0\1\2\3\4\5\6\7\x8\1\x78\x10", "", &fde));
	assert_int_equal(fde.cie->return_register, 16);
	/* version 3 has a long register number, version 4 sizes of addresses too */
	assert_true(READ_CIE("\3\0\1\x78\x90\0", "", &fde));
	assert_int_equal(fde.cie->return_register, 16);
	assert_true(READ_CIE("\4\0\x8\0\1\x78\x10", "", &fde));
}

static void test_frame__damaged_cies(void **state)
{
	struct frame_fde fde;

	(void)state;
	assert_false(READ_CIE("\2\0\1\x78\x10", "", &fde)); /* version */
	assert_int_equal(section.damaged, 1);
	assert_false(READ_CIE("\1zQ\0\1\x78\x10\1\0", "", &fde));     /* unknown letter */
	assert_false(READ_CIE("\1zR\0\1\x78\x10\x40\0", "", &fde));   /* data beyond the record */
	assert_false(READ_CIE("\1zR\0\1\x78\x10\0\0", "", &fde));     /* letter without data */
	assert_false(READ_CIE("\1zR\0\1\x78\x10\1\xff", "", &fde));   /* no addresses */
	assert_false(READ_CIE("\1zR\0\1\x78\x10\1\x80", "\0", &fde)); /* indirect addresses */
	assert_false(READ_CIE("\1zRRRR", "", &fde));		      /* endless string */
	assert_false(READ_CIE("\1\0\1\x78", "", &fde));		      /* cut */
	assert_false(READ_CIE("\4\0\4\0\1\x78\x10", "", &fde));	      /* 4-byte addresses */
}

/* ---- lengths ---- */

static void test_frame__zero_lengths_are_skipped(void **state)
{
	struct build_cfi cfi = {0};
	size_t cie = build_cfi_usual_cie(&cfi);

	(void)state;
	build_cfi_number(&cfi, 0, 4);
	build_cfi_fde(&cfi, cie, 0x1000, 0x10, NOTHING);
	build_cfi_number(&cfi, 0, 4);
	start_reading(&cfi);
	expect_fde(0x1000, 0x1010);
	expect_end(0);
	build_cfi_release(&cfi);
}

static void test_frame__lengths_of_64_bits(void **state)
{
	struct build_cfi cfi = {0};
	size_t cie = build_cfi_usual_cie(&cfi), id;

	(void)state;
	build_cfi_number(&cfi, 0xffffffff, 4);
	build_cfi_number(&cfi, 8 + 8 + 8 + 1, 8);
	id = cfi.size;
	build_cfi_number(&cfi, id - cie, 8);
	build_cfi_number(&cfi, 0x5000, 8);
	build_cfi_number(&cfi, 0x100, 8);
	build_cfi_uleb(&cfi, 0);
	build_cfi_fde(&cfi, cie, 0x1000, 0x10, NOTHING);
	start_reading(&cfi);
	expect_fde(0x5000, 0x5100);
	expect_fde(0x1000, 0x1010);
	expect_end(0);
	build_cfi_release(&cfi);
}

static void test_frame__damaged_records_are_skipped_and_counted(void **state)
{
	struct build_cfi cfi = {0};
	size_t cie = build_cfi_usual_cie(&cfi), record;

	(void)state;
	build_cfi_number(&cfi, 2, 4); /* too short for an id */
	build_cfi_number(&cfi, 0, 2);
	record = build_cfi_begin(&cfi, 3); /* its CIE lies in the middle of nothing */
	build_cfi_number(&cfi, 0, 8);
	build_cfi_number(&cfi, 0, 8);
	build_cfi_end(&cfi);
	build_cfi_begin(&cfi, (uint32_t)(cfi.size + 4 - record)); /* its CIE is an FDE */
	build_cfi_end(&cfi);
	build_cfi_begin(&cfi, 0x7fffffff); /* its CIE lies before the section */
	build_cfi_end(&cfi);
	build_cfi_begin(&cfi, (uint32_t)(cfi.size + 4 - cie)); /* without addresses */
	build_cfi_end(&cfi);
	build_cfi_fde(&cfi, cie, UINT64_MAX - 4, 0x10, NOTHING); /* ends behind everything */
	build_cfi_fde(&cfi, cie, 0x1000, 0, NOTHING);		 /* empty, not damaged */
	build_cfi_fde(&cfi, cie, 0x1000, 0x10, NOTHING);
	build_cfi_number(&cfi, 0x100, 4); /* longer than the section */
	start_reading(&cfi);
	expect_fde(0x1000, 0x1010);
	expect_end(7);
	build_cfi_release(&cfi);
}

/* There are more CIEs than are kept, in the worst order for keeping any. */
static void test_frame__many_cies(void **state)
{
	enum {
		MANY = 3 * FRAME_CIES
	};
	struct build_cfi cfi = {0};
	size_t cies[MANY];

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		cies[i] = build_cfi_usual_cie(&cfi);
	for (size_t i = 0; i < MANY; i++)
		build_cfi_fde(&cfi, cies[i], 0x1000 + i * 16, 16, NOTHING);
	start_reading(&cfi);
	for (size_t i = 0; i < MANY; i++)
		expect_fde(0x1000 + i * 16, 0x1010 + i * 16);
	expect_end(0);
	build_cfi_release(&cfi);
}

/* Many FDEs each make us decode a huge CIE again. The reader gives up. */
static void test_frame__work_is_bounded(void **state)
{
	static const unsigned char nops[60000];
	const struct build_cfi_code huge = {nops, sizeof(nops)};
	struct build_cfi cfi = {0};
	struct frame_fde fde;
	size_t first, second, read = 0;

	(void)state;
	first = build_cfi_cie(&cfi, "", huge);
	for (size_t pad = 0;; pad++) {
		second = build_cfi_cie(&cfi, "", huge);
		if ((uint32_t)first * 2654435761u >> 24 == (uint32_t)second * 2654435761u >> 24)
			break;
		cfi.size = second;
		build_cfi_number(&cfi, 0, 4);
	}
	for (size_t i = 0; i < 4000; i++)
		build_cfi_fde(&cfi, i % 2 ? first : second, 0x1000 + i * 16, 16, NOTHING);
	start_reading(&cfi);
	while (frame_next(&section, &fde))
		read++;
	assert_true(read > 0 && section.damaged > 0);
	assert_true(read + section.damaged == 4000);
	build_cfi_release(&cfi);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame__records_in_the_order_of_the_section),
		cmocka_unit_test(test_frame__a_record_can_be_read_again),
		cmocka_unit_test(test_frame__debug_frame_of_each_version),
		cmocka_unit_test(test_frame__debug_frame_of_64_bit_dwarf),
		cmocka_unit_test(test_frame__damage_in_debug_frame),
		cmocka_unit_test(test_frame__encoded_addresses_in_debug_frame),
		cmocka_unit_test(test_frame__every_pointer_encoding_in_use),
		cmocka_unit_test(test_frame__pointers_that_a_file_cannot_resolve),
		cmocka_unit_test(test_frame__addresses_relative_to_their_place),
		cmocka_unit_test(test_frame__augmentations),
		cmocka_unit_test(test_frame__damaged_cies),
		cmocka_unit_test(test_frame__zero_lengths_are_skipped),
		cmocka_unit_test(test_frame__lengths_of_64_bits),
		cmocka_unit_test(test_frame__damaged_records_are_skipped_and_counted),
		cmocka_unit_test(test_frame__many_cies),
		cmocka_unit_test(test_frame__work_is_bounded),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
