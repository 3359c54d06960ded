/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/made/perf_map.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/hex.h"
#include "base/reader.h"

#define HEX_DIGITS_MAX	16
#define LINE_DIGITS_MAX 7
#define V8_START	"JS:"

static bool read_number(struct reader *reader, uint64_t *ret_number)
{
	size_t bytes;
	const char *word = reader_until(reader, ' ', &bytes);

	*ret_number = 0;
	if (bytes > 2 && word[0] == '0' && word[1] == 'x') {
		word += 2;
		bytes -= 2;
	}
	if (bytes == 0 || bytes > HEX_DIGITS_MAX)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		const int digit = hex_digit(word[i]);

		if (digit < 0)
			return false;
		*ret_number = *ret_number << 4 | (uint64_t)digit;
	}
	return true;
}

int perf_map_parse(const void *line, size_t size, struct perf_map_line *ret_line)
{
	struct reader reader;
	const char *nul;

	reader_init(&reader, line, size);
	if (!read_number(&reader, &ret_line->start) || !read_number(&reader, &ret_line->size))
		return -EINVAL;
	if (ret_line->size == 0 || ret_line->start + ret_line->size < ret_line->start)
		return -EINVAL;
	ret_line->name_bytes = reader_left(&reader);
	if (ret_line->name_bytes > PERF_MAP_NAME_MAX)
		ret_line->name_bytes = PERF_MAP_NAME_MAX;
	ret_line->name = reader_bytes(&reader, ret_line->name_bytes);
	if (ret_line->name_bytes == 0)
		return -EINVAL;
	nul = memchr(ret_line->name, '\0', ret_line->name_bytes);
	if (nul)
		ret_line->name_bytes = (size_t)(nul - ret_line->name);
	if (ret_line->name_bytes == 0)
		return -EINVAL;
	return 0;
}

/*
 * Returns the bytes of the compiler's mark that a name begins with, or 0. V8 marks interpreted (~),
 * baseline (^), Maglev (+) and optimised (*) functions. Since V8 13 an o before the mark says that
 * a loop was replaced while it ran. A quotation mark behind it says that the code is of one closure
 * alone.
 */
static size_t mark_bytes(const char *name, size_t bytes)
{
	static const char marks[] = "~^+*";
	size_t at = 0;

	if (bytes > 1 && name[0] == 'o')
		at++;
	if (bytes <= at || !memchr(marks, name[at], sizeof(marks) - 1))
		return 0;
	at++;
	if (bytes > at && name[at] == '\'')
		at++;
	return at;
}

static bool is_alphanumeric(char byte)
{
	return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/* Returns the bytes without the mark of .NET's compiler, a word behind the arguments: f()[A]. */
static size_t strip_word(const char *name, size_t bytes)
{
	size_t at = bytes;

	if (bytes == 0 || name[bytes - 1] != ']')
		return bytes;
	at--;
	while (at > 0 && is_alphanumeric(name[at - 1]))
		at--;
	if (at < 2 || at == bytes - 1 || name[at - 1] != '[' || name[at - 2] != ')')
		return bytes;
	return at - 1;
}

static bool begins(const char *name, size_t bytes, const char *start)
{
	return bytes > strlen(start) && memcmp(name, start, strlen(start)) == 0;
}

static size_t skip_digits(const char *name, size_t bytes, size_t at)
{
	while (at < bytes && name[at] >= '0' && name[at] <= '9')
		at++;
	return at;
}

/* Returns the bytes of a mark of Ruby's or PHP's compiler: "[JIT] f", "JIT$f", "TRACE-1$f$12". */
static size_t prefix_bytes(const char *name, size_t bytes)
{
	static const char ruby[] = "[JIT] ", php[] = "JIT$", trace[] = "TRACE-";
	size_t at;

	if (begins(name, bytes, ruby))
		return sizeof(ruby) - 1;
	if (begins(name, bytes, php) && name[sizeof(php) - 1] != '$') /* one of its stubs */
		return sizeof(php) - 1;
	if (!begins(name, bytes, trace))
		return 0;
	at = skip_digits(name, bytes, sizeof(trace) - 1);
	if (at == sizeof(trace) - 1 || at + 1 >= bytes || name[at] != '$')
		return 0;
	return at + 1;
}

/* Returns the bytes without the line in which a trace of PHP begins. */
static size_t strip_line(const char *name, size_t bytes)
{
	size_t at = bytes;

	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	if (at < 2 || at == bytes || name[at - 1] != '$')
		return bytes;
	return at - 1;
}

static size_t strip_prefix(char *name, size_t bytes)
{
	const size_t mark = prefix_bytes(name, bytes);
	const bool is_trace = mark > 0 && name[0] == 'T';

	if (mark == 0)
		return bytes;
	bytes -= mark;
	memmove(name, name + mark, bytes);
	if (is_trace)
		return strip_line(name, bytes);
	return bytes;
}

size_t perf_map_strip(char *name, size_t bytes)
{
	const size_t at = strlen(V8_START);
	size_t marked;

	bytes = strip_prefix(name, bytes);
	if (bytes <= at || memcmp(name, V8_START, at) != 0)
		return strip_word(name, bytes);
	marked = mark_bytes(name + at, bytes - at);
	if (marked == bytes - at)
		return bytes; /* nothing else is there */
	memmove(name + at, name + at + marked, bytes - at - marked);
	return bytes - marked;
}

/* Takes ":DIGITS" off the end of a text. Returns false when there is none. */
static bool take_number(const char *text, size_t *bytes, uint32_t *ret_number)
{
	size_t at = *bytes;

	while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
		at--;
	if (at < 2 || text[at - 1] != ':' || at == *bytes || *bytes - at > LINE_DIGITS_MAX)
		return false;
	*ret_number = 0;
	for (size_t i = at; i < *bytes; i++)
		*ret_number = *ret_number * 10 + (uint32_t)(text[i] - '0');
	*bytes = at - 1;
	return true;
}

/* "JS:f /srv/app.js:12:7"; a function without a name is "JS: /srv/app.js:12:7". */
static int split_v8(const char *name, struct perf_map_place *ret_place)
{
	size_t end = strlen(name);
	const char *blank = strchr(name, ' ');
	uint32_t column;

	if (!blank)
		return -ENOENT;
	if (!take_number(name, &end, &column) || !take_number(name, &end, &ret_place->line))
		return -ENOENT;
	ret_place->name_bytes = (size_t)(blank - name);
	ret_place->file_at = ret_place->name_bytes + 1;
	if (end <= ret_place->file_at)
		return -ENOENT;
	ret_place->file_bytes = end - ret_place->file_at;
	return 0;
}

/* "py::Class.f:/srv/app.py" */
static int split_python(const char *name, size_t start, struct perf_map_place *ret_place)
{
	const char *colon = strchr(name + start, ':');

	if (!colon || colon == name + start || !colon[1])
		return -ENOENT;
	ret_place->name_bytes = (size_t)(colon - name);
	ret_place->file_at = ret_place->name_bytes + 1;
	ret_place->file_bytes = strlen(colon + 1);
	ret_place->line = 0;
	return 0;
}

int perf_map_split(const char *name, struct perf_map_place *ret_place)
{
	static const char python[] = "py::";

	if (strncmp(name, V8_START, strlen(V8_START)) == 0)
		return split_v8(name, ret_place);
	if (strncmp(name, python, sizeof(python) - 1) == 0)
		return split_python(name, sizeof(python) - 1, ret_place);
	return -ENOENT;
}

bool perf_map_is_anonymous(const struct perf_map_place *place)
{
	return place->name_bytes == strlen(V8_START);
}
