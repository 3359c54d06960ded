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

#include "tests/unit/build_elf.h"
#include "object/elf/image.h"
#include "object/elf/image_eh_frame.h"
#include "object/elf/split.h"

static struct image *open_built(struct build_elf *elf)
{
	struct image *image = NULL;
	size_t size;
	unsigned char *bytes = build_elf_finish(elf, &size);

	assert_int_equal(image_open_memory(bytes, size, &image), 0);
	free(bytes);
	return image;
}

static int open_result(struct build_elf *elf)
{
	struct image *image = NULL;
	size_t size;
	unsigned char *bytes = build_elf_finish(elf, &size);
	int r = image_open_memory(bytes, size, &image);

	free(bytes);
	image_close(image);
	return r;
}

static void test_image__segments_entry_and_kind(void **state)
{
	const struct image_segment *segments;
	struct build_elf elf;
	struct image *image;

	(void)state;
	build_elf_init(&elf);
	elf.header.e_entry = 0x1234;
	build_elf_segment(&elf, PT_LOAD, PF_R, 0x1000, "abc", 3);
	build_elf_segment(&elf, PT_NOTE, PF_R, 0x1000, "", 1);
	build_elf_segment(&elf, PT_LOAD, PF_R | PF_X, 0x2000, "abcd", 4)->p_memsz = 100;
	image = open_built(&elf);
	assert_int_equal(image_segments(image, &segments), 2);
	assert_false(segments[0].executable);
	assert_int_equal(segments[0].file_size, 3);
	assert_true(segments[1].executable);
	assert_int_equal(segments[1].address, 0x2000);
	assert_int_equal(segments[1].memory_size, 100);
	assert_int_equal(image_entry(image), 0x1234);
	assert_false(image_is_program(image));
	image_close(image);

	build_elf_init(&elf);
	build_elf_segment(&elf, PT_INTERP, PF_R, 0x1000, "ld.so", 6);
	image = open_built(&elf);
	assert_true(image_is_program(image));
	image_close(image);

	build_elf_init(&elf);
	elf.header.e_type = ET_EXEC;
	image = open_built(&elf);
	assert_true(image_is_program(image));
	image_close(image);

	/* a library has none or the start of .text; the dynamic linker has its own */
	for (uint64_t entry = 0; entry <= 0x2010; entry += 0x1008) {
		build_elf_init(&elf);
		elf.header.e_entry = entry;
		build_elf_section(&elf, ".text", SHT_PROGBITS, 0x1008, "abcd", 4);
		image = open_built(&elf);
		assert_int_equal(image_is_program(image), entry == 0x2010);
		image_close(image);
	}
}

static void test_image__other_files_are_refused(void **state)
{
	static const char text[100] = "#!/bin/sh";
	struct build_elf elf;
	struct image *image = NULL;

	(void)state;
	assert_int_equal(image_open_memory(text, sizeof(text), &image), -ENOEXEC);
	assert_int_equal(image_open_memory(ELFMAG, 4, &image), -ENOEXEC);
	build_elf_init(&elf);
	elf.header.e_machine = EM_AARCH64;
	assert_int_equal(open_result(&elf), -ENOEXEC);
	build_elf_init(&elf);
	elf.header.e_type = ET_REL;
	assert_int_equal(open_result(&elf), -ENOEXEC);
	build_elf_init(&elf);
	elf.header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(open_result(&elf), -ENOEXEC);
	build_elf_init(&elf);
	elf.header.e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(open_result(&elf), -ENOEXEC);
	build_elf_init(&elf);
	for (int i = 0; i < IMAGE_SEGMENTS_MAX + 1; i++)
		build_elf_segment(&elf, PT_LOAD, PF_R, 0x1000, "", 0);
	assert_int_equal(open_result(&elf), -EBADMSG);
	build_elf_init(&elf);
	build_elf_segment(&elf, PT_LOAD, PF_R, UINT64_MAX - 1, "", 0)->p_memsz = 16;
	assert_int_equal(open_result(&elf), -EBADMSG);
	image_close(NULL);
}

/* Checks these counts in memory, and in a file with a hole in place of the headers. */
static void check_counts(uint16_t sections, uint64_t size, uint16_t segments, uint32_t info,
			 int expected)
{
	int fd = memfd_create("counts", MFD_CLOEXEC);
	struct image *image = NULL;
	Elf64_Shdr section = {.sh_size = size, .sh_info = info};
	struct build_elf elf;
	unsigned char *bytes;
	size_t length;

	build_elf_init(&elf);
	elf.header.e_shoff = build_elf_bytes(&elf, &section, sizeof(section));
	elf.header.e_shnum = sections;
	bytes = build_elf_finish(&elf, &length);
	((Elf64_Ehdr *)(void *)bytes)->e_phnum = segments;
	assert_int_equal(image_open_memory(bytes, length, &image), expected);
	assert_int_equal(write(fd, bytes, length), length);
	assert_int_equal(ftruncate(fd, 512 << 20), 0);
	assert_int_equal(image_open(fd, &image), expected);
	free(bytes);
	close(fd);
}

static void test_image__too_many_headers_are_refused(void **state)
{
	(void)state;
	check_counts(0, 4000000, 0, 0, -EFBIG);
	check_counts(0, IMAGE_HEADERS_MAX + 1, 0, 0, -EFBIG);
	check_counts(1, 0, PN_XNUM, IMAGE_HEADERS_MAX + 1, -EFBIG);
	check_counts(0, 1, PN_XNUM, UINT32_MAX, -EFBIG);
}

static void test_image__sections_by_name_and_number(void **state)
{
	struct image_place place;
	struct image_bytes bytes;
	char text[5];
	struct build_elf elf;
	struct image *image;

	(void)state;
	build_elf_init(&elf);
	build_elf_section(&elf, ".one", SHT_PROGBITS, 0x5000, "first", 5)->sh_entsize = 24;
	build_elf_section(&elf, ".two", SHT_PROGBITS, 0, "second", 6)->sh_link = 1;
	build_elf_section(&elf, ".empty", SHT_PROGBITS, 0, "", 0);
	build_elf_section(&elf, ".bss", SHT_NOBITS, 0x6000, "", 0)->sh_size = 1000;
	build_elf_section(&elf, ".packed", SHT_PROGBITS, 0, "xx", 2)->sh_flags = SHF_COMPRESSED;
	build_elf_section(&elf, ".cut", SHT_PROGBITS, 0, "xx", 2)->sh_size = 100000;
	build_elf_section(&elf, ".huge", SHT_PROGBITS, 0, "xx", 2)->sh_size = 1ull << 40;
	image = open_built(&elf);
	assert_int_equal(image_section(image, ".one", &bytes), 0);
	assert_memory_equal(bytes.bytes, "first", 5);
	assert_int_equal(bytes.size, 5);
	assert_int_equal(bytes.address, 0x5000);
	assert_int_equal(bytes.entry_size, 24);
	assert_int_equal(image_section(image, ".two", &bytes), 0);
	assert_int_equal(bytes.link, 1);
	assert_int_equal(bytes.address, 0);
	assert_int_equal(image_section_place_at(image, 1, &place), 0);
	assert_int_equal(place.size, 5);
	assert_int_equal(place.address, 0x5000);
	assert_int_equal(image_read(image, place.offset, text, sizeof(text)), sizeof(text));
	assert_memory_equal(text, "first", 5);
	assert_int_equal(image_section_place(image, ".two", &place), 0);
	assert_int_equal(place.link, 1);
	assert_int_equal(image_section(image, ".empty", &bytes), 0);
	assert_int_equal(bytes.size, 0);
	assert_int_equal(image_section(image, ".bss", &bytes), -ENOENT);
	assert_int_equal(image_section(image, ".packed", &bytes), -ENOENT);
	assert_int_equal(image_section(image, ".cut", &bytes), -EBADMSG);
	assert_int_equal(image_section(image, ".huge", &bytes), -EFBIG);
	assert_int_equal(image_section(image, ".none", &bytes), -ENOENT);
	assert_int_equal(image_section_place(image, ".bss", &place), -ENOENT);
	assert_int_equal(image_section_place(image, ".packed", &place), -ENOTSUP);
	assert_int_equal(image_section_place(image, ".cut", &place), -EBADMSG);
	assert_int_equal(image_section_place(image, ".huge", &place), -EBADMSG);
	assert_int_equal(image_section_place_at(image, 0, &place), -ENOENT);
	assert_int_equal(image_section_place_at(image, 100, &place), -ENOENT);
	assert_int_equal(image_read(image, 1ull << 63, text, sizeof(text)), 0);
	image_close(image);
}

static void test_image__eh_frame_section(void **state)
{
	struct image_bytes bytes;
	struct build_elf elf;
	struct image *image;

	(void)state;
	build_elf_init(&elf);
	build_elf_section(&elf, ".eh_frame", SHT_X86_64_UNWIND, 0x7000, "frames", 6);
	image = open_built(&elf);
	assert_int_equal(image_eh_frame(image, &bytes), 0);
	assert_int_equal(bytes.size, 6);
	assert_int_equal(bytes.address, 0x7000);
	image_close(image);
}

#define HEADER_AT 0x3000
#define FRAMES_AT 0x3010

/* Makes a file without sections: .eh_frame_hdr at HEADER_AT, with an eh_frame_ptr by the caller. */
static struct image *open_without_sections(const void *header, size_t header_size)
{
	/* a record of 4 bytes, the end, and foreign bytes */
	static const unsigned char frames[] = {4, 0, 0, 0, 9, 9, 9, 9, 0, 0, 0, 0, 7, 7, 7, 7};
	unsigned char segment[0x10 + sizeof(frames)] = {0};
	struct build_elf elf;
	Elf64_Phdr *load;

	memcpy(segment, header, header_size);
	memcpy(segment + 0x10, frames, sizeof(frames));
	build_elf_init(&elf);
	load = build_elf_segment(&elf, PT_LOAD, PF_R, HEADER_AT, segment, sizeof(segment));
	*build_elf_segment(&elf, PT_GNU_EH_FRAME, PF_R, HEADER_AT, "", 0) =
		(Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
			     .p_vaddr = HEADER_AT,
			     .p_offset = load->p_offset,
			     .p_filesz = 12};
	return open_built(&elf);
}

static void test_image__eh_frame_through_its_header(void **state)
{
	static const unsigned char relative[] = {1, 0x1b, 3, 0x3b, 0x0c, 0, 0, 0};
	static const unsigned char absolute[] = {1, 0, 3, 0x3b, 0x10, 0x30, 0, 0, 0, 0, 0, 0};
	static const unsigned char version[] = {2, 0x1b, 3, 0x3b, 0x0c, 0, 0, 0};
	static const unsigned char nowhere[] = {1, 0x1b, 3, 0x3b, 0, 0, 0, 1};
	struct image_bytes bytes;
	struct image *image = open_without_sections(relative, sizeof(relative));

	(void)state;
	assert_int_equal(image_eh_frame(image, &bytes), 0);
	assert_int_equal(bytes.address, FRAMES_AT);
	assert_int_equal(bytes.size, 12);
	assert_int_equal(bytes.bytes[4], 9);
	image_close(image);
	image = open_without_sections(absolute, sizeof(absolute));
	assert_int_equal(image_eh_frame(image, &bytes), 0);
	assert_int_equal(bytes.address, FRAMES_AT);
	image_close(image);
	image = open_without_sections(version, sizeof(version));
	assert_int_equal(image_eh_frame(image, &bytes), -EBADMSG);
	image_close(image);
	image = open_without_sections(nowhere, sizeof(nowhere));
	assert_int_equal(image_eh_frame(image, &bytes), -EBADMSG);
	image_close(image);
}

static void test_image__no_eh_frame(void **state)
{
	struct image_bytes bytes;
	struct build_elf elf;
	struct image *image;

	(void)state;
	build_elf_init(&elf);
	image = open_built(&elf);
	assert_int_equal(image_eh_frame(image, &bytes), -ENOENT);
	image_close(image);
}

static size_t build_id_of(const void *notes, size_t size, uint64_t alignment,
			  unsigned char id[IMAGE_BUILD_ID_MAX])
{
	struct build_elf elf;
	struct image *image;
	size_t length;

	build_elf_init(&elf);
	build_elf_segment(&elf, PT_NOTE, PF_R, 0x1000, notes, size)->p_align = alignment;
	image = open_built(&elf);
	length = image_build_id(image, id);
	image_close(image);
	return length;
}

static void test_image__build_id(void **state)
{
	/* a note of another owner with an odd size, then the build id */
	static const unsigned char notes[] = {
		2, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 'X', 0, 0,	 0,   1,   2, 3,    4,	  5,   0,
		0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0,	 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef};
	static const unsigned char property[] = {
		4, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 'G', 'N', 'U', 0,	1,   2,	  3, 4,	  0,
		0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 3, 0,	 0,   0,   'G', 'N', 'U', 0, 0x77};
	unsigned char id[IMAGE_BUILD_ID_MAX], large[16 + 200] = {4, 0, 0, 0, 200, 0, 0, 0, 3};

	(void)state;
	assert_int_equal(build_id_of(notes, sizeof(notes), 4, id), 3);
	assert_memory_equal(id, "\xab\xcd\xef", 3);
	assert_int_equal(build_id_of(property, sizeof(property), 8, id), 1);
	assert_int_equal(id[0], 0x77);
	memcpy(large + 12, "GNU", 4);
	assert_int_equal(build_id_of(large, sizeof(large), 4, id), IMAGE_BUILD_ID_MAX);
	assert_int_equal(build_id_of(large, sizeof(large) - 1, 4, id), 0);
	assert_int_equal(build_id_of(notes, 5, 4, id), 0);
	assert_int_equal(build_id_of("", 0, 4, id), 0);
}

static size_t go_build_id_of(const void *notes, size_t size, char id[IMAGE_GO_BUILD_ID_MAX])
{
	struct build_elf elf;
	struct image *image;
	size_t length;

	build_elf_init(&elf);
	build_elf_segment(&elf, PT_NOTE, PF_R, 0x1000, notes, size)->p_align = 4;
	image = open_built(&elf);
	length = image_go_build_id(image, id);
	image_close(image);
	return length;
}

static void test_image__go_build_id(void **state)
{
	/* a GNU build id, then Go's note */
	static const unsigned char notes[] = {
		4, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 7,   0,	0,   0,
		4, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 'G', 'o', 0,   0, 'a', '/', 'b', 0};
	char id[IMAGE_GO_BUILD_ID_MAX];
	unsigned char large[16 + 200] = {4, 0, 0, 0, 200, 0, 0, 0, 4, 0, 0, 0, 'G', 'o'};
	unsigned char gnu[IMAGE_BUILD_ID_MAX];

	(void)state;
	assert_int_equal(go_build_id_of(notes, sizeof(notes), id), 3);
	assert_memory_equal(id, "a/b", 3);
	assert_int_equal(build_id_of(notes, sizeof(notes), 4, gnu), 1);
	assert_int_equal(go_build_id_of(notes, 20, id), 0);
	assert_int_equal(go_build_id_of(large, sizeof(large), id), 0);
	large[4] = IMAGE_GO_BUILD_ID_MAX;
	assert_int_equal(go_build_id_of(large, sizeof(large), id), IMAGE_GO_BUILD_ID_MAX);
	large[8] = 3;
	assert_int_equal(go_build_id_of(large, sizeof(large), id), 0);
}

static int open_bytes(const void *bytes, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

static void test_image__a_file_is_read_by_descriptor(void **state)
{
	struct image_bytes bytes;
	struct build_elf elf;
	struct image *image;
	unsigned char *built;
	size_t size;
	int fd;

	(void)state;
	build_elf_init(&elf);
	build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, 0x7000, "frames", 6);
	built = build_elf_finish(&elf, &size);
	fd = open_bytes(built, size);
	assert_int_equal(image_open(fd, &image), 0);
	assert_int_equal(image_eh_frame(image, &bytes), 0);
	assert_memory_equal(bytes.bytes, "frames", 6);
	image_close(image);

	/* cut short while it is open: an error, not a signal */
	assert_int_equal(image_open(fd, &image), 0);
	assert_int_equal(ftruncate(fd, 64), 0);
	assert_true(image_eh_frame(image, &bytes) < 0);
	image_close(image);
	close(fd);
	assert_int_equal(image_open(fd, &image), -EIO);
	free(built);
}

static const struct image_segment *of(const struct image_segment *segments, uint64_t offset,
				      uint64_t size)
{
	return image_segment_of(segments, 2, offset, size);
}

static void check_bytes(const struct image_segment *segments)
{
	for (size_t i = 0; i < 2; i++)
		for (uint64_t at = 0; at < segments[i].file_size; at++)
			assert_ptr_equal(of(segments, segments[i].file_offset + at, 1),
					 &segments[i]);
}

/* The first page of the second segment is the last page of the first one, mapped twice. */
static void test_image__segments_that_share_a_page(void **state)
{
	static const struct image_segment segments[] = {
		{.address = 0x1000, .file_offset = 0x1000, .file_size = 0x400},
		{.address = 0x2400, .file_offset = 0x1400, .file_size = 0x1c00},
	};

	(void)state;
	assert_ptr_equal(of(segments, 0x1000, 0x1000), &segments[0]);
	assert_ptr_equal(of(segments, 0x1000, 0x2000), &segments[1]);
	check_bytes(segments);
	/* a part of a mapping, and bytes behind the end of the file */
	assert_ptr_equal(of(segments, 0x2000, 0x1000), &segments[1]);
	assert_ptr_equal(of(segments, 0x2000, 0x9000), &segments[1]);
	assert_null(of(segments, 0x3000, 0x1000));
	assert_null(of(segments, 0, 0x1000));
}

static void test_image__segments_in_one_page(void **state)
{
	static const struct image_segment
		apart[] =
			{
				{.address = 0x1000, .file_offset = 0x1000, .file_size = 0x400},
				{.address = 0x2400, .file_offset = 0x1400, .file_size = 0x800},
			},
		together[] = {
			{.address = 0x5000, .file_offset = 0x1000, .file_size = 0x1000},
			{.address = 0x6000, .file_offset = 0x2000, .file_size = 0x1000},
		};

	(void)state;
	/* nobody can tell which of the two mappings this is */
	assert_null(of(apart, 0x1000, 0x1000));
	check_bytes(apart);
	/* one mapping of both: either is right */
	assert_non_null(of(together, 0x1000, 0x2000));
	check_bytes(together);
}

static void test_image__segments_that_cannot_be(void **state)
{
	static const struct image_segment segments[] = {
		{.file_offset = UINT64_MAX - 10, .file_size = 100},
		{.file_offset = 0x1000, .file_size = 0},
	};

	(void)state;
	assert_null(of(segments, UINT64_MAX - 10, 5));
	assert_null(of(segments, UINT64_MAX - 10, 100));
	assert_null(of(segments, 0x1000, 0x1000));
	assert_null(image_segment_of(NULL, 0, 0x1000, 0x1000));
}

/* ---- split debug information ---- */

static bool is_split_by(const void *abbreviations, size_t size, uint64_t flags)
{
	struct build_elf elf;
	struct image *image;
	bool split;

	build_elf_init(&elf);
	build_elf_section(&elf, ".debug_abbrev", SHT_PROGBITS, 0, abbreviations, size)->sh_flags =
		flags;
	image = open_built(&elf);
	split = split_is(image);
	image_close(image);
	return split;
}

static void test_image__split_debug_information(void **state)
{
	/* a constant in the declaration looks like the name of such a file */
	static const unsigned char whole[] = {1, 0x11, 1, 0x03, 0x0e, 0x0b, 0x21, 0xf6, 0x00,
					      0, 0,    2, 0x24, 0,    0,    0,	  0};
	static const unsigned char five[] = {0, 1, 0x4a, 0, 0x10, 0x17, 0x76, 0x25, 0, 0, 0};
	static const unsigned char four[] = {1, 0x11, 0, 0xb0, 0x42, 0x0e, 0, 0, 0};

	(void)state;
	assert_false(is_split_by(whole, sizeof(whole), 0));
	assert_true(is_split_by(five, sizeof(five), 0));
	assert_true(is_split_by(four, sizeof(four), 0));
	assert_false(is_split_by(four, sizeof(four), SHF_COMPRESSED));
	for (size_t size = 0; size < 8; size++)
		assert_false(is_split_by(four, size, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image__split_debug_information),
		cmocka_unit_test(test_image__segments_entry_and_kind),
		cmocka_unit_test(test_image__other_files_are_refused),
		cmocka_unit_test(test_image__too_many_headers_are_refused),
		cmocka_unit_test(test_image__sections_by_name_and_number),
		cmocka_unit_test(test_image__eh_frame_section),
		cmocka_unit_test(test_image__eh_frame_through_its_header),
		cmocka_unit_test(test_image__no_eh_frame),
		cmocka_unit_test(test_image__build_id),
		cmocka_unit_test(test_image__go_build_id),
		cmocka_unit_test(test_image__a_file_is_read_by_descriptor),
		cmocka_unit_test(test_image__segments_that_share_a_page),
		cmocka_unit_test(test_image__segments_in_one_page),
		cmocka_unit_test(test_image__segments_that_cannot_be),
	};

	return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
