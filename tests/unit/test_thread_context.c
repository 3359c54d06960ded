/* SPDX-License-Identifier: Apache-2.0 */
/* Where programs and libraries have the variable of OTEP 4947. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_python.h"
#include "worker/runtime/thread_context.h"

#define NAME	 "otel_thread_ctx_v1"
#define VARIABLE 0x18u /* offset in the thread-local memory */
#define WORD	 (PYTHON_DATA + 0x20u)
#define OTHER	 (PYTHON_DATA + 0x40u)

static struct build_python library;
static struct runtime_root root;
static uint32_t number; /* of the symbol */

static int setup(void **state)
{
	(void)state;
	memset(&library, 0, sizeof(library));
	library.symbols = 1;
	build_python_symbol(&library, "main", PYTHON_TEXT, 1);
	number = build_python_symbol(&library, NAME, VARIABLE, 8);
	library.symbol[number].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS);
	library.tls = (Elf64_Phdr){.p_vaddr = PYTHON_DATA, .p_memsz = 0x20, .p_align = 8};
	memset(&root, 0xff, sizeof(root));
	return 0;
}

static int find(void)
{
	struct image *image = build_python_image(&library);
	int r = thread_context_find(image, &root);

	image_close(image);
	return r;
}

static void expect(uint32_t start, uint64_t pc, int32_t offset)
{
	assert_int_equal(find(), 0);
	assert_int_equal(root.start, start);
	assert_int_equal(root.pc, pc);
	assert_int_equal(root.steps, 1);
	assert_int_equal(root.offset[0], offset);
}

static void test_thread_context__none(void **state)
{
	(void)state;
	library.name[number] = "otel_thread_ctx_v2";
	assert_int_equal(find(), -ENOENT);
	library.name[number] = NAME;
	library.symbol[number].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	assert_int_equal(find(), -ENOENT);
	/* another object has it */
	library.symbol[number].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS);
	library.symbol[number].st_shndx = SHN_UNDEF;
	build_python_relocation(&library, WORD, R_X86_64_TLSDESC, number, 0);
	assert_int_equal(find(), -ENOENT);
}

static void test_thread_context__library(void **state)
{
	static const struct {
		uint32_t type, start, musl;
	} rows[] = {
		{R_X86_64_TLSDESC, RUNTIME_AT_DESCRIPTOR, RUNTIME_AT_DESCRIPTOR_MUSL},
		{R_X86_64_DTPMOD64, RUNTIME_AT_MODULE, RUNTIME_AT_MODULE_MUSL},
		{R_X86_64_TPOFF64, RUNTIME_AT_OFFSET, RUNTIME_AT_OFFSET},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		library.relocations = 0;
		library.needs = "libc.so.6";
		build_python_relocation(&library, OTHER, rows[i].type, 1, 0);
		build_python_relocation(&library, WORD, rows[i].type, number, 0);
		expect(rows[i].start, WORD, 0);
		library.needs = "libc.musl-x86_64.so.1";
		expect(rows[i].musl, WORD, 0);
	}
}

/* The linker leaves the symbol out where no other module can take the variable's place. */
static void test_thread_context__library_of_its_own(void **state)
{
	const uint64_t offset = VARIABLE;

	(void)state;
	build_python_relocation(&library, OTHER, R_X86_64_TLSDESC, 0, VARIABLE + 8);
	assert_int_equal(find(), -ENOTSUP);
	build_python_relocation(&library, WORD, R_X86_64_TLSDESC, 0, VARIABLE);
	expect(RUNTIME_AT_DESCRIPTOR, WORD, 0);
	library.relocations = 0;
	build_python_relocation(&library, WORD, R_X86_64_TPOFF64, 0, VARIABLE);
	expect(RUNTIME_AT_OFFSET, WORD, 0);
	/* the second word of a module is in the file */
	library.relocations = 0;
	build_python_relocation(&library, OTHER, R_X86_64_DTPMOD64, 0, 0);
	build_python_relocation(&library, WORD, R_X86_64_DTPMOD64, 0, 0);
	build_python_relocation(&library, PYTHON_DATA + PYTHON_DATA_SIZE - 8, R_X86_64_DTPMOD64, 0,
				0);
	assert_int_equal(find(), -ENOTSUP);
	build_python_bytes(&library, WORD + 8, &offset, sizeof(offset));
	expect(RUNTIME_AT_MODULE, WORD, 0);
}

/* Nothing says where a library's memory is, if no word is for the dynamic linker. */
static void test_thread_context__library_without_a_word(void **state)
{
	(void)state;
	build_python_relocation(&library, WORD, R_X86_64_RELATIVE, 0, VARIABLE);
	build_python_relocation(&library, OTHER, R_X86_64_DTPOFF64, number, 0);
	assert_int_equal(find(), -ENOTSUP);
}

static void test_thread_context__program(void **state)
{
	(void)state;
	library.is_program = true;
	expect(RUNTIME_AT_THREAD, 0, -8);
	library.tls.p_align = 64;
	expect(RUNTIME_AT_THREAD, 0, -0x40 + (int)VARIABLE);
	library.tls.p_vaddr = PYTHON_DATA + 0x10; /* which is not aligned: its end is */
	expect(RUNTIME_AT_THREAD, 0, -0x30 + (int)VARIABLE);
	library.tls.p_align = 0;
	expect(RUNTIME_AT_THREAD, 0, -8);
	/* a linker that relaxed nothing */
	build_python_relocation(&library, WORD, R_X86_64_TLSDESC, number, 0);
	expect(RUNTIME_AT_DESCRIPTOR, WORD, 0);
}

static void test_thread_context__damaged_program(void **state)
{
	(void)state;
	library.is_program = true;
	library.tls.p_align = 24;
	assert_int_equal(find(), -ENOTSUP);
	library.tls.p_align = 8;
	library.symbol[number].st_value = 0x21;
	assert_int_equal(find(), -ENOTSUP);
	library.symbol[number].st_value = UINT64_MAX - 3;
	assert_int_equal(find(), -ENOTSUP);
	library.symbol[number].st_value = 0;
	library.tls.p_memsz = 1ull << 40;
	assert_int_equal(find(), -ENOTSUP);
	library.tls.p_align = 1ull << 63;
	assert_int_equal(find(), -ENOTSUP);
	library.tls.p_memsz = 0; /* no thread-local memory */
	assert_int_equal(find(), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_thread_context__none, setup),
		cmocka_unit_test_setup(test_thread_context__library, setup),
		cmocka_unit_test_setup(test_thread_context__library_of_its_own, setup),
		cmocka_unit_test_setup(test_thread_context__library_without_a_word, setup),
		cmocka_unit_test_setup(test_thread_context__program, setup),
		cmocka_unit_test_setup(test_thread_context__damaged_program, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
