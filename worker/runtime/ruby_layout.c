/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/ruby_layout.h"

#include <errno.h>
#include <stddef.h>

#include "worker/runtime/layout.h"

#define COLUMNS 7u

static const uint16_t rows[][COLUMNS] = {
#define O(name, ...) {__VA_ARGS__},
#include "worker/runtime/ruby_layout.def"
#undef O
};

static const uint32_t columns[COLUMNS] = {
#define V(major, minor) (major) << 8 | (minor),
#include "worker/runtime/ruby_versions.def"
#undef V
};

int ruby_layout_find(uint32_t version, struct ruby_layout *ret_layout)
{
	size_t column = 0;

	while (column < COLUMNS && columns[column] != version >> 16)
		column++;
	if (column == COLUMNS)
		return -ENOTSUP;
	LAYOUT_COPY(rows, column, ret_layout);
	return 0;
}
