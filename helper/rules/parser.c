/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/rules/parser.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

#define COMM_BYTES_MAX	  15u
#define FREQUENCY_MAX	  10000u
#define NUMBER_DIGITS_MAX 10u

_Static_assert(POLICY_HASH_BYTES == SHA256_HEX_BYTES, "a policy's hash is SHA-256 in hex");

struct piece { /* of the text: borrowed, without a NUL */
	const char *text;
	size_t size;
};

struct line {
	struct piece rest;
	struct policy_row row;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void trim(struct piece *piece)
{
	while (piece->size > 0 && is_blank(piece->text[0])) {
		piece->text++;
		piece->size--;
	}
	while (piece->size > 0 && is_blank(piece->text[piece->size - 1]))
		piece->size--;
}

/* Takes the text up to the next blank, and trims the rest. */
static struct piece take_word(struct piece *rest)
{
	struct piece word = {.text = rest->text};

	while (word.size < rest->size && !is_blank(rest->text[word.size]))
		word.size++;
	rest->text += word.size;
	rest->size -= word.size;
	trim(rest);
	return word;
}

static bool is_word(struct piece piece, const char *word)
{
	return piece.size == strlen(word) && memcmp(piece.text, word, piece.size) == 0;
}

/* Returns the index of the piece among the words, or -1. */
static int find_word(struct piece piece, const char *const *words, int count)
{
	for (int i = 0; i < count; i++)
		if (is_word(piece, words[i]))
			return i;
	return -1;
}

/* ---- lines: parsers return NULL, or the problem ---------------------------------------------- */

/*
 * Parses a plain decimal number. Leading zeros are refused, so that equal numbers are equal texts.
 */
static bool parse_number(struct piece piece, uint32_t max, uint32_t *ret_value)
{
	uint64_t value = 0;

	if (piece.size == 0 || piece.size > NUMBER_DIGITS_MAX)
		return false;
	if (piece.text[0] == '0' && piece.size > 1)
		return false;
	for (size_t i = 0; i < piece.size; i++) {
		if (piece.text[i] < '0' || piece.text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(piece.text[i] - '0');
	}
	*ret_value = (uint32_t)value;
	return value <= max;
}

static const char *parse_uid(struct line *line)
{
	if (!parse_number(line->rest, UINT32_MAX - 1, &line->row.value))
		return "not a user id";
	return NULL;
}

/*
 * Takes an absolute path without "//", "/./", "/../" and a slash at its end, so that each path has
 * one spelling.
 */
static const char *parse_path(struct line *line)
{
	const struct piece *rest = &line->rest;
	size_t from = 0;

	if (rest->size == 0 || rest->text[0] != '/')
		return "not an absolute path";
	if (rest->size >= POLICY_PATH_BYTES)
		return "path too long";
	for (size_t i = 1; i <= rest->size; i++) {
		struct piece name = {rest->text + from + 1, i - from - 1};

		if (i < rest->size && rest->text[i] != '/')
			continue;
		if (name.size == 0 && rest->size > 1)
			return "path not in its shortest form";
		if (is_word(name, ".") || is_word(name, ".."))
			return "path not in its shortest form";
		from = i;
	}
	return NULL;
}

static const char *parse_comm(struct line *line)
{
	if (line->rest.size < 1 || line->rest.size > COMM_BYTES_MAX)
		return "not 1 to 15 bytes of a name";
	return NULL;
}

static const char *parse_frequency(struct line *line)
{
	if (!parse_number(line->rest, FREQUENCY_MAX, &line->row.value) || line->row.value == 0)
		return "not a frequency of 1 to 10000 Hz";
	return NULL;
}

static const char *parse_names(struct line *line)
{
	static const char *const kinds[NAMES_KINDS] = {"comm", "path", "thread", "function"};
	static const char *const modes[NAMES_MODES] = {"keep", "drop", "hash"};
	struct piece rest = line->rest;
	int kind = find_word(take_word(&rest), kinds, NAMES_KINDS), mode;

	if (kind < 0)
		return "not a kind of name: comm, path, thread or function";
	mode = find_word(rest, modes, NAMES_MODES);
	if (mode < 0)
		return "not keep, drop or hash";
	line->row.value = (uint32_t)kind;
	line->row.mode = (uint32_t)mode;
	snprintf(line->row.text, sizeof(line->row.text), "%s %s", kinds[kind], modes[mode]);
	return NULL;
}

/* Takes a name that a file begins with: letters, digits and a few others, no end of a name. */
static const char *parse_runtime(struct line *line)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"._+-";
	const struct piece *rest = &line->rest;

	if (rest->size < 2 || rest->size >= GRANT_NAME_BYTES)
		return "not 2 to 31 bytes of a file's name";
	for (size_t i = 0; i < rest->size; i++)
		if (!memchr(letters, rest->text[i], sizeof(letters) - 1))
			return "not a name of letters, digits and . _ + -";
	return NULL;
}

static const char *parse_switch(struct line *line)
{
	line->row.mode = is_word(line->rest, "yes");
	if (!line->row.mode && !is_word(line->rest, "no"))
		return "not yes or no";
	return NULL;
}

/* Takes a name as of POSIX (XBD 8.1), which may begin with a digit here. */
static const char *parse_variable(struct line *line)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const struct piece *rest = &line->rest;

	if (rest->size < 1 || rest->size >= GRANT_NAME_BYTES)
		return "not 1 to 31 bytes of a variable's name";
	for (size_t i = 0; i < rest->size; i++)
		if (!memchr(letters, rest->text[i], sizeof(letters) - 1))
			return "not a name of letters, digits and _";
	return NULL;
}

const char *const policy_words[ROW_KINDS] = {
	[ROW_UID] = "deny uid ",
	[ROW_CGROUP] = "deny cgroup ",
	[ROW_COMM] = "deny comm ",
	[ROW_EXECUTABLE] = "deny executable ",
	[ROW_FREQUENCY] = "max-frequency ",
	[ROW_NAMES] = "names ",
	[ROW_GO_STACKS] = "go-stacks ",
	[ROW_MEMORY_CGROUP] = "deny memory cgroup ",
	[ROW_MEMORY_UID] = "deny memory uid ",
	[ROW_MEMORY_COMM] = "deny memory comm ",
	[ROW_MEMORY_EXECUTABLE] = "deny memory executable ",
	[ROW_RUNTIME] = "runtime ",
	[ROW_PERF_MAPS] = "perf-maps ",
	[ROW_CONTEXTS] = "process-contexts ",
	[ROW_VARIABLE] = "environment ",
};

static const char *(*const parsers[])(struct line *line) = {
	[ROW_UID] = parse_uid,
	[ROW_CGROUP] = parse_path,
	[ROW_COMM] = parse_comm,
	[ROW_EXECUTABLE] = parse_path,
	[ROW_FREQUENCY] = parse_frequency,
	[ROW_NAMES] = parse_names,
	[ROW_GO_STACKS] = parse_switch,
	[ROW_MEMORY_CGROUP] = parse_path,
	[ROW_MEMORY_UID] = parse_uid,
	[ROW_MEMORY_COMM] = parse_comm,
	[ROW_MEMORY_EXECUTABLE] = parse_path,
	[ROW_RUNTIME] = parse_runtime,
	[ROW_PERF_MAPS] = parse_switch,
	[ROW_CONTEXTS] = parse_switch,
	[ROW_VARIABLE] = parse_variable,
};

/* Parses the line behind the words of its kind. A copy of the rest is the text of most rows. */
static const char *parse_row(struct line *line, uint32_t kind)
{
	const char *reason;

	line->row.kind = kind;
	reason = parsers[kind](line);
	if (reason || kind == ROW_NAMES)
		return reason;
	if (memchr(line->rest.text, '\t', line->rest.size))
		return "a tab in a name";
	memcpy(line->row.text, line->rest.text, line->rest.size);
	return NULL;
}

/* Takes one more word, with a blank behind it. Returns false if there is no room. */
static bool add_word(struct line *line, char *words, size_t size, struct piece *ret_word)
{
	const size_t used = strlen(words);
	int length;

	*ret_word = take_word(&line->rest);
	length = snprintf(words + used, size - used, "%.*s ", (int)ret_word->size, ret_word->text);
	return length < (int)(size - used);
}

/*
 * Takes the words of a rule, such as "deny uid ", "deny memory uid " or "max-frequency ", with one
 * blank behind each.
 */
static bool take_words(struct line *line, char *words, size_t size, bool *ret_deny)
{
	struct piece word;

	words[0] = '\0';
	*ret_deny = false;
	if (!add_word(line, words, size, &word))
		return false;
	*ret_deny = is_word(word, "deny");
	if (!*ret_deny)
		return true;
	if (!add_word(line, words, size, &word))
		return false;
	if (!is_word(word, "memory"))
		return true;
	return add_word(line, words, size, &word);
}

static const char *parse_rule(struct line *line)
{
	char words[64];
	bool deny;

	if (!take_words(line, words, sizeof(words), &deny))
		return "not a rule";
	for (uint32_t kind = ROW_UID; kind < ROW_KINDS; kind++)
		if (!strcmp(words, policy_words[kind]))
			return parse_row(line, kind);
	if (deny)
		return "not a kind of rule: uid, cgroup, comm or executable, or memory and one "
		       "of these";
	return "not a rule";
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int compare_rows(const struct policy_row *a, const struct policy_row *b)
{
	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	return strcmp(a->text, b->text);
}

/*
 * Returns whether two different rows exclude each other: there is one frequency, and one mode for
 * each kind of name.
 */
static bool contradicts(const struct policy_row *a, const struct policy_row *b)
{
	const size_t length = strcspn(a->text, " ");

	if (a->kind != b->kind)
		return false;
	if (a->kind == ROW_FREQUENCY)
		return true;
	if (a->kind != ROW_NAMES || strcspn(b->text, " ") != length)
		return false;
	return strncmp(a->text, b->text, length) == 0;
}

/* Keeps the row that hides more. The modes of names that hide are drop and hash. */
static void keep_stricter(struct policy_row *kept, const struct policy_row *other)
{
	if (kept->kind == ROW_FREQUENCY && other->value >= kept->value)
		return;
	if (kept->kind == ROW_NAMES && other->mode != NAMES_DROP)
		return;
	*kept = *other;
}

static const char *add_row(struct policy_rows *rows, const struct policy_row *row)
{
	size_t at = 0, alike = 0;

	for (size_t i = 0; i < rows->count; i++) {
		int order = compare_rows(&rows->row[i], row);

		if (order == 0)
			return NULL;
		if (contradicts(&rows->row[i], row) && rows->row[i].file == row->file)
			return "said twice, and not the same";
		if (contradicts(&rows->row[i], row)) {
			keep_stricter(&rows->row[i], row);
			return NULL;
		}
		at += order < 0;
		alike += rows->row[i].kind == row->kind;
	}
	if (alike >= DENY_RULES_MAX)
		return "more than 64 rules of this kind";
	if (row->kind == ROW_VARIABLE && alike >= GRANT_VARIABLES_MAX)
		return "more than 16 variables";
	memmove(&rows->row[at + 1], &rows->row[at], (rows->count - at) * sizeof(*row));
	rows->row[at] = *row;
	rows->count++;
	return NULL;
}

/* A version makes no row: the policy is the same with it and without it. */
static bool is_version(struct piece text, const char **ret_reason)
{
	uint32_t value = 0;

	if (!is_word(take_word(&text), "version"))
		return false;
	*ret_reason = NULL;
	if (!parse_number(text, POLICY_VERSION, &value) || value != POLICY_VERSION)
		*ret_reason = "of another version; this keyhole reads version 1";
	return true;
}

static bool is_printable(struct piece text)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.text[i] != '\t' && (text.text[i] < ' ' || text.text[i] > '~'))
			return false;
	return true;
}

/* The default makes no row: the hash is that of a policy without it. */
static bool is_default(const struct policy_row *row)
{
	if (row->kind == ROW_NAMES)
		return row->mode == NAMES_KEEP;
	return parsers[row->kind] == parse_switch && row->mode != 0;
}

static const char *take_line(struct policy_rows *rows, struct piece text)
{
	struct line line = {.rest = text, .row = {.file = rows->file, .line = rows->line}};
	const char *reason;

	if (!is_printable(text))
		return "a byte that is not printable ASCII";
	trim(&line.rest);
	if (line.rest.size == 0 || line.rest.text[0] == '#')
		return NULL;
	if (is_version(line.rest, &reason))
		return reason;
	reason = parse_rule(&line);
	if (reason)
		return reason;
	if (is_default(&line.row))
		return NULL;
	return add_row(rows, &line.row);
}

/* Returns the line that begins here, without its end. */
static struct piece line_at(const char *text, size_t size)
{
	const char *end = memchr(text, '\n', size);

	if (end)
		size = (size_t)(end - text);
	return (struct piece){text, size};
}

static int parse_lines(const char *text, size_t size, struct policy_rows *rows)
{
	size_t at = 0;

	rows->line = 0;
	rows->reason = NULL;
	if (size > POLICY_FILE_BYTES)
		rows->reason = "file too large";
	while (!rows->reason && at < size) {
		struct piece line = line_at(text + at, size - at);

		rows->line++;
		rows->reason = take_line(rows, line);
		at += line.size + 1;
	}
	if (rows->reason)
		return -EINVAL;
	return 0;
}

int policy_parse(const char *text, size_t size, struct policy_rows *ret_rows)
{
	ret_rows->count = 0;
	ret_rows->file = 0;
	return parse_lines(text, size, ret_rows);
}

int policy_parse_more(const char *text, size_t size, struct policy_rows *rows)
{
	rows->file++;
	return parse_lines(text, size, rows);
}

void policy_hash(const struct policy_rows *rows, char ret_hex[POLICY_HASH_BYTES])
{
	struct sha256 sha;

	sha256_init(&sha);
	for (size_t i = 0; i < rows->count; i++) {
		const struct policy_row *row = &rows->row[i];

		sha256_add(&sha, policy_words[row->kind], strlen(policy_words[row->kind]));
		sha256_add(&sha, row->text, strlen(row->text));
		sha256_add(&sha, "\n", 1);
	}
	sha256_end_hex(&sha, ret_hex);
}
