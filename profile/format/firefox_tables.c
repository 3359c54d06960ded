/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the tables of format "firefox": an object of columns each. */
#include <errno.h>

#include "base/intern.h"
#include "profile/format/firefox.h"
#include "profile/format/names.h"
#include "profile/profile.h"

enum category {
	CATEGORY_OTHER, /* the viewer's default, for samples without a stack */
	CATEGORY_USER,
	CATEGORY_KERNEL,
	CATEGORY_MARKER,
	CATEGORY_ANON,
	CATEGORY_SCRIPT,
	CATEGORIES
};

static const struct {
	const char *name, *color;
} categories[CATEGORIES] = {
	[CATEGORY_OTHER] = {"Other", "grey"},
	[CATEGORY_USER] = {"User", "yellow"},
	[CATEGORY_KERNEL] = {"Kernel", "orange"},
	[CATEGORY_MARKER] = {"Incomplete", "lightred"},
	[CATEGORY_ANON] = {"Made at run time", "green"},
	[CATEGORY_SCRIPT] = {"Interpreted", "blue"},
};

static const enum category category_of[] = {
	[KIND_NATIVE] = CATEGORY_USER,	 [KIND_KERNEL] = CATEGORY_KERNEL,
	[KIND_ANON] = CATEGORY_ANON,	 [KIND_SCRIPT] = CATEGORY_SCRIPT,
	[KIND_MARKER] = CATEGORY_MARKER,
};

/* ---- columns ---- */

void firefox_column_of(struct firefox *firefox, const char *name, uint32_t length,
		       const char *value)
{
	json_key_array(&firefox->json, name);
	for (uint32_t i = 0; i < length; i++)
		json_literal(&firefox->json, value);
	json_end(&firefox->json);
}

void firefox_empty_table(struct firefox *firefox, const char *name, const char *const *columns)
{
	json_key_object(&firefox->json, name);
	for (; *columns; columns++)
		firefox_column_of(firefox, *columns, 0, "");
	json_key_number(&firefox->json, "length", 0);
	json_end(&firefox->json);
}

/* Writes the index that a raw string has in stringArray, which comes last and is cleaned there. */
static void put_string_index(struct firefox *firefox, const char *raw)
{
	uint32_t id = intern_string(firefox->strings, raw);

	if (id == INTERN_FAILED)
		output_fail(&firefox->output, -ENOMEM);
	json_number(&firefox->json, id);
}

static void put_strings(struct firefox *firefox)
{
	json_key_array(&firefox->json, "stringArray");
	for (uint32_t id = 0; id < intern_count(firefox->strings); id++)
		json_string(&firefox->json, intern_get(firefox->strings, id, NULL));
	json_end(&firefox->json);
}

/* Returns a raw path. */
static const char *object_name(const struct firefox *firefox, uint32_t id)
{
	return profile_string_get(firefox->profile, profile_object_get(firefox->profile, id)->name);
}

static const struct firefox_frame *frame_at(const struct firefox *firefox, uint32_t id)
{
	return &firefox->frames[id - 1];
}

static const struct profile_location *frame_location(const struct firefox *firefox, uint32_t id)
{
	return profile_location_get(firefox->profile, frame_at(firefox, id)->location);
}

static const struct profile_object *frame_object(const struct firefox *firefox, uint32_t id)
{
	return profile_location_object(firefox->profile, frame_at(firefox, id)->location);
}

static void put_number_or_null(struct firefox *firefox, uint32_t number)
{
	if (number)
		json_number(&firefox->json, number);
	else
		json_literal(&firefox->json, "null");
}

/* ---- tables ---- */

static void put_stacks(struct firefox *firefox)
{
	json_key_object(&firefox->json, "stackTable");
	json_key_array(&firefox->json, "frame");
	for (uint32_t i = 0; i < firefox->node_count; i++)
		json_number(&firefox->json, firefox->nodes[i].frame - 1);
	json_end(&firefox->json);
	json_key_array(&firefox->json, "prefixOffset");
	for (uint32_t i = 0; i < firefox->node_count; i++) {
		uint32_t id = i + 1, parent = firefox->nodes[i].parent, distance = 0;

		if (parent)
			distance = id - parent;
		json_number(&firefox->json, distance);
	}
	json_end(&firefox->json);
	json_key_number(&firefox->json, "length", firefox->node_count);
	json_end(&firefox->json);
}

static void frame_address(struct firefox *firefox, uint32_t id)
{
	const struct profile_object *object = frame_object(firefox, id);

	if (object && (object->kind == KIND_NATIVE || object->kind == KIND_ANON))
		json_number(&firefox->json, frame_location(firefox, id)->address);
	else
		json_signed(&firefox->json, -1);
}

/* Writes the index of an object's lib or resource; -1 for markers, which are no files. */
static void put_index(struct firefox *firefox, uint32_t id)
{
	const struct profile_object *object = profile_object_get(firefox->profile, id);
	int64_t index = -1;

	if (profile_object_is_file(object))
		index = (int64_t)id - 1;
	json_signed(&firefox->json, index);
}

static void frame_lib(struct firefox *firefox, uint32_t id)
{
	put_index(firefox, frame_location(firefox, id)->object);
}

static void frame_depth(struct firefox *firefox, uint32_t id)
{
	json_number(&firefox->json, frame_at(firefox, id)->depth);
}

static void frame_category(struct firefox *firefox, uint32_t id)
{
	uint32_t location = frame_at(firefox, id)->location;

	json_number(&firefox->json, category_of[profile_location_kind(firefox->profile, location)]);
}

static void frame_function(struct firefox *firefox, uint32_t id)
{
	json_number(&firefox->json, frame_at(firefox, id)->function - 1);
}

static void frame_line(struct firefox *firefox, uint32_t id)
{
	put_number_or_null(firefox, frame_at(firefox, id)->line);
}

struct column {
	const char *name;
	void (*put)(struct firefox *firefox, uint32_t id); /* writes the value of one row */
	const char *value;				   /* put is NULL: the value of all rows */
};

static void put_columns(struct firefox *firefox, const struct column *columns, uint32_t length)
{
	for (; columns->name; columns++) {
		if (!columns->put) {
			firefox_column_of(firefox, columns->name, length, columns->value);
			continue;
		}
		json_key_array(&firefox->json, columns->name);
		for (uint32_t id = 1; id <= length; id++)
			columns->put(firefox, id);
		json_end(&firefox->json);
	}
	json_key_number(&firefox->json, "length", length);
}

static void put_frames(struct firefox *firefox)
{
	static const struct column columns[] = {
		{"address", frame_address, NULL},   {"lib", frame_lib, NULL},
		{"inlineDepth", frame_depth, NULL}, {"category", frame_category, NULL},
		{"subcategory", NULL, "0"},	    {"func", frame_function, NULL},
		{"nativeSymbol", NULL, "null"},	    {"innerWindowID", NULL, "0"},
		{"line", frame_line, NULL},	    {"column", NULL, "null"},
		{"originalLocation", NULL, "null"}, {NULL, NULL, NULL},
	};

	json_key_object(&firefox->json, "frameTable");
	put_columns(firefox, columns, (uint32_t)firefox->frame_count);
	json_end(&firefox->json);
}

/* Returns the frame that is a function of its own, or NULL for a function of the profile. */
static const struct firefox_frame *own_frame(const struct firefox *firefox, uint32_t id)
{
	uint32_t named = profile_functions(firefox->profile);

	if (id <= named)
		return NULL;
	return frame_at(firefox, firefox->own[id - named - 1]);
}

static void function_name(struct firefox *firefox, uint32_t id)
{
	const struct profile *profile = firefox->profile;
	const struct firefox_frame *own = own_frame(firefox, id);
	struct format_line line = {0};
	char room[OFFSET_NAME_BYTES];
	const char *raw;

	if (own) {
		line.location = own->location;
		line.depth = own->depth;
		raw = format_line_name(profile, &line, room);
	} else {
		raw = format_function_name(profile, id);
	}
	put_string_index(firefox, raw);
}

static void function_resource(struct firefox *firefox, uint32_t id)
{
	const struct firefox_frame *own = own_frame(firefox, id);

	if (own)
		put_index(firefox, profile_location_get(firefox->profile, own->location)->object);
	else
		put_index(firefox, profile_function_get(firefox->profile, id)->object);
}

static const char *function_file(const struct firefox *firefox, uint32_t id)
{
	const struct profile_function *function = profile_function_get(firefox->profile, id);

	if (!function)
		return "";
	return profile_string_get(firefox->profile, function->file);
}

static void function_source(struct firefox *firefox, uint32_t id)
{
	const char *file = function_file(firefox, id);
	uint32_t source = intern_string(firefox->sources, file); /* "" has 0 */

	if (source == INTERN_FAILED)
		output_fail(&firefox->output, -ENOMEM);
	else if (source)
		json_number(&firefox->json, source - 1);
	else
		json_literal(&firefox->json, "null");
}

static void function_line(struct firefox *firefox, uint32_t id)
{
	const struct profile_function *function = profile_function_get(firefox->profile, id);
	uint32_t line = 0;

	if (function)
		line = format_first_line(function);
	put_number_or_null(firefox, line);
}

static void put_functions(struct firefox *firefox)
{
	static const struct column columns[] = {
		{"name", function_name, NULL},
		{"isJS", NULL, "false"},
		{"relevantForJS", NULL, "false"},
		{"resource", function_resource, NULL},
		{"source", function_source, NULL},
		{"lineNumber", function_line, NULL},
		{"columnNumber", NULL, "null"},
		{"originalLocation", NULL, "null"},
		{NULL, NULL, NULL},
	};

	json_key_object(&firefox->json, "funcTable");
	put_columns(firefox, columns, profile_functions(firefox->profile) + firefox->own_count);
	json_end(&firefox->json);
}

static void resource_name(struct firefox *firefox, uint32_t id)
{
	put_string_index(firefox, format_base_name(object_name(firefox, id)));
}

/* An object is a lib and, at the same index, a resource of type "library". */
static void put_resources(struct firefox *firefox)
{
	static const struct column columns[] = {
		{"name", resource_name, NULL},
		{"host", NULL, "null"},
		{"type", NULL, "1"},
		{NULL, NULL, NULL},
	};

	json_key_object(&firefox->json, "resourceTable");
	put_columns(firefox, columns, profile_objects(firefox->profile));
	json_end(&firefox->json);
}

static void source_name(struct firefox *firefox, uint32_t id)
{
	put_string_index(firefox, intern_get(firefox->sources, id, NULL));
}

/* Writes the source files, in the order in which functions have named them. */
static void put_sources(struct firefox *firefox)
{
	static const struct column columns[] = {
		{"id", NULL, "null"},
		{"filename", source_name, NULL},
		{"startLine", NULL, "1"},
		{"startColumn", NULL, "1"},
		{"sourceMapURL", NULL, "null"},
		{"content", NULL, "null"},
		{NULL, NULL, NULL},
	};

	json_key_object(&firefox->json, "sources");
	put_columns(firefox, columns, intern_count(firefox->sources) - 1);
	json_end(&firefox->json);
}

void firefox_put_shared(struct firefox *firefox)
{
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
	static const char *const places[] = {"source", "line", "column", NULL};

	json_key_object(&firefox->json, "shared");
	put_stacks(firefox);
	put_frames(firefox);
	put_functions(firefox);
	put_resources(firefox);
	firefox_empty_table(firefox, "nativeSymbols", symbols);
	put_sources(firefox);
	firefox_empty_table(firefox, "sourceLocationTable", places);
	put_strings(firefox);
	json_end(&firefox->json);
}

void firefox_put_libs(struct firefox *firefox)
{
	struct json *json = &firefox->json;

	json_key_array(json, "libs");
	for (uint32_t id = 1; id <= profile_objects(firefox->profile); id++) {
		const char *path = object_name(firefox, id);
		uint32_t build_id = profile_object_get(firefox->profile, id)->build_id;

		json_object(json);
		json_key_string(json, "arch", "");
		json_key_string(json, "name", format_base_name(path));
		json_key_string(json, "path", path);
		json_key_string(json, "debugName", format_base_name(path));
		json_key_string(json, "debugPath", path);
		json_key_string(json, "breakpadId", "");
		if (build_id)
			json_key_string(json, "codeId",
					profile_string_get(firefox->profile, build_id));
		else
			json_key_literal(json, "codeId", "null");
		json_end(json);
	}
	json_end(json);
}

void firefox_put_categories(struct firefox *firefox)
{
	struct json *json = &firefox->json;

	json_key_array(json, "categories");
	for (size_t i = 0; i < CATEGORIES; i++) {
		json_object(json);
		json_key_string(json, "name", categories[i].name);
		json_key_string(json, "color", categories[i].color);
		json_key_array(json, "subcategories");
		json_string(json, "Other");
		json_end(json);
		json_end(json);
	}
	json_end(json);
}
