/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/rules/parser.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "helper/rules/sha256.h"

struct piece {
	const char *text;
	size_t size;
};

struct line {
	struct piece rest;
	struct policy_row row;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static void trim(struct piece *piece)
{
	while (piece->size > 0 && blank(piece->text[0])) {
		piece->text++;
		piece->size--;
	}
	while (piece->size > 0 && blank(piece->text[piece->size - 1]))
		piece->size--;
}

/* Up to the next blank; what follows is trimmed. */
static struct piece take_word(struct piece *rest)
{
	struct piece word = {.text = rest->text};

	while (word.size < rest->size && !blank(rest->text[word.size]))
		word.size++;
	rest->text += word.size;
	rest->size -= word.size;
	trim(rest);
	return word;
}

static bool is(struct piece piece, const char *word)
{
	return piece.size == strlen(word) && memcmp(piece.text, word, piece.size) == 0;
}

/* Which of the words, or -1. */
static int choose(struct piece piece, const char *const *words, int count)
{
	for (int i = 0; i < count; i++)
		if (is(piece, words[i]))
			return i;
	return -1;
}

/* ---- what the lines say: NULL, or what is wrong ---------------------------------------------- */

/* Plain decimal, as it would be written: so that equal numbers are equal texts. */
static bool number(struct piece piece, uint32_t max, uint32_t *ret_value)
{
	uint64_t value = 0;

	if (piece.size == 0 || piece.size > 10 || (piece.text[0] == '0' && piece.size > 1))
		return false;
	for (size_t i = 0; i < piece.size; i++) {
		if (piece.text[i] < '0' || piece.text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(piece.text[i] - '0');
	}
	*ret_value = (uint32_t)value;
	return value <= max;
}

static const char *uid(struct line *line)
{
	return number(line->rest, UINT32_MAX - 1, &line->row.value) ? NULL : "not a user id";
}

/* One way to write each path: absolute, without "//", "/./", "/../" and a slash at its end. */
static const char *path(struct line *line)
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
		if ((name.size == 0 && rest->size > 1) || is(name, ".") || is(name, ".."))
			return "path not in its shortest form";
		from = i;
	}
	return NULL;
}

static const char *comm(struct line *line)
{
	return line->rest.size >= 1 && line->rest.size <= 15 ? NULL : "not 1 to 15 bytes of a name";
}

static const char *frequency(struct line *line)
{
	return number(line->rest, 10000, &line->row.value) && line->row.value > 0
		       ? NULL
		       : "not a frequency of 1 to 10000 Hz";
}

static const char *names(struct line *line)
{
	static const char *const kinds[NAMES_KINDS] = {"comm", "path", "thread", "function"};
	static const char *const modes[NAMES_MODES] = {"keep", "drop", "hash"};
	struct piece rest = line->rest;
	int kind = choose(take_word(&rest), kinds, NAMES_KINDS), mode;

	if (kind < 0)
		return "not a kind of name: comm, path, thread or function";
	mode = choose(rest, modes, NAMES_MODES);
	if (mode < 0)
		return "not keep, drop or hash";
	line->row.value = (uint32_t)kind;
	line->row.mode = (uint32_t)mode;
	snprintf(line->row.text, sizeof(line->row.text), "%s %s", kinds[kind], modes[mode]);
	return NULL;
}

const char *const policy_words[ROW_KINDS] = {
	[ROW_UID] = "deny uid ",
	[ROW_CGROUP] = "deny cgroup ",
	[ROW_COMM] = "deny comm ",
	[ROW_EXECUTABLE] = "deny executable ",
	[ROW_FREQUENCY] = "max-frequency ",
	[ROW_NAMES] = "names ",
};

static const char *(*const parsers[])(struct line *line) = {
	[ROW_UID] = uid,	 [ROW_CGROUP] = path,	      [ROW_COMM] = comm,
	[ROW_EXECUTABLE] = path, [ROW_FREQUENCY] = frequency, [ROW_NAMES] = names,
};

/* "deny uid ", "max-frequency ": all their words, then what the rule is about. */
static const char *rule(struct line *line)
{
	struct piece first = take_word(&line->rest), second = {"", 0};
	bool deny = is(first, "deny");
	const char *reason;
	char words[64];

	if (deny)
		second = take_word(&line->rest);
	if (first.size + second.size + 3 > sizeof(words))
		return "not a rule";
	snprintf(words, sizeof(words), "%.*s %.*s%s", (int)first.size, first.text, (int)second.size,
		 second.text, deny ? " " : "");
	for (uint32_t kind = ROW_UID; kind < ROW_KINDS; kind++) {
		if (strcmp(words, policy_words[kind]) != 0)
			continue;
		line->row.kind = kind;
		reason = parsers[kind](line);
		if (!reason && memchr(line->rest.text, '\t', line->rest.size) && kind != ROW_NAMES)
			reason = "a tab in a name";
		if (!reason && !line->row.text[0])
			memcpy(line->row.text, line->rest.text, line->rest.size);
		return reason;
	}
	return deny ? "not a kind of rule: uid, cgroup, comm or executable" : "not a rule";
}

/* ---- the rows -------------------------------------------------------------------------------- */

static int by_order(const struct policy_row *a, const struct policy_row *b)
{
	return a->kind != b->kind ? (a->kind > b->kind ? 1 : -1) : strcmp(a->text, b->text);
}

/* Of names each kind once, as is the frequency: two that differ have no meaning. */
static bool contradicts(const struct policy_row *a, const struct policy_row *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == ROW_FREQUENCY ||
	       (a->kind == ROW_NAMES && strcspn(a->text, " ") == strcspn(b->text, " ") &&
		strncmp(a->text, b->text, strcspn(a->text, " ")) == 0);
}

static const char *add(struct policy_rows *rows, const struct policy_row *row)
{
	size_t at = 0, alike = 0;

	for (size_t i = 0; i < rows->count; i++) {
		int order = by_order(&rows->row[i], row);

		if (order == 0)
			return NULL;
		if (contradicts(&rows->row[i], row))
			return "said twice, and not the same";
		at += order < 0;
		alike += rows->row[i].kind == row->kind;
	}
	if (alike >= DENY_RULES_MAX)
		return "more than 64 rules of this kind";
	memmove(&rows->row[at + 1], &rows->row[at], (rows->count - at) * sizeof(*row));
	rows->row[at] = *row;
	rows->count++;
	return NULL;
}

/* It is no row either: whoever says it has the same policy as whoever does not. */
static bool is_version(struct piece text, const char **ret_reason)
{
	uint32_t value = 0;

	if (!is(take_word(&text), "version"))
		return false;
	*ret_reason = number(text, POLICY_VERSION, &value) && value == POLICY_VERSION
			      ? NULL
			      : "of another version; this keyhole reads version 1";
	return true;
}

static const char *take_line(struct policy_rows *rows, struct piece text)
{
	struct line line = {.rest = text, .row = {.line = rows->line}};
	const char *reason;

	for (size_t i = 0; i < text.size; i++)
		if (text.text[i] != '\t' && (text.text[i] < ' ' || text.text[i] > '~'))
			return "a byte that is not printable ASCII";
	trim(&line.rest);
	if (line.rest.size == 0 || line.rest.text[0] == '#')
		return NULL;
	if (is_version(line.rest, &reason))
		return reason;
	reason = rule(&line);
	/* The default of names is no row, so that saying it does not change the hash. */
	if (reason || (line.row.kind == ROW_NAMES && line.row.mode == NAMES_KEEP))
		return reason;
	return add(rows, &line.row);
}

int policy_parse(const char *text, size_t size, struct policy_rows *ret_rows)
{
	size_t at = 0;

	ret_rows->count = 0;
	ret_rows->line = 0;
	ret_rows->reason = NULL;
	if (size > POLICY_FILE_BYTES)
		ret_rows->reason = "file too large";
	while (!ret_rows->reason && at < size) {
		const char *end = memchr(text + at, '\n', size - at);
		struct piece line = {text + at, end ? (size_t)(end - text) - at : size - at};

		ret_rows->line++;
		ret_rows->reason = take_line(ret_rows, line);
		at += line.size + 1;
	}
	return ret_rows->reason ? -EINVAL : 0;
}

void policy_hash(const struct policy_rows *rows, char ret_hex[POLICY_HASH_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[SHA256_BYTES];
	struct sha256 sha;

	sha256_init(&sha);
	for (size_t i = 0; i < rows->count; i++) {
		const struct policy_row *row = &rows->row[i];

		sha256_add(&sha, policy_words[row->kind], strlen(policy_words[row->kind]));
		sha256_add(&sha, row->text, strlen(row->text));
		sha256_add(&sha, "\n", 1);
	}
	sha256_end(&sha, digest);
	for (size_t i = 0; i < SHA256_BYTES; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[2 * SHA256_BYTES] = '\0';
}
