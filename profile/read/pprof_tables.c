/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/read/pprof_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/wire.h"

enum value_type_field { /* of ValueType in proto/profile.proto */
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT
};

static int add_span(struct pprof_spans *spans, const struct reader *file, const struct wire *field)
{
	struct pprof_span *span;

	if (spans->count >= PPROF_ENTRIES_MAX)
		return -E2BIG;
	if (ARRAY_RESERVE(spans->items, spans->capacity, spans->count + 1) < 0)
		return -ENOMEM;
	span = &spans->items[spans->count++];
	span->at = (uint32_t)(field->bytes.base - file->base);
	span->size = (uint32_t)reader_left(&field->bytes);
	return 0;
}

static int read_value_type(struct reader message, struct pprof_value_type *ret_type)
{
	struct wire field;

	while (wire_next(&message, &field)) {
		if (field.field == VALUE_TYPE_TYPE)
			ret_type->type = field.value;
		else if (field.field == VALUE_TYPE_UNIT)
			ret_type->unit = field.value;
	}
	if (reader_failed(&message))
		return -EBADMSG;
	return 0;
}

static int read_type(struct pprof_tables *tables, const struct wire *field)
{
	if (tables->type_count == PPROF_TYPES_MAX)
		return -E2BIG;
	return read_value_type(field->bytes, &tables->types[tables->type_count++]);
}

static void read_comments(struct pprof_tables *tables, struct reader *file, struct wire *field)
{
	uint64_t comment;

	while (tables->comment_count < PPROF_COMMENTS_MAX && wire_number(file, field, &comment))
		tables->comments[tables->comment_count++] = comment;
}

static int take_message(struct pprof_tables *tables, const struct reader *file,
			const struct wire *field)
{
	switch (field->field) {
	case PPROF_SAMPLE:
		tables->samples++;
		if (tables->samples > PPROF_SAMPLES_MAX)
			return -E2BIG;
		return 0;
	case PPROF_SAMPLE_TYPE:
		return read_type(tables, field);
	case PPROF_MAPPING:
		return add_span(&tables->mappings, file, field);
	case PPROF_LOCATION:
		return add_span(&tables->locations, file, field);
	case PPROF_FUNCTION:
		return add_span(&tables->functions, file, field);
	case PPROF_STRING:
		return add_span(&tables->strings, file, field);
	case PPROF_PERIOD_TYPE:
		return read_value_type(field->bytes, &tables->period_type);
	default:
		return 0;
	}
}

static void take_number(struct pprof_tables *tables, const struct wire *field)
{
	if (field->field == PPROF_TIME)
		tables->time = field->value;
	else if (field->field == PPROF_DURATION)
		tables->duration = field->value;
	else if (field->field == PPROF_PERIOD)
		tables->period = field->value;
	else if (field->field == PPROF_DEFAULT_TYPE)
		tables->default_type = field->value;
}

int pprof_tables_read(struct pprof_tables *tables, const void *bytes, size_t size,
		      const char **ret_problem)
{
	struct reader file;
	struct wire field;
	int r = 0;

	if (size > UINT32_MAX)
		return -E2BIG;
	reader_init(&file, bytes, size);
	while (r == 0 && wire_next(&file, &field)) {
		if (field.field == PPROF_COMMENT)
			read_comments(tables, &file, &field);
		else if (field.type == WIRE_BYTES)
			r = take_message(tables, &file, &field);
		else if (field.type == WIRE_VARINT)
			take_number(tables, &field);
	}
	*ret_problem = "not a pprof file, or damaged";
	if (r == -E2BIG)
		*ret_problem = "more entries than the limit";
	if (r == 0 && (reader_failed(&file) || tables->type_count == 0))
		r = -EBADMSG;
	return r;
}

void pprof_tables_release(struct pprof_tables *tables)
{
	free(tables->strings.items);
	free(tables->mappings.items);
	free(tables->functions.items);
	free(tables->locations.items);
}

/* ---- ids ---- */

int pprof_ids_init(struct pprof_ids *ids, size_t count)
{
	ids->limit = (uint64_t)count * 2 + 16;
	ids->dense = calloc(ids->limit, sizeof(*ids->dense));
	ids->sparse = map_new();
	if (!ids->dense || !ids->sparse)
		return -ENOMEM;
	return 0;
}

void pprof_ids_release(struct pprof_ids *ids)
{
	free(ids->dense);
	map_free(ids->sparse);
}

uint32_t pprof_ids_sparse(const struct pprof_ids *ids, uint64_t id)
{
	return (uint32_t)(uintptr_t)map_get(ids->sparse, id);
}

int pprof_ids_put(struct pprof_ids *ids, uint64_t id, uint32_t index)
{
	if (id == 0 || pprof_ids_get(ids, id) != 0)
		return -EBADMSG;
	if (id >= ids->limit)
		return map_put(ids->sparse, id, (void *)((uintptr_t)index + 1));
	ids->dense[id] = index + 1;
	if (id == (uint64_t)index + 1 && ids->counted == index)
		ids->counted = id;
	return 0;
}
