/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_frames SECONDS KIND: calls code made at run time, which calls a function that calls such code
 * again. The kinds of the innermost code:
 *   stale    with a frame pointer; at rsp lies an old return address of a direct call
 *   pointer  the same, of a call by a pointer
 *   leaf     without a frame: rbp is the frame pointer of a caller's caller
 */
#include <string.h>
#include <sys/mman.h>
#include "work.h"

#define PAGE 4096

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const unsigned char calls[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
/* push %rbp; mov %rsp, %rbp; sub $64, %rsp; mov %rdi, (%rsp) */
static const unsigned char enters[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83,
				       0xec, 0x40, 0x48, 0x89, 0x3c, 0x24};
/* mov $200000, %eax; 1: dec %eax; jnz 1b */
static const unsigned char loops[] = {0xb8, 0x40, 0x0d, 0x03, 0, 0xff, 0xc8, 0x75, 0xfc};
/* leave; ret */
static const unsigned char leaves[] = {0xc9, 0xc3};

static void (*outer_code)(void (*)(void));
static void (*inner_code)(void *);
static void *old_word;

static unsigned char *append(unsigned char *at, const unsigned char *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}
#define APPEND(at, bytes) append(at, bytes, sizeof(bytes))

static void make_inner(unsigned char *at, int is_leaf)
{
	if (!is_leaf)
		at = APPEND(at, enters);
	at = APPEND(at, loops);
	append(at, leaves + is_leaf, sizeof(leaves) - (size_t)is_leaf);
}

FUNCTION void jit_middle(void)
{
	inner_code(old_word);
	KEEP_FRAME();
}

FUNCTION void jit_outer(void)
{
	outer_code(jit_middle);
	KEEP_FRAME();
}

FUNCTION void *return_address(void)
{
	return __builtin_return_address(0);
}

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));
	void *(*volatile pointer)(void) = return_address;
	const char *kind = argc > 2 ? argv[2] : "stale";
	unsigned char *code =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return 1;
	append(code, calls, sizeof(calls));
	make_inner(code + 64, !strcmp(kind, "leaf"));
	if (mprotect(code, PAGE, PROT_READ | PROT_EXEC))
		return 1;
	outer_code = (void (*)(void (*)(void)))(uintptr_t)code;
	inner_code = (void (*)(void *))(uintptr_t)(code + 64);
	old_word = !strcmp(kind, "pointer") ? pointer() : return_address();
	while (is_left(&time))
		jit_outer();
	return 0;
}
