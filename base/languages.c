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
