/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one writer of JSON. Strings may have any bytes: they become clean names (format.h) and are
 * escaped. The text is safe within HTML, too, unless it is for people (json.readable). Calls that
 * would not make JSON (a value without its key, an end too many, too deep) fail the output with
 * -EPROTO.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_JSON_H
#define KEYHOLE_PROFILE_FORMAT_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct output;

#define JSON_DEPTH_MAX 8448 /* two for each call of the deepest tree of `keyhole report` */

struct json {
	struct output *output; /* borrowed */
	unsigned int depth;
	bool comma;    /* something is before the next value, at this depth */
	bool key;      /* of the next value is written */
	bool line;     /* json_line() */
	bool readable; /* for people; set after json_init(): blanks, indents, and plain <>& */
	char open[JSON_DEPTH_MAX + 1]; /* the closing brackets */
};

void json_init(struct json *json, struct output *output);
void json_finish(struct json *json); /* after the one value; checks that it is complete */

void json_object(struct json *json); /* until json_end() */
void json_array(struct json *json);
void json_end(struct json *json);
void json_line(struct json *json); /* the next key, value or end begins a line */
bool json_in_array(const struct json *json);
void json_key(struct json *json, const char *key); /* no name of others: written as it is */

void json_string(struct json *json, const char *text);
void json_number(struct json *json, uint64_t number);
void json_signed(struct json *json, int64_t number);
/* number / 10^digits, exactly; digits < 20 */
void json_decimal(struct json *json, uint64_t number, unsigned int digits);
/* A word of the language (null, true) or text that is safe by itself, with its quotes. */
void json_literal(struct json *json, const char *text);

/* The usual pairs. */
void json_key_object(struct json *json, const char *key);
void json_key_array(struct json *json, const char *key);
void json_key_string(struct json *json, const char *key, const char *text);
void json_key_number(struct json *json, const char *key, uint64_t number);
void json_key_literal(struct json *json, const char *key, const char *text);

#endif
