/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the strings, mappings and functions of a pprof file: all that locations refer to. */
#include "profile/read/pprof_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/languages.h"
#include "profile/format/names.h"
#include "base/wire.h"

enum mapping_field { /* of Mapping in proto/profile.proto */
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_NAME,
	MAPPING_BUILD_ID
};

enum function_field { /* of Function */
	FUNCTION_ID = 1,
	FUNCTION_NAME,
	FUNCTION_SYSTEM_NAME,
	FUNCTION_FILE,
	FUNCTION_LINE
};

#define ANON_START  "[anon" /* "[anon]" of keyhole, "[anon:NAME]" of others */
#define HASH_DIGITS 16u	    /* of a hash in place of a path, base/redact.h */

static const char *const label_names[LABELS] = {
#define L(id, key) [LABEL_##id] = key,
#include "profile/pprof_labels.def"
#undef L
};

/* ---- strings ---- */

static uint8_t label_of(const char *text)
{
	for (uint8_t i = LABEL_OTHER + 1; i < LABELS; i++)
		if (!strcmp(text, label_names[i]))
			return i;
	return LABEL_OTHER;
}

static void replace_nuls(char *raw, size_t size)
{
	char *nul = memchr(raw, '\0', size);

	while (nul) {
		*nul = '?';
		nul = memchr(raw, '\0', size);
	}
}

/* Takes a string as clean text. A NUL within would hide the rest, so that '?' takes its place. */
static int read_string(struct pprof_input *in, const struct pprof_span *span,
		       struct pprof_string *ret_string)
{
	char raw[FORMAT_NAME_MAX], text[FORMAT_NAME_MAX];
	size_t size = span->size;

	if (size >= sizeof(raw)) {
		size = sizeof(raw) - 1;
		in->info->strings_cut++;
	}
	memcpy(raw, in->bytes + span->at, size);
	raw[size] = '\0';
	replace_nuls(raw, size);
	format_clean_name(text, sizeof(text), raw);
	ret_string->id = profile_string(in->profile, text);
	ret_string->label = label_of(text);
	if (ret_string->id == PROFILE_FAILED)
		return -ENOMEM;
	return 0;
}

int pprof_read_strings(struct pprof_input *in)
{
	const struct pprof_spans *spans = &in->tables.strings;
	int r = 0;

	in->strings = calloc(spans->count + 1, sizeof(*in->strings));
	if (!in->strings)
		return -ENOMEM;
	for (size_t i = 0; i < spans->count && r == 0; i++)
		r = read_string(in, &spans->items[i], &in->strings[i]);
	return r;
}

/* ---- mappings ---- */

/* Returns whether the name is a hash in place of a path: "[" 16 digits "]". */
static bool is_hash(const char *name)
{
	if (name[0] != '[' || strspn(name + 1, "0123456789abcdef") != HASH_DIGITS)
		return false;
	return !strcmp(name + 1 + HASH_DIGITS, "]");
}

/*
 * Tells the kernel by the brackets around its name and those of its modules, which perf writes,
 * too. A few objects of processes have names in brackets as well.
 */
static enum profile_kind kind_of(const char *name)
{
	static const char *const native[] = {"[vdso]",	      "[vsyscall]", "[heap]",	"[stack",
					     PROFILE_UNKNOWN, "[uprobes]",  "[dropped]"};

	if (name[0] != '[' || is_hash(name))
		return KIND_NATIVE;
	if (!strncmp(name, ANON_START, strlen(ANON_START)))
		return KIND_ANON;
	for (size_t i = 0; i < sizeof(native) / sizeof(native[0]); i++)
		if (!strncmp(name, native[i], strlen(native[i])))
			return KIND_NATIVE;
	return KIND_KERNEL;
}

/* Tells the objects of interpreted languages by their names, which no other object has. */
static void set_kind(struct profile_object *object, const char *name)
{
	const struct language *language = language_of_object(name);

	object->kind = kind_of(name);
	if (language_of_made_object(name))
		object->kind = KIND_ANON;
	if (!language)
		return;
	object->kind = KIND_SCRIPT;
	object->runtime = language->runtime;
}

static int read_mapping(struct pprof_input *in, struct reader message, uint32_t index)
{
	struct profile_object object = {0};
	uint64_t number[MAPPING_BUILD_ID + 1];
	bool whole = wire_numbers(&message, number, MAPPING_BUILD_ID + 1);
	int r = 0;

	object.name = pprof_string(in, number[MAPPING_NAME], &r)->id;
	object.build_id = pprof_string(in, number[MAPPING_BUILD_ID], &r)->id;
	if (r < 0)
		return r;
	if (!whole)
		return pprof_malformed(in, "a mapping");
	object.start = number[MAPPING_START];
	object.limit = number[MAPPING_LIMIT];
	object.file_offset = number[MAPPING_OFFSET];
	object.has_functions = true;
	set_kind(&object, profile_string_get(in->profile, object.name));
	r = pprof_put_id(in, &in->mapping_ids, number[MAPPING_ID], index,
			 "a mapping's id is 0, or another's");
	if (r < 0)
		return r;
	if (profile_object_add(in->profile, &object) == PROFILE_FAILED)
		return -ENOMEM;
	return 0;
}

/* Names processes that the file has no name for: after the file's first mapping. */
static int name_processes(struct pprof_input *in)
{
	const struct profile_object *first = profile_object_get(in->profile, in->first_object);
	const char *name = profile_string_get(in->profile, first->name);
	const char *slash = strrchr(name, '/');

	if (slash)
		name = slash + 1;
	in->file_name = profile_string(in->profile, name);
	if (in->file_name == PROFILE_FAILED)
		return -ENOMEM;
	return 0;
}

int pprof_read_mappings(struct pprof_input *in)
{
	const struct pprof_spans *spans = &in->tables.mappings;
	int r = pprof_ids_init(&in->mapping_ids, spans->count);

	in->first_object = profile_objects(in->profile) + 1;
	for (size_t i = 0; i < spans->count && r == 0; i++)
		r = read_mapping(in, pprof_open_span(in, &spans->items[i]), (uint32_t)i);
	if (r < 0 || spans->count == 0)
		return r;
	return name_processes(in);
}

/* ---- functions ---- */

static int read_function(struct pprof_input *in, struct reader message, uint32_t index)
{
	struct pprof_function *function = &in->functions[index];
	uint64_t number[FUNCTION_LINE + 1];
	bool whole = wire_numbers(&message, number, FUNCTION_LINE + 1);
	int r = 0;

	function->name = pprof_string(in, number[FUNCTION_NAME], &r)->id;
	function->system_name = pprof_string(in, number[FUNCTION_SYSTEM_NAME], &r)->id;
	function->file = pprof_string(in, number[FUNCTION_FILE], &r)->id;
	function->line = pprof_line_number(number[FUNCTION_LINE]);
	if (r < 0)
		return r;
	if (!whole)
		return pprof_malformed(in, "a function");
	if (!function->name)
		function->name = function->system_name;
	return pprof_put_id(in, &in->function_ids, number[FUNCTION_ID], index,
			    "a function's id is 0, or another's");
}

int pprof_read_functions(struct pprof_input *in)
{
	const struct pprof_spans *spans = &in->tables.functions;
	int r = pprof_ids_init(&in->function_ids, spans->count);

	in->functions = calloc(spans->count + 1, sizeof(*in->functions));
	if (!in->functions)
		return -ENOMEM;
	for (size_t i = 0; i < spans->count && r == 0; i++)
		r = read_function(in, pprof_open_span(in, &spans->items[i]), (uint32_t)i);
	return r;
}
