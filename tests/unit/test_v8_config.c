/* SPDX-License-Identifier: Apache-2.0 */
/* The description that images of Node.js have of themselves, and the configs that it makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_v8.h"
#include "worker/runtime/runtime.h"

#define NAME  "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object"
#define FLAGS "v8dbg_class_SharedFunctionInfo__flags__int"

static struct runtime_setup setup;

static int configure(const struct build_v8 *v8)
{
	struct image *image = build_v8_image(v8);
	int r;

	assert_int_equal(runtime_recognise(image), RUNTIME_NODE);
	memset(&setup, 0, sizeof(setup));
	r = runtime_configure(RUNTIME_NODE, image, &setup);
	image_close(image);
	return r;
}

static void test_v8_config__11_3(void **state)
{
	const struct runtime_v8 *v8 = &setup.config.v8;

	(void)state;
	assert_int_equal(configure(&(struct build_v8){.version = BUILD_V8_11_3}), 0);
	assert_int_equal(setup.version, 11u << 24 | 3u << 16);
	assert_true(setup.is_described);
	assert_int_equal(setup.config.flags, RUNTIME_FRAMES);
	for (uint16_t i = 0; i < RUNTIME_PARTS; i++)
		assert_int_equal(setup.config.part[i], i * 8);
	assert_int_equal(setup.config.last_count, RUNTIME_PARTS * 8);
	assert_int_equal(setup.config.last_unit, 1);
	assert_int_equal(v8->inside, BUILD_V8_INSIDE);
	assert_int_equal(v8->function_shared, 24);
	assert_int_equal(v8->shared_bytes, 56);
	assert_int_equal(v8->shared_name, 16);
	assert_int_equal(v8->type_shared, 262);
	assert_int_equal(v8->type_text_end, 128);
	assert_int_equal(v8->script_number, 64);
	assert_int_equal(v8->text_offset, 24);
	assert_int_equal(v8->scope_start, 0);
	assert_int_equal(v8->scope_shift, 32);
	assert_int_equal(v8->bytecode_data, 54);
	assert_int_equal(v8->code_bytecode, 16);
	assert_int_equal(v8->array_data, 16);
	assert_int_equal(v8->wasm_frame, 4);
	assert_int_equal(v8->wasm_native, 80);
	assert_int_equal(v8->wasm_tree, 320);
	assert_int_equal(v8->wasm_code_index, 44);
	assert_int_equal(setup.layout.v8.position_bits, 0);
}

static void test_v8_config__14_6(void **state)
{
	const struct runtime_v8 *v8 = &setup.config.v8;

	(void)state;
	assert_int_equal(configure(&(struct build_v8){.version = BUILD_V8_14_6}), 0);
	assert_int_equal(v8->shared_bytes, 64);
	assert_int_equal(v8->shared_name, 24);
	assert_int_equal(v8->scope_start, 3);
	assert_int_equal(v8->scope_shift, 0);
	assert_int_equal(setup.layout.v8.position_bits, 2);
}

/* The columns have what the images of their versions say. */
static void test_v8_config__columns(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < BUILD_V8_VERSIONS; i++) {
		struct build_v8 v8 = {.version = i};
		struct runtime_config described;

		assert_int_equal(configure(&v8), 0);
		described = setup.config;
		v8.is_bare = true;
		assert_int_equal(configure(&v8), 0);
		assert_memory_equal(&described, &setup.config, sizeof(described));
	}
}

/* The image describes itself, and its column has the rest. */
static void test_v8_config__described(void **state)
{
	struct build_v8 v8 = {.version = BUILD_V8_11_3, .other = NAME, .value = 64};

	(void)state;
	assert_int_equal(configure(&v8), 0);
	assert_int_equal(setup.config.v8.shared_name, 64);
	assert_int_equal(setup.config.v8.shared_bytes, 72);
	v8.value = RUNTIME_HEAD_BYTES - 8;
	assert_int_equal(configure(&v8), 0);
	assert_int_equal(setup.config.v8.shared_bytes, RUNTIME_HEAD_BYTES);
	/* fields that no symbol describes have no name */
	v8.other = "";
	v8.value = 40;
	assert_int_equal(configure(&v8), 0);
	assert_int_equal(setup.config.v8.script_number, 64);
	assert_int_equal(setup.config.v8.array_data, 16);
}

static void test_v8_config__refused(void **state)
{
	static const struct build_v8 refused[] = {
		{.without = "_ZN2v88internal7Version6major_E"},
		{.without = "_ZN2v88internal7Version6minor_E"},
		{.without = "v8dbg_SmiShiftSize"},
		{.other = "_ZN2v88internal7Version6major_E", .value = 11},
		{.other = "_ZN2v88internal7Version6major_E", .value = -1},
		{.other = "_ZN2v88internal7Version6major_E", .value = 256},
		{.other = "_ZN2v88internal7Version6minor_E", .value = 4 + 256},
		{.other = NAME, .value = -1},
		{.other = NAME, .value = 65536},
		{.other = NAME, .value = 65535},
		{.other = NAME, .value = RUNTIME_HEAD_BYTES},
		{.other = FLAGS, .value = 65535},
		{.other = "v8dbg_class_Script__line_ends__Object", .value = 48},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(configure(&refused[i]), -ENOTSUP);
	assert_int_equal(configure(&(struct build_v8){.has_small_pointers = true}), -EOVERFLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v8_config__11_3),
		cmocka_unit_test(test_v8_config__14_6),
		cmocka_unit_test(test_v8_config__columns),
		cmocka_unit_test(test_v8_config__described),
		cmocka_unit_test(test_v8_config__refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
