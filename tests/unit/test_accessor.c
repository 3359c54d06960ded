/* SPDX-License-Identifier: Apache-2.0 */
/* Where tiny functions find the state of a thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "tests/unit/build_python.h"
#include "worker/runtime/accessor.h"
#include "worker/runtime/cpython_thread.h"

#define CODE   0x1000u
#define WORD   (PYTHON_DATA + 0x20u) /* that which relocations are for */
#define GETTER "_PyThreadState_GetCurrent"
#define KEY    "PyGILState_GetThisThreadState"

static struct build_python python;

static int find(int (*function)(struct image *, const struct exported *, struct runtime_root *),
		struct runtime_root *ret_root)
{
	struct image *image = build_python_image(&python);
	struct exported exported;
	int r = exported_open(image, &exported);

	assert_int_equal(r, 0);
	r = function(image, &exported, ret_root);
	image_close(image);
	return r;
}

/* Finds the variable that a getter with this code and a relocation of WORD returns. */
static int find_variable(const void *code, size_t size, uint32_t relocation,
			 struct runtime_root *ret_root)
{
	build_python_init(&python, 0x300);
	if (relocation)
		build_python_relocation(&python, WORD, relocation, 0, 0);
	build_python_function(&python, GETTER, CODE, code, size);
	return find(cpython_thread_current, ret_root);
}

#define VARIABLE(relocation, ...)                           \
	find_variable((const unsigned char[]){__VA_ARGS__}, \
		      sizeof((unsigned char[]){__VA_ARGS__}), relocation, &root)

static void expect(const struct runtime_root *root, uint32_t start, uint64_t pc, int32_t offset)
{
	assert_int_equal(root->start, start);
	assert_int_equal(root->pc, pc);
	assert_int_equal(root->steps, 1);
	assert_int_equal(root->offset[0], offset);
}

/* An executable: the offset is in the code. */
static void test_accessor__local_exec(void **state)
{
	struct runtime_root root;

	(void)state;
	/* mov %fs:-24,%rax; ret */
	assert_int_equal(VARIABLE(0, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff, 0xff, 0xff, 0xc3),
			 0);
	expect(&root, RUNTIME_AT_THREAD, 0, -24);
	/* mov $-24,%rax; mov %fs:(%rax),%rax; ret */
	assert_int_equal(
		VARIABLE(0, 0x48, 0xc7, 0xc0, 0xe8, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0, 0xc3),
		0);
	expect(&root, RUNTIME_AT_THREAD, 0, -24);
	/* mov %fs:0,%rax; lea -32(%rax),%rax; mov 8(%rax),%rax; ret */
	assert_int_equal(VARIABLE(0, 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8d, 0x40,
				  0xe0, 0x48, 0x8b, 0x40, 8, 0xc3),
			 0);
	expect(&root, RUNTIME_AT_THREAD, 0, -24);
	/* push %rbp; mov %rsp,%rbp; mov %fs:-24,%rax; pop %rbp; ret */
	assert_int_equal(VARIABLE(0, 0x55, 0x48, 0x89, 0xe5, 0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8,
				  0xff, 0xff, 0xff, 0x5d, 0xc3),
			 0);
	expect(&root, RUNTIME_AT_THREAD, 0, -24);
}

/* A library that a program is linked with: the dynamic linker writes the offset to a word. */
static void test_accessor__initial_exec(void **state)
{
	struct runtime_root root;

	(void)state;
	/* mov WORD(%rip),%rax; mov %fs:(%rax),%rax; ret */
	assert_int_equal(VARIABLE(R_X86_64_TPOFF64, 0x48, 0x8b, 0x05, 0x19, 0x30, 0, 0, 0x64, 0x48,
				  0x8b, 0, 0xc3),
			 0);
	expect(&root, RUNTIME_AT_OFFSET, WORD, 0);
	/* mov %fs:0,%rax; add WORD(%rip),%rax; mov 8(%rax),%rax; ret */
	assert_int_equal(VARIABLE(R_X86_64_TPOFF64, 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48,
				  0x03, 0x05, 0x10, 0x30, 0, 0, 0x48, 0x8b, 0x40, 8, 0xc3),
			 0);
	expect(&root, RUNTIME_AT_OFFSET, WORD, 8);
	/* without the relocation nobody knows what the word is */
	assert_int_equal(VARIABLE(0, 0x48, 0x8b, 0x05, 0x19, 0x30, 0, 0, 0x64, 0x48, 0x8b, 0, 0xc3),
			 -ENOTSUP);
}

/* sub $8,%rsp; lea WORD(%rip),%rdi; call; mov 8(%rax),%rax; add $8,%rsp; ret */
static const unsigned char dynamic[] =
	"\x48\x83\xec\x08\x48\x8d\x3d\x15\x30\x00\x00\xe8\x00\x01\x00\x00"
	"\x48\x8b\x40\x08\x48\x83\xc4\x08\xc3";

static int find_dynamic(uint32_t relocation, struct runtime_root *ret_root)
{
	return find_variable(dynamic, sizeof(dynamic) - 1, relocation, ret_root);
}

static void test_accessor__dynamic(void **state)
{
	struct runtime_root root;

	(void)state;
	assert_int_equal(find_dynamic(R_X86_64_DTPMOD64, &root), 0);
	expect(&root, RUNTIME_AT_MODULE, WORD, 8);
	python.needs = "libc.musl-x86_64.so.1";
	assert_int_equal(find(cpython_thread_current, &root), 0);
	expect(&root, RUNTIME_AT_MODULE_MUSL, WORD, 8);
	python.needs = "libc.so.6";
	assert_int_equal(find(cpython_thread_current, &root), 0);
	expect(&root, RUNTIME_AT_MODULE, WORD, 8);
	python.needs = "libc.so";
	assert_int_equal(find(cpython_thread_current, &root), 0);
	expect(&root, RUNTIME_AT_MODULE_MUSL, WORD, 8);
	/* a call of another function */
	assert_int_equal(find_dynamic(0, &root), -ENOTSUP);
	assert_int_equal(find_dynamic(R_X86_64_TPOFF64, &root), -ENOTSUP);
}

/* A library whose compiler uses descriptors, -mtls-dialect=gnu2. */
static void test_accessor__descriptor(void **state)
{
	struct runtime_root root;

	(void)state;
	/* sub $8,%rsp; lea WORD(%rip),%rax; call *(%rax); mov %fs:8(%rax),%rax; add $8,%rsp; ret */
	assert_int_equal(VARIABLE(R_X86_64_TLSDESC, 0x48, 0x83, 0xec, 8, 0x48, 0x8d, 0x05, 0x15,
				  0x30, 0, 0, 0xff, 0x10, 0x64, 0x48, 0x8b, 0x40, 8, 0x48, 0x83,
				  0xc4, 8, 0xc3),
			 0);
	expect(&root, RUNTIME_AT_DESCRIPTOR, WORD, 8);
	python.needs = "libc.so";
	assert_int_equal(find(cpython_thread_current, &root), 0);
	expect(&root, RUNTIME_AT_DESCRIPTOR_MUSL, WORD, 8);
	/* a call of another function */
	python.relocation[0].r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE);
	assert_int_equal(find(cpython_thread_current, &root), -ENOTSUP);
	/* mov %fs:0,%rdx; lea WORD(%rip),%rax; call *(%rax); add %rdx,%rax; mov (%rax),%rax; ret */
	assert_int_equal(VARIABLE(R_X86_64_TLSDESC, 0x64, 0x48, 0x8b, 0x14, 0x25, 0, 0, 0, 0, 0x48,
				  0x8d, 0x05, 0x10, 0x30, 0, 0, 0xff, 0x10, 0x48, 0x01, 0xd0, 0x48,
				  0x8b, 0, 0xc3),
			 0);
	expect(&root, RUNTIME_AT_DESCRIPTOR, WORD, 0);
}

static void test_accessor__others_are_refused(void **state)
{
	struct runtime_root root;

	(void)state;
	/* not a thread's: mov WORD(%rip),%rax; ret */
	assert_int_equal(VARIABLE(0, 0x48, 0x8b, 0x05, 0x19, 0x30, 0, 0, 0xc3), -ENOTSUP);
	/* the address of the variable: mov %fs:0,%rax; lea -24(%rax),%rax; ret */
	assert_int_equal(
		VARIABLE(0, 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8d, 0x40, 0xe8, 0xc3),
		-ENOTSUP);
	/* an endless loop; a jump to nowhere; an unknown instruction; the end of the text */
	assert_int_equal(VARIABLE(0, 0xeb, 0xfe), -ENOTSUP);
	assert_int_equal(VARIABLE(0, 0xff, 0x25, 0, 0, 0, 0), -ENOTSUP);
	assert_int_equal(VARIABLE(0, 0x0f, 0x0b), -ENOTSUP);
	build_python_init(&python, 0x300);
	build_python_symbol(&python, GETTER, PYTHON_TEXT + PYTHON_TEXT_SIZE, 1);
	assert_int_equal(find(cpython_thread_current, &root), -ENOTSUP);
	build_python_init(&python, 0x300);
	assert_int_equal(find(cpython_thread_current, &root), -ENOTSUP);
}

/* ---- keys ---- */

static void test_accessor__key(void **state)
{
	struct runtime_root root;

	(void)state;
	build_python_3_10(&python);
	assert_int_equal(find(cpython_thread_own, &root), 0);
	expect(&root, RUNTIME_AT_KEY, PYTHON_RUNTIME + 0x24c, 0);
	python.needs = "libc.musl-x86_64.so.1";
	assert_int_equal(find(cpython_thread_own, &root), 0);
	expect(&root, RUNTIME_AT_KEY_MUSL, PYTHON_RUNTIME + 0x24c, 0);
	build_python_3_11(&python);
	assert_int_equal(find(cpython_thread_own, &root), 0);
	expect(&root, RUNTIME_AT_KEY, PYTHON_RUNTIME + 0x254, 0);
}

/* The key is in _PyRuntime, whole. */
static void test_accessor__key_elsewhere_is_refused(void **state)
{
	struct runtime_root root;

	(void)state;
	build_python_3_10(&python);
	python.symbol[1].st_size = 0x250;
	assert_int_equal(find(cpython_thread_own, &root), 0);
	python.symbol[1].st_size = 0x24f;
	assert_int_equal(find(cpython_thread_own, &root), -ENOTSUP);
	python.symbol[1].st_size = 0;
	assert_int_equal(find(cpython_thread_own, &root), -ENOTSUP);
	build_python_3_10(&python);
	python.relocations = 0;
	assert_int_equal(find(cpython_thread_own, &root), -ENOTSUP);
}

/* cmpq $0,0x4a48; jne to the mov; xor %eax,%eax; ret; mov 0x4a54,%edi; jmp */
static void test_accessor__key_behind_a_branch(void **state)
{
	static const unsigned char code[] = {0x48, 0x83, 0x3d, 0x40, 0x3a, 0,	 0,    0,
					     0x75, 3,	 0x31, 0xc0, 0xc3, 0x8b, 0x3d, 0x41,
					     0x3a, 0,	 0,    0xe9, 0,	   1,	 0,    0};
	struct runtime_root root;

	(void)state;
	build_python_init(&python, 0x300);
	build_python_function(&python, KEY, CODE, code, sizeof(code));
	assert_int_equal(find(cpython_thread_own, &root), 0);
	expect(&root, RUNTIME_AT_KEY, PYTHON_RUNTIME + 0x254, 0);
}

/* 3.15 has no key: mov %fs:-40,%rax; ret */
static void test_accessor__variable_in_place_of_the_key(void **state)
{
	static const unsigned char code[] = {0x64, 0x48, 0x8b, 0x04, 0x25,
					     0xd8, 0xff, 0xff, 0xff, 0xc3};
	struct runtime_root root;

	(void)state;
	build_python_init(&python, 0x300);
	build_python_function(&python, KEY, CODE, code, sizeof(code));
	assert_int_equal(find(cpython_thread_own, &root), 0);
	expect(&root, RUNTIME_AT_THREAD, 0, -40);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_accessor__##name)
	const struct CMUnitTest tests[] = {
		TEST(local_exec),
		TEST(initial_exec),
		TEST(dynamic),
		TEST(descriptor),
		TEST(others_are_refused),
		TEST(key),
		TEST(key_elsewhere_is_refused),
		TEST(key_behind_a_branch),
		TEST(variable_in_place_of_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
