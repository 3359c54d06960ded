/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/otlp/split.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define DEPTH_MAX    32u /* of messages in messages: values of attributes can nest without end */
#define FIELD_MAX    11u /* the largest field number of references.def */
#define CHILD_NUMBER 2u	 /* of scope_profiles, profiles and samples alike */

/* The tables of the dictionary by their field numbers, less one. */
enum table {
	TABLE_MAPPING,
	TABLE_LOCATION,
	TABLE_FUNCTION,
	TABLE_LINK,
	TABLE_STRING,
	TABLE_ATTRIBUTE,
	TABLE_STACK,
	TABLES
};

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

/* A message of the request. */
struct node {
	uint32_t at, size; /* of its content */
	uint32_t parent;   /* the node of the level above */
};

enum level {
	LEVEL_RESOURCE,
	LEVEL_SCOPE,
	LEVEL_PROFILE,
	LEVEL_SAMPLE,
	LEVELS
};

struct nodes {
	struct node *items;
	size_t count, capacity;
};

struct elements {
	struct nodes nodes; /* without parents */
	uint32_t *number;   /* in the part: 0 for elements that it does not have yet */
	uint32_t *order;    /* elements of the part, by number less one */
	uint32_t used;	    /* numbers given so far */
};

struct split {
	const uint8_t *bytes;
	size_t size, items;
	struct nodes levels[LEVELS];
	uint32_t *events; /* of each sample, UINT32_MAX at most */
	struct elements tables[TABLES];
	struct buffer *buffer; /* of the part that is being written */
	bool bad;	       /* the part refers to what is not there */
};

/* ---- looking through ---- */

static int add_node(struct split *split, struct nodes *nodes, const struct reader *content,
		    uint32_t parent)
{
	if (++split->items > SPLIT_ITEMS_MAX)
		return -E2BIG;
	if (ARRAY_RESERVE(nodes->items, nodes->capacity, nodes->count + 1) < 0)
		return -ENOMEM;
	nodes->items[nodes->count++] = (struct node){
		.at = (uint32_t)(content->base - split->bytes),
		.size = (uint32_t)(content->end - content->base),
		.parent = parent,
	};
	return 0;
}

static struct reader node_reader(const struct split *split, const struct node *node)
{
	struct reader reader;

	reader_init(&reader, split->bytes + node->at, node->size);
	return reader;
}

static int add_element(struct split *split, const struct wire *field)
{
	if (field->field > TABLES)
		return 0;
	if (field->type != WIRE_BYTES)
		return -EBADMSG;
	return add_node(split, &split->tables[field->field - 1].nodes, &field->bytes, 0);
}

static int read_dictionary(struct split *split, struct reader *reader)
{
	struct wire field;
	int r;

	while (wire_next(reader, &field)) {
		r = add_element(split, &field);
		if (r < 0)
			return r;
	}
	return reader_failed(reader) ? -EBADMSG : 0;
}

/* Adds the children of a node, and theirs, so that samples are in the order of the request. */
static int read_children(struct split *split, enum level level, struct reader *reader,
			 uint32_t parent)
{
	struct wire field;
	int r;

	while (wire_next(reader, &field)) {
		if (field.field != CHILD_NUMBER)
			continue;
		if (field.type != WIRE_BYTES)
			return -EBADMSG;
		r = add_node(split, &split->levels[level], &field.bytes, parent);
		if (r == 0 && level < LEVEL_SAMPLE)
			r = read_children(split, level + 1, &field.bytes,
					  (uint32_t)split->levels[level].count - 1);
		if (r < 0)
			return r;
	}
	return reader_failed(reader) ? -EBADMSG : 0;
}

static int read_request(struct split *split)
{
	struct reader reader;
	struct wire field;
	int r = 0;

	reader_init(&reader, split->bytes, split->size);
	while (r == 0 && wire_next(&reader, &field)) {
		if (field.field > 2)
			continue;
		if (field.type != WIRE_BYTES)
			return -EBADMSG;
		if (field.field == 2) {
			r = read_dictionary(split, &field.bytes);
			continue;
		}
		r = add_node(split, &split->levels[LEVEL_RESOURCE], &field.bytes, 0);
		if (r == 0)
			r = read_children(split, LEVEL_SCOPE, &field.bytes,
					  (uint32_t)split->levels[LEVEL_RESOURCE].count - 1);
	}
	if (r == 0 && reader_failed(&reader))
		return -EBADMSG;
	return r;
}

/* ---- events ---- */

#define SAMPLE_VALUES	  4u
#define SAMPLE_TIMESTAMPS 5u

struct tally {
	uint64_t values, timestamps;
};

static void tally_values(struct tally *tally, struct wire *field)
{
	if (field->type == WIRE_VARINT)
		tally->values += field->value;
	while (field->type == WIRE_BYTES && reader_left(&field->bytes) > 0)
		tally->values += reader_uleb(&field->bytes);
}

static void tally_timestamps(struct tally *tally, const struct wire *field)
{
	if (field->type == WIRE_FIXED64)
		tally->timestamps++;
	else if (field->type == WIRE_BYTES)
		tally->timestamps += reader_left(&field->bytes) / sizeof(uint64_t);
}

static uint32_t count_events(struct reader sample)
{
	struct tally tally = {0};
	struct wire field;
	uint64_t events;

	while (wire_next(&sample, &field))
		if (field.field == SAMPLE_VALUES)
			tally_values(&tally, &field);
		else if (field.field == SAMPLE_TIMESTAMPS)
			tally_timestamps(&tally, &field);
	events = tally.timestamps;
	if (events == 0)
		events = tally.values;
	if (events > UINT32_MAX)
		events = UINT32_MAX;
	return (uint32_t)events;
}

static int count_all_events(struct split *split)
{
	const struct nodes *samples = &split->levels[LEVEL_SAMPLE];

	split->events = calloc(samples->count + 1, sizeof(*split->events));
	if (!split->events)
		return -ENOMEM;
	for (size_t i = 0; i < samples->count; i++)
		split->events[i] = count_events(node_reader(split, &samples->items[i]));
	return 0;
}

uint64_t split_events(const struct split *split, uint32_t first, uint32_t end)
{
	uint64_t events = 0;

	for (uint32_t i = first; i < end && i < split_samples(split); i++)
		events += split->events[i];
	return events;
}

uint32_t split_samples(const struct split *split)
{
	return (uint32_t)split->levels[LEVEL_SAMPLE].count;
}

/* ---- life ---- */

static int make_numbers(struct split *split)
{
	for (unsigned int i = 0; i < TABLES; i++) {
		struct elements *table = &split->tables[i];

		table->number = calloc(table->nodes.count + 1, sizeof(*table->number));
		table->order = calloc(table->nodes.count + 1, sizeof(*table->order));
		if (!table->number || !table->order)
			return -ENOMEM;
	}
	return 0;
}

int split_new(const void *bytes, size_t size, struct split **ret_split)
{
	struct split *split;
	int r;

	if (size > UINT32_MAX)
		return -EFBIG;
	split = calloc(1, sizeof(*split));
	if (!split)
		return -ENOMEM;
	split->bytes = bytes;
	split->size = size;
	r = read_request(split);
	if (r == 0)
		r = count_all_events(split);
	if (r == 0)
		r = make_numbers(split);
	if (r < 0) {
		split_free(split);
		return r;
	}
	*ret_split = split;
	return 0;
}

void split_free(struct split *split)
{
	if (!split)
		return;
	for (unsigned int i = 0; i < LEVELS; i++)
		free(split->levels[i].items);
	for (unsigned int i = 0; i < TABLES; i++) {
		free(split->tables[i].nodes.items);
		free(split->tables[i].number);
		free(split->tables[i].order);
	}
	free(split->events);
	free(split);
}

/* ---- writing ---- */

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
	[LEVEL_SCOPE] = {KIND_SCOPE_PROFILES, CHILD_NUMBER},
	[LEVEL_PROFILE] = {KIND_PROFILE, CHILD_NUMBER},
	[LEVEL_SAMPLE] = {KIND_SAMPLE, CHILD_NUMBER},
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
