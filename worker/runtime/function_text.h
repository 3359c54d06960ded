/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name, file and lines that events have told of a function, in one piece of memory. Code may
 * also have names for the functions that it calls, packed at an address of the process.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_FUNCTION_TEXT_H
#define KEYHOLE_WORKER_RUNTIME_FUNCTION_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/runtime/functions.h"
#include "worker/runtime/told.h"

struct function_text {
	size_t bytes; /* of all */
	struct function function;
	const struct runtime_handler *handler;
	bool has_callers_name;
	bool is_start; /* as of struct told */
	struct told_lines lines;
	struct told_script script;
	struct told_compiled compiled;
	struct told_late late;	   /* the name that a caller may have */
	struct told_packed packed; /* those for functions that it calls */
	char data[];		   /* name, file, line table, packed names */
};

/* Returns a copy, or NULL without memory. The caller frees it with free(). */
struct function_text *function_text_new(const struct told *told);
/* Returns a copy with another name, which a caller has. The same. */
struct function_text *function_text_rename(const struct function_text *text, const char *name);
/* Returns whether an event tells of the same function again. Callers may have other names. */
bool function_text_is_same(const struct function_text *text, const struct told *told);
/* Returns whether an event that tells of the same function again has more of the line table. */
bool function_text_lacks_lines(const struct function_text *text, const struct told *told);

#endif
