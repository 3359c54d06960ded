/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_v8.h"

#include <string.h>

#include "tests/unit/build_python.h"

#define VALUES (PYTHON_DATA + 0x100u)

static const struct {
	const char *symbol;
	uint16_t value[BUILD_V8_VERSIONS];
} rows[] = {
#define O(name, symbol, ...) {symbol, {__VA_ARGS__}},
#include "worker/runtime/v8_layout.def"
#undef O
};

static const int32_t versions[BUILD_V8_VERSIONS][2] = {
	{9, 4}, {10, 2}, {11, 3}, {12, 4}, {13, 6}, {14, 6},
};

/* Adds a variable with a number, and its symbol. */
static void add(struct build_python *python, const struct build_v8 *v8, const char *symbol,
		int32_t value)
{
	const uint64_t address = VALUES + python->symbols * sizeof(value);

	if (v8->without && strcmp(symbol, v8->without) == 0)
		return;
	if (v8->other && strcmp(symbol, v8->other) == 0)
		value = v8->value;
	build_python_symbol(python, symbol, address, sizeof(value));
	build_python_bytes(python, address, &value, sizeof(value));
}

static bool is_other(const struct build_v8 *v8, const char *symbol)
{
	return v8->other && strcmp(symbol, v8->other) == 0;
}

struct image *build_v8_image(const struct build_v8 *v8)
{
	static struct build_python python;
	const size_t first = VALUES - PYTHON_DATA;

	memset(&python, 0, sizeof(python));
	python.symbols = 1;
	build_python_symbol(&python, "node_module_register", BUILD_V8_INSIDE, 16);
	add(&python, v8, "_ZN2v88internal7Version6major_E", versions[v8->version][0]);
	add(&python, v8, "_ZN2v88internal7Version6minor_E", versions[v8->version][1]);
	add(&python, v8, "v8dbg_SmiShiftSize", v8->has_small_pointers ? 0 : 31);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* fields that no image describes have an empty name here */
		if (is_other(v8, rows[i].symbol) || (rows[i].symbol[0] && !v8->is_bare))
			add(&python, v8, rows[i].symbol, rows[i].value[v8->version]);
	}
	for (size_t i = 0; i < v8->changes_size && first + i < sizeof(python.data); i++)
		python.data[first + i] ^= v8->changes[i];
	return build_python_image(&python);
}
