/* SPDX-License-Identifier: Apache-2.0 */
#include "base/runtimes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/languages.h"

#define INTERPRETED "the interpreter's own functions, not the script's"
#define COMPILED    "the runtime's own functions and code without names, not the program's"
#define ASK_WHY	    "keyhole why PID says whether the program's functions are shown"
#define THREADS	    "compilers and collectors have threads of their own, "

static const struct runtime_row rows[RUNTIME_COUNT] = {
#define R(id, name, shown, symbol, other, help, files, functions) \
	[RUNTIME_##id] = {name, shown, help, files, functions, {symbol, other}},
#include "base/runtimes.def"
#undef R
};

const struct runtime_row *runtime_row(uint32_t runtime)
{
	if (runtime == RUNTIME_NONE || runtime >= RUNTIME_COUNT)
		return NULL;
	return &rows[runtime];
}

/* Returns whether the text begins with one of these words. whole: and has no letter behind it. */
static bool begins_with(const char *text, const char *words, bool whole)
{
	size_t length;

	for (; *words; words += length + strspn(words + length, " ")) {
		length = strcspn(words, " ");
		if (strncmp(text, words, length) != 0)
			continue;
		if (!whole || !isalpha((unsigned char)text[length]))
			return true;
	}
	return false;
}

bool runtime_is_own_file(uint32_t runtime, const char *path)
{
	const struct runtime_row *row = runtime_row(runtime);
	const char *slash = strrchr(path, '/');

	if (slash)
		path = slash + 1;
	return row && begins_with(path, row->files, true);
}

bool runtime_is_own_function(uint32_t runtime, const char *name)
{
	const struct runtime_row *row = runtime_row(runtime);

	return row && begins_with(name, row->functions, false);
}

bool runtime_is_noted(uint64_t samples, uint64_t all)
{
	uint64_t least = all / 100 + (all % 100 != 0);

	return samples > 0 && samples >= least;
}

/* Returns what to do about a runtime's own functions. */
static const char *note_help(uint32_t runtime)
{
	const struct runtime_row *row = runtime_row(runtime);

	if (!language_of_runtime(runtime))
		return row->help;
	if (strcmp(row->shown, COMPILED) == 0)
		return THREADS ASK_WHY;
	return ASK_WHY;
}

void runtime_note(char ret_text[static RUNTIME_NOTE_BYTES], uint32_t runtime, const char *object,
		  double percent)
{
	const struct runtime_row *row = runtime_row(runtime);

	ret_text[0] = '\0';
	if (!row)
		return;
	snprintf(ret_text, RUNTIME_NOTE_BYTES,
		 RUNTIME_NOTE_START "%s, %.0f %% of samples: %s (%s: %s)", object, percent,
		 row->shown, row->name, note_help(runtime));
}

/* Returns the row that a note tells of behind its percentage. */
static uint32_t find_row(const char *tail)
{
	for (uint32_t i = RUNTIME_NONE + 1; i < RUNTIME_COUNT; i++) {
		char wanted[RUNTIME_NOTE_BYTES];
		int length =
			snprintf(wanted, sizeof(wanted), "%s (%s: ", rows[i].shown, rows[i].name);

		if (strncmp(tail, wanted, (size_t)length) == 0)
			return i;
	}
	return RUNTIME_NONE;
}

uint32_t runtime_of_note(const char *note, char *ret_object, size_t size)
{
	static const char behind[] = " % of samples: ", before[] = ", ";
	const char *name = note + strlen(RUNTIME_NOTE_START), *tail, *end;

	if (strncmp(note, RUNTIME_NOTE_START, strlen(RUNTIME_NOTE_START)) != 0)
		return RUNTIME_NONE;
	tail = strstr(name, behind);
	if (!tail)
		return RUNTIME_NONE;
	end = tail;
	while (end > name && isdigit((unsigned char)end[-1]))
		end--;
	if (end < name + strlen(before) || strncmp(end - strlen(before), before, strlen(before)))
		return RUNTIME_NONE;
	snprintf(ret_object, size, "%.*s", (int)(end - strlen(before) - name), name);
	return find_row(tail + strlen(behind));
}
