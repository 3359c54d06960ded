/* SPDX-License-Identifier: Apache-2.0 */
/* The version of a Go program, and where that version has labels. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "object/elf/go_version.h"
#include "object/elf/image.h"
#include "object/unwind/unwind_table.h"
#include "tests/unit/build_elf.h"
#include "worker/runtime/go_labels.h"

#define INFO_AT 0x500000ull
#define BYTES	128u

/* Makes the section: of Go 1.18 and newer, or with addresses of a string and its text. */
static struct image *make(const char *version, bool is_pointed, const char *magic)
{
	unsigned char bytes[BYTES] = {0}, *file;
	const uint64_t address = INFO_AT + 64, string[] = {INFO_AT + 80, strlen(version)};
	struct image *image = NULL;
	struct build_elf elf;
	size_t size;

	memcpy(bytes, magic, 14);
	bytes[14] = 8;
	if (is_pointed) {
		memcpy(bytes + 16, &address, sizeof(address));
		memcpy(bytes + 64, string, sizeof(string));
		memcpy(bytes + 80, version, strlen(version));
	} else {
		bytes[15] = 2;
		bytes[32] = (unsigned char)strlen(version);
		memcpy(bytes + 33, version, strlen(version));
	}
	build_elf_init(&elf);
	build_elf_segment(&elf, PT_LOAD, PF_R | PF_W, INFO_AT, bytes, sizeof(bytes));
	build_elf_section(&elf, ".go.buildinfo", SHT_PROGBITS, INFO_AT, bytes, sizeof(bytes))
		->sh_offset = elf.segments[0].p_offset;
	file = build_elf_finish(&elf, &size);
	assert_int_equal(image_adopt(file, size, &image), 0);
	return image;
}

#define MAGIC "\xff Go buildinf:"

static void test_go_labels__versions(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint32_t minor;
	} cases[] = {
		{"go1.16.15", 0, 16},	{"go1.26", 0, 26},	  {"go1.27rc1", 0, 27},
		{"go1.999", 0, 999},	{"go1.1000", -ENOENT, 0}, {"go1.", -ENOENT, 0},
		{"go1.01", -ENOENT, 0}, {"go2.1", -ENOENT, 0},	  {"devel +0123", -ENOENT, 0},
		{"", -ENOENT, 0},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct image *image = make(cases[i / 2].text, i % 2, MAGIC);
		uint32_t minor = 0;

		assert_int_equal(go_version(image, &minor), cases[i / 2].result);
		assert_int_equal(minor, cases[i / 2].minor);
		image_close(image);
	}
}

static void test_go_labels__other_bytes(void **state)
{
	struct image *image = make("go1.26", false, "\xff Go buildinx:");
	uint32_t minor;

	(void)state;
	assert_int_equal(go_version(image, &minor), -ENOENT);
	image_close(image);
}

/* The offsets of a version hold if the program's own code agrees. */
static void test_go_labels__layouts(void **state)
{
	static const struct {
		const char *version;
		struct unwind_table table;
		int result;
		u16 labels;
	} cases[] = {
		{"go1.16", {.go_thread_local_at = -8, .go_current = 192}, 0, 344},
		{"go1.26.8", {.go_thread_local_at = -16, .go_current = 184}, 0, 352},
		{"go1.26", {.go_thread_local_at = -8, .go_current = 192}, -ENOTSUP, 0},
		{"go1.15", {.go_thread_local_at = -8, .go_current = 192}, -ENOTSUP, 0},
		{"go1.27", {.go_thread_local_at = -8, .go_current = 184}, -ENOTSUP, 0},
		{"go1.26", {.go_current = 184}, -ENOENT, 0},
		{"go1.26",
		 {.go_thread_local_at = 516, .go_in_word = true, .go_current = 184},
		 0,
		 352},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct image *image = make(cases[i].version, false, MAGIC);
		struct go_labels labels = {0};

		assert_int_equal(go_labels_find(image, &cases[i].table, &labels), cases[i].result);
		assert_int_equal(labels.labels, cases[i].labels);
		if (cases[i].table.go_in_word) {
			assert_int_equal(labels.word, 516 * 8);
			assert_int_equal(labels.thread_local_at, 0);
		} else if (cases[i].result == 0) {
			assert_int_equal(labels.word, 0);
			assert_int_equal(labels.thread_local_at, cases[i].table.go_thread_local_at);
		}
		assert_int_equal(go_labels_find(image, NULL, &labels), -ENOENT);
		image_close(image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_labels__versions),
		cmocka_unit_test(test_go_labels__other_bytes),
		cmocka_unit_test(test_go_labels__layouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
