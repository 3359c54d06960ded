/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/query.h"

#include <string.h>
#include <strings.h>

#include "base/reader.h"

#define QUALITY_ONE 1000 /* q=1 */

struct word {
	const char *at;
	size_t length;
};

/* ---- words ---- */

static bool is_word(struct word word, const char *text)
{
	return word.length == strlen(text) && strncasecmp(word.at, text, word.length) == 0;
}

static bool is_exactly(struct word word, const char *text)
{
	return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static struct word trim(struct word word)
{
	while (word.length > 0 && is_blank(*word.at)) {
		word.at++;
		word.length--;
	}
	while (word.length > 0 && is_blank(word.at[word.length - 1]))
		word.length--;
	return word;
}

/* Takes what comes before the next `stop`, without the blanks around it. */
static struct word take(struct reader *reader, char stop)
{
	struct word word;

	word.at = reader_until(reader, stop, &word.length);
	return trim(word);
}

static struct word take_rest(struct reader *reader)
{
	struct word word = {(const char *)reader->position, reader_left(reader)};

	reader_skip(reader, word.length);
	return trim(word);
}

/* Takes a line, without its CR. */
static struct word take_line(struct reader *reader)
{
	struct word line;

	line.at = reader_until(reader, '\n', &line.length);
	if (line.length > 0 && line.at[line.length - 1] == '\r')
		line.length--;
	return line;
}

/* ---- Accept: RFC 9110, 12.5.1 ---- */

/* Reads "0.5" in thousandths. */
static unsigned int read_quality(struct word word)
{
	unsigned int quality = 0, unit = QUALITY_ONE;

	for (size_t i = 0; i < word.length && unit > 0; i++) {
		if (word.at[i] == '.')
			continue;
		if (word.at[i] < '0' || word.at[i] > '9')
			return 0;
		quality += (unsigned int)(word.at[i] - '0') * unit;
		unit /= 10;
	}
	if (quality > QUALITY_ONE)
		return QUALITY_ONE;
	return quality;
}

struct accepted {
	unsigned int quality[2]; /* by enum page_form */
};

/* A media range, as in "text/plain;version=0.0.4;q=0.3". */
struct range {
	enum page_form form;
	unsigned int quality;
	bool is_other; /* a type or a version that we do not write */
};

static void take_type(struct word type, struct range *range)
{
	if (is_word(type, "application/openmetrics-text"))
		range->form = PAGE_OPENMETRICS;
	else if (!is_word(type, "text/plain") && !is_word(type, "text/*") && !is_word(type, "*/*"))
		range->is_other = true;
}

static void take_parameter(struct word text, struct range *range)
{
	static const char *const versions[] = {
		[PAGE_PROMETHEUS] = "0.0.4", [PAGE_OPENMETRICS] = "1.0.0"};
	struct reader reader;
	struct word name, value;

	reader_init(&reader, text.at, text.length);
	name = take(&reader, '=');
	value = take_rest(&reader);
	if (is_word(name, "q"))
		range->quality = read_quality(value);
	else if (is_word(name, "version") && !is_exactly(value, versions[range->form]))
		range->is_other = true;
}

static void take_range(struct word text, struct accepted *accepted)
{
	struct range range = {.quality = QUALITY_ONE};
	struct reader reader;

	reader_init(&reader, text.at, text.length);
	take_type(take(&reader, ';'), &range);
	while (reader_left(&reader) > 0)
		take_parameter(take(&reader, ';'), &range);
	if (!range.is_other && range.quality > accepted->quality[range.form])
		accepted->quality[range.form] = range.quality;
}

static void take_accept(struct word list, struct accepted *accepted)
{
	struct reader reader;

	reader_init(&reader, list.at, list.length);
	while (reader_left(&reader) > 0)
		take_range(take(&reader, ','), accepted);
}

static enum page_form choose(const struct accepted *accepted)
{
	const unsigned int open = accepted->quality[PAGE_OPENMETRICS];

	if (open > 0 && open >= accepted->quality[PAGE_PROMETHEUS])
		return PAGE_OPENMETRICS;
	return PAGE_PROMETHEUS;
}

/* ---- the request ---- */

/* Takes scheme and host off a target in absolute form, and the part from '?' on. */
static struct word path_of(struct word target)
{
	static const char scheme[] = "http://";
	const size_t length = strlen(scheme);
	const char *end;

	if (target.length >= length && strncasecmp(target.at, scheme, length) == 0) {
		end = memchr(target.at + length, '/', target.length - length);
		if (!end)
			return (struct word){"/", 1};
		target.length -= (size_t)(end - target.at);
		target.at = end;
	}
	end = memchr(target.at, '?', target.length);
	if (end)
		target.length = (size_t)(end - target.at);
	return target;
}

static int read_first_line(struct word line, struct query *query)
{
	struct word method, target, version;
	struct reader reader;

	reader_init(&reader, line.at, line.length);
	method.at = reader_until(&reader, ' ', &method.length);
	target.at = reader_until(&reader, ' ', &target.length);
	version = take_rest(&reader);
	if (method.length == 0 || target.length == 0 || version.length != 8 ||
	    memcmp(version.at, "HTTP/", 5) != 0)
		return 400;
	if (!is_exactly(version, "HTTP/1.1") && !is_exactly(version, "HTTP/1.0"))
		return 505;
	query->is_head = is_exactly(method, "HEAD");
	if (!query->is_head && !is_exactly(method, "GET"))
		return 405;
	if (!is_exactly(path_of(target), "/metrics"))
		return 404;
	return 200;
}

/* Returns the size up to the empty line, or 0. */
static size_t find_end(const char *bytes, size_t size)
{
	const char *line = bytes, *end = bytes + size, *stop;

	while ((stop = memchr(line, '\n', (size_t)(end - line)))) {
		const size_t length = (size_t)(stop - line);

		if (line > bytes && (length == 0 || (length == 1 && *line == '\r')))
			return (size_t)(stop + 1 - bytes);
		line = stop + 1;
	}
	return 0;
}

static void read_headers(struct reader *reader, struct query *query)
{
	struct accepted accepted = {{0}};

	while (reader_left(reader) > 0) {
		struct word line = take_line(reader), name;
		struct reader header;

		reader_init(&header, line.at, line.length);
		name.at = reader_until(&header, ':', &name.length);
		if (is_word(name, "accept"))
			take_accept(
				(struct word){(const char *)header.position, reader_left(&header)},
				&accepted);
	}
	query->form = choose(&accepted);
}

bool query_read(const char *bytes, size_t size, struct query *ret_query)
{
	const size_t end = find_end(bytes, size);
	struct reader reader;

	*ret_query = (struct query){.status = 431};
	if (end == 0)
		return size >= QUERY_BYTES_MAX;
	reader_init(&reader, bytes, end);
	ret_query->status = read_first_line(take_line(&reader), ret_query);
	read_headers(&reader, ret_query);
	return true;
}
