/* SPDX-License-Identifier: Apache-2.0 */
/* The debug information is this program's own, and its functions know their own lines. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/time.h"
#include "object/dwarf/answer.h"
#include "object/dwarf/read.h"
#include "object/elf/image.h"

#define INLINED static inline __attribute__((always_inline))
#define ALONE	__attribute__((noinline))

struct call { /* of mark() */
	uint64_t address;
	uint32_t line;
};

static ALONE void mark(struct call *call, uint32_t line)
{
	call->address = (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
	call->line = line;
	__asm__ volatile("" ::: "memory");
}

INLINED void inner(struct call *call)
{
	mark(call, __LINE__);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

static uint32_t middle_line;
INLINED void middle(struct call *call)
{
	middle_line = __LINE__ + 1;
	inner(call);
}

static uint32_t outer_line;
static ALONE void outer(struct call *call)
{
	outer_line = __LINE__ + 1;
	middle(call);
}

static int on_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the first object is the program */
}

static uint64_t base_of_program(void)
{
	uint64_t base = 0;

	dl_iterate_phdr(on_object, &base);
	return base;
}

static struct answer *resolve(struct dwarf_input input, const uint64_t *addresses, size_t count)
{
	struct answer *answer = answer_new(count);

	if (!input.deadline)
		input.deadline = UINT64_MAX;
	input.alternate = -1;
	assert_int_equal(dwarf_read(&input, addresses, count, answer), 0);
	return answer;
}

static void assert_frame(const struct answer *answer, const struct answer_frame *frame,
			 const char *name, uint32_t line)
{
	const struct answer_function *function = answer_function_get(answer, frame->function);
	const char *file = answer_string_get(answer, function->file);

	assert_string_equal(answer_string_get(answer, function->name), name);
	assert_int_equal(frame->line, line);
	assert_non_null(strstr(file, "test_dwarf_read.c"));
	assert_in_range(function->line, 1, line);
}

static void test_dwarf_read__finds_what_is_inlined(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct answer_frame *frames;
	struct answer *answer;
	struct call call;
	uint64_t addresses[2];

	(void)state;
	outer(&call);
	addresses[0] = 1; /* an address outside of all functions */
	addresses[1] = call.address - base_of_program();
	answer = resolve((struct dwarf_input){.file = fd}, addresses, 2);
	assert_int_equal(answer_summary(answer)->status, ANSWER_COMPLETE);
	assert_int_equal(answer_get(answer, 0, &frames), 0);
	assert_int_equal(answer_get(answer, 1, &frames), 3);
	assert_frame(answer, &frames[0], "inner", call.line);
	assert_frame(answer, &frames[1], "middle", middle_line);
	assert_frame(answer, &frames[2], "outer", outer_line);
	answer_free(answer);
	close(fd);
}

static void test_dwarf_read__know_the_build_id(void **state)
{
	static const unsigned char id[20] = {1, 2, 3};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct image *image;
	unsigned char own[IMAGE_BUILD_ID_MAX];
	size_t size;

	(void)state;
	assert_int_equal(image_open(fd, &image), 0);
	size = image_build_id(image, own);
	image_close(image);
	assert_in_range(size, 1, sizeof(own));
	assert_true(dwarf_has_build_id(fd, own, size));
	assert_false(dwarf_has_build_id(fd, own, size - 1));
	assert_false(dwarf_has_build_id(fd, id, sizeof(id)));
	close(fd);
}

static void test_dwarf_read__end_in_time(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const uint64_t addresses[] = {(uint64_t)(uintptr_t)&mark - base_of_program(), UINT64_MAX};
	struct answer *answer =
		resolve((struct dwarf_input){.file = fd, .deadline = 1}, addresses, 2);

	(void)state;
	assert_int_equal(answer_summary(answer)->status, ANSWER_TIME);
	answer_free(answer);
	close(fd);
}

static void test_dwarf_read__of_no_elf_are_none(void **state)
{
	int fd = memfd_create("text", MFD_CLOEXEC);
	const uint64_t address = 0x1000;
	struct answer *answer;

	(void)state;
	assert_int_equal(write(fd, "text", 4), 4);
	answer = resolve((struct dwarf_input){.file = fd}, &address, 1);
	assert_int_equal(answer_summary(answer)->status, ANSWER_NO_ELF);
	answer_free(answer);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_read__finds_what_is_inlined),
		cmocka_unit_test(test_dwarf_read__know_the_build_id),
		cmocka_unit_test(test_dwarf_read__end_in_time),
		cmocka_unit_test(test_dwarf_read__of_no_elf_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
