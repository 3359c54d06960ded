/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "profile/profile.h"

#define CUT_MARK "..."

struct code_range {
	uint32_t first, last;
};

static const struct code_range refused[] = {
	{0x00, 0x1f},		  /* C0 */
	{0x7f, 0x9f},		  /* DEL and C1 */
	{0x61c, 0x61c},		  /* direction of text */
	{0x200b, 0x200f},	  /* no width, direction of text */
	{0x2028, 0x202e},	  /* ends of lines and paragraphs, direction of text */
	{0x2060, 0x206f},	  /* no width, direction of text */
	{0xd800, 0xdfff},	  /* surrogates, RFC 3629 section 3 */
	{0xfeff, 0xfeff},	  /* byte order mark */
	{0xfff9, 0xfffb},	  /* annotations */
	{0xfffe, 0xffff},	  /* no characters; XML refuses them */
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

/* Spares most characters the search in the table: nearly all are printable ASCII. */
static inline bool is_plain(uint32_t code)
{
	return code >= ' ' && code <= '~';
}

/*
 * Returns the length of the character at text, or 0 for bytes that are not UTF-8. A NUL is the last
 * byte that the function reads.
 */
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

struct piece { /* a character of a clean name */
	const char *text;
	size_t length;
	size_t taken; /* bytes of the raw name that the piece replaces */
};

/* Cleans the first character of a name, which is not empty. */
static inline struct piece clean_piece(const char *raw)
{
	uint32_t code;
	size_t length = utf8_decode((const unsigned char *)raw, &code);

	if (length == 0)
		return (struct piece){.text = "?", .length = 1, .taken = 1};
	if (!is_plain(code) && code_is_refused(code))
		return (struct piece){.text = "?", .length = 1, .taken = length};
	return (struct piece){.text = raw, .length = length, .taken = length};
}

/* Writes the mark at text[at], or as much of it as fits in the max bytes of the text. */
static void put_mark(char *text, size_t max, size_t at)
{
	size_t length = strlen(CUT_MARK);

	if (length > max - 1 - at)
		length = max - 1 - at;
	memcpy(text + at, CUT_MARK, length);
	text[at + length] = '\0';
}

void format_clean_name(char *ret_clean, size_t max, const char *raw)
{
	size_t used = 0, cut = 0; /* cut: where the mark still fits */
	struct piece piece;

	if (max == 0)
		return;
	for (; *raw; raw += piece.taken) {
		piece = clean_piece(raw);
		if (used + piece.length >= max) {
			put_mark(ret_clean, max, cut);
			return;
		}
		memcpy(ret_clean + used, piece.text, piece.length);
		used += piece.length;
		if (used + strlen(CUT_MARK) < max)
			cut = used;
	}
	ret_clean[used] = '\0';
}

uint32_t format_intern_clean(struct intern *texts, const char *raw)
{
	char clean[FORMAT_NAME_MAX];

	format_clean_name(clean, sizeof(clean), raw);
	return intern_string(texts, clean);
}

const char *format_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return path;
	return slash + 1;
}

const char *format_known_name(const char *name)
{
	if (!name[0])
		return PROFILE_UNKNOWN;
	return name;
}

const char *format_process_name(const struct profile *profile, uint32_t name)
{
	return format_known_name(profile_string_get(profile, name));
}

void format_thread_name(char ret_clean[FORMAT_THREAD_MAX], const char *raw, uint32_t tid)
{
	size_t length;

	format_clean_name(ret_clean, FORMAT_NAME_MAX, raw);
	length = strlen(ret_clean);
	snprintf(ret_clean + length, FORMAT_THREAD_MAX - length, "/%" PRIu32, tid);
}

void format_title(char ret_raw[FORMAT_TITLE_MAX], const struct profile_times *times)
{
	if (times->type)
		snprintf(ret_raw, FORMAT_TITLE_MAX, "keyhole: %s", times->type);
	else if (times->event)
		snprintf(ret_raw, FORMAT_TITLE_MAX, "keyhole: %s", times->event);
	else
		snprintf(ret_raw, FORMAT_TITLE_MAX, "keyhole");
}
