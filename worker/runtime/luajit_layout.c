/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/luajit_layout.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "worker/runtime/layout.h"

#define COLUMNS 4u

static const uint16_t rows[][COLUMNS] = {
#define O(name, ...) {__VA_ARGS__},
#include "worker/runtime/luajit_layout.def"
#undef O
};

/* The times of the columns. */
static const struct {
	uint32_t first, last;
} columns[COLUMNS] = {
	{LUAJIT_BETA, LUAJIT_BETA},
	{LUAJIT_BETA, LUAJIT_BETA},
	{LUAJIT_BETA, LUAJIT_BETA},
	{1737090214u, 1761786044u},
};

static struct luajit_layout layout_of(size_t column)
{
	struct luajit_layout layout = {0};

	LAYOUT_COPY(rows, column, &layout);
	return layout;
}

static bool fits_shared(const struct luajit_layout *layout, const struct luajit_build *build)
{
	return build->shared == layout->state_shared && build->panic == layout->shared_panic &&
	       build->main == layout->shared_main;
}

static bool fits_traces(const struct luajit_layout *layout, const struct luajit_build *build)
{
	if (layout->snapshot_code == LUAJIT_NONE)
		return build->traces == 0 && !build->unwinds_traces;
	return build->traces == (uint32_t)(layout->shared_traces - layout->shared_trace_base) &&
	       build->trace_code == layout->trace_code && build->unwinds_traces;
}

int luajit_layout_find(const struct luajit_build *build, struct luajit_layout *ret_layout)
{
	for (size_t column = 0; column < COLUMNS; column++) {
		const struct luajit_layout layout = layout_of(column);

		if (build->time < columns[column].first || build->time > columns[column].last ||
		    !fits_shared(&layout, build) || !fits_traces(&layout, build))
			continue;
		*ret_layout = layout;
		return 0;
	}
	return -ENOTSUP;
}

#define START	  "LuaJIT 2.1."
#define BETA	  "0-beta3"
#define DIGITS	  10u
#define LAST_TIME 4294967295ull

int luajit_time_read(const char *text, uint32_t *ret_time)
{
	uint64_t time = 0;
	size_t digits = 0;

	if (strncmp(text, START, strlen(START)) != 0)
		return -ENOTSUP;
	text += strlen(START);
	if (strcmp(text, BETA) == 0) {
		*ret_time = LUAJIT_BETA;
		return 0;
	}
	for (; text[digits] >= '0' && text[digits] <= '9' && digits < DIGITS; digits++)
		time = time * 10 + (uint64_t)(text[digits] - '0');
	if (digits != DIGITS || text[digits] != '\0' || time > LAST_TIME)
		return -ENOTSUP;
	*ret_time = (uint32_t)time;
	return 0;
}
