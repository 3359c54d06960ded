/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, mappings, functions and locations of a pprof file. */
#include "profile/read/pprof_input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/format/format.h"
#include "profile/read/wire.h"

static const char *const label_names[LABELS] = {
	[LABEL_PID] = "pid",	   [LABEL_TID] = "tid",	      [LABEL_COMM] = "comm",
	[LABEL_THREAD] = "thread", [LABEL_CGROUP] = "cgroup", [LABEL_REASON] = "reason",
};

int pprof_refuse(struct pprof_input *in, int r, const char *format, ...)
{
	char problem[2 * sizeof(in->info->problem)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	format_clean_name(in->info->problem, sizeof(in->info->problem), problem);
	return r;
}

int pprof_malformed(struct pprof_input *in, const char *what)
{
	return pprof_refuse(in, -EBADMSG, "malformed: %s", what);
}

static struct reader open_span(const struct pprof_input *in, const struct pprof_span *span)
{
	struct reader reader;

	reader_init(&reader, in->bytes + span->at, span->size);
	return reader;
}

/* ---- strings ---- */

static uint8_t label_of(const char *text)
{
	for (uint8_t i = LABEL_OTHER + 1; i < LABELS; i++)
		if (!strcmp(text, label_names[i]))
			return i;
	return LABEL_OTHER;
}

/* Clean from here on. A NUL within would hide what follows. */
static int read_string(struct pprof_input *in, const struct pprof_span *span,
		       struct pprof_string *ret_string)
{
	char raw[FORMAT_NAME_MAX], text[FORMAT_NAME_MAX];
	size_t size = span->size < sizeof(raw) ? span->size : sizeof(raw) - 1;

	memcpy(raw, in->bytes + span->at, size);
	raw[size] = '\0';
	for (char *nul; (nul = memchr(raw, '\0', size));)
		*nul = '?';
	in->info->strings_cut += size < span->size;
	format_clean_name(text, sizeof(text), raw);
	ret_string->id = profile_string(in->profile, text);
	ret_string->label = label_of(text);
	return ret_string->id == PROFILE_FAILED ? -ENOMEM : 0;
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

const struct pprof_string *pprof_string(struct pprof_input *in, uint64_t index, int *r)
{
	static const struct pprof_string none;

	if (index < in->tables.strings.count)
		return &in->strings[index];
	if (index > 0) /* 0 is the empty one, even of an empty table */
		*r = pprof_malformed(in, "a string that is not there");
	return &none;
}

const char *pprof_text(struct pprof_input *in, uint64_t index, int *r)
{
	return profile_string_get(in->profile, pprof_string(in, index, r)->id);
}

/* ---- mappings ---- */

/* In brackets are the kernel and its modules, also as perf names them, and a few of processes. */
static enum profile_kind kind_of(const char *name)
{
	static const char *const native[] = {"[vdso]", "[vsyscall]", "[anon",	  "[heap]",
					     "[stack", "[unknown]",  "[uprobes]", "[dropped]"};
	size_t digits = name[0] == '[' ? strspn(name + 1, "0123456789abcdef") : 0;

	/* a hash that stands for a path: base/redact.h, as "[dropped]" */
	if (digits == 16 && !strcmp(name + 1 + digits, "]"))
		return KIND_NATIVE;
	for (size_t i = 0; i < sizeof(native) / sizeof(native[0]); i++)
		if (!strncmp(name, native[i], strlen(native[i])))
			return KIND_NATIVE;
	return name[0] == '[' ? KIND_KERNEL : KIND_NATIVE;
}

static int read_mapping(struct pprof_input *in, struct reader message, uint32_t index)
{
	struct profile_object object = {0};
	uint64_t number[7] = {0}; /* by field */
	struct wire field;
	int r = 0;

	while (wire_next(&message, &field))
		if (field.type == WIRE_VARINT && field.field < 7)
			number[field.field] = field.value;
	object.name = pprof_string(in, number[5], &r)->id;
	object.build_id = pprof_string(in, number[6], &r)->id;
	if (r || reader_failed(&message))
		return r ? r : pprof_malformed(in, "a mapping");
	object.start = number[2];
	object.limit = number[3];
	object.file_offset = number[4];
	object.has_functions = true;
	object.kind = kind_of(profile_string_get(in->profile, object.name));
	r = pprof_ids_put(&in->mapping_ids, number[1], index);
	if (r)
		return r == -ENOMEM ? r : pprof_malformed(in, "a mapping's id is 0, or another's");
	return profile_object_add(in->profile, &object) == PROFILE_FAILED ? -ENOMEM : 0;
}

int pprof_read_mappings(struct pprof_input *in)
{
	const struct pprof_spans *spans = &in->tables.mappings;
	int r = pprof_ids_init(&in->mapping_ids, spans->count);
	const char *name, *slash;

	in->first_object = profile_objects(in->profile) + 1;
	for (size_t i = 0; i < spans->count && r == 0; i++)
		r = read_mapping(in, open_span(in, &spans->items[i]), (uint32_t)i);
	if (r || spans->count == 0)
		return r;
	name = profile_string_get(in->profile,
				  profile_object_get(in->profile, in->first_object)->name);
	slash = strrchr(name, '/');
	in->file_name = profile_string(in->profile, slash ? slash + 1 : name);
	return in->file_name == PROFILE_FAILED ? -ENOMEM : 0;
}

/* An object of its own for what has no mapping: a marker, or what nothing is known of. */
static int marker_object(struct pprof_input *in, uint32_t name, uint32_t *ret_object)
{
	const char *text = profile_string_get(in->profile, name);
	struct profile_object object = {.name = name, .kind = KIND_MARKER};

	if (text[0] != '[')
		object.name = profile_string(in->profile, "[unknown]");
	*ret_object = (uint32_t)(uintptr_t)map_get(in->markers, object.name);
	if (*ret_object)
		return 0;
	*ret_object = profile_object_add(in->profile, &object);
	if (object.name == PROFILE_FAILED || *ret_object == PROFILE_FAILED)
		return -ENOMEM;
	return map_put(in->markers, object.name, (void *)(uintptr_t)*ret_object);
}

/* ---- functions ---- */

static int read_function(struct pprof_input *in, struct reader message, uint32_t index)
{
	struct pprof_function *function = &in->functions[index];
	uint64_t number[6] = {0}; /* by field */
	struct wire field;
	int r = 0;

	while (wire_next(&message, &field))
		if (field.type == WIRE_VARINT && field.field < 6)
			number[field.field] = field.value;
	function->name = pprof_string(in, number[2], &r)->id;
	function->system_name = pprof_string(in, number[3], &r)->id;
	function->file = pprof_string(in, number[4], &r)->id;
	function->line = number[5] <= UINT32_MAX ? (uint32_t)number[5] : 0;
	if (r || reader_failed(&message))
		return r ? r : pprof_malformed(in, "a function");
	if (!function->name)
		function->name = function->system_name;
	r = pprof_ids_put(&in->function_ids, number[1], index);
	return r && r != -ENOMEM ? pprof_malformed(in, "a function's id is 0, or another's") : r;
}

int pprof_read_functions(struct pprof_input *in)
{
	const struct pprof_spans *spans = &in->tables.functions;
	int r = pprof_ids_init(&in->function_ids, spans->count);

	in->functions = calloc(spans->count + 1, sizeof(*in->functions));
	if (!in->functions)
		return -ENOMEM;
	for (size_t i = 0; i < spans->count && r == 0; i++)
		r = read_function(in, open_span(in, &spans->items[i]), (uint32_t)i);
	return r;
}

/* ---- locations ---- */

/* Ours are called object+0xoffset where a symbol is missing. */
static bool is_named(const char *name)
{
	const char *plus = strrchr(name, '+');

	return !plus || strncmp(plus, "+0x", 3) != 0 || !plus[3] ||
	       plus[3 + strspn(plus + 3, "0123456789abcdef")];
}

/* In the model; 0: none, and PROFILE_FAILED. */
static uint32_t add_function(struct pprof_input *in, const struct pprof_function *from,
			     uint32_t object)
{
	struct profile_function function = {.object = object};

	if (!from || !from->name)
		return 0;
	function.name = from->name;
	function.system_name = from->system_name ? from->system_name : from->name;
	function.file = from->file;
	function.line = from->line;
	function.named = is_named(profile_string_get(in->profile, function.name));
	return profile_function_add(in->profile, &function);
}

struct lines { /* of a location, the innermost first */
	const struct pprof_function *function[PROFILE_LINES_MAX];
	uint32_t line[PROFILE_LINES_MAX];
	size_t count;
};

static uint32_t small(uint64_t number)
{
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Of more than the most the innermost are kept, and the last: samples end in the former. */
static int read_line(struct pprof_input *in, struct reader message, struct lines *lines)
{
	uint64_t number[3] = {0}; /* by field */
	struct wire field;
	uint32_t function;

	while (wire_next(&message, &field))
		if (field.type == WIRE_VARINT && field.field < 3)
			number[field.field] = field.value;
	function = pprof_ids_get(&in->function_ids, number[1]);
	if (reader_failed(&message) || (number[1] && !function))
		return pprof_malformed(in, "a line's function is not there");
	if (in->lines++ >= PPROF_ENTRIES_MAX)
		return pprof_refuse(in, -E2BIG, "more entries than the limit");
	if (lines->count == PROFILE_LINES_MAX) {
		in->info->lines_cut++;
		lines->count--;
	}
	lines->function[lines->count] = function ? &in->functions[function - 1] : NULL;
	lines->line[lines->count++] = small(number[2]);
	return 0;
}

static int read_lines(struct pprof_input *in, struct reader message, struct lines *lines)
{
	struct wire field;
	int r = 0;

	while (r == 0 && wire_next(&message, &field))
		if (field.type == WIRE_BYTES && field.field == 4)
			r = read_line(in, field.bytes, lines);
	return r;
}

static int set_lines(struct pprof_input *in, uint32_t id, uint32_t object,
		     const struct lines *lines)
{
	struct profile_line made[PROFILE_LINES_MAX];
	struct profile_location *location;

	if (lines->count == 0)
		return 0;
	for (size_t i = 0; i < lines->count; i++) {
		made[i].function = add_function(in, lines->function[i], object);
		made[i].line = lines->line[i];
		if (made[i].function == PROFILE_FAILED)
			return -ENOMEM;
	}
	location = profile_location_get(in->profile, id);
	location->function = made[lines->count - 1].function;
	location->line = made[lines->count - 1].line;
	return profile_location_set_inlined(in->profile, id, made, lines->count - 1);
}

/* Never equal to another one: addresses may be left out of a file. */
static int add_location(struct pprof_input *in, uint32_t object, uint64_t address,
			const struct lines *lines)
{
	const struct pprof_function *function = lines->count ? lines->function[0] : NULL;
	uint32_t id;
	int r = 0;

	if (!object)
		r = marker_object(in, function ? function->name : 0, &object);
	if (r)
		return r;
	id = profile_location_add_variant(in->profile, object, address,
					  (uint64_t)profile_locations(in->profile) + 1);
	return id == PROFILE_FAILED ? -ENOMEM : set_lines(in, id, object, lines);
}

static int read_location(struct pprof_input *in, struct reader message, uint32_t index)
{
	const struct reader start = message;
	uint64_t number[4] = {0}; /* by field */
	struct lines lines = {.count = 0};
	struct wire field;
	uint32_t object;
	int r;

	while (wire_next(&message, &field))
		if (field.type == WIRE_VARINT && field.field < 4)
			number[field.field] = field.value;
	object = pprof_ids_get(&in->mapping_ids, number[2]);
	if (reader_failed(&message) || (number[2] && !object))
		return pprof_malformed(in, "a location, or its mapping is not there");
	r = read_lines(in, start, &lines);
	r = r ? r : add_location(in, object ? in->first_object + object - 1 : 0, number[3], &lines);
	if (r)
		return r;
	r = pprof_ids_put(&in->location_ids, number[1], index);
	return r && r != -ENOMEM ? pprof_malformed(in, "a location's id is 0, or another's") : r;
}

int pprof_read_locations(struct pprof_input *in)
{
	const struct pprof_spans *spans = &in->tables.locations;
	int r = pprof_ids_init(&in->location_ids, spans->count);

	in->first_location = profile_locations(in->profile) + 1;
	in->markers = map_new();
	if (!in->markers)
		return -ENOMEM;
	for (size_t i = 0; i < spans->count && r == 0; i++)
		r = read_location(in, open_span(in, &spans->items[i]), (uint32_t)i);
	return r;
}
