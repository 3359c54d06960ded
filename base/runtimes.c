/* SPDX-License-Identifier: Apache-2.0 */
#include "base/runtimes.h"

#include <stdio.h>

#define INTERPRETED "the interpreter's own functions, not the script's"
#define COMPILED    "the runtime's own functions and code without names, not the program's"

static const struct runtime_row rows[RUNTIME_COUNT] = {
#define R(id, name, shown, symbol, other, help) \
	[RUNTIME_##id] = {name, shown, help, {symbol, other}},
#include "base/runtimes.def"
#undef R
};

const struct runtime_row *runtime_row(uint32_t runtime)
{
	if (runtime == RUNTIME_NONE || runtime >= RUNTIME_COUNT)
		return NULL;
	return &rows[runtime];
}

bool runtime_is_noted(uint64_t samples, uint64_t all)
{
	uint64_t least = all / 100 + (all % 100 != 0);

	return samples > 0 && samples >= least;
}

void runtime_note(char ret_text[static RUNTIME_NOTE_BYTES], uint32_t runtime, const char *object,
		  double percent)
{
	const struct runtime_row *row = runtime_row(runtime);

	ret_text[0] = '\0';
	if (!row)
		return;
	snprintf(ret_text, RUNTIME_NOTE_BYTES, "runtime: %s, %.0f %% of samples: %s (%s: %s)",
		 object, percent, row->shown, row->name, row->help);
}
