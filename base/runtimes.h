/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of base/runtimes.def, and the note about a runtime that people read. */
#ifndef KEYHOLE_BASE_RUNTIMES_H
#define KEYHOLE_BASE_RUNTIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum runtime {
	RUNTIME_NONE,
#define R(id, name, shown, symbol, other, help, files, functions) RUNTIME_##id,
#include "base/runtimes.def"
#undef R
	RUNTIME_COUNT
};

#define RUNTIME_SYMBOLS 2
struct runtime_row {
	const char *name, *shown, *help;
	const char *files, *functions;	     /* words with a blank between them */
	const char *symbol[RUNTIME_SYMBOLS]; /* exported; "": none */
};

/* Returns the row of an enum runtime, or NULL: RUNTIME_NONE or an unknown number. */
const struct runtime_row *runtime_row(uint32_t runtime);

/* Returns whether a file is, by its name, the runtime and nothing else. */
bool runtime_is_own_file(uint32_t runtime, const char *path);
/* Returns whether a function of that name is the runtime's, in a file that holds others, too. */
bool runtime_is_own_function(uint32_t runtime, const char *name);

/* Returns whether a runtime with so many of all samples is worth a note: it has 1 % or more. */
bool runtime_is_noted(uint64_t samples, uint64_t all);

#define RUNTIME_NOTE_START "runtime: "
#define RUNTIME_NOTE_BYTES 320
/*
 * Writes "runtime: python3.11, 61 % of samples: ..." for an object, whose name appears as raw or
 * clean as given. An unknown runtime gives "".
 */
void runtime_note(char ret_text[static RUNTIME_NOTE_BYTES], uint32_t runtime, const char *object,
		  double percent);

/* Returns the runtime of such a note and the object's name, cut to size. RUNTIME_NONE: no note. */
uint32_t runtime_of_note(const char *note, char *ret_object, size_t size);

#endif
