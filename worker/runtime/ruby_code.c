/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/ruby_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/ruby_layout.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

#define TEXT_BYTES  TOLD_NAME_BYTES
#define CUT	    "..."
#define CLASS_BYTES (RUNTIME_TEXT_BYTES + sizeof(CUT))
#define TYPES	    16u /* vm_core.h, enum rb_iseq_type: fewer in all versions */

/* ---- texts ---- */

/* Reads a text up to its NUL, or as much of it as is there. */
static int read_text(const struct memory *memory, uint64_t address, char *ret_text, size_t size)
{
	size_t left = memory_left(memory, address);

	if (!address || left == 0)
		return -EFAULT;
	if (left > size - 1)
		left = size - 1;
	ret_text[left] = '\0';
	return memory_read(memory, address, ret_text, left);
}

/* Reads the name of the class that the event has, or none. */
static void read_class(const struct memory *memory, const struct told *told,
		       char ret_class[CLASS_BYTES])
{
	ret_class[0] = '\0';
	if (told->named != CONTROL_OF_OBJECTS && told->named != CONTROL_OF_ITSELF)
		return;
	if (read_text(memory, told->called, ret_class, RUNTIME_TEXT_BYTES + 1) < 0)
		ret_class[0] = '\0';
	else if (strlen(ret_class) == RUNTIME_TEXT_BYTES)
		memcpy(ret_class + RUNTIME_TEXT_BYTES, CUT, sizeof(CUT));
}

/* ---- names ---- */

/* Returns where the method's name begins: "block (2 levels) in name", "rescue in name". */
static const char *find_method(const char *label)
{
	static const char *const beginnings[] = {"block ", "rescue ", "ensure "};
	const char *behind;

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		if (strncmp(label, beginnings[i], strlen(beginnings[i])) != 0)
			continue;
		behind = strstr(label, "in ");
		if (behind)
			return find_method(behind + strlen("in "));
	}
	return label;
}

/* Returns whether a name is that of no method: "<main>", "<class:Name>". "<=>" is one. */
static bool is_of_no_method(const char *name)
{
	const size_t size = strlen(name);

	return size > 3 && name[0] == '<' && name[size - 1] == '>';
}

/* Names a function as Ruby does: with the class from 3.4 on. */
static int set_name(const struct memory *memory, struct told *told)
{
	char class[CLASS_BYTES], label[TEXT_BYTES];
	const char *method, *between = "";
	int r = read_text(memory, told->part[1], label, sizeof(label));

	if (r < 0)
		return r;
	method = find_method(label);
	read_class(memory, told, class);
	if (is_of_no_method(method))
		class[0] = '\0';
	if (class[0] && told->named == CONTROL_OF_ITSELF)
		between = ".";
	else if (class[0])
		between = "#";
	if (snprintf(told->code.name, sizeof(told->code.name), "%.*s%s%s%s", (int)(method - label),
		     label, class, between, method) < 0)
		return -EBADMSG;
	return 0;
}

/* ---- together ---- */

/* Up to 3.2 the first line is a Fixnum. */
static int read_first_line(const struct ruby_layout *layout, const struct memory *memory,
			   uint64_t code, uint32_t *ret_line)
{
	uint64_t line = 0;
	int r = memory_read(memory, code + layout->code_first_line, &line, layout->code_line_bytes);

	if (r < 0)
		return r;
	if (layout->code_line_bytes == sizeof(line))
		line >>= 1;
	if (line > INT32_MAX)
		return -EPROTO;
	*ret_line = (uint32_t)line;
	return 0;
}

static int read_program(const struct ruby_layout *layout, const struct memory *memory,
			uint64_t code, struct told *told)
{
	int r = set_name(memory, told);

	if (r == 0)
		r = read_text(memory, told->part[2], told->code.file, sizeof(told->code.file));
	if (r == 0)
		r = read_first_line(layout, memory, code, &told->code.first_line);
	if (r < 0)
		return r;
	ruby_lines_read(layout, memory, code, told);
	return 0;
}

int ruby_code_read(const struct runtime_setup *setup, const struct cpython_types *types,
		   const struct memory *memory, uint64_t code, struct told *ret_told)
{
	const struct ruby_layout *layout = &setup->layout.ruby;
	uint32_t first;
	int r = memory_read(memory, code, &first, sizeof(first));

	(void)types;
	if (r < 0)
		return r;
	if ((first & CONTROL_INTERNAL_TYPE) == CONTROL_METHOD) {
		ret_told->code.file[0] = '\0';
		ret_told->code.first_line = 0;
		return set_name(memory, ret_told);
	}
	if (first >= TYPES)
		return -EPROTO;
	return read_program(layout, memory, code, ret_told);
}
