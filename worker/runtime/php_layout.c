/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/php_layout.h"

#include <errno.h>
#include <stddef.h>

#include "worker/runtime/layout.h"

#define COLUMNS		      7u
#define VERSION(major, minor) ((major) << 24 | (minor) << 16)

static const uint16_t rows[][COLUMNS] = {
#define O(name, ...) {__VA_ARGS__},
#include "worker/runtime/php_layout.def"
#undef O
};

static const struct {
	uint32_t interface, version;
} columns[COLUMNS] = {
#define V(interface, major, minor) {interface, VERSION(major, minor)},
#include "worker/runtime/php_versions.def"
#undef V
};

int php_layout_find(uint32_t interface, struct php_layout *ret_layout, uint32_t *ret_version)
{
	size_t column = 0;

	while (column < COLUMNS && columns[column].interface != interface)
		column++;
	if (column == COLUMNS)
		return -ENOTSUP;
	LAYOUT_COPY(rows, column, ret_layout);
	*ret_version = columns[column].version;
	return 0;
}
