/* SPDX-License-Identifier: Apache-2.0 */
#include "view/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define OPERATOR "operator"

/* Suffixes that compilers append to the name of a part or a copy of a function. */
static const char *const suffixes[] = {".cold",	 ".constprop.", ".isra.",
				       ".llvm.", ".lto_priv.",	".part."};

/* Returns whether a word ends there: "hot.cold.1", "f() [clone .cold]". */
static bool ends_word(const char *at)
{
	return *at == '\0' || *at == '.' || *at == ' ' || *at == ']';
}

/* Returns where the suffix is for the first time behind the name's first character, or NULL. */
static const char *find_suffix(const char *name, const char *suffix)
{
	const size_t length = strlen(suffix);

	for (const char *at = strstr(name, suffix); at; at = strstr(at + 1, suffix))
		if (at > name && (suffix[length - 1] == '.' || ends_word(at + length)))
			return at;
	return NULL;
}

/* Returns where the compiler's suffix begins, or the end of the name. */
static const char *end_of(const char *name)
{
	const char *end = name + strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *found = find_suffix(name, suffixes[i]);

		if (found && found < end)
			end = found;
	}
	return end;
}

/* Returns what is behind the bracket that closes the one at `at`, or the end. */
static const char *behind_group(const char *at, const char *end)
{
	const char open = *at;
	char close = ')';
	unsigned int depth = 0;

	if (open == '<')
		close = '>';
	else if (open == '[')
		close = ']';
	else if (open == '{')
		close = '}';
	for (; at < end; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && at[-1] != '-') /* "->" closes nothing */
			depth--;
		if (depth == 0)
			return at + 1;
	}
	return end;
}

/* Returns whether the word "operator" of C++ is at `at`, and not a part of a longer word. */
static bool is_operator(const char *at, const char *end)
{
	const size_t length = strlen(OPERATOR);

	if ((size_t)(end - at) <= length || strncmp(at, OPERATOR, length) != 0)
		return false;
	return !isalnum((unsigned char)at[length]) && at[length] != '_';
}

struct shortening {
	char *text; /* the word that is being read; the name may go on with another one */
	size_t used, size;
	bool too_long;
};

static void keep(struct shortening *to, const char *from, const char *end)
{
	const size_t length = (size_t)(end - from);

	if (to->used + length >= to->size) {
		to->too_long = true;
		return;
	}
	memcpy(to->text + to->used, from, length);
	to->used += length;
}

/* Reads one character or one group of a name, and returns what is behind. */
static const char *read_piece(struct shortening *to, const char *at, const char *end)
{
	const char *behind = at + 1;

	switch (*at) {
	case ':':
	case '.':
	case '/':
	case ' ':
		to->used = 0;
		return at + 1;
	case '(': /* parameters end a name; a receiver of Go begins one */
		if (to->used > 0)
			return end;
		return behind_group(at, end);
	case '<':
	case '[':
		return behind_group(at, end);
	case '{': /* "{{closure}}" is a word */
		behind = behind_group(at, end);
		break;
	}
	keep(to, at, behind);
	return behind;
}

void short_name(const char *clean, char *ret_short, size_t size)
{
	struct shortening to = {.text = ret_short, .size = size};
	const char *end = end_of(clean);

	ret_short[0] = '\0';
	if (clean[0] == '[' || strstr(clean, "+0x"))
		return;
	for (const char *at = clean; at < end && !to.too_long;) {
		if (to.used == 0 && is_operator(at, end)) {
			keep(&to, at, end);
			break;
		}
		at = read_piece(&to, at, end);
	}
	if (!to.too_long)
		ret_short[to.used] = '\0';
	else
		ret_short[0] = '\0';
}
