/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/abi.h"
#include "ipc/ksyms_file.h"
#include "loader/ksyms.h"

static union {
	struct ksyms_file_head head;
	uint32_t words[1 << 16];
	char bytes[1 << 18];
} file;

static const char *in_memory(const char *text, char path[32])
{
	int fd = memfd_create("text", 0);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return path;
}

static int build(const char *kallsyms, const char *modules, struct ksyms *ret_ksyms)
{
	char path[32];
	int r;

	ret_ksyms->fd = memfd_create("ksyms", MFD_ALLOW_SEALING);
	ksyms_read_modules(ret_ksyms, modules ? in_memory(modules, path) : "/no/such/file");
	r = ksyms_read_symbols(ret_ksyms, in_memory(kallsyms, path));
	memset(&file, 0, sizeof(file));
	assert_true(pread(ret_ksyms->fd, &file, sizeof(file), 0) > 0);
	return r;
}

static const struct ksyms_file_symbol *symbol(uint32_t index)
{
	assert_true(index < file.head.symbols);
	return (const struct ksyms_file_symbol *)(file.words + 4) + index;
}

static const char *name(uint32_t at)
{
	assert_true(at < file.head.name_bytes);
	return file.bytes + 16 + 12 * file.head.symbols + at;
}

static void assert_symbol(uint32_t index, uint32_t range, uint32_t offset, const char *expected)
{
	assert_int_equal(symbol(index)->range, range);
	assert_int_equal(symbol(index)->offset, offset);
	assert_string_equal(name(symbol(index)->name), expected);
}

static const char kernel[] = "ffffffff81000000 T _stext\n"
			     "ffffffff81000100 t second\n"
			     "ffffffff81000000 T first\n"
			     "ffffffff81000200 D data\n"
			     "ffffffff81000300 W weak\n"
			     "ffffffff80fff000 T below\n"
			     "ffffffff82000000 T _etext\n"
			     "ffffffff82000000 t above\n";

static void test_ksyms__kernel_text_only(void **state)
{
	static struct ksyms ksyms;

	(void)state;
	assert_int_equal(build(kernel, NULL, &ksyms), 0);
	assert_int_equal(ksyms.count, 1);
	assert_true(ksyms.parts[0].start == 0xffffffff81000000 &&
		    ksyms.parts[0].end == 0xffffffff82000000);
	assert_int_equal(file.head.magic, KSYMS_MAGIC);
	assert_int_equal(file.head.ranges, 1);
	assert_int_equal(file.head.symbols, 3);
	assert_string_equal(name(file.words[4]), "kernel");
	assert_symbol(0, 0, 0, "first");
	assert_symbol(1, 0, 0x100, "second");
	assert_symbol(2, 0, 0x300, "weak");
	assert_int_equal(name(file.head.name_bytes - 1)[0], 0);
	close(ksyms.fd);
}

static void test_ksyms__modules_by_address(void **state)
{
	char kallsyms[1024];
	static struct ksyms ksyms;

	(void)state;
	snprintf(kallsyms, sizeof(kallsyms),
		 "%sffffffffc0002010 t high_init\t[high]\nffffffffc0000010 t low_one\t[low]\n"
		 "ffffffffc0000020 t bpf_prog_1\t[bpf]\nffffffffc0009000 t "
		 "trampoline\t[__builtin__ftrace]\n",
		 kernel);
	assert_int_equal(build(kallsyms,
			       "high 8192 0 - Live 0xffffffffc0002000\n"
			       "low 99999 1 high, Live 0xffffffffc0000000 (OE)\n"
			       "hidden 4096 0 - Live 0x0000000000000000\n",
			       &ksyms),
			 0);
	assert_int_equal(ksyms.count, 3);
	assert_true(ksyms.parts[1].start == 0xffffffffc0000000);
	assert_true(ksyms.parts[1].end == 0xffffffffc0002000); /* up to the next one */
	assert_true(ksyms.parts[2].end == 0xffffffffc0004000);
	assert_string_equal(name(sizeof("kernel")), "low");
	assert_string_equal(name(sizeof("kernel\0low")), "high");
	assert_int_equal(file.head.symbols, 5);
	assert_symbol(3, 1, 0x10, "low_one");
	assert_symbol(4, 2, 0x10, "high_init");
	close(ksyms.fd);
}

static void test_ksyms__hidden_addresses(void **state)
{
	static struct ksyms ksyms;

	(void)state;
	assert_int_equal(build("0000000000000000 T _stext\n0000000000000000 T _etext\n"
			       "0000000000000000 t one\n",
			       "m 4096 0 - Live 0x0000000000000000\n", &ksyms),
			 -EACCES);
	assert_int_equal(ksyms.count, 1);
	assert_true(ksyms.parts[0].start == 0 && ksyms.parts[0].end == 0);
	assert_int_equal(file.head.symbols, 0);
	close(ksyms.fd);
}

static void test_ksyms__lines_that_are_not_whole(void **state)
{
	static struct ksyms ksyms;

	(void)state;
	assert_int_equal(build("", "", &ksyms), -EACCES);
	close(ksyms.fd);
	assert_int_equal(build("ffffffff81000000 T _stext\nffffffff82000000 T _etext\n\n \nzz\n"
			       "ffffffff81000001\nffffffff81000002 t\nffffffff81000003 t last",
			       "\nm\nm 1\n", &ksyms),
			 0);
	assert_string_equal(name(symbol(file.head.symbols - 1)->name), "last");
	close(ksyms.fd);
}

static void test_ksyms__no_absolute_address_and_sealed(void **state)
{
	static struct ksyms ksyms;

	(void)state;
	assert_int_equal(build(kernel, "", &ksyms), 0);
	for (size_t i = 0; i < sizeof(file.words) / sizeof(file.words[0]); i++)
		assert_int_not_equal(file.words[i], 0xffffffff);
	assert_int_equal(write(ksyms.fd, "x", 1), -1);
	assert_int_equal(ftruncate(ksyms.fd, 0), -1);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ksyms.fd, 0),
			 MAP_FAILED);
	close(ksyms.fd);
}

static void test_ksyms__of_this_machine(void **state)
{
	struct ksyms *ksyms;
	int r;

	(void)state;
	assert_int_equal(ksyms_start(&ksyms), 0);
	assert_true(ksyms->count >= 1 && ksyms->fd >= 0);
	r = ksyms_wait(ksyms);
	assert_true(r == 0 || r == -EACCES);
	r = ksyms_forget(ksyms);
	assert_int_equal(fcntl(r, F_GETFD) & ~FD_CLOEXEC, 0);
	close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ksyms__kernel_text_only),
		cmocka_unit_test(test_ksyms__modules_by_address),
		cmocka_unit_test(test_ksyms__hidden_addresses),
		cmocka_unit_test(test_ksyms__lines_that_are_not_whole),
		cmocka_unit_test(test_ksyms__no_absolute_address_and_sealed),
		cmocka_unit_test(test_ksyms__of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
