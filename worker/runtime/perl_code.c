/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/perl_code.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

/* hv.h, all versions: the text of a name has its length before it */
#define TEXT_LENGTH 4u
#define TEXT_BYTES  8u
/* hv.h: HVhek_WASUTF8, in the byte behind the text's NUL */
#define TEXT_WAS_UTF8 2u

/* pp_caller() of pp_ctl.c and gv_fullname4() of gv.c call them so */
#define EVAL	 "(eval)"
#define NAMELESS "(unknown)"
#define NOWHERE	 "__ANON__" /* a package that is gone */
#define MAIN	 "(main)"   /* to caller(), the program itself is no function */

enum part {
	PART_NAME,
	PART_PACKAGE,
	PART_FILE
};

/*
 * Puts a text of Latin-1 in UTF-8, as far as there is room. Perl keeps names so whose letters all
 * have a byte there.
 */
static void to_utf8(char *text, size_t size)
{
	char latin[TOLD_NAME_BYTES];
	size_t at = 0;

	snprintf(latin, sizeof(latin), "%s", text);
	for (const char *from = latin; *from && at + 2 < size; from++) {
		const unsigned char letter = (unsigned char)*from;

		if (letter >= 0x80)
			text[at++] = (char)(0xc0 | letter >> 6);
		text[at++] = letter < 0x80 ? (char)letter : (char)(0x80 | (letter & 0x3f));
	}
	text[at] = '\0';
}

/* Reads a text with a length, or as much of it as is there. */
static int read_text(const struct memory *memory, uint64_t address, char *ret_text, size_t size)
{
	uint32_t length;
	uint8_t flags = 0;
	size_t left;
	int r = memory_read(memory, address + TEXT_LENGTH, &length, sizeof(length));

	if (r < 0)
		return r;
	if (length > INT32_MAX)
		return -EBADMSG;
	address += TEXT_BYTES;
	left = memory_left(memory, address);
	if (length > 0 && left == 0)
		return -EFAULT;
	if (length + 2 <= left)
		(void)memory_read(memory, address + length + 1, &flags, sizeof(flags));
	if (length > left)
		length = (uint32_t)left;
	if (length > size - 1)
		length = (uint32_t)size - 1;
	ret_text[length] = '\0';
	r = memory_read(memory, address, ret_text, length);
	if (r == 0 && flags & TEXT_WAS_UTF8)
		to_utf8(ret_text, size);
	return r;
}

/* Reads a text up to its NUL, or as much of it as is there. */
static int read_file(const struct memory *memory, uint64_t address, char *ret_text, size_t size)
{
	size_t left;

	ret_text[0] = '\0';
	left = memory_left(memory, address);
	if (address == 0 || left == 0)
		return 0;
	if (left > size - 1)
		left = size - 1;
	ret_text[left] = '\0';
	return memory_read(memory, address, ret_text, left);
}

static int read_function(const struct memory *memory, struct told *told)
{
	char package[TOLD_NAME_BYTES] = NOWHERE, text[TOLD_NAME_BYTES];
	int r = read_text(memory, told->part[PART_NAME], text, sizeof(text));

	if (r < 0)
		return r;
	if (told->part[PART_PACKAGE] != 0)
		r = read_text(memory, told->part[PART_PACKAGE], package, sizeof(package));
	if (r < 0)
		return r;
	if (snprintf(told->code.name, sizeof(told->code.name), "%s::%s", package, text) < 0)
		return -EBADMSG;
	return 0;
}

static int read_name(const struct memory *memory, struct told *told)
{
	switch (told->named) {
	case SCOPE_OF_FUNCTION:
		return read_function(memory, told);
	case SCOPE_OF_LEXICAL:
		return read_text(memory, told->part[PART_NAME], told->code.name,
				 sizeof(told->code.name));
	case SCOPE_OF_NAMELESS:
		memcpy(told->code.name, NAMELESS, sizeof(NAMELESS));
		return 0;
	case SCOPE_OF_EVAL:
		memcpy(told->code.name, EVAL, sizeof(EVAL));
		return 0;
	case SCOPE_OF_MAIN:
		memcpy(told->code.name, MAIN, sizeof(MAIN));
		return 0;
	default:
		return -EPROTO;
	}
}

/* Takes away what is before the name of a file in that of a variable. */
static void trim_file(char *file)
{
	const size_t before = strlen(SCOPE_FILE_BEFORE);

	if (strncmp(file, SCOPE_FILE_BEFORE, before) == 0)
		memmove(file, file + before, strlen(file) - before + 1);
}

int perl_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		   const struct memory *memory, uint64_t code, struct told *ret_told)
{
	int r = read_name(memory, ret_told);

	(void)types;
	(void)code;
	ret_told->code.first_line = 0;
	if (r == 0)
		r = read_file(memory, ret_told->part[PART_FILE], ret_told->code.file,
			      sizeof(ret_told->code.file));
	if (r < 0)
		return r;
	if (setup->config.flags & RUNTIME_FILE_NAMED &&
	    (ret_told->named == SCOPE_OF_EVAL || ret_told->named == SCOPE_OF_MAIN))
		trim_file(ret_told->code.file);
	return 0;
}

uint32_t perl_code_line(const struct told_lines *lines, uint32_t instruction)
{
	(void)lines;
	if (instruction >= RUNTIME_OFFSET_NONE)
		return 0;
	return instruction;
}
