/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/read.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/time.h"
#include "base/map.h"
#include "object/dwarf/answer.h"
#include "object/dwarf/scopes.h"
#include "object/symbol/demangle.h"

struct described { /* a function, by the entry that its inlined copies refer to */
	struct described *next;
	uint32_t name, system_name, file, line;
};

struct lines {
	const struct dwarf_input *input;
	struct answer *answer;
	struct wanted *wanted; /* all, by address; the first `left` have no function yet */
	size_t left;
	struct wanted *found;  /* those in the current unit */
	struct map *described; /* by address of the entry in memory */
	struct described *all;
	struct scopes scopes;
	Dwarf_Die unit;
	bool no_memory;
};

/* ---- functions ---- */

static uint32_t string_of(struct lines *lines, const char *string)
{
	uint32_t id = string ? answer_string(lines->answer, string) : 0;

	lines->no_memory |= id == ANSWER_FAILED;
	return id;
}

/*
 * Returns whether a file's name still lacks the folder that its unit was compiled in. libdw puts
 * the folder before names of files in the folder itself, but not before names of other relative
 * folders.
 */
static bool is_relative(const char *file, const char *folder)
{
	size_t length = folder ? strlen(folder) : 0;

	return file[0] != '/' && length > 0 && strcmp(folder, ".") != 0 &&
	       (strncmp(file, folder, length) != 0 || file[length] != '/');
}

static uint32_t file_of(struct lines *lines, const char *file, Dwarf_Die *unit)
{
	char path[ANSWER_STRING_MAX];
	Dwarf_Attribute attribute;
	const char *folder = NULL;

	if (file && dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		folder = dwarf_formstring(&attribute);
	if (!file || !is_relative(file, folder))
		return string_of(lines, file);
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return string_of(lines, path);
}

/* Returns the file that an attribute names by an index into its unit's list: from 0 in DWARF 5. */
static uint32_t file_of_attribute(struct lines *lines, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Half version;
	Dwarf_Word index;
	Dwarf_Die unit;
	size_t count;

	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &index) ||
	    !dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
	    (index == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, &count) ||
	    index >= count)
		return 0;
	return file_of(lines, dwarf_filesrc(files, index, NULL, NULL), &unit);
}

static const char *linkage_name(Dwarf_Die *die)
{
	static const unsigned int names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dwarf_attr_integrate(die, names[i], &attribute))
			return dwarf_formstring(&attribute);
	return NULL;
}

static void describe(struct lines *lines, Dwarf_Die *die, struct described *described)
{
	const char *linkage = linkage_name(die), *name = dwarf_diename(die);
	guard_free char *readable = linkage ? demangle(linkage) : NULL;
	int line = 0;

	described->system_name = string_of(lines, linkage ? linkage : name);
	described->name = described->system_name;
	if (readable)
		described->name = string_of(lines, readable);
	described->file = file_of_attribute(lines, die, DW_AT_decl_file);
	if (dwarf_decl_line(die, &line) == 0 && line > 0)
		described->line = (uint32_t)line;
}

/* Returns the entry that all copies of a function refer to. */
static Dwarf_Die origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	return dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
			       dwarf_formref_die(&attribute, &origin)
		       ? origin
		       : *die;
}

static const struct described *described_of(struct lines *lines, Dwarf_Die *die)
{
	static const struct described nothing;
	Dwarf_Die origin = origin_of(die);
	const uint64_t key = (uintptr_t)origin.addr;
	struct described *described = map_get(lines->described, key);

	if (described)
		return described;
	described = calloc(1, sizeof(*described));
	if (!described || map_put(lines->described, key, described) < 0) {
		free(described);
		lines->no_memory = true;
		return &nothing;
	}
	described->next = lines->all;
	lines->all = described;
	describe(lines, &origin, described);
	return described;
}

/*
 * Adds a function. `file` is the file of its line, and may differ from the file that the function
 * begins in, as in an included part. In that case the line of the function's start is left out.
 */
static uint32_t function_of(struct lines *lines, const struct described *described, uint32_t file)
{
	struct answer_function function = {
		.name = described->name,
		.system_name = described->system_name,
		.file = described->file,
		.line = described->line,
	};
	uint32_t id;

	if (file && file != described->file) {
		function.file = file;
		function.line = 0;
	}
	id = answer_function_add(lines->answer, &function);
	lines->no_memory |= id == ANSWER_FAILED;
	return id;
}

/* ---- chains ---- */

struct place {
	uint32_t file, line;
};

static struct place place_of_address(struct lines *lines, uint64_t address)
{
	Dwarf_Line *line = dwarf_getsrc_die(&lines->unit, address);
	struct place place = {0, 0};
	int number;

	if (!line)
		return place;
	place.file = file_of(lines, dwarf_linesrc(line, NULL, NULL), &lines->unit);
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		place.line = (uint32_t)number;
	return place;
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0 &&
			       value <= UINT32_MAX
		       ? (uint32_t)value
		       : 0;
}

static struct place place_of_call(struct lines *lines, Dwarf_Die *inlined)
{
	return (struct place){file_of_attribute(lines, inlined, DW_AT_call_file),
			      number_of(inlined, DW_AT_call_line)};
}

static void set_chain(struct lines *lines, const struct wanted *wanted)
{
	struct answer_frame frames[ANSWER_CHAIN_MAX];
	struct place place = place_of_address(lines, wanted->address);
	uint32_t scope = wanted->scope, longer = 0;
	size_t count = 0;

	if (scope == SCOPE_NONE) {
		frames[count++] = (struct answer_frame){
			function_of(lines, &(struct described){0}, place.file), place.line};
	}
	for (; scope != SCOPE_NONE; scope = lines->scopes.items[scope].parent) {
		Dwarf_Die *die = &lines->scopes.items[scope].die;

		if (count == ANSWER_CHAIN_MAX) {
			memmove(frames, frames + 1, sizeof(frames) - sizeof(frames[0]));
			count--;
			longer = 1;
		}
		frames[count++] = (struct answer_frame){
			function_of(lines, described_of(lines, die), place.file), place.line};
		place = place_of_call(lines, die);
	}
	answer_summary(lines->answer)->cut += longer;
	if (!lines->no_memory && answer_set(lines->answer, wanted->index, frames, count) < 0)
		lines->no_memory = true;
}

/* ---- units ---- */

static int by_address(const void *a, const void *b)
{
	const struct wanted *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

/* Copies the unit's addresses that have no function yet to `found`, and returns their number. */
static size_t find_wanted(struct lines *lines, Dwarf_Die *unit, bool *ret_damaged)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;
	size_t count = 0;

	while ((offset = dwarf_ranges(unit, offset, &base, &low, &high)) > 0) {
		size_t i = wanted_from(lines->wanted, lines->left, low);

		/* overlapping ranges would give more addresses than all */
		for (; low > 0 && i < lines->left && lines->wanted[i].address < high &&
		       count < lines->left;
		     i++)
			lines->found[count++] = lines->wanted[i];
	}
	*ret_damaged = offset < 0;
	qsort(lines->found, count, sizeof(*lines->found), by_address);
	return count;
}

static bool without_scope(const struct wanted *wanted)
{
	return wanted->scope == SCOPE_NONE;
}

/* Moves the addresses without a function to the front, in order, and returns their number. */
static size_t keep_rest(struct wanted *wanted, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (without_scope(&wanted[i]))
			wanted[kept++] = wanted[i];
	return kept;
}

static void forget_found(struct lines *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = wanted_from(lines->wanted, lines->left, lines->found[i].address);

		/* all equal addresses are in the unit */
		for (; at < lines->left && lines->wanted[at].address == lines->found[i].address;
		     at++)
			lines->wanted[at].scope = lines->found[i].scope;
	}
	lines->left = keep_rest(lines->wanted, lines->left);
}

/* Searches the usual parts of the unit, then all parts for the remaining addresses. */
static void resolve_unit(struct lines *lines, size_t count)
{
	struct scopes *scopes = &lines->scopes;
	size_t rest = count;

	for (int everywhere = 0; everywhere < 2 && rest > 0; everywhere++) {
		scopes->wanted = lines->found;
		scopes->wanted_count = rest;
		scopes->everywhere = everywhere;
		scopes_find(scopes, &lines->unit);
		for (size_t i = 0; i < rest; i++)
			if (everywhere || !without_scope(&lines->found[i]))
				set_chain(lines, &lines->found[i]);
		forget_found(lines, rest);
		rest = keep_rest(lines->found, rest);
	}
}

static bool is_split(Dwarf_Die *unit, uint8_t type)
{
	return type == DW_UT_skeleton || dwarf_hasattr(unit, DW_AT_GNU_dwo_name);
}

static void take_unit(struct lines *lines, Dwarf_Die *unit, uint8_t type)
{
	struct answer_summary *summary = answer_summary(lines->answer);
	bool damaged;
	size_t count;

	if (type == DW_UT_type || type == DW_UT_partial || type == DW_UT_split_type)
		return;
	count = find_wanted(lines, unit, &damaged);
	lines->unit = *unit;
	lines->scopes.damaged = damaged;
	if (count > 0)
		resolve_unit(lines, count);
	summary->split += count > 0 && is_split(unit, type);
	summary->damaged += lines->scopes.damaged;
	if (lines->scopes.late || time_now() >= lines->input->deadline)
		summary->status = ANSWER_TIME;
	lines->no_memory |= lines->scopes.no_memory;
}

static void take_units(struct lines *lines, Dwarf *dwarf)
{
	struct answer_summary *summary = answer_summary(lines->answer);
	Dwarf_CU *unit = NULL;
	bool any = false;
	int r = 0;

	while (lines->left > 0 && !lines->no_memory && summary->status == ANSWER_COMPLETE) {
		Dwarf_Die die;
		uint8_t type = 0;

		r = dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL);
		if (r != 0)
			break;
		any = true;
		if (die.addr)
			take_unit(lines, &die, type);
	}
	summary->damaged += r < 0;
	if (r == 1 && !any)
		summary->status = ANSWER_NONE;
}

/* ---- files ---- */

static bool has_build_id(Elf *elf, const unsigned char *id, size_t size)
{
	const void *bytes;
	ssize_t length = dwelf_elf_gnu_build_id(elf, &bytes);

	return length > 0 && (size_t)length == size && memcmp(bytes, id, size) == 0;
}

/* Sets dwz's file if it is the right one; else names the file in the summary, for the asker. */
static void set_alternate(Dwarf *dwarf, Dwarf *alternate, struct answer_summary *summary)
{
	const char *name;
	const void *id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);

	if (size <= 0 || size > ANSWER_ALT_ID_MAX)
		return;
	if (alternate && has_build_id(dwarf_getelf(alternate), id, (size_t)size)) {
		dwarf_setalt(dwarf, alternate);
		return;
	}
	summary->alt_id_size = (uint32_t)size;
	memcpy(summary->alt_id, id, (size_t)size);
	strncpy(summary->alt_name, name, sizeof(summary->alt_name) - 1);
}

/* Ends the process without a message. libdw's own handler prints one, and may not return either. */
static __attribute__((noreturn)) void on_no_memory(void)
{
	_exit(ENOMEM);
}

static int open_dwarf(int fd, Elf **ret_elf, Dwarf **ret_dwarf)
{
	*ret_dwarf = NULL;
	*ret_elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf_kind(*ret_elf) != ELF_K_ELF)
		return ANSWER_NO_ELF;
	*ret_dwarf = dwarf_begin_elf(*ret_elf, DWARF_C_READ, NULL);
	if (!*ret_dwarf)
		return ANSWER_NONE;
	dwarf_new_oom_handler(*ret_dwarf, on_no_memory);
	return ANSWER_COMPLETE;
}

static void release(struct lines *lines)
{
	scopes_release(&lines->scopes);
	map_free(lines->described);
	while (lines->all) {
		struct described *next = lines->all->next;

		free(lines->all);
		lines->all = next;
	}
	free(lines->wanted);
	free(lines->found);
}

static int prepare(struct lines *lines, const uint64_t *addresses, size_t count)
{
	lines->described = map_new();
	lines->wanted = calloc(count + 1, sizeof(*lines->wanted));
	lines->found = calloc(count + 1, sizeof(*lines->found));
	if (!lines->described || !lines->wanted || !lines->found)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		lines->wanted[i] = (struct wanted){addresses[i], i, SCOPE_NONE};
	lines->left = count;
	return 0;
}

static void resolve_file(struct lines *lines, Dwarf *dwarf)
{
	const struct dwarf_input *input = lines->input;
	struct answer_summary *summary = answer_summary(lines->answer);
	Dwarf *alternate = NULL;
	Elf *alternate_elf = NULL;

	if (input->alternate >= 0)
		open_dwarf(input->alternate, &alternate_elf, &alternate);
	set_alternate(dwarf, alternate, summary);
	take_units(lines, dwarf);
	release(lines);
	dwarf_end(alternate);
	elf_end(alternate_elf);
}

bool dwarf_has_build_id(int fd, const unsigned char *id, size_t size)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool has = elf_kind(elf) == ELF_K_ELF && has_build_id(elf, id, size);

	elf_end(elf);
	return has;
}

int dwarf_read(const struct dwarf_input *input, const uint64_t *addresses, size_t count,
	       struct answer *answer)
{
	struct lines lines = {
		.input = input, .answer = answer, .scopes = {.deadline = input->deadline}};
	Dwarf *dwarf;
	Elf *elf;
	int r = prepare(&lines, addresses, count);
	const int status = open_dwarf(input->file, &elf, &dwarf);

	answer_summary(answer)->status = (uint32_t)status;
	if (r == 0 && status == ANSWER_COMPLETE)
		resolve_file(&lines, dwarf);
	else
		release(&lines);
	dwarf_end(dwarf);
	elf_end(elf);
	if (r < 0 || lines.no_memory)
		return -ENOMEM;
	return 0;
}
