/* SPDX-License-Identifier: Apache-2.0 */
#include "base/languages.h"

#include <stddef.h>
#include <string.h>

#include "base/runtimes.h"

static const struct language rows[] = {
#define L(runtime, name, object, suffix, frame_type) \
	{RUNTIME_##runtime, name, object, suffix, frame_type},
#include "base/languages.def"
#undef L
};
#define ROWS (sizeof(rows) / sizeof(*rows))

/* The first row stands for all runtimes that have none. */
static const struct language made_rows[] = {
#define M(runtime, name, object, suffix, frame_type) \
	{RUNTIME_##runtime, name, object, suffix, frame_type},
#include "base/made_languages.def"
#undef M
};
#define MADE_ROWS (sizeof(made_rows) / sizeof(*made_rows))

const struct language *language_of_made(uint32_t runtime)
{
	for (size_t i = 0; i < MADE_ROWS; i++)
		if (made_rows[i].runtime == runtime)
			return &made_rows[i];
	return &made_rows[0];
}

const struct language *language_of_made_object(const char *name)
{
	for (size_t i = 0; i < MADE_ROWS; i++)
		if (strcmp(made_rows[i].object, name) == 0)
			return &made_rows[i];
	return NULL;
}

const struct language *language_of_runtime(uint32_t runtime)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].runtime == runtime)
			return &rows[i];
	return NULL;
}

const struct language *language_of_object(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(rows[i].object, name) == 0)
			return &rows[i];
	return NULL;
}
