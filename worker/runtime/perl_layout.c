/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/perl_layout.h"

#include <errno.h>
#include <stddef.h>

#include "worker/runtime/layout.h"

#define COLUMNS		      7u
#define VERSION(major, minor) ((major) << 24 | (minor) << 16)

static const uint16_t rows[][COLUMNS] = {
#define O(name, ...) {__VA_ARGS__},
#include "worker/runtime/perl_layout.def"
#undef O
};

/* intrpvar.h: sizeof(PerlInterpreter), which Perl exports as PL_interp_size */
static const struct {
	uint32_t version, interpreter_bytes;
} columns[COLUMNS] = {
	{VERSION(5u, 32u), 3792u}, {VERSION(5u, 34u), 3760u}, {VERSION(5u, 36u), 3768u},
	{VERSION(5u, 38u), 3896u}, {VERSION(5u, 40u), 3768u}, {VERSION(5u, 42u), 3768u},
	{VERSION(5u, 44u), 3776u},
};

int perl_layout_find(uint32_t version, uint32_t interpreter_bytes, struct perl_layout *ret_layout)
{
	size_t column = 0;

	while (column < COLUMNS && columns[column].version != version)
		column++;
	if (column == COLUMNS)
		return -ENOTSUP;
	if (interpreter_bytes != PERL_NO_INTERPRETER &&
	    interpreter_bytes != columns[column].interpreter_bytes)
		return -ENOTSUP;
	LAYOUT_COPY(rows, column, ret_layout);
	return 0;
}
