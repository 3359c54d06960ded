/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "exporter/otlp/split_impl.h"

#define DEPTH_MAX 32u /* of messages in messages: values of attributes can nest without end */
#define FIELD_MAX 11u /* the largest field number of references.def */

enum kind {
	KIND_RESOURCE_PROFILES,
	KIND_SCOPE_PROFILES,
	KIND_PROFILE,
	KIND_SAMPLE,
	KIND_VALUE_TYPE,
	KIND_STACK,
	KIND_LOCATION,
	KIND_LINE,
	KIND_FUNCTION,
	KIND_MAPPING,
	KIND_LINK,
	KIND_KEY_VALUE_AND_UNIT,
	KIND_ANY_VALUE,
	KIND_ARRAY_VALUE,
	KIND_KEY_VALUE_LIST,
	KIND_KEY_VALUE,
	KIND_RESOURCE,
	KIND_SCOPE,
	KINDS
};

enum reference_kind {
	REFERENCE_NONE,
	REFERENCE_INDEX,
	REFERENCE_MESSAGE,
	REFERENCE_CHILDREN
};

struct reference {
	uint8_t kind;	/* enum reference_kind */
	uint8_t target; /* enum table or enum kind */
};

#define TARGET_INDEX(name)    TABLE_##name
#define TARGET_MESSAGE(name)  KIND_##name
#define TARGET_CHILDREN(name) KIND_##name
#define R(message, number, kind, target) \
	[KIND_##message][number] = {REFERENCE_##kind, TARGET_##kind(target)},
static const struct reference references[KINDS][FIELD_MAX + 1] = {
#include "exporter/otlp/references.def"
};
#undef R

/* The order in which tables are written: an element refers to elements of later tables alone. */
static const struct {
	uint8_t table, kind;
} table_order[TABLES] = {
	{TABLE_STACK, KIND_STACK},
	{TABLE_LOCATION, KIND_LOCATION},
	{TABLE_MAPPING, KIND_MAPPING},
	{TABLE_FUNCTION, KIND_FUNCTION},
	{TABLE_LINK, KIND_LINK},
	{TABLE_ATTRIBUTE, KIND_KEY_VALUE_AND_UNIT},
	{TABLE_STRING, KIND_LINK /* no references */},
};

/* Returns the number that an element has in the part. Element 0 of every table stays element 0. */
static uint64_t renumber(struct split *split, enum table which, uint64_t index)
{
	struct elements *table = &split->tables[which];

	if (index == 0)
		return 0;
	if (index >= table->nodes.count) {
		split->bad = true;
		return 0;
	}
	if (table->number[index] == 0) {
		table->order[table->used++] = (uint32_t)index;
		table->number[index] = table->used;
	}
	return table->number[index];
}

static void put_indices(struct split *split, enum table table, struct wire *field)
{
	size_t start;

	if (field->type == WIRE_VARINT) {
		buffer_put_tag(split->buffer, field->field, WIRE_VARINT);
		buffer_put_varint(split->buffer, renumber(split, table, field->value));
		return;
	}
	if (field->type != WIRE_BYTES) {
		split->bad = true;
		return;
	}
	start = buffer_open(split->buffer, field->field);
	while (reader_left(&field->bytes) > 0)
		buffer_put_varint(split->buffer,
				  renumber(split, table, reader_uleb(&field->bytes)));
	buffer_close(split->buffer, start);
	if (reader_failed(&field->bytes))
		split->bad = true;
}

static const struct reference *find_reference(enum kind kind, uint32_t number)
{
	static const struct reference none = {REFERENCE_NONE, 0};

	if (number > FIELD_MAX)
		return &none;
	return &references[kind][number];
}

static void put_message(struct split *split, enum kind kind, struct reader reader,
			unsigned int depth);

/* A field, and where its bytes begin and end, with the tag. */
struct span {
	struct wire field;
	const uint8_t *begin, *end;
};

static void put_field(struct split *split, enum kind kind, struct span *span, unsigned int depth)
{
	struct wire *field = &span->field;
	const struct reference *reference = find_reference(kind, field->field);
	size_t start;

	switch (reference->kind) {
	case REFERENCE_INDEX:
		put_indices(split, (enum table)reference->target, field);
		break;
	case REFERENCE_MESSAGE:
		if (field->type != WIRE_BYTES) {
			split->bad = true;
			break;
		}
		start = buffer_open(split->buffer, field->field);
		put_message(split, (enum kind)reference->target, field->bytes, depth + 1);
		buffer_close(split->buffer, start);
		break;
	case REFERENCE_CHILDREN:
		break;
	default:
		buffer_put(split->buffer, span->begin, (size_t)(span->end - span->begin));
	}
}

/* Copies the fields of a message, less its children, with the indices of the part. */
static void put_message(struct split *split, enum kind kind, struct reader reader,
			unsigned int depth)
{
	struct span span;

	if (depth > DEPTH_MAX) {
		split->bad = true;
		return;
	}
	span.begin = reader.position;
	while (!split->bad && !split->buffer->error && wire_next(&reader, &span.field)) {
		span.end = reader.position;
		put_field(split, kind, &span, depth);
		span.begin = span.end;
	}
	if (reader_failed(&reader))
		split->bad = true;
}

static const struct {
	uint8_t kind;
	uint32_t number; /* of the field in the message above */
} level_rows[LEVELS] = {
	[LEVEL_RESOURCE] = {KIND_RESOURCE_PROFILES, 1},
	[LEVEL_SCOPE] = {KIND_SCOPE_PROFILES, SPLIT_CHILD},
	[LEVEL_PROFILE] = {KIND_PROFILE, SPLIT_CHILD},
	[LEVEL_SAMPLE] = {KIND_SAMPLE, SPLIT_CHILD},
};

/* Returns the node of a level in which the sample is. */
static uint32_t ancestor(const struct split *split, uint32_t sample, enum level level)
{
	uint32_t at = sample;

	for (enum level below = LEVEL_SAMPLE; below > level; below--)
		at = split->levels[below].items[at].parent;
	return at;
}

/*
 * Writes the node in which sample `first` is, down to its samples that belong to the part. Returns
 * the first sample that is not in the node.
 */
static uint32_t put_node(struct split *split, enum level level, uint32_t first, uint32_t end)
{
	const uint32_t self = ancestor(split, first, level);
	size_t start = buffer_open(split->buffer, level_rows[level].number);
	uint32_t next = first;

	put_message(split, (enum kind)level_rows[level].kind,
		    node_reader(split, &split->levels[level].items[self]), 0);
	if (level == LEVEL_SAMPLE)
		next++;
	while (level < LEVEL_SAMPLE && !split->bad && !split->buffer->error && next < end &&
	       ancestor(split, next, level) == self)
		next = put_node(split, level + 1, next, end);
	buffer_close(split->buffer, start);
	return next;
}

static void put_element(struct split *split, enum table table, enum kind kind, uint32_t index)
{
	const struct node *node = &split->tables[table].nodes.items[index];
	size_t start = buffer_open(split->buffer, table + 1u);

	if (table == TABLE_STRING)
		buffer_put(split->buffer, split->bytes + node->at, node->size);
	else
		put_message(split, kind, node_reader(split, node), 0);
	buffer_close(split->buffer, start);
}

static void put_table(struct split *split, enum table table, enum kind kind)
{
	const struct elements *elements = &split->tables[table];

	if (elements->nodes.count > 0)
		put_element(split, table, kind, 0);
	for (uint32_t i = 0; i < elements->used && !split->bad && !split->buffer->error; i++)
		put_element(split, table, kind, elements->order[i]);
}

static void put_dictionary(struct split *split)
{
	size_t start = buffer_open(split->buffer, 2);

	for (unsigned int i = 0; i < TABLES; i++)
		put_table(split, (enum table)table_order[i].table, (enum kind)table_order[i].kind);
	buffer_close(split->buffer, start);
}

/* Forgets the numbers of the last part. */
static void begin_part(struct split *split, struct buffer *buffer)
{
	split->buffer = buffer;
	split->bad = false;
	for (unsigned int i = 0; i < TABLES; i++) {
		struct elements *table = &split->tables[i];

		for (uint32_t k = 0; k < table->used; k++)
			table->number[table->order[k]] = 0;
		table->used = 0;
	}
}

int split_write(struct split *split, uint32_t first, uint32_t end, struct buffer *buffer)
{
	begin_part(split, buffer);
	if (end > split_samples(split))
		end = split_samples(split);
	while (first < end && !split->bad && !buffer->error)
		first = put_node(split, LEVEL_RESOURCE, first, end);
	put_dictionary(split);
	if (split->bad)
		return -EBADMSG;
	return buffer->error;
}
