/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/perl.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/reader.h"
#include "object/elf/dynamic.h"
#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/loop.h"
#include "worker/runtime/perl_code.h"
#include "worker/runtime/perl_layout.h"
#include "worker/runtime/runtime.h"

/* ---- the version ---- */

/* Gets the bytes of an exported variable, which the file has. */
static int read_variable(struct image *image, const struct exported *exported, const char *name,
			 struct image_bytes *ret_bytes)
{
	struct exported_symbol symbol;

	if (!exported_find(exported, name, &symbol) || symbol.is_thread_local || symbol.size == 0 ||
	    image_text(image, symbol.address, symbol.size, ret_bytes) < 0 ||
	    ret_bytes->size < symbol.size)
		return -ENOTSUP;
	return 0;
}

static int read_byte(struct image *image, const struct exported *exported, const char *name,
		     uint32_t *ret_byte)
{
	struct image_bytes bytes;
	int r = read_variable(image, exported, name, &bytes);

	if (r == 0)
		*ret_byte = bytes.bytes[0];
	return r;
}

static int find_version(struct image *image, const struct exported *exported, uint32_t *ret_version)
{
	uint32_t revision, version, release;
	int r = read_byte(image, exported, "PL_revision", &revision);

	if (r == 0)
		r = read_byte(image, exported, "PL_version", &version);
	if (r == 0)
		r = read_byte(image, exported, "PL_subversion", &release);
	if (r == 0)
		*ret_version = revision << 24 | version << 16 | release << 8;
	return r;
}

static int find_interpreter_bytes(struct image *image, const struct exported *exported,
				  uint32_t *ret_bytes)
{
	struct image_bytes bytes;
	struct reader reader;
	int r = read_variable(image, exported, "PL_interp_size", &bytes);

	if (r < 0)
		return r;
	reader_init(&reader, bytes.bytes, bytes.size);
	*ret_bytes = reader_u16(&reader);
	if (reader_failed(&reader) || *ret_bytes == PERL_NO_INTERPRETER)
		return -ENOTSUP;
	return 0;
}

/* ---- the build ---- */

static bool has_option(const struct image_bytes *options, const char *option)
{
	return memmem(options->bytes, options->size, option, strlen(option)) != NULL;
}

/*
 * Checks what Perl says of its build (perl -V): other builds have other structures. Without threads
 * there is one interpreter, whose fields are variables, unless the program makes several of them.
 */
static int check_build(struct image *image, const struct exported *exported, bool *ret_has_threads)
{
	struct image_bytes options;
	int r = read_variable(image, exported, "PL_bincompat_options", &options);

	if (r < 0)
		return r;
	*ret_has_threads = has_option(&options, " USE_ITHREADS");
	if (!has_option(&options, " USE_64_BIT_ALL") || has_option(&options, " USE_LONG_DOUBLE") ||
	    has_option(&options, " USE_QUADMATH") ||
	    has_option(&options, " MULTIPLICITY") != *ret_has_threads)
		return -ENOTSUP;
	if (exported_has(exported, "Perl_hv_assert")) /* embed.fnc: with DEBUGGING alone */
		return -ENOTSUP;
	return 0;
}

/* ---- the interpreter ---- */

#define VARIABLES 3u

static int find_variables(const struct exported *exported, uint64_t ret_address[VARIABLES])
{
	static const char *const names[VARIABLES] = {"PL_curcop", "PL_curstackinfo", "PL_op"};
	struct exported_symbol symbol;

	for (size_t i = 0; i < VARIABLES; i++) {
		if (!exported_find(exported, names[i], &symbol) || symbol.is_thread_local ||
		    symbol.size != sizeof(uint64_t) || symbol.address % sizeof(uint64_t) != 0)
			return -ENOTSUP;
		ret_address[i] = symbol.address;
	}
	return 0;
}

/* Makes the variables fields of an interpreter, which begins at the first one. */
static int set_variables(const struct exported *exported, struct runtime_setup *setup)
{
	struct perl_layout *layout = &setup->layout.perl;
	uint16_t *const fields[VARIABLES] = {&layout->interpreter_statement,
					     &layout->interpreter_stack,
					     &layout->interpreter_operation};
	uint64_t address[VARIABLES], first = UINT64_MAX;
	int r = find_variables(exported, address);

	if (r < 0)
		return r;
	for (size_t i = 0; i < VARIABLES; i++)
		if (address[i] < first)
			first = address[i];
	for (size_t i = 0; i < VARIABLES; i++) {
		if (address[i] - first > UINT16_MAX)
			return -ENOTSUP;
		*fields[i] = (uint16_t)(address[i] - first);
	}
	setup->config.root[0] = (struct runtime_root){.pc = first, .start = RUNTIME_AT_PC};
	return 0;
}

static int set_key(struct image *image, const struct exported *exported,
		   struct runtime_config *config)
{
	struct exported_symbol key;

	if (!exported_find(exported, "PL_thr_key", &key) || key.is_thread_local)
		return -ENOTSUP;
	config->root[0] =
		(struct runtime_root){.pc = key.address, .start = RUNTIME_AT_KEY, .steps = 1};
	if (dynamic_needs_musl(image))
		config->root[0].start = RUNTIME_AT_KEY_MUSL;
	return 0;
}

/* ---- frames ---- */

static void set_scopes(struct runtime_scopes *scopes, const struct perl_layout *layout)
{
	*scopes = (struct runtime_scopes){
		.statement = layout->interpreter_statement,
		.stack = layout->interpreter_stack,
		.operation = layout->interpreter_operation,
		.first = layout->stack_contexts,
		.last = layout->stack_last,
		.previous = layout->stack_previous,
		.type = layout->context_type,
		.called_in = layout->context_statement,
		.returns = layout->context_return,
		.function = layout->context_function,
		.line = layout->statement_line,
		.file = layout->statement_file,
		.kind = layout->operation_type,
		.kind_statement = layout->operation_statement,
		.kind_debugged = layout->operation_debugged,
		.start = layout->function_start,
		.root = layout->function_root,
		.name = layout->function_name,
		.package = layout->function_package,
		.code_file = layout->function_file,
		.flags = layout->function_flags,
		.text = layout->name_text,
		.package_of = layout->name_package,
		.other = layout->name_other,
		.last_bucket = layout->package_last,
		.more = layout->package_more,
		.texts = layout->package_name,
		.texts_count = layout->package_names,
	};
}

static void set_frames(struct runtime_config *config, const struct perl_layout *layout,
		       bool has_threads)
{
	config->flags = RUNTIME_SCOPES;
	if (!has_threads)
		config->flags |= RUNTIME_FILE_NAMED;
	config->node_bytes = layout->context_bytes;
	/* BPF reads the body of a function up to this field */
	config->name = layout->function_flags & ~7;
	for (uint16_t i = 0; i < RUNTIME_PARTS; i++)
		config->part[i] = (uint16_t)(i * sizeof(uint64_t));
	set_scopes(&config->scopes, layout);
}

static int find_layout(struct image *image, const struct exported *exported, bool has_threads,
		       struct runtime_setup *setup)
{
	uint32_t bytes = PERL_NO_INTERPRETER;
	int r = find_version(image, exported, &setup->version);

	if (r == 0 && has_threads)
		r = find_interpreter_bytes(image, exported, &bytes);
	if (r == 0)
		r = perl_layout_find(setup->version & 0xffff0000u, bytes, &setup->layout.perl);
	if (r < 0)
		return r;
	if (has_threads)
		return set_key(image, exported, &setup->config);
	return set_variables(exported, setup);
}

/* Finds the function of an operation in the table of all (opcode.h). */
static int find_operation(struct image *image, const struct exported *exported, uint32_t number,
			  uint64_t *ret_address)
{
	struct dynamic_relocation relocation;
	struct exported_symbol table, function;
	const uint64_t at = number * sizeof(uint64_t);

	if (!exported_find(exported, "PL_ppaddr", &table) || table.size < at + sizeof(uint64_t) ||
	    dynamic_relocation(image, table.address + at, &relocation) < 0)
		return -ENOTSUP;
	*ret_address = (uint64_t)relocation.addend;
	if (relocation.type == R_X86_64_RELATIVE)
		return 0;
	if (relocation.type != R_X86_64_64 || !exported_get(exported, relocation.symbol, &function))
		return -ENOTSUP;
	*ret_address += function.address;
	return 0;
}

/*
 * An eval may have a loop of its own, where native code has called the function around it. This
 * loop goes on with that function, and the list has no border for it (S_docatch() in pp_ctl.c).
 */
static int find_loops(struct image *image, const struct exported *exported,
		      struct runtime_setup *setup)
{
	const struct perl_layout *layout = &setup->layout.perl;
	uint64_t try = 0, eval = 0;
	int r = loop_of_symbol(image, exported, "Perl_runops_standard", setup->loop);

	if (r == 0)
		r = find_operation(image, exported, layout->operation_try, &try);
	if (r == 0)
		r = find_operation(image, exported, layout->operation_eval, &eval);
	if (r < 0)
		return r;
	return loop_called_by_both(image, exported, try, eval, &setup->again);
}

static int configure(struct image *image, struct runtime_setup *ret_setup)
{
	struct runtime_setup setup = {.has_groups = true};
	struct exported exported;
	bool has_threads = false;
	int r = exported_open(image, &exported);

	if (r == 0)
		r = check_build(image, &exported, &has_threads);
	if (r == 0)
		r = find_layout(image, &exported, has_threads, &setup);
	if (r == 0)
		r = find_loops(image, &exported, &setup);
	if (r < 0)
		return r;
	set_frames(&setup.config, &setup.layout.perl, has_threads);
	*ret_setup = setup;
	return 0;
}

const struct runtime_handler perl_handler = {
	.runtime = RUNTIME_PERL,
	.configure = configure,
	.read_code = perl_code_read,
	.find_line = perl_code_line,
};
