/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ksyms_file.h"
#include "worker/kernel/kernel_symbols.h"

static const char names[] = "kernel\0ext4\0_stext\0__x64_sys_read\0read_it\0ext4_read";

enum {
	STEXT = 12,
	SYS_READ = 19,
	READ_IT = 34,
	EXT4_READ = 42
};

struct file {
	struct ksyms_file_head head;
	struct ksyms_file_symbol symbols[4];
	char names[sizeof(names)];
};

static struct file file_make(void)
{
	struct file file = {
		.head = {KSYMS_MAGIC, 2, 4, sizeof(names)},
		.symbols = {{0, 0, STEXT},
			    {0, 0x100, SYS_READ},
			    {0, 0x100, READ_IT},
			    {1, 0x20, EXT4_READ}},
	};

	memcpy(file.names, names, sizeof(names));
	return file;
}

static int load(const void *bytes, size_t size, struct kernel_symbols **ret_symbols)
{
	int fd = memfd_create("test", MFD_CLOEXEC), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	r = kernel_symbols_new(fd, ret_symbols);
	close(fd);
	return r;
}

static void assert_refused(const struct file *file)
{
	struct kernel_symbols *symbols;

	assert_int_equal(load(file, sizeof(*file), &symbols), -EBADMSG);
}

static void assert_found(const struct kernel_symbols *symbols, uint32_t range, uint32_t offset,
			 const char *name, uint32_t start)
{
	uint32_t found_start = ~0u;
	const char *found = kernel_symbols_find(symbols, range, offset, &found_start);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(found_start, start);
}

static void test_kernel_symbols__the_symbol_before_an_offset_covers_it(void **state)
{
	struct file file = file_make();
	struct kernel_symbols *symbols;

	(void)state;
	assert_int_equal(load(&file, sizeof(file), &symbols), 0);
	assert_found(symbols, 0, 0, "_stext", 0);
	assert_found(symbols, 0, 0xff, "_stext", 0);
	assert_found(symbols, 0, 0xffffffff, "read_it", 0x100);
	assert_found(symbols, 1, 0x1f, NULL, 0);
	assert_found(symbols, 1, 0x20, "ext4_read", 0x20);
	assert_found(symbols, 2, 0x20, NULL, 0);
	assert_found(symbols, 0xffff, 0, NULL, 0);
	kernel_symbols_free(symbols);
}

static void test_kernel_symbols__of_aliases_the_best_known_is_kept(void **state)
{
	struct file file = file_make();
	struct kernel_symbols *symbols;

	(void)state;
	file.symbols[1].name = READ_IT;
	file.symbols[2].name = SYS_READ;
	assert_int_equal(load(&file, sizeof(file), &symbols), 0);
	assert_found(symbols, 0, 0x100, "read_it", 0x100);
	kernel_symbols_free(symbols);
}

static void test_kernel_symbols__ranges_have_names_in_brackets(void **state)
{
	struct file file = file_make();
	struct kernel_symbols *symbols;

	(void)state;
	assert_int_equal(load(&file, sizeof(file), &symbols), 0);
	assert_string_equal(kernel_symbols_range(symbols, 0), "[kernel]");
	assert_string_equal(kernel_symbols_range(symbols, 1), "[ext4]");
	assert_null(kernel_symbols_range(symbols, 2));
	kernel_symbols_free(symbols);
}

static void test_kernel_symbols__an_empty_table_knows_nothing(void **state)
{
	struct ksyms_file_head head = {.magic = KSYMS_MAGIC};
	struct kernel_symbols *symbols;

	(void)state;
	assert_int_equal(load(&head, sizeof(head), &symbols), 0);
	assert_null(kernel_symbols_range(symbols, 0));
	assert_found(symbols, 0, 0, NULL, 0);
	kernel_symbols_free(symbols);
	kernel_symbols_free(NULL);
}

static void test_kernel_symbols__damage_is_refused(void **state)
{
	struct file file;

	(void)state;
	file = file_make();
	file.head.magic++;
	assert_refused(&file);
	file = file_make();
	file.head.ranges = KSYMS_RANGES_MAX + 1;
	assert_refused(&file);
	file = file_make();
	file.head.symbols = ~0u;
	assert_refused(&file);
	file = file_make();
	file.head.name_bytes = ~0u;
	assert_refused(&file);
	file = file_make();
	file.head.ranges = 7; /* there are six names */
	assert_refused(&file);
	file = file_make();
	file.symbols[3].name = sizeof(names);
	assert_refused(&file);
	file = file_make();
	file.symbols[3].range = 2;
	assert_refused(&file);
	file = file_make();
	file.symbols[1].offset = 0x101; /* out of order */
	assert_refused(&file);
	file = file_make();
	file.names[sizeof(names) - 1] = 'x';
	assert_refused(&file);
}

static void test_kernel_symbols__every_truncation_is_refused(void **state)
{
	struct file file = file_make();
	struct kernel_symbols *symbols;
	size_t used = offsetof(struct file, names) + sizeof(names);

	(void)state;
	for (size_t size = 0; size < used; size++)
		assert_int_equal(load(&file, size, &symbols), -EBADMSG);
}

static void test_kernel_symbols__a_closed_descriptor_is_an_error(void **state)
{
	struct kernel_symbols *symbols;

	(void)state;
	assert_int_equal(kernel_symbols_new(-1, &symbols), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_symbols__the_symbol_before_an_offset_covers_it),
		cmocka_unit_test(test_kernel_symbols__of_aliases_the_best_known_is_kept),
		cmocka_unit_test(test_kernel_symbols__ranges_have_names_in_brackets),
		cmocka_unit_test(test_kernel_symbols__an_empty_table_knows_nothing),
		cmocka_unit_test(test_kernel_symbols__damage_is_refused),
		cmocka_unit_test(test_kernel_symbols__every_truncation_is_refused),
		cmocka_unit_test(test_kernel_symbols__a_closed_descriptor_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
