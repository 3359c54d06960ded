/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/format.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "profile/offset_name.h"
#include "profile/profile.h"

#define CUT_MARK "..."

struct code_range {
	uint32_t first, last;
};

static const struct code_range refused[] = {
	{0x00, 0x1f},	  /* C0 */
	{0x7f, 0x9f},	  /* DEL and C1 */
	{0x61c, 0x61c},	  /* direction of text, from here on */
	{0x200b, 0x200f}, /* of no width, too */
	{0x2028, 0x202e}, /* line and paragraph ends, too */
	{0x2060, 0x206f},
	{0xd800, 0xdfff},	  /* surrogates, RFC 3629 section 3 */
	{0xfeff, 0xfeff},	  /* byte order mark */
	{0xfff9, 0xfffb},	  /* annotations */
	{0xfffe, 0xffff},	  /* no characters, and none of XML's */
	{0xe0000, 0xe007f},	  /* invisible tags */
	{0x110000, ~(uint32_t)0}, /* not Unicode */
};

static bool code_is_refused(uint32_t code)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (code >= refused[i].first && code <= refused[i].last)
			return true;
	}
	return false;
}

/* Printable ASCII, which almost all of it is. */
static inline bool is_plain(uint32_t code)
{
	return code >= ' ' && code <= '~';
}

/* Length of the character at text, or 0 when it is not UTF-8; reads no further than a NUL. */
static inline size_t utf8_decode(const unsigned char *text, uint32_t *ret_code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code = text[0];
	size_t length;

	if (code < 0x80)
		length = 1;
	else if ((code & 0xe0) == 0xc0)
		length = 2;
	else if ((code & 0xf0) == 0xe0)
		length = 3;
	else if ((code & 0xf8) == 0xf0)
		length = 4;
	else
		return 0;
	if (length > 1)
		code &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	*ret_code = code;
	if (code < least[length])
		return 0;
	return length;
}

struct piece { /* of a clean name: a character */
	const char *text;
	size_t length;
	size_t taken; /* bytes of the name that the piece stands for */
};

/* Returns what stands for the first character of a name, which is not empty. */
static inline struct piece clean_piece(const char *name)
{
	uint32_t code;
	size_t length = utf8_decode((const unsigned char *)name, &code);

	if (length == 0)
		return (struct piece){.text = "?", .length = 1, .taken = 1};
	if (!is_plain(code) && code_is_refused(code))
		return (struct piece){.text = "?", .length = 1, .taken = length};
	return (struct piece){.text = name, .length = length, .taken = length};
}

/* Ends a text of max bytes with the mark, or with as much of the mark as fits there. */
static void put_mark(char *text, size_t max, size_t at)
{
	size_t length = strlen(CUT_MARK);

	if (length > max - 1 - at)
		length = max - 1 - at;
	memcpy(text + at, CUT_MARK, length);
	text[at + length] = '\0';
}

void format_clean_name(char *ret_text, size_t max, const char *name)
{
	size_t used = 0, cut = 0; /* cut: where the mark still fits */
	struct piece piece;

	if (max == 0)
		return;
	for (; *name; name += piece.taken) {
		piece = clean_piece(name);
		if (used + piece.length >= max) {
			put_mark(ret_text, max, cut);
			return;
		}
		memcpy(ret_text + used, piece.text, piece.length);
		used += piece.length;
		if (used + strlen(CUT_MARK) < max)
			cut = used;
	}
	ret_text[used] = '\0';
}

const char *format_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return path;
	return slash + 1;
}

static uint32_t named_function(const struct profile *profile, uint32_t id)
{
	const struct profile_function *function = profile_function_get(profile, id);

	if (!function || !profile_string_get(profile, function->name)[0])
		return 0;
	return id;
}

uint32_t format_location_function(const struct profile *profile, uint32_t location)
{
	return named_function(profile, profile_location_get(profile, location)->function);
}

uint32_t format_line_function(const struct profile *profile, const struct profile_line *line,
			      bool inlined)
{
	if (!inlined)
		return named_function(profile, line->function);
	if (!profile_function_get(profile, line->function))
		return 0;
	return line->function;
}

void format_function_name(char *ret_text, size_t max, const struct profile *profile, uint32_t id)
{
	const struct profile_function *function = profile_function_get(profile, id);

	format_clean_name(ret_text, max,
			  function ? profile_string_get(profile, function->name) : "");
}

void format_frame_name(char *ret_text, size_t max, const struct profile *profile, uint32_t location)
{
	const struct profile_location *at = profile_location_get(profile, location);
	const struct profile_object *object;
	char object_name[256];

	format_function_name(ret_text, max, profile, at ? at->function : 0);
	if (ret_text[0])
		return;
	object = profile_object_get(profile, at ? at->object : 0);
	format_clean_name(object_name, sizeof(object_name),
			  object ? format_base_name(profile_string_get(profile, object->name))
				 : "");
	offset_name(ret_text, max, object_name[0] ? object_name : "[unknown]",
		    at ? at->address : 0);
}

void format_line_name(char *ret_text, size_t max, const struct profile *profile, uint32_t location,
		      const struct profile_line *line, bool inlined)
{
	if (!inlined) {
		format_frame_name(ret_text, max, profile, location);
		return;
	}
	format_function_name(ret_text, max, profile, line->function);
	if (!ret_text[0])
		snprintf(ret_text, max, "[unknown]");
}
