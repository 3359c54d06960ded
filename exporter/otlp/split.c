/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/otlp/split.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "exporter/otlp/split_impl.h"

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
		if (field.field != SPLIT_CHILD)
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
