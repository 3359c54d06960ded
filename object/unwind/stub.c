/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/stub.h"

#include <string.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"

#define ANY 0x100u /* any byte */
#define END 0x200u

/* glibc, sysdeps/x86_64/crti.S and crtn.S */
static const uint16_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa, END};	/* endbr64 */
static const uint16_t prologue[] = {0x48, 0x83, 0xec, 0x08, END};	/* sub $8, %rsp */
static const uint16_t epilogue[] = {0x48, 0x83, 0xc4, 0x08, 0xc3, END}; /* add $8, %rsp; ret */
static const uint16_t call[] = {0xe8, ANY, ANY, ANY, ANY, END};
/* mov __gmon_start__@GOTPCREL(%rip), %rax; test %rax, %rax; je 1f; call *%rax; 1: */
static const uint16_t call_gmon[] = {0x48, 0x8b, 0x05, ANY,  ANY,  ANY,	 ANY, 0x48,
				     0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0, END};

/* __do_global_dtors_aux: gcc, libgcc/crtstuff.c */
static const uint16_t dtors_push[] = {0x80, 0x3d, ANY,	ANY,  ANY,	  /* cmpb $0, completed */
				      ANY,  0x00, 0x75, 0x2b, 0x55, END}; /* jne 1f; push %rbp */
static const uint16_t dtors_pop[] = {
	0x48, 0x83, 0x3d, ANY,	ANY,  ANY,  ANY,  0x00,		  /* cmpq $0, __cxa_finalize@GOT */
	0x48, 0x89, 0xe5, 0x74, 0x0c,				  /* mov %rsp, %rbp; je */
	0x48, 0x8b, 0x3d, ANY,	ANY,  ANY,  ANY,		  /* mov __dso_handle, %rdi */
	0xe8, ANY,  ANY,  ANY,	ANY,  0xe8, ANY,  ANY,	ANY, ANY, /* two calls */
	0xc6, 0x05, ANY,  ANY,	ANY,  ANY,  0x01, 0x5d,		  /* movb $1, completed; pop %rbp */
	END};
static const uint16_t dtors_end[] = {0xc3, 0x0f, 0x1f, 0x00, 0xc3, END}; /* ret; nopl; 1: ret */
#define DTORS_BYTES 64
#define SAVED_RBP   1u

/* make_fcontext: Boost.Context, asm/make_x86_64_sysv_elf_gas.S, from 1.71 on */
static const uint16_t context_make[] = {
	0x48, 0x89, 0xf8, 0x48, 0x83, 0xe0, 0xf0, 0x48, 0x8d, 0x40, ANY, /* the stack's end */
	0x48, 0x89, 0x50, ANY,						 /* the function */
	0x0f, 0xae, 0x18, 0xd9, 0x78, 0x04, 0x48, 0x8d, 0x0d, ANY,  ANY, /* lea start, %rcx */
	ANY,  ANY,  0x48, 0x89, 0x48, ANY,  0x48, 0x8d, 0x0d, ANY,  ANY, /* lea finish, %rcx */
	ANY,  ANY,  0x48, 0x89, 0x48, ANY,  0xc3, END};
static const uint16_t context_start[] = {0x55, 0xff, 0xe3, END}; /* push %rbp; jmp *%rbx */
/* xor %rdi, %rdi; call _exit; hlt */
static const uint16_t context_finish[] = {0x48, 0x31, 0xff, 0xe8, ANY, ANY, ANY, ANY, 0xf4, END};
#define CONTEXT_BYTES 96u

/* Returns the length of the pattern where the bytes match it, or 0. */
static uint32_t match(const struct image_bytes *bytes, uint32_t at, const uint16_t *pattern)
{
	uint32_t i;

	for (i = 0; pattern[i] != END; i++) {
		if (at + i >= bytes->size)
			return 0;
		if (pattern[i] != ANY && pattern[i] != bytes->bytes[at + i])
			return 0;
	}
	return i;
}

static uint32_t match_call(const struct image_bytes *bytes, uint32_t at)
{
	uint32_t length = match(bytes, at, call);

	if (length > 0)
		return length;
	return match(bytes, at, call_gmon);
}

/* Returns the length of all calls that follow one another. */
static uint32_t match_calls(const struct image_bytes *bytes, uint32_t at)
{
	uint32_t from = at, length;

	do {
		length = match_call(bytes, at);
		at += length;
	} while (length > 0);
	return at - from;
}

static struct stub find_section(struct image *image, const char *section)
{
	struct image_bytes bytes;
	uint32_t landed, inside, outside, end;

	if (image_section(image, section, &bytes) < 0)
		return (struct stub){0};
	landed = match(&bytes, 0, landing);
	inside = landed + match(&bytes, landed, prologue);
	outside = inside + match_calls(&bytes, inside);
	end = outside + match(&bytes, outside, epilogue);
	if (inside == landed || end == outside || end != bytes.size)
		return (struct stub){0};
	return (struct stub){
		.start = bytes.address, .size = end, .inside = inside, .outside = end - 1};
}

static struct stub find_dtors(struct image *image)
{
	struct image_bytes array, bytes;
	uint32_t landed, inside, outside, end;
	uint64_t address;

	if (image_section(image, ".fini_array", &array) < 0 || array.size < sizeof(address))
		return (struct stub){0};
	memcpy(&address, array.bytes, sizeof(address));
	if (image_text(image, address, DTORS_BYTES, &bytes) < 0)
		return (struct stub){0};
	landed = match(&bytes, 0, landing);
	inside = landed + match(&bytes, landed, dtors_push);
	outside = inside + match(&bytes, inside, dtors_pop);
	end = outside + match(&bytes, outside, dtors_end);
	if (inside == landed || outside == inside || end == outside)
		return (struct stub){0};
	return (struct stub){address, end, inside, outside, SAVED_RBP, false};
}

/* Returns the length of the pattern with a landing before it, if there is one, or 0. */
static uint32_t match_landed(const struct image_bytes *bytes, uint32_t at, const uint16_t *pattern)
{
	const uint32_t landed = match(bytes, at, landing);
	const uint32_t length = match(bytes, at + landed, pattern);

	if (length == 0)
		return 0;
	return landed + length;
}

static struct stub find_context(struct image *image)
{
	struct exported exported;
	struct exported_symbol symbol;
	struct image_bytes bytes;
	uint32_t start, finish, end;

	if (exported_open(image, &exported) < 0 ||
	    !exported_find(&exported, "make_fcontext", &symbol) ||
	    image_text(image, symbol.address, CONTEXT_BYTES, &bytes) < 0)
		return (struct stub){0};
	start = match_landed(&bytes, 0, context_make);
	finish = start + match_landed(&bytes, start, context_start);
	end = finish + match_landed(&bytes, finish, context_finish);
	if (start == 0 || finish == start || end == finish)
		return (struct stub){0};
	return (struct stub){.start = symbol.address + start, .size = end - start, .is_root = true};
}

void stubs_find(struct image *image, struct stub ret_stubs[STUBS])
{
	ret_stubs[0] = find_section(image, ".init");
	ret_stubs[1] = find_section(image, ".fini");
	ret_stubs[2] = find_dtors(image);
	ret_stubs[3] = find_context(image);
}
