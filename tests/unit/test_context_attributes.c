/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes that a process gives of itself: from a payload, and from variables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/otlp/buffer.h"
#include "tests/unit/build_request.h"
#include "worker/context/attributes.h"
#include "worker/context/payload.h"
#include "worker/context/variables.h"

#define TEXT(text) text, sizeof(text) - 1 /* with its inner NULs */

static struct attributes attributes;

static int setup(void **state)
{
	(void)state;
	attributes = (struct attributes){.used = 0};
	return 0;
}

static void add(const char *key, const char *value)
{
	attributes_add(&attributes, key, strlen(key), value, strlen(value));
}

/* ---- text ---- */

static void test_context_attributes__text(void **state)
{
	(void)state;
	add("a", "1");
	add("b.c", "x=y");
	add("d", "");
	assert_string_equal(attributes.text, "a=1\nb.c=x=y\nd=\n");
	assert_int_equal(attributes.left_out, 0);
}

static void test_context_attributes__the_first_of_equal_keys(void **state)
{
	(void)state;
	add("key", "1");
	add("key", "2");
	add("ke", "3");
	add("key2", "4");
	assert_string_equal(attributes.text, "key=1\nke=3\nkey2=4\n");
}

static void test_context_attributes__hostile_bytes(void **state)
{
	(void)state;
	add("a\nb", "c\nd=e\x1b[31m");
	add("\xff", "\xc3\x28\xe2\x80\xae");
	add("k=v", "x");
	add("", "x");
	attributes_add(&attributes, TEXT("n\0n"), TEXT("a\0b"));
	assert_string_equal(attributes.text, "a?b=c?d=e?[31m\n?=?(?\nn=a\n");
	assert_int_equal(attributes.left_out, 2);
	setup(NULL);
	attributes_add(&attributes, TEXT("\0n"), TEXT("a"));
	assert_string_equal(attributes.text, "");
}

static void test_context_attributes__long_ones(void **state)
{
	char key[ATTRIBUTES_KEY_MAX + 1] = "", value[2 * ATTRIBUTES_VALUE_MAX] = "";

	(void)state;
	memset(key, 'k', ATTRIBUTES_KEY_MAX);
	memset(value, 'v', sizeof(value) - 1);
	add(key, "1");
	assert_string_equal(attributes.text, "");
	assert_int_equal(attributes.left_out, 1);
	key[ATTRIBUTES_KEY_MAX - 1] = '\0';
	add(key, value);
	assert_int_equal(attributes.used,
			 ATTRIBUTES_KEY_MAX - 1 + 1 + ATTRIBUTES_VALUE_MAX - 1 + 1);
	assert_memory_equal(attributes.text + attributes.used - 4, "...\n", 4);
}

static void test_context_attributes__no_room(void **state)
{
	char key[16], value[100] = "";
	unsigned int count = 0;

	(void)state;
	memset(value, 'v', sizeof(value) - 1);
	while (attributes.left_out == 0) {
		snprintf(key, sizeof(key), "k%u", count++);
		add(key, value);
	}
	assert_in_range(attributes.used, ATTRIBUTES_BYTES_MAX - 2 * sizeof(value),
			ATTRIBUTES_BYTES_MAX - 1);
	assert_int_equal(strlen(attributes.text), attributes.used);
	assert_int_equal(attributes.text[attributes.used - 1], '\n');
	add("z", "1"); /* a short one may have room */
	assert_non_null(strstr(attributes.text, "\nz=1\n"));
}

/* ---- a payload ---- */

enum {
	VALUE_STRING = 1,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_DOUBLE,
	VALUE_ARRAY
};

#define EMPTY                 \
	{                     \
		.limit = 4096 \
	}

static void put(struct buffer *buffer, uint32_t field, struct buffer *inner)
{
	assert_int_equal(inner->error, 0);
	build_bytes(buffer, field, inner->bytes, inner->size);
	buffer_release(inner);
}

/* Adds an attribute with a value that is encoded already. */
static void put_pair(struct buffer *resource, const char *key, struct buffer *value)
{
	struct buffer pair = EMPTY;

	build_text(&pair, 1, key);
	put(&pair, 2, value);
	put(resource, 1, &pair);
}

static void put_text(struct buffer *resource, const char *key, const char *text)
{
	struct buffer value = EMPTY;

	build_text(&value, VALUE_STRING, text);
	put_pair(resource, key, &value);
}

static void put_number(struct buffer *resource, const char *key, uint32_t field, uint64_t number)
{
	struct buffer value = EMPTY;

	build_number(&value, field, number);
	put_pair(resource, key, &value);
}

/* A member of a oneof is written also when it is 0. */
static void put_false(struct buffer *resource, const char *key)
{
	static const unsigned char bytes[] = {VALUE_BOOL << 3, 0};
	struct buffer pair = EMPTY;

	build_text(&pair, 1, key);
	build_bytes(&pair, 2, bytes, sizeof(bytes));
	put(resource, 1, &pair);
}

static void put_double(struct buffer *resource, const char *key, double number)
{
	unsigned char bytes[9] = {VALUE_DOUBLE << 3 | 1};
	struct buffer pair = EMPTY;

	memcpy(bytes + 1, &number, sizeof(number));
	build_text(&pair, 1, key);
	build_bytes(&pair, 2, bytes, sizeof(bytes));
	put(resource, 1, &pair);
}

/* Puts the resource into a context and reads that. */
static int read_resource(struct buffer *resource)
{
	struct buffer context = EMPTY;
	int r;

	put(&context, 1, resource);
	r = payload_read(context.bytes, context.size, &attributes);
	buffer_release(&context);
	return r;
}

static void test_context_attributes__payload(void **state)
{
	struct buffer resource = EMPTY;

	(void)state;
	put_text(&resource, "service.name", "checkout");
	put_number(&resource, "shard", VALUE_INT, 7);
	put_number(&resource, "delta", VALUE_INT, (uint64_t)-7);
	put_number(&resource, "canary", VALUE_BOOL, 1);
	put_false(&resource, "old");
	put_double(&resource, "load", 0.5);
	put_text(&resource, "empty", "");
	assert_int_equal(read_resource(&resource), 0);
	assert_string_equal(attributes.text,
			    "service.name=checkout\nshard=7\ndelta=-7\ncanary=true\n"
			    "old=false\nload=0.5\nempty=\n");
}

static void test_context_attributes__other_fields(void **state)
{
	struct buffer resource = EMPTY, context = EMPTY, list = EMPTY, value = EMPTY;

	(void)state;
	build_text(&list, VALUE_ARRAY, "x");
	put_pair(&resource, "list", &list);
	build_number(&resource, 2, 5); /* dropped_attributes_count */
	put_text(&resource, "a", "1");
	put_text(&resource, "a", "2");
	build_number(&value, VALUE_INT, 1);
	build_text(&value, VALUE_STRING, "last");
	put_pair(&resource, "twice", &value);
	build_text(&context, 2, "extra");
	build_number(&context, 1, 9); /* the right field, of another type */
	put(&context, 1, &resource);
	assert_int_equal(payload_read(context.bytes, context.size, &attributes), 0);
	assert_string_equal(attributes.text, "a=1\ntwice=last\n");
	buffer_release(&context);
}

static void test_context_attributes__cut_payloads(void **state)
{
	struct buffer resource = EMPTY, context = EMPTY;

	(void)state;
	put_text(&resource, "service.name", "checkout");
	put_double(&resource, "load", 0.5);
	put(&context, 1, &resource);
	for (size_t size = 1; size < context.size; size++) {
		void *copy = malloc(size); /* of this size, so that a sanitizer sees its end */

		assert_non_null(copy);
		memcpy(copy, context.bytes, size);
		setup(NULL);
		assert_int_equal(payload_read(copy, size, &attributes), -EBADMSG);
		assert_string_equal(attributes.text, "");
		free(copy);
	}
	assert_int_equal(payload_read(context.bytes, 0, &attributes), 0);
	buffer_release(&context);
}

/* Lengths within are those of the inner message: what follows a bad one is not read. */
static void test_context_attributes__malformed_payloads(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} rows[] = {
		{TEXT("\x0a")},			    /* no length */
		{TEXT("\x0a\x05\x0a")},		    /* a length beyond the end */
		{TEXT("\x0a\x02\x0a\x05")},	    /* the same, in the resource */
		{TEXT("\x0a\x04\x0a\x02\x0a\x05")}, /* the same, in an attribute */
		{TEXT("\x0a\x0b\x0a\x09\x0a\x01k\x12\x04\x0a\x09xx")}, /* the same, in a value */
		{TEXT("\x0b\x00")},				       /* a group */
		{TEXT("\x00\x00")},				       /* field 0 */
		{TEXT("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setup(NULL);
		assert_int_equal(payload_read(rows[i].bytes, rows[i].size, &attributes), -EBADMSG);
		assert_string_equal(attributes.text, "");
	}
}

/* ---- variables ---- */

static void check_variables(const char *bytes, size_t size, const char *expected)
{
	setup(NULL);
	variables_read(bytes, size, &attributes);
	assert_string_equal(attributes.text, expected);
}

static void test_context_attributes__variables(void **state)
{
	(void)state;
	check_variables(TEXT("OTEL_SERVICE_NAME=checkout\0"), "service.name=checkout\n");
	check_variables(TEXT("OTEL_SERVICE_NAME=\0"), "");
	check_variables(TEXT("REGION=eu=1\0"), "process.environment_variable.REGION=eu=1\n");
	check_variables(TEXT("REGION=\0"), "process.environment_variable.REGION=\n");
	check_variables(TEXT(""), "");
	check_variables(TEXT("REGION=no end"), "");
	check_variables(TEXT("REGION\0"), "process.environment_variable.REGION=\n");
}

static void test_context_attributes__resource_attributes(void **state)
{
#define LIST "OTEL_RESOURCE_ATTRIBUTES="
	(void)state;
	check_variables(TEXT(LIST "a=1,b=2\0"), "a=1\nb=2\n");
	check_variables(TEXT(LIST " a = 1 ,\tb= 2 2 \0"), "a=1\nb=2 2\n");
	check_variables(TEXT(LIST "a=%41%2c%3d%0A,b=%4,c=%zz,d=%\0"), "a=A,=?\nb=%4\nc=%zz\nd=%\n");
	check_variables(TEXT(LIST ",,=x,a,b=,=\0"), "a=\nb=\n");
	check_variables(TEXT(LIST "a=x=y\0"), "a=x=y\n");
	check_variables(TEXT(LIST "\0"), "");
	check_variables(TEXT(LIST "a=%00b\0"), "a=\n");
}

static void test_context_attributes__the_name_goes_first(void **state)
{
	(void)state;
	check_variables(TEXT(LIST "service.name=list,a=1\0OTEL_SERVICE_NAME=own\0"),
			"service.name=own\na=1\n");
	check_variables(TEXT(LIST "service.name=list\0OTEL_SERVICE_NAME=\0"),
			"service.name=list\n");
	check_variables(TEXT("OTEL_SERVICE_NAME=1\0OTEL_SERVICE_NAME=2\0"), "service.name=1\n");
}

#define TEST(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_context_attributes__text),
		TEST(test_context_attributes__the_first_of_equal_keys),
		TEST(test_context_attributes__hostile_bytes),
		TEST(test_context_attributes__long_ones),
		TEST(test_context_attributes__no_room),
		TEST(test_context_attributes__payload),
		TEST(test_context_attributes__other_fields),
		TEST(test_context_attributes__cut_payloads),
		TEST(test_context_attributes__malformed_payloads),
		TEST(test_context_attributes__variables),
		TEST(test_context_attributes__resource_attributes),
		TEST(test_context_attributes__the_name_goes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
