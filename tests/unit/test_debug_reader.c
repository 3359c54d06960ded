/* SPDX-License-Identifier: Apache-2.0 */
/* The choice among an object's files. This program serves as a file with debug information. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/time.h"
#include "helper/debug_reader/read.h"
#include "object/dwarf/answer.h"

extern const char __ehdr_start;

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	return fd;
}

static int own_file(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static int stripped_file(void)
{
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
	};

	return file_of(&header, sizeof(header));
}

static int text_file(void)
{
	return file_of("text", 4);
}

static void read_files(int first, int second, uint64_t time, struct answer_summary *ret_summary)
{
	const uint64_t address = (uint64_t)(uintptr_t)own_file - (uint64_t)(uintptr_t)&__ehdr_start;
	const struct reader_job job = {
		.purpose = READER_RECORDING,
		.address_count = 1,
		.deadline = time_now() + time,
		.addresses = file_of(&address, sizeof(address)),
		.answer = memfd_create("answer", MFD_CLOEXEC),
		.files = {first, second},
		.file_count = 2,
		.alternate = -1,
	};
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(-read_job(&job)); /* confined for good */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(answer_peek(job.answer, ret_summary), 0);
	close(job.addresses);
	close(job.answer);
	close(first);
	close(second);
}

static void assert_status(int first, int second, uint64_t time, enum answer_status expected)
{
	struct answer_summary summary;

	read_files(first, second, time, &summary);
	assert_int_equal(summary.status, expected);
}

static void test_debug_reader__files_without_any_are_passed_over(void **state)
{
	const uint64_t time = 20 * NS_PER_SECOND;

	(void)state;
	assert_status(stripped_file(), own_file(), time, ANSWER_COMPLETE);
	assert_status(text_file(), own_file(), time, ANSWER_COMPLETE);
	assert_status(text_file(), stripped_file(), time, ANSWER_NONE);
}

static void test_debug_reader__the_first_that_has_some_is_taken(void **state)
{
	(void)state;
	assert_status(own_file(), text_file(), 20 * NS_PER_SECOND, ANSWER_COMPLETE);
	/* out of time: the next file would have no information */
	assert_status(own_file(), stripped_file(), 0, ANSWER_TIME);
	assert_status(own_file(), text_file(), 0, ANSWER_TIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debug_reader__files_without_any_are_passed_over),
		cmocka_unit_test(test_debug_reader__the_first_that_has_some_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
