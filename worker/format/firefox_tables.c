/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of format "firefox": an object of columns each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "worker/base/array.h"
#include "worker/base/intern.h"
#include "worker/format/firefox.h"
#include "worker/format/format.h"
#include "worker/profile/profile.h"

enum category {
	CATEGORY_OTHER, /* the viewer's default: what has no stack */
	CATEGORY_USER,
	CATEGORY_KERNEL,
	CATEGORY_MARKER,
	CATEGORIES
};

static const struct {
	const char *name, *color;
} categories[CATEGORIES] = {
	[CATEGORY_OTHER] = {"Other", "grey"},
	[CATEGORY_USER] = {"User", "yellow"},
	[CATEGORY_KERNEL] = {"Kernel", "orange"},
	[CATEGORY_MARKER] = {"Incomplete", "lightred"},
};

static const enum category category_of[] = {
	[KIND_NATIVE] = CATEGORY_USER,
	[KIND_KERNEL] = CATEGORY_KERNEL,
	[KIND_MARKER] = CATEGORY_MARKER,
};

struct path { /* of a stack, from the root on: ids of nodes */
	uint32_t node[PROFILE_STACK_MAX];
	size_t depth;
};

/* ---- what the tables are made of ---- */

/* Each function of the profile, and each location that has none, is one of funcTable. */
static void firefox_find_functions(struct firefox *firefox)
{
	uint32_t named = profile_functions(firefox->profile);

	for (uint32_t id = 1; id <= profile_locations(firefox->profile); id++) {
		uint32_t function = format_location_function(firefox->profile, id);

		if (function) {
			firefox->functions[id] = function - 1;
			continue;
		}
		firefox->functions[id] = named + firefox->own_count;
		firefox->own[firefox->own_count++] = id;
	}
}

/* By their locations from the root on: what two stacks share, they share with those in between. */
static int compare_stacks(const void *a, const void *b, void *context)
{
	const uint32_t *a_at, *b_at;
	size_t a_left = profile_stack_get(context, *(const uint32_t *)a, &a_at);
	size_t b_left = profile_stack_get(context, *(const uint32_t *)b, &b_at);

	for (; a_left > 0 && b_left > 0; a_left--, b_left--)
		if (a_at[a_left - 1] != b_at[b_left - 1])
			return a_at[a_left - 1] < b_at[b_left - 1] ? -1 : 1;
	return (a_left > b_left) - (a_left < b_left);
}

/* Where a stack leaves the one before, whose nodes are path[0..depth-1], new nodes begin. */
static int add_nodes(struct firefox *firefox, uint32_t stack, struct path *path)
{
	const uint32_t *locations;
	size_t count = profile_stack_get(firefox->profile, stack, &locations), level = 0;

	while (level < path->depth && level < count &&
	       firefox->nodes[path->node[level] - 1].location == locations[count - 1 - level])
		level++;
	for (; level < count; level++) {
		struct firefox_node node = {.location = locations[count - 1 - level],
					    .parent = level > 0 ? path->node[level - 1] : 0};

		if (firefox->node_count == INT32_MAX ||
		    ARRAY_RESERVE(firefox->nodes, firefox->node_capacity,
				  firefox->node_count + 1u) < 0)
			return -ENOMEM;
		firefox->nodes[firefox->node_count++] = node;
		path->node[level] = firefox->node_count;
	}
	path->depth = count;
	firefox->stacks[stack] = count > 0 ? path->node[count - 1] : 0;
	return 0;
}

static int firefox_find_nodes(struct firefox *firefox)
{
	uint32_t count = profile_stacks(firefox->profile);
	uint32_t *order = calloc(count + 1u, sizeof(*order));
	struct path path = {0};
	int r = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && order; i++)
		order[i] = i + 1;
	if (order)
		qsort_r(order, count, sizeof(*order), compare_stacks, (void *)firefox->profile);
	for (uint32_t i = 0; i < count && r == 0; i++)
		r = add_nodes(firefox, order[i], &path);
	free(order);
	return r;
}

int firefox_tables_init(struct firefox *firefox)
{
	uint32_t locations = profile_locations(firefox->profile);

	firefox->strings = intern_new();
	firefox->stacks = calloc(profile_stacks(firefox->profile) + 1u, sizeof(*firefox->stacks));
	firefox->functions = calloc(locations + 1u, sizeof(*firefox->functions));
	firefox->own = calloc(locations + 1u, sizeof(*firefox->own));
	if (!firefox->strings || !firefox->stacks || !firefox->functions || !firefox->own)
		return -ENOMEM;
	firefox_find_functions(firefox);
	return firefox_find_nodes(firefox);
}

void firefox_tables_release(struct firefox *firefox)
{
	intern_free(firefox->strings);
	free(firefox->nodes);
	free(firefox->stacks);
	free(firefox->functions);
	free(firefox->own);
}

/* ---- columns ---- */

void firefox_column_of(struct firefox *firefox, const char *name, uint32_t length,
		       const char *value)
{
	json_key_array(&firefox->json, name);
	for (uint32_t i = 0; i < length; i++)
		json_literal(&firefox->json, value);
	json_end(&firefox->json);
}

/* A table without rows. */
void firefox_empty_table(struct firefox *firefox, const char *name, const char *const *columns)
{
	json_key_object(&firefox->json, name);
	for (; *columns; columns++)
		firefox_column_of(firefox, *columns, 0, "");
	json_key_number(&firefox->json, "length", 0);
	json_end(&firefox->json);
}

/* The index of a string in the profile's stringArray, which is written last. */
static void put_string(struct firefox *firefox, const char *text)
{
	uint32_t id = intern_string(firefox->strings, text);

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

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *object_name(const struct firefox *firefox, uint32_t id)
{
	return profile_string_get(firefox->profile, profile_object_get(firefox->profile, id)->name);
}

static const struct profile_object *location_object(const struct firefox *firefox, uint32_t id)
{
	return profile_object_get(firefox->profile,
				  profile_location_get(firefox->profile, id)->object);
}

/* ---- tables ---- */

static void put_stacks(struct firefox *firefox)
{
	json_key_object(&firefox->json, "stackTable");
	json_key_array(&firefox->json, "frame");
	for (uint32_t i = 0; i < firefox->node_count; i++)
		json_number(&firefox->json, firefox->nodes[i].location - 1);
	json_end(&firefox->json);
	json_key_array(&firefox->json, "prefixOffset");
	for (uint32_t i = 0; i < firefox->node_count; i++) {
		uint32_t parent = firefox->nodes[i].parent;

		json_number(&firefox->json, parent ? i + 1 - parent : 0);
	}
	json_end(&firefox->json);
	json_key_number(&firefox->json, "length", firefox->node_count);
	json_end(&firefox->json);
}

static void frame_address(struct firefox *firefox, uint32_t id)
{
	const struct profile_object *object = location_object(firefox, id);

	if (object && object->kind == KIND_NATIVE)
		json_number(&firefox->json, profile_location_get(firefox->profile, id)->address);
	else
		json_signed(&firefox->json, -1);
}

/* Of a lib or resource; markers are no files. */
static void put_index(struct firefox *firefox, uint32_t id)
{
	const struct profile_object *object = profile_object_get(firefox->profile, id);

	json_signed(&firefox->json, object && object->kind != KIND_MARKER ? (int64_t)id - 1 : -1);
}

static void frame_lib(struct firefox *firefox, uint32_t id)
{
	const struct profile_location *at = profile_location_get(firefox->profile, id);

	put_index(firefox, at->object);
}

static void frame_category(struct firefox *firefox, uint32_t id)
{
	const struct profile_object *object = location_object(firefox, id);

	json_number(&firefox->json, object ? category_of[object->kind] : CATEGORY_OTHER);
}

static void frame_function(struct firefox *firefox, uint32_t id)
{
	json_number(&firefox->json, firefox->functions[id]);
}

struct column {
	const char *name;
	void (*put)(struct firefox *firefox, uint32_t id); /* NULL: */
	const char *value;				   /* of all rows */
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
		{"address", frame_address, NULL},
		{"lib", frame_lib, NULL},
		{"inlineDepth", NULL, "0"},
		{"category", frame_category, NULL},
		{"subcategory", NULL, "0"},
		{"func", frame_function, NULL},
		{"nativeSymbol", NULL, "null"},
		{"innerWindowID", NULL, "0"},
		{"line", NULL, "null"},
		{"column", NULL, "null"},
		{"originalLocation", NULL, "null"},
		{NULL, NULL, NULL},
	};

	json_key_object(&firefox->json, "frameTable");
	put_columns(firefox, columns, profile_locations(firefox->profile));
	json_end(&firefox->json);
}

/* 0: it is in the profile. Else the location that is this function of its own. */
static uint32_t own_location(const struct firefox *firefox, uint32_t id)
{
	uint32_t named = profile_functions(firefox->profile);

	return id > named ? firefox->own[id - named - 1] : 0;
}

static void function_name(struct firefox *firefox, uint32_t id)
{
	uint32_t own = own_location(firefox, id);
	char text[FORMAT_NAME_MAX];
	const char *name = text;

	if (own)
		format_frame_name(text, sizeof(text), firefox->profile, own);
	else
		name = profile_string_get(firefox->profile,
					  profile_function_get(firefox->profile, id)->name);
	put_string(firefox, name);
}

static void function_resource(struct firefox *firefox, uint32_t id)
{
	uint32_t own = own_location(firefox, id);

	put_index(firefox, own ? profile_location_get(firefox->profile, own)->object
			       : profile_function_get(firefox->profile, id)->object);
}

static void put_functions(struct firefox *firefox)
{
	static const struct column columns[] = {
		{"name", function_name, NULL},
		{"isJS", NULL, "false"},
		{"relevantForJS", NULL, "false"},
		{"resource", function_resource, NULL},
		{"source", NULL, "null"},
		{"lineNumber", NULL, "null"},
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
	put_string(firefox, base_name(object_name(firefox, id)));
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

void firefox_put_shared(struct firefox *firefox)
{
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
	static const char *const sources[] = {
		"id", "filename", "startLine", "startColumn", "sourceMapURL", "content", NULL};
	static const char *const places[] = {"source", "line", "column", NULL};

	json_key_object(&firefox->json, "shared");
	put_stacks(firefox);
	put_frames(firefox);
	put_functions(firefox);
	put_resources(firefox);
	firefox_empty_table(firefox, "nativeSymbols", symbols);
	firefox_empty_table(firefox, "sources", sources);
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
		json_key_string(json, "name", base_name(path));
		json_key_string(json, "path", path);
		json_key_string(json, "debugName", base_name(path));
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
