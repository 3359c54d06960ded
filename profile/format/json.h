/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON, for all formats. Calls follow the text: a key, its value, the next key. No call
 * fails by itself: errors go to the output (output.h), which keeps the first error. Calls that
 * would not make JSON are -EPROTO: a value without its key, an end too many, more than
 * JSON_DEPTH_MAX levels.
 *
 * The text is safe within HTML, unless it is for people (json.readable).
 */
#ifndef KEYHOLE_PROFILE_FORMAT_JSON_H
#define KEYHOLE_PROFILE_FORMAT_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct output;

#define JSON_DEPTH_MAX 8448 /* two for each call of the deepest tree of `keyhole report` */

/* Owns no memory, so that there is nothing to release. */
struct json {
	struct output *output; /* borrowed */
	unsigned int depth;    /* number of open objects and arrays */
	bool comma;	       /* the innermost open object or array has a value already */
	bool key;	       /* a key is written, and its value comes next */
	bool line;	       /* json_line() has asked for a new line */
	/*
	 * The caller may set `readable` after json_init(): the text is for people, has blanks and
	 * indents, and leaves <, > and & as they are.
	 */
	bool readable;
	char open[JSON_DEPTH_MAX + 1]; /* by depth: the closing bracket; open[0] is 0 */
};

void json_init(struct json *json, struct output *output);
/* Ends the text, which has to be one complete value. output_finish() is left to the caller. */
void json_finish(struct json *json);

void json_object(struct json *json); /* until json_end() */
void json_array(struct json *json);  /* until json_end() */
void json_end(struct json *json);
void json_line(struct json *json);		   /* the next key, value or end begins a line */
bool json_in_array(const struct json *json);	   /* an array was opened last, and is open */
void json_key(struct json *json, const char *key); /* a constant of ours: a key has no escapes */

/* names.h: raw and clean text. Both kinds are escaped here; FORMAT_NAME_MAX cuts raw text. */
void json_string(struct json *json, const char *raw);
void json_clean_string(struct json *json, const char *clean);
void json_number(struct json *json, uint64_t number);
void json_signed(struct json *json, int64_t number);
/* Writes number / 10^digits, exactly; digits < 20. */
void json_decimal(struct json *json, uint64_t number, unsigned int digits);
/* Writes a constant of the language (null, true), or a value that is JSON already. */
void json_literal(struct json *json, const char *text);

/* Write a key and its value, or the key and the beginning of its value. */
void json_key_object(struct json *json, const char *key);
void json_key_array(struct json *json, const char *key);
void json_key_string(struct json *json, const char *key, const char *raw);
void json_key_clean_string(struct json *json, const char *key, const char *clean);
void json_key_number(struct json *json, const char *key, uint64_t number);
void json_key_literal(struct json *json, const char *key, const char *text);

#endif
