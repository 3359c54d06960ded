/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_perl.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_cfi.h"
#include "tests/unit/build_python.h"

#define NAME	0x7f0000020000ull
#define PACKAGE 0x7f0000030000ull
#define FILE_	0x7f0000040000ull

#define VARIABLES 0x4c00u /* in the data */
#define OPTIONS	  0x4d00u
#define TABLE	  0x4000u /* of operations */

const struct build_perl_parts build_perl_5_36 = {
	.version = 36,
	.interpreter_bytes = 3768,
	.options = " MULTIPLICITY USE_64_BIT_ALL USE_64_BIT_INT USE_ITHREADS USE_LARGE_FILES",
	.try = 347,
	.eval = 345,
	.try_leads_to = BUILD_PERL_AGAIN,
	.eval_leads_to = BUILD_PERL_AGAIN,
	.type = R_X86_64_RELATIVE,
};

const struct build_perl_parts build_perl_single = {
	.version = 36,
	.options = " PERL_DONT_CREATE_GVSV USE_64_BIT_ALL USE_64_BIT_INT USE_LARGE_FILES",
	.try = 347,
	.eval = 345,
	.try_leads_to = BUILD_PERL_AGAIN,
	.eval_leads_to = BUILD_PERL_AGAIN,
	.type = R_X86_64_RELATIVE,
	.statement = BUILD_PERL_STACK + 0x10,
	.stack = BUILD_PERL_STACK,
	.operation = BUILD_PERL_STACK + 0xc0,
	.variable_bytes = 8,
};

/* ---- events ---- */

/* Puts a text with its length, as much of it as a part of the event holds. */
static void put_text(struct event_code *event, size_t part, size_t place, size_t end,
		     uint64_t address, const char *text, uint8_t flags)
{
	const uint32_t length = (uint32_t)strlen(text);
	size_t size = length;

	event->address[part] = address;
	event->bytes[part] = end - place;
	memcpy(event->data + place + 4, &length, sizeof(length));
	if (size > end - place - 8)
		size = end - place - 8;
	memcpy(event->data + place + 8, text, size);
	if (place + 8 + size + 1 < end)
		event->data[place + 8 + size + 1] = flags;
}

struct event_code build_perl(const struct build_perl *code)
{
	struct event_code event = {
		.event = {.kind = EVENT_CODE}, .code = BUILD_PERL_CODE, .named = code->kind};
	size_t size = CODE_PART_3 - CODE_PART_2;

	if (code->name)
		put_text(&event, 0, 0, CODE_PART_1, NAME, code->name, code->flags);
	if (code->package)
		put_text(&event, 1, CODE_PART_1, CODE_PART_2, PACKAGE, code->package, code->flags);
	if (!code->file)
		return event;
	event.address[2] = FILE_;
	event.bytes[2] = size;
	if (strlen(code->file) < size)
		size = strlen(code->file);
	memcpy(event.data + CODE_PART_2, code->file, size);
	return event;
}

/* ---- images ---- */

static void put_jump(struct build_python *image, uint8_t opcode, uint32_t from, uint32_t to)
{
	const uint32_t distance = to - (from + 5);
	unsigned char jump[5] = {opcode};

	memcpy(jump + 1, &distance, sizeof(distance));
	build_python_bytes(image, from, jump, sizeof(jump));
}

static void put_variable(struct build_python *image, const char *name, uint32_t at,
			 const void *bytes, size_t size)
{
	build_python_bytes(image, at, bytes, size);
	build_python_symbol(image, name, at, size);
}

static void put_version(struct build_python *image, const struct build_perl_parts *parts)
{
	put_variable(image, "PL_revision", VARIABLES, "\5", 1);
	put_variable(image, "PL_version", VARIABLES + 1, &parts->version, 1);
	put_variable(image, "PL_subversion", VARIABLES + 2, &parts->release, 1);
	if (parts->interpreter_bytes)
		put_variable(image, "PL_interp_size", VARIABLES + 4, &parts->interpreter_bytes, 2);
	if (parts->options)
		put_variable(image, "PL_bincompat_options", OPTIONS, parts->options,
			     strlen(parts->options) + 1);
}

static void put_interpreter(struct build_python *image, const struct build_perl_parts *parts)
{
	if (parts->statement)
		build_python_symbol(image, "PL_curcop", parts->statement, parts->variable_bytes);
	if (parts->stack)
		build_python_symbol(image, "PL_curstackinfo", parts->stack, parts->variable_bytes);
	if (parts->operation)
		build_python_symbol(image, "PL_op", parts->operation, parts->variable_bytes);
	if (parts->interpreter_bytes)
		build_python_symbol(image, "PL_thr_key", BUILD_PERL_KEY, 4);
}

static void put_operation(struct build_python *image, const struct build_perl_parts *parts,
			  uint32_t number, uint32_t address, uint32_t symbol)
{
	if (parts->type == R_X86_64_64)
		build_python_relocation(image, TABLE + number * 8, parts->type, symbol, 0);
	else if (parts->type)
		build_python_relocation(image, TABLE + number * 8, parts->type, 0, address);
}

static void put_functions(struct build_python *image, const struct build_perl_parts *parts)
{
	uint32_t try, eval;

	build_python_symbol(image, "Perl_runops_standard", BUILD_PERL_LOOP, BUILD_PERL_BYTES);
	build_python_symbol(image, "Perl_create_eval_scope", 0x1400, BUILD_PERL_BYTES);
	try = build_python_symbol(image, "Perl_pp_entertry", BUILD_PERL_TRY, BUILD_PERL_BYTES);
	eval = build_python_symbol(image, "Perl_pp_entereval", BUILD_PERL_EVAL, BUILD_PERL_BYTES);
	/* both call an exported function, too */
	put_jump(image, 0xe8, BUILD_PERL_TRY + 3, 0x1400);
	put_jump(image, 0xe9, BUILD_PERL_TRY + 16, parts->try_leads_to);
	put_jump(image, 0xe8, BUILD_PERL_EVAL + 3, 0x1400);
	put_jump(image, 0xe8, BUILD_PERL_EVAL + 20, parts->eval_leads_to);
	build_python_symbol(image, "PL_ppaddr", TABLE, parts->try * 8 + 8);
	put_operation(image, parts, parts->try, BUILD_PERL_TRY, try);
	put_operation(image, parts, parts->eval, BUILD_PERL_EVAL, eval);
	if (parts->also)
		build_python_symbol(image, parts->also, parts->also_at, BUILD_PERL_BYTES);
}

static size_t change(void *bytes, size_t most, const uint8_t *data, size_t size)
{
	if (size > most)
		size = most;
	for (size_t i = 0; i < size; i++)
		((unsigned char *)bytes)[i] ^= data[i];
	return size;
}

static void change_all(struct build_python *image, const uint8_t *data, size_t size)
{
	size_t used = change(image->text + 0x100, 0x600, data, size);

	used += change(image->data + (VARIABLES - PYTHON_DATA), 0x200, data + used, size - used);
	used += change(image->relocation, image->relocations * sizeof(*image->relocation),
		       data + used, size - used);
	change(image->symbol + 1, (image->symbols - 1) * sizeof(*image->symbol), data + used,
	       size - used);
}

struct image *build_perl_image(const struct build_perl_parts *parts, const void *data, size_t size)
{
	static const uint32_t functions[] = {BUILD_PERL_LOOP, BUILD_PERL_TRY,	BUILD_PERL_EVAL,
					     0x1400,	      BUILD_PERL_AGAIN, 0x1600};
	static struct build_python build;
	static struct build_cfi frames;
	const struct build_cfi_code none = {NULL, 0};
	struct image *image;
	size_t cie;

	memset(&build, 0, sizeof(build));
	memset(&frames, 0, sizeof(frames));
	build.symbols = 1;
	put_interpreter(&build, parts);
	put_version(&build, parts);
	put_functions(&build, parts);
	if (size > 0)
		change_all(&build, data, size);
	cie = build_cfi_usual_cie(&frames);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		build_cfi_fde(&frames, cie, functions[i], BUILD_PERL_BYTES, none);
	build.eh_frame = frames.bytes;
	build.eh_frame_size = frames.size;
	image = build_python_image(&build);
	build_cfi_release(&frames);
	return image;
}
