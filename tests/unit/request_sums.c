/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/request_sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "proto/otlp.pb-c.h"

struct summing {
	const Otlp__ProfilesDictionary *tables;
	bool *used[7]; /* by field number of the table, less one */
	size_t counts[7];
	bool bad;
};

static void mix(uint64_t *sum, uint64_t value)
{
	*sum = (*sum ^ value) * 0x100000001b3ull;
	*sum ^= *sum >> 29;
}

static void mix_bytes(uint64_t *sum, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	mix(sum, size);
	for (size_t i = 0; i < size; i++)
		mix(sum, at[i]);
}

static void mix_text(uint64_t *sum, const char *text)
{
	mix_bytes(sum, text, strlen(text));
}

/* Marks the element as used. Returns whether it is there. */
static bool use(struct summing *all, unsigned int table, int32_t index)
{
	if (index == 0 && all->counts[table - 1] == 0)
		return false;
	if (index < 0 || (size_t)index >= all->counts[table - 1]) {
		all->bad = true;
		return false;
	}
	all->used[table - 1][index] = true;
	return true;
}

static void mix_string(struct summing *all, uint64_t *sum, int32_t index)
{
	mix(sum, 1);
	if (use(all, 5, index))
		mix_text(sum, all->tables->string_table[index]);
}

static void mix_value(struct summing *all, uint64_t *sum, const Otlp__AnyValue *value);

static void mix_pair(struct summing *all, uint64_t *sum, const Otlp__KeyValue *pair)
{
	mix_text(sum, pair->key);
	if (pair->key_strindex)
		mix_string(all, sum, pair->key_strindex);
	mix_value(all, sum, pair->value);
}

static void mix_list(struct summing *all, uint64_t *sum, const Otlp__AnyValue *value)
{
	if (value->value_case == OTLP__ANY_VALUE__VALUE_ARRAY_VALUE)
		for (size_t i = 0; i < value->array_value->n_values; i++)
			mix_value(all, sum, value->array_value->values[i]);
	if (value->value_case == OTLP__ANY_VALUE__VALUE_KVLIST_VALUE)
		for (size_t i = 0; i < value->kvlist_value->n_values; i++)
			mix_pair(all, sum, value->kvlist_value->values[i]);
}

static void mix_value(struct summing *all, uint64_t *sum, const Otlp__AnyValue *value)
{
	if (!value)
		return;
	mix(sum, value->value_case);
	switch (value->value_case) {
	case OTLP__ANY_VALUE__VALUE_STRING_VALUE:
		mix_text(sum, value->string_value);
		break;
	case OTLP__ANY_VALUE__VALUE_INT_VALUE:
		mix(sum, (uint64_t)value->int_value);
		break;
	case OTLP__ANY_VALUE__VALUE_BOOL_VALUE:
		mix(sum, (uint64_t)value->bool_value);
		break;
	case OTLP__ANY_VALUE__VALUE_BYTES_VALUE:
		mix_bytes(sum, value->bytes_value.data, value->bytes_value.len);
		break;
	case OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE:
		mix_bytes(sum, &value->double_value, sizeof(value->double_value));
		break;
	case OTLP__ANY_VALUE__VALUE_STRING_VALUE_STRINDEX:
		mix_string(all, sum, value->string_value_strindex);
		break;
	default:
		mix_list(all, sum, value);
	}
}

static void mix_attributes(struct summing *all, uint64_t *sum, size_t count, const int32_t *indices)
{
	mix(sum, count);
	for (size_t i = 0; i < count; i++)
		if (use(all, 6, indices[i])) {
			const Otlp__KeyValueAndUnit *row = all->tables->attribute_table[indices[i]];

			mix_string(all, sum, row->key_strindex);
			mix_value(all, sum, row->value);
			mix_string(all, sum, row->unit_strindex);
		}
}

static void mix_mapping(struct summing *all, uint64_t *sum, int32_t index)
{
	const Otlp__Mapping *mapping;

	if (!use(all, 1, index))
		return;
	mapping = all->tables->mapping_table[index];
	mix(sum, mapping->memory_start);
	mix(sum, mapping->memory_limit);
	mix(sum, mapping->file_offset);
	mix_string(all, sum, mapping->filename_strindex);
	mix_attributes(all, sum, mapping->n_attribute_indices, mapping->attribute_indices);
}

static void mix_line(struct summing *all, uint64_t *sum, const Otlp__Line *line)
{
	const Otlp__Function *function;

	mix(sum, (uint64_t)line->line);
	mix(sum, (uint64_t)line->column);
	if (!use(all, 3, line->function_index))
		return;
	function = all->tables->function_table[line->function_index];
	mix_string(all, sum, function->name_strindex);
	mix_string(all, sum, function->system_name_strindex);
	mix_string(all, sum, function->filename_strindex);
	mix(sum, (uint64_t)function->start_line);
}

static void mix_location(struct summing *all, uint64_t *sum, int32_t index)
{
	const Otlp__Location *location;

	if (!use(all, 2, index))
		return;
	location = all->tables->location_table[index];
	mix(sum, location->address);
	mix_mapping(all, sum, location->mapping_index);
	for (size_t i = 0; i < location->n_lines; i++)
		mix_line(all, sum, location->lines[i]);
	mix_attributes(all, sum, location->n_attribute_indices, location->attribute_indices);
}

static void mix_stack(struct summing *all, uint64_t *sum, int32_t index)
{
	const Otlp__Stack *stack;

	if (!use(all, 7, index))
		return;
	stack = all->tables->stack_table[index];
	mix(sum, stack->n_location_indices);
	for (size_t i = 0; i < stack->n_location_indices; i++)
		mix_location(all, sum, stack->location_indices[i]);
}

static void mix_type(struct summing *all, uint64_t *sum, const Otlp__ValueType *type)
{
	mix(sum, type != NULL);
	if (!type)
		return;
	mix_string(all, sum, type->type_strindex);
	mix_string(all, sum, type->unit_strindex);
}

static void mix_sample(struct summing *all, uint64_t *sum, const Otlp__Sample *sample)
{
	mix_stack(all, sum, sample->stack_index);
	mix_attributes(all, sum, sample->n_attribute_indices, sample->attribute_indices);
	if (use(all, 4, sample->link_index)) {
		const Otlp__Link *link = all->tables->link_table[sample->link_index];

		mix_bytes(sum, link->trace_id.data, link->trace_id.len);
		mix_bytes(sum, link->span_id.data, link->span_id.len);
	}
	for (size_t i = 0; i < sample->n_values; i++)
		mix(sum, (uint64_t)sample->values[i]);
	for (size_t i = 0; i < sample->n_timestamps_unix_nano; i++)
		mix(sum, sample->timestamps_unix_nano[i]);
}

static void add(struct request_sums *sums, uint64_t sum)
{
	if (ARRAY_RESERVE(sums->sums, sums->capacity, sums->count + 1) < 0)
		abort();
	sums->sums[sums->count++] = sum;
}

static void add_profile(struct summing *all, struct request_sums *sums, uint64_t around,
			const Otlp__Profile *profile)
{
	mix_type(all, &around, profile->sample_type);
	mix_type(all, &around, profile->period_type);
	mix(&around, profile->time_unix_nano);
	mix(&around, profile->duration_nano);
	mix(&around, (uint64_t)profile->period);
	mix_attributes(all, &around, profile->n_attribute_indices, profile->attribute_indices);
	for (size_t i = 0; i < profile->n_samples; i++) {
		uint64_t sum = around;

		mix_sample(all, &sum, profile->samples[i]);
		add(sums, sum);
	}
}

static void add_resource(struct summing *all, struct request_sums *sums,
			 const Otlp__ResourceProfiles *resource)
{
	uint64_t sum = 1;

	mix_text(&sum, resource->schema_url);
	for (size_t i = 0; resource->resource && i < resource->resource->n_attributes; i++)
		mix_pair(all, &sum, resource->resource->attributes[i]);
	for (size_t i = 0; i < resource->n_scope_profiles; i++) {
		const Otlp__ScopeProfiles *scope = resource->scope_profiles[i];
		uint64_t inner = sum;

		if (scope->scope)
			mix_text(&inner, scope->scope->name);
		for (size_t k = 0; scope->scope && k < scope->scope->n_attributes; k++)
			mix_pair(all, &inner, scope->scope->attributes[k]);
		for (size_t k = 0; k < scope->n_profiles; k++)
			add_profile(all, sums, inner, scope->profiles[k]);
	}
}

static void begin(struct summing *all, const Otlp__ProfilesDictionary *tables)
{
	const size_t counts[] = {tables->n_mapping_table,  tables->n_location_table,
				 tables->n_function_table, tables->n_link_table,
				 tables->n_string_table,   tables->n_attribute_table,
				 tables->n_stack_table};

	*all = (struct summing){.tables = tables};
	memcpy(all->counts, counts, sizeof(counts));
	for (unsigned int i = 0; i < 7; i++) {
		all->used[i] = calloc(counts[i] + 1, sizeof(bool));
		if (!all->used[i])
			abort();
	}
}

static void end(struct summing *all, struct request_sums *sums)
{
	for (unsigned int i = 0; i < 7; i++) {
		for (size_t k = 1; k < all->counts[i]; k++)
			sums->unused += !all->used[i][k];
		if (all->counts[i] > 0)
			sums->elements += all->counts[i] - 1;
		free(all->used[i]);
	}
}

int request_sums_add(struct request_sums *sums, const void *bytes, size_t size)
{
	static const Otlp__ProfilesDictionary none = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__ProfilesData *data = otlp__profiles_data__unpack(NULL, size, bytes);
	struct summing all;

	if (!data)
		return -EBADMSG;
	begin(&all, data->dictionary ? data->dictionary : &none);
	for (size_t i = 0; i < data->n_resource_profiles; i++)
		add_resource(&all, sums, data->resource_profiles[i]);
	end(&all, sums);
	otlp__profiles_data__free_unpacked(data, NULL);
	return all.bad ? -EBADMSG : 0;
}

static int compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

void request_sums_sort(struct request_sums *sums)
{
	if (sums->count > 1)
		qsort(sums->sums, sums->count, sizeof(*sums->sums), compare);
}

void request_sums_release(struct request_sums *sums)
{
	free(sums->sums);
	*sums = (struct request_sums){0};
}
