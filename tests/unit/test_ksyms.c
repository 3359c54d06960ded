/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/abi.h"
#include "helper/kernel_symbols/kernel_symbols.h"
#include "base/ksyms_file.h"

static union {
	struct ksyms_file_head head;
	uint32_t words[1 << 16];
	char bytes[1 << 18];
} file;

static FILE *in_memory(const char *text)
{
	FILE *stream = tmpfile();

	assert_int_equal(fwrite(text, 1, strlen(text), stream), strlen(text));
	rewind(stream);
	return stream;
}

static int build(const char *kallsyms, const char *modules, struct ksyms *ret_ksyms)
{
	FILE *symbols = in_memory(kallsyms), *parts = modules ? in_memory(modules) : NULL;
	int r;

	ksyms_read_modules(ret_ksyms, parts);
	r = ksyms_read_symbols(ret_ksyms, symbols);
	fclose(symbols);
	if (parts)
		fclose(parts);
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
	assert_true(ksyms.parts[0].range.start == 0xffffffff81000000 &&
		    ksyms.parts[0].range.end == 0xffffffff82000000);
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

/* The loader gets the scheduler's text behind all ranges that it was told of. */
static void test_ksyms__scheduler(void **state)
{
	static const char text[] = "ffffffff81000000 T _stext\n"
				   "ffffffff81800000 T __sched_text_start\n"
				   "ffffffff81800010 t __schedule\n"
				   "ffffffff81808000 T __sched_text_end\n"
				   "ffffffff81900000 t __sched_text_start\t[module]\n"
				   "ffffffff82000000 T _etext\n";
	struct kernel_range ranges[4] = {0};
	static struct ksyms ksyms;
	const int fd = memfd_create("ranges", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(build(text, NULL, &ksyms), 0);
	assert_symbol(0, 0, 0x800010, "__schedule");
	assert_int_equal(ksyms_write_ranges(&ksyms, 2, fd), 0);
	assert_int_equal(pread(fd, ranges, sizeof(ranges), 0), sizeof(ranges));
	assert_true(ranges[0].start == 0xffffffff81000000);
	assert_true(ranges[2].start == 0xffffffff81800000 && ranges[2].end == 0xffffffff81808000);
	close(fd);
	close(ksyms.fd);
	assert_int_equal(build(kernel, NULL, &ksyms), 0);
	assert_true(ksyms.scheduler.end == 0);
	close(ksyms.fd);
}

/* Behind the scheduler's range, the loader gets where the kernel's unwind tables are. */
static void test_ksyms__unwind_tables(void **state)
{
	static const char text[] = "ffffffff81000000 T _stext\n"
				   "ffffffff81000100 t return_to_handler\n"
				   "ffffffff81000200 t arch_rethook_trampoline\n"
				   "ffffffff81000300 T schedule\n"
				   "ffffffff82000000 T _etext\n"
				   "ffffffff83000000 R __start_orc_unwind_ip\n"
				   "ffffffff83000028 R __start_orc_unwind\n"
				   "ffffffff83000028 R __stop_orc_unwind_ip\n"
				   "ffffffff83000064 R __stop_orc_unwind\n";
	struct {
		struct kernel_range ranges[2];
		struct kernel_orc orc;
	} got;
	static struct ksyms ksyms;
	const int fd = memfd_create("ranges", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(build(text, NULL, &ksyms), 0);
	assert_symbol(0, 0, 0x100, "return_to_handler");
	assert_symbol(1, 0, 0x200, "arch_rethook_trampoline");
	assert_int_equal(ksyms_write_ranges(&ksyms, 1, fd), 0);
	assert_int_equal(pread(fd, &got, sizeof(got), 0), sizeof(got));
	assert_int_equal(got.orc.rows, 10);
	assert_true(got.orc.addresses == 0xffffffff83000000);
	assert_true(got.orc.first_row == 0xffffffff83000028);
	assert_true(got.orc.replaced[0] == 0xffffffff81000100);
	assert_true(got.orc.replaced[1] == 0xffffffff81000200);
	assert_true(got.orc.function == 0xffffffff81000300);
	close(fd);
	close(ksyms.fd);
}

/* A kernel without such tables, or with others: BPF gets no rows. */
static void test_ksyms__no_unwind_tables(void **state)
{
	static const char *const texts[] = {
		"",
		"ffffffff83000000 R __start_orc_unwind_ip\nffffffff83000028 R "
		"__stop_orc_unwind_ip\n",
		"ffffffff83000028 R __start_orc_unwind\nffffffff83000064 R __stop_orc_unwind\n",
		"ffffffff83000000 R __start_orc_unwind_ip\nffffffff83000028 R __start_orc_unwind\n"
		"ffffffff83000028 R __stop_orc_unwind_ip\nffffffff83000078 R __stop_orc_unwind\n"};
	static struct ksyms ksyms;
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(text, sizeof(text),
			 "ffffffff81000000 T _stext\nffffffff81000300 T schedule\n"
			 "ffffffff82000000 T _etext\n%s",
			 texts[i]);
		assert_int_equal(build(text, NULL, &ksyms), 0);
		assert_int_equal(ksyms.orc.rows, 0);
		close(ksyms.fd);
	}
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
	assert_int_equal(ksyms.count, 4);
	assert_true(ksyms.parts[1].range.start == 0xffffffffc0000000);
	assert_true(ksyms.parts[1].range.end == 0xffffffffc0000020); /* up to the next symbol */
	assert_true(ksyms.parts[2].range.end == 0xffffffffc0002000); /* the end of the program */
	assert_true(ksyms.parts[3].range.end == 0xffffffffc0004000);
	assert_string_equal(name(sizeof("kernel")), "low");
	assert_string_equal(name(sizeof("kernel\0low")), "bpf");
	assert_string_equal(name(sizeof("kernel\0low\0bpf")), "high");
	assert_int_equal(file.head.symbols, 6);
	assert_symbol(3, 1, 0x10, "low_one");
	assert_symbol(4, 2, 0, "bpf_prog_1");
	assert_symbol(5, 3, 0x10, "high_init");
	close(ksyms.fd);
}

static void test_ksyms__programs_of_bpf_that_lie_together_are_one_part(void **state)
{
	char kallsyms[1024];
	static struct ksyms ksyms;

	(void)state;
	snprintf(kallsyms, sizeof(kallsyms),
		 "%sffffffffc0100000 t bpf_a\t[bpf]\nffffffffc010ffc0 t bpf_b\t[bpf]\n"
		 "ffffffffc0200000 t bpf_c\t[bpf]\nffffffffc0203000 t bpf_d\t[bpf]\n",
		 kernel);
	assert_int_equal(build(kallsyms, "m 4096 0 - Live 0xffffffffc0202000\n", &ksyms), 0);
	assert_int_equal(ksyms.count, 5);
	assert_true(ksyms.parts[1].range.start == 0xffffffffc0100000);
	assert_true(ksyms.parts[1].range.end == 0xffffffffc010ffc0 + KSYMS_BPF_LAST_MAX);
	assert_true(ksyms.parts[2].range.end == 0xffffffffc0202000);
	assert_string_equal(ksyms.parts[3].name, "m");
	assert_symbol(3, 1, 0, "bpf_a");
	assert_symbol(4, 1, 0xffc0, "bpf_b");
	assert_symbol(5, 2, 0, "bpf_c");
	assert_symbol(6, 4, 0, "bpf_d");
	close(ksyms.fd);
}

static void test_ksyms__no_more_parts_than_were_told(void **state)
{
	static struct ksyms ksyms;
	static char kallsyms[1 << 16];
	uint32_t told;

	(void)state;
	snprintf(kallsyms, sizeof(kallsyms), "%s", kernel);
	for (uint32_t i = 0; i < 2 * KSYMS_BPF_PARTS_MAX; i++)
		snprintf(kallsyms + strlen(kallsyms), 64, "ffffffffc%07x t p%u\t[bpf]\n", i << 20,
			 i);
	ksyms_read_modules(&ksyms, NULL);
	told = ksyms_room(&ksyms);
	assert_int_equal(told, 1 + KSYMS_BPF_PARTS_MAX);
	assert_int_equal(build(kallsyms, NULL, &ksyms), 0);
	assert_int_equal(ksyms.count, told);
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
	assert_true(ksyms.parts[0].range.start == 0 && ksyms.parts[0].range.end == 0);
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

/* A file takes a part of a write up to its limit, and write(2) reports no error. */
static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_ksyms__ranges_are_written_whole(void **state)
{
	static const struct ksyms ksyms = {.parts = {{.range = {1, 2, 0}}, {.range = {3, 4, 1}}},
					   .count = 2};
	struct kernel_range got[2];
	int fd = memfd_create("ranges", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(ksyms_write_ranges(&ksyms, ksyms.count, fd), 0);
	assert_int_equal(pread(fd, got, sizeof(got), 0), sizeof(got));
	assert_int_equal(got[1].start, 3);
	assert_int_equal(got[1].passing, 1);
	for (rlim_t bytes = 0; bytes < sizeof(got); bytes++) {
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		limit_file_size(bytes);
		assert_true(ksyms_write_ranges(&ksyms, ksyms.count, fd) < 0);
		limit_file_size(RLIM_INFINITY);
	}
	close(fd);
}

/* The file ends anywhere: in the head, the symbols, the names or the last byte. */
static void test_ksyms__symbols_are_written_whole(void **state)
{
	static struct ksyms ksyms;
	off_t whole;

	(void)state;
	assert_int_equal(build(kernel, "", &ksyms), 0);
	whole = lseek(ksyms.fd, 0, SEEK_END);
	close(ksyms.fd);
	for (rlim_t bytes = 0; bytes < (rlim_t)whole; bytes++) {
		FILE *symbols = in_memory(kernel);
		int r;

		ksyms_read_modules(&ksyms, NULL);
		limit_file_size(bytes);
		r = ksyms_read_symbols(&ksyms, symbols);
		limit_file_size(RLIM_INFINITY);
		fclose(symbols);
		assert_true(r < 0 && r != -EACCES);
		assert_true(ksyms.fd < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ksyms__kernel_text_only),
		cmocka_unit_test(test_ksyms__scheduler),
		cmocka_unit_test(test_ksyms__unwind_tables),
		cmocka_unit_test(test_ksyms__no_unwind_tables),
		cmocka_unit_test(test_ksyms__modules_by_address),
		cmocka_unit_test(test_ksyms__programs_of_bpf_that_lie_together_are_one_part),
		cmocka_unit_test(test_ksyms__no_more_parts_than_were_told),
		cmocka_unit_test(test_ksyms__hidden_addresses),
		cmocka_unit_test(test_ksyms__lines_that_are_not_whole),
		cmocka_unit_test(test_ksyms__no_absolute_address_and_sealed),
		cmocka_unit_test(test_ksyms__ranges_are_written_whole),
		cmocka_unit_test(test_ksyms__symbols_are_written_whole),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
