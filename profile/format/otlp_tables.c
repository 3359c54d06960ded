/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/file_id.h"
#include "base/intern.h"
#include "profile/format/frame_type.h"
#include "profile/format/lines.h"
#include "profile/format/names.h"
#include "profile/format/otlp.h"
#include "profile/profile.h"

const uint8_t *otlp_pack(struct otlp *otlp, const ProtobufCMessage *message, size_t *ret_size)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	/* one byte more: an empty message is not NULL */
	if (ARRAY_RESERVE(otlp->packed, otlp->capacity, size + 1) < 0) {
		output_fail(&otlp->output, -ENOMEM);
		return NULL;
	}
	*ret_size = protobuf_c_message_pack(message, otlp->packed);
	return otlp->packed;
}

/* Returns the index that an element's id is. Indexes end at INT32_MAX: higher ids are -ENOMEM. */
static int32_t index_of(struct otlp *otlp, uint32_t id)
{
	if (id <= INT32_MAX)
		return (int32_t)id;
	output_fail(&otlp->output, -ENOMEM);
	return 0;
}

static int32_t add_message(struct otlp *otlp, enum otlp_table table,
			   const ProtobufCMessage *message)
{
	size_t size;
	const uint8_t *packed = otlp_pack(otlp, message, &size);

	if (!packed)
		return 0;
	return index_of(otlp, intern_add(otlp->tables[table], packed, size));
}

int32_t otlp_string(struct otlp *otlp, const char *raw)
{
	return index_of(otlp, format_intern_clean(otlp->tables[OTLP_STRINGS], raw));
}

static int32_t add_attribute(struct otlp *otlp, const char *key, Otlp__AnyValue *value)
{
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;

	attribute.key_strindex = otlp_string(otlp, key);
	attribute.value = value;
	return add_message(otlp, OTLP_ATTRIBUTES, &attribute.base);
}

int32_t otlp_attribute_string(struct otlp *otlp, const char *key, const char *raw)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	char clean[FORMAT_NAME_MAX];

	format_clean_name(clean, sizeof(clean), raw);
	value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value.string_value = clean;
	return add_attribute(otlp, key, &value);
}

int32_t otlp_attribute_number(struct otlp *otlp, const char *key, uint64_t number)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;

	value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value.int_value = (int64_t)number;
	return add_attribute(otlp, key, &value);
}

/* ---- mappings ---- */

#define MAPPING_ATTRIBUTES 3u

static const char *text(const struct otlp *otlp, uint32_t string)
{
	return profile_string_get(otlp->profile, string);
}

/*
 * Gets the id of an object without bytes that somebody has read. The kernel's modules are such
 * objects, and so are code made at run time and the functions of an interpreter. Some receivers
 * refuse a mapping without an id.
 */
static void made_id(const struct otlp *otlp, const struct profile_object *object,
		    char ret_id[FILE_ID_BYTES])
{
	const char *texts[] = {"", text(otlp, object->name), text(otlp, object->build_id)};

	if (object->kind == KIND_KERNEL && otlp->times->kernel)
		texts[0] = otlp->times->kernel;
	file_id_of_texts(texts, sizeof(texts) / sizeof(texts[0]), ret_id);
}

/* Returns how many attributes the mapping has. */
static size_t add_ids(struct otlp *otlp, const struct profile_object *object,
		      int32_t ret_attributes[MAPPING_ATTRIBUTES])
{
	const struct {
		const char *key;
		uint32_t string;
	} ids[] = {
		{"process.executable.build_id.gnu", object->build_id},
		{"process.executable.build_id.go", object->go_build_id},
	};
	char id[FILE_ID_BYTES];
	const char *file_id = text(otlp, object->file_id);
	size_t count = 0;

	if (!object->file_id) {
		made_id(otlp, object, id);
		file_id = id;
	}
	ret_attributes[count++] =
		otlp_attribute_string(otlp, "process.executable.build_id.htlhash", file_id);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (ids[i].string)
			ret_attributes[count++] =
				otlp_attribute_string(otlp, ids[i].key, text(otlp, ids[i].string));
	return count;
}

static int32_t add_mapping(struct otlp *otlp, uint32_t id)
{
	const struct profile_object *object = profile_object_get(otlp->profile, id);
	Otlp__Mapping mapping = OTLP__MAPPING__INIT;
	int32_t attributes[MAPPING_ATTRIBUTES];

	if (!profile_object_is_file(object))
		return 0;
	if (otlp->mappings[id])
		return otlp->mappings[id];
	if (object->start < object->limit) {
		mapping.memory_start = object->start;
		mapping.memory_limit = object->limit;
	}
	mapping.file_offset = object->file_offset;
	mapping.filename_strindex = otlp_string(otlp, text(otlp, object->name));
	mapping.n_attribute_indices = add_ids(otlp, object, attributes);
	mapping.attribute_indices = attributes;
	otlp->mappings[id] = add_message(otlp, OTLP_MAPPINGS, &mapping.base);
	return otlp->mappings[id];
}

/* ---- functions, locations, stacks ---- */

static int32_t add_function(struct otlp *otlp, const struct format_line *line)
{
	const struct profile_function *from =
		profile_function_get(otlp->profile, format_line_function(otlp->profile, line));
	Otlp__Function function = OTLP__FUNCTION__INIT;
	char room[OFFSET_NAME_BYTES];

	function.name_strindex = otlp_string(otlp, format_line_name(otlp->profile, line, room));
	function.system_name_strindex = function.name_strindex;
	if (from) {
		function.system_name_strindex =
			otlp_string(otlp, profile_string_get(otlp->profile, from->system_name));
		function.filename_strindex =
			otlp_string(otlp, profile_string_get(otlp->profile, from->file));
		function.start_line = format_first_line(from);
	}
	return add_message(otlp, OTLP_FUNCTIONS, &function.base);
}

struct lines {
	Otlp__Line line[PROFILE_LINES_MAX];
	Otlp__Line *pointer[PROFILE_LINES_MAX]; /* to line[], as messages want them */
	size_t count;
};

static void add_lines(struct otlp *otlp, uint32_t id, struct lines *ret_lines)
{
	struct format_line lines[PROFILE_LINES_MAX];

	ret_lines->count = format_location_lines(otlp->profile, id, lines);
	for (size_t i = 0; i < ret_lines->count; i++) {
		Otlp__Line *line = &ret_lines->line[i];

		otlp__line__init(line);
		line->function_index = add_function(otlp, &lines[i]);
		line->line = lines[i].line;
		ret_lines->pointer[i] = line;
	}
}

static int32_t add_location(struct otlp *otlp, uint32_t id)
{
	const struct profile_location *at = profile_location_get(otlp->profile, id);
	Otlp__Location location = OTLP__LOCATION__INIT;
	struct lines lines;
	int32_t type;

	if (otlp->locations[id])
		return otlp->locations[id];
	type = otlp_attribute_string(otlp, "profile.frame.type",
				     frame_type(otlp->profile, id, otlp->compat));
	location.mapping_index = add_mapping(otlp, at->object);
	add_lines(otlp, id, &lines);
	location.address = at->address;
	location.n_lines = lines.count;
	location.lines = lines.pointer;
	location.n_attribute_indices = 1;
	location.attribute_indices = &type;
	otlp->locations[id] = add_message(otlp, OTLP_LOCATIONS, &location.base);
	return otlp->locations[id];
}

int32_t otlp_stack(struct otlp *otlp, uint32_t id)
{
	Otlp__Stack stack = OTLP__STACK__INIT;
	int32_t locations[PROFILE_STACK_MAX];
	const uint32_t *from;

	if (id > profile_stacks(otlp->profile))
		return 0;
	if (otlp->stacks[id])
		return otlp->stacks[id];
	stack.n_location_indices = profile_stack_get(otlp->profile, id, &from);
	stack.location_indices = locations;
	for (size_t i = 0; i < stack.n_location_indices; i++)
		locations[i] = add_location(otlp, from[i]);
	otlp->stacks[id] = add_message(otlp, OTLP_STACKS, &stack.base);
	return otlp->stacks[id];
}

int32_t otlp_link(struct otlp *otlp, uint32_t id)
{
	struct profile_link from = profile_link_get(otlp->profile, id);
	Otlp__Link link = OTLP__LINK__INIT;

	if (id == 0)
		return 0;
	link.trace_id = (ProtobufCBinaryData){sizeof(from.trace), from.trace};
	link.span_id = (ProtobufCBinaryData){sizeof(from.span), from.span};
	return add_message(otlp, OTLP_LINKS, &link.base);
}

int otlp_tables_init(struct otlp *otlp)
{
	bool failed;

	otlp->mappings = calloc(profile_objects(otlp->profile) + 1u, sizeof(int32_t));
	otlp->locations = calloc(profile_locations(otlp->profile) + 1u, sizeof(int32_t));
	otlp->stacks = calloc(profile_stacks(otlp->profile) + 1u, sizeof(int32_t));
	failed = !otlp->mappings || !otlp->locations || !otlp->stacks;
	for (size_t i = 0; i < OTLP_TABLES; i++) {
		otlp->tables[i] = intern_new();
		failed |= !otlp->tables[i];
	}
	if (failed)
		return -ENOMEM;
	return 0;
}

void otlp_tables_release(struct otlp *otlp)
{
	for (size_t i = 0; i < OTLP_TABLES; i++)
		intern_free(otlp->tables[i]);
	free(otlp->mappings);
	free(otlp->locations);
	free(otlp->stacks);
	free(otlp->packed);
}

static void put_table(struct otlp *otlp, enum otlp_table table)
{
	const ProtobufCFieldDescriptor *field =
		&otlp__profiles_dictionary__descriptor.fields[table];

	otlp->encoding->array(otlp, field);
	for (uint32_t id = 0; id < intern_count(otlp->tables[table]); id++) {
		size_t size;
		const void *bytes = intern_get(otlp->tables[table], id, &size);

		otlp->encoding->element(otlp, field, bytes, size);
	}
	otlp->encoding->close(otlp);
}

void otlp_tables_put(struct otlp *otlp)
{
	for (size_t i = 0; i < OTLP_TABLES; i++)
		put_table(otlp, i);
}
