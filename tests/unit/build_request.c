/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_request.h"

#include <stdio.h>
#include <string.h>

#define DEPTH	   6u /* frames of a stack */
#define FUNCTIONS  40u
#define STACKS	   25u
#define MAPPINGS   5u
#define ATTRIBUTES 12u
#define START	   1700000000000000000ull

struct building {
	const struct build_request *how;
	struct buffer *out;
	uint64_t random;
};

static uint32_t choose(struct building *building, uint32_t count)
{
	building->random = building->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(building->random >> 33) % count;
}

void build_number(struct buffer *buffer, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	buffer_put_tag(buffer, field, WIRE_VARINT);
	buffer_put_varint(buffer, value);
}

void build_bytes(struct buffer *buffer, uint32_t field, const void *bytes, size_t size)
{
	size_t start = buffer_open(buffer, field);

	buffer_put(buffer, bytes, size);
	buffer_close(buffer, start);
}

void build_text(struct buffer *buffer, uint32_t field, const char *text)
{
	build_bytes(buffer, field, text, strlen(text));
}

static void put_fixed(struct buffer *out, uint32_t field, uint64_t value)
{
	buffer_put_tag(out, field, WIRE_FIXED64);
	buffer_put(out, &value, sizeof(value));
}

/* ---- strings: 1 to 4, then a name for each function, mapping and attribute ---- */

enum string {
	STRING_SAMPLES = 1,
	STRING_COUNT,
	STRING_CPU,
	STRING_NANOSECONDS,
	STRING_FUNCTIONS
};
#define STRING_MAPPINGS	  (STRING_FUNCTIONS + FUNCTIONS)
#define STRING_ATTRIBUTES (STRING_MAPPINGS + MAPPINGS)
#define STRINGS		  (STRING_ATTRIBUTES + ATTRIBUTES)

static void put_names(struct building *building)
{
	char name[4096];
	uint32_t pad = building->how->name_bytes;

	build_text(building->out, 5, "");
	build_text(building->out, 5, "samples");
	build_text(building->out, 5, "count");
	build_text(building->out, 5, "cpu");
	build_text(building->out, 5, "nanoseconds");
	for (uint32_t i = STRING_FUNCTIONS; i < STRINGS + building->how->unused; i++) {
		snprintf(name, sizeof(name), "name %u %0*u", i, (int)pad, 7);
		build_text(building->out, 5, name);
	}
}

static void put_stacks(struct building *building)
{
	struct buffer *out = building->out;

	build_bytes(out, 7, "", 0);
	for (uint32_t i = 0; i < STACKS + building->how->unused; i++) {
		size_t stack = buffer_open(out, 7), packed = buffer_open(out, 1);

		for (uint32_t frame = 0; frame < DEPTH; frame++)
			buffer_put_varint(out, 1 + choose(building, FUNCTIONS));
		buffer_put_varint(out, 1 + i % FUNCTIONS);
		buffer_close(out, packed);
		buffer_close(out, stack);
	}
}

static void put_locations(struct building *building)
{
	struct buffer *out = building->out;

	build_bytes(out, 2, "", 0);
	for (uint32_t i = 0; i < FUNCTIONS + building->how->unused; i++) {
		size_t location = buffer_open(out, 2), line;

		build_number(out, 1, i % (MAPPINGS + 1));
		build_number(out, 2, 0x1000 + i);
		line = buffer_open(out, 3);
		build_number(out, 1, 1 + i % FUNCTIONS);
		build_number(out, 2, i);
		buffer_close(out, line);
		build_number(out, 4, 1 + i % ATTRIBUTES);
		buffer_close(out, location);
	}
}

static void put_functions(struct building *building)
{
	struct buffer *out = building->out;

	build_bytes(out, 3, "", 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		size_t function = buffer_open(out, 3);

		build_number(out, 1, STRING_FUNCTIONS + i);
		build_number(out, 3, STRING_MAPPINGS + i % MAPPINGS);
		buffer_close(out, function);
	}
}

static void put_mappings(struct building *building)
{
	struct buffer *out = building->out;

	build_bytes(out, 1, "", 0);
	for (uint32_t i = 0; i < MAPPINGS; i++) {
		size_t mapping = buffer_open(out, 1), packed;

		build_number(out, 1, 0x400000 * i);
		build_number(out, 2, 0x400000 * i + 4096);
		build_number(out, 4, STRING_MAPPINGS + i);
		packed = buffer_open(out, 5);
		buffer_put_varint(out, 1 + i);
		buffer_close(out, packed);
		buffer_close(out, mapping);
	}
}

/* Values of each kind, a list among them. */
static void put_attributes(struct building *building)
{
	struct buffer *out = building->out;

	build_bytes(out, 6, "", 0);
	for (uint32_t i = 0; i < ATTRIBUTES; i++) {
		size_t attribute = buffer_open(out, 6), value, list, inner;

		build_number(out, 1, STRING_ATTRIBUTES + i);
		value = buffer_open(out, 2);
		if (i % 3 == 0) {
			build_text(out, 1, "text");
		} else if (i % 3 == 1) {
			build_number(out, 8, STRING_FUNCTIONS + i);
		} else {
			list = buffer_open(out, 5);
			inner = buffer_open(out, 1);
			build_number(out, 8, STRING_ATTRIBUTES + i);
			buffer_close(out, inner);
			buffer_close(out, list);
		}
		buffer_close(out, value);
		buffer_close(out, attribute);
	}
}

static void put_links(struct building *building)
{
	size_t link;

	build_bytes(building->out, 4, "", 0);
	link = buffer_open(building->out, 4);
	build_bytes(building->out, 1, "0123456789abcdef", 16);
	build_bytes(building->out, 2, "01234567", 8);
	buffer_close(building->out, link);
}

static void put_sample(struct building *building, uint32_t sample)
{
	struct buffer *out = building->out;
	size_t start = buffer_open(out, 2), packed;

	build_number(out, 1, 1 + choose(building, STACKS));
	packed = buffer_open(out, 2);
	buffer_put_varint(out, 1 + choose(building, ATTRIBUTES));
	buffer_close(out, packed);
	build_number(out, 3, sample % 2);
	if (building->how->timestamps == 0)
		build_number(out, 4, 3);
	if (building->how->timestamps > 0) {
		packed = buffer_open(out, 5);
		for (uint32_t i = 0; i < building->how->timestamps; i++) {
			uint64_t time = START + sample * 1000 + i;

			buffer_put(out, &time, sizeof(time));
		}
		buffer_close(out, packed);
	}
	buffer_close(out, start);
}

static void put_type(struct buffer *out, uint32_t field, uint32_t type)
{
	size_t start = buffer_open(out, field);

	build_number(out, 1, type);
	build_number(out, 2, type + 1);
	buffer_close(out, start);
}

static void put_resource(struct building *building, uint32_t number)
{
	struct buffer *out = building->out;
	size_t top = buffer_open(out, 1), start, inner, value;

	start = buffer_open(out, 1);
	inner = buffer_open(out, 1);
	build_text(out, 1, "process.pid");
	value = buffer_open(out, 2);
	build_number(out, 3, number + 1);
	buffer_close(out, value);
	buffer_close(out, inner);
	buffer_close(out, start);
	start = buffer_open(out, 2);
	inner = buffer_open(out, 1);
	build_text(out, 1, "keyhole");
	buffer_close(out, inner);
	inner = buffer_open(out, 2);
	put_type(out, 1, STRING_SAMPLES);
	for (uint32_t i = 0; i < building->how->samples; i++)
		put_sample(building, i);
	put_fixed(out, 3, START);
	build_number(out, 4, 15000000000);
	put_type(out, 5, STRING_CPU);
	build_number(out, 6, 50000000);
	buffer_close(out, inner);
	buffer_close(out, start);
	build_text(out, 3, "https://example.org/schema");
	buffer_close(out, top);
}

struct buffer build_request(const struct build_request *how)
{
	struct buffer out = {0};
	struct building building = {how, &out, how->seed};
	size_t start;

	buffer_reset(&out, 1u << 30);
	for (uint32_t i = 0; i < how->resources; i++)
		put_resource(&building, i);
	start = buffer_open(&out, 2);
	put_mappings(&building);
	put_locations(&building);
	put_functions(&building);
	put_links(&building);
	put_names(&building);
	put_attributes(&building);
	put_stacks(&building);
	buffer_close(&out, start);
	return out;
}
