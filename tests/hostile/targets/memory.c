/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory KIND SECONDS FILE OFFSET: runs the code at OFFSET of FILE from memory of a kind:
 * secret     from a file, with its frame pointer in memory of memfd_secret
 * hugetlb    a memfd of huge pages
 * fault      from a file, with its frame pointer in a mapping whose faults nobody answers
 * Exits with 77 where the kernel has none of it.
 */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "tests/hostile/targets/hostile.h"

#define HUGE_BYTES (2ul << 20)

static body_function *body;

static char *memory_of(int fd, size_t room, const char *what)
{
	char *memory;

	if (fd >= 0 && ftruncate(fd, (off_t)room) == 0) {
		memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (memory != MAP_FAILED)
			return memory;
	}
	perror(what);
	exit(77);
}

/* The memory is not executable, and holds bytes that look like a frame. */
static char *secret(void)
{
	char *memory =
		memory_of((int)syscall(447 /* memfd_secret */, O_CLOEXEC), 4096, "memfd_secret");

	memset(memory, 0x41, 4096);
	return memory;
}

static char *huge_copy(const void *code, size_t size)
{
	char *memory = memory_of(memfd_create("huge code", MFD_CLOEXEC | MFD_HUGETLB), HUGE_BYTES,
				 "hugetlb");

	memcpy(memory, code, size);
	if (mprotect(memory, HUGE_BYTES, PROT_READ | PROT_EXEC))
		fail("mprotect");
	return memory;
}

/*
 * The kernel reports faults of a read-only mapping of shared memory to a descriptor that nobody
 * reads.
 */
static char *unanswered(void)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_MISSING_SHMEM};
	int fault = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	int fd = memfd_create("unanswered", MFD_CLOEXEC);
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	char *memory;

	if (fault < 0 || ioctl(fault, UFFDIO_API, &api)) {
		perror("userfaultfd");
		exit(77);
	}
	if (ftruncate(fd, 65536))
		fail("ftruncate");
	memory = mmap(NULL, 65536, PROT_READ, MAP_SHARED, fd, 0);
	range.range.start = (uintptr_t)memory;
	range.range.len = 65536;
	if (memory == MAP_FAILED || ioctl(fault, UFFDIO_REGISTER, &range))
		fail("UFFDIO_REGISTER");
	return memory;
}

/* The table's rule for this place leads into the memory. */
__attribute__((noinline)) static void spin_with_frame(char *frame)
{
#if defined(__x86_64__)
	__asm__ volatile("push %%rbp\n\t"
			 "mov %0, %%rbp\n\t"
			 ".cfi_remember_state\n\t"
			 ".cfi_def_cfa rbp, 16\n\t"
			 "mov $100000000, %%rcx\n"
			 "1: dec %%rcx\n\t"
			 "jnz 1b\n\t"
			 ".cfi_restore_state\n\t"
			 "pop %%rbp\n\t"
			 :
			 : "r"(frame)
			 : "rcx", "memory", "cc");
#else
	(void)frame;
	exit(77);
#endif
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_argument(argc, argv, 2, 2));
	size_t size, offset = argc > 4 ? strtoul(argv[4], NULL, 16) : 0;
	char *code = argc > 4 ? map_code(argv[3], &size) : NULL, *frame = NULL;

	if (!code)
		fail("code");
	if (strcmp(argv[1], "secret") == 0)
		frame = secret();
	else if (strcmp(argv[1], "hugetlb") == 0)
		code = huge_copy(code, size);
	else
		frame = unanswered();
	body = (body_function *)(code + offset);
	say("running");
	while (before(end)) {
		if (frame)
			spin_with_frame(frame);
		else
			body(20000);
	}
	return 0;
}
