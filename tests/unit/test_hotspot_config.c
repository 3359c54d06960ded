/* SPDX-License-Identifier: Apache-2.0 */
/* The description that images of HotSpot have of themselves, and the configs that it makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_hotspot.h"
#include "worker/runtime/runtime.h"

static struct runtime_setup setup;

static int configure(const struct build_hotspot *hotspot)
{
	struct image *image = build_hotspot_image(hotspot);
	int r;

	assert_int_equal(runtime_recognise(image), RUNTIME_HOTSPOT);
	memset(&setup, 0, sizeof(setup));
	r = runtime_configure(RUNTIME_HOTSPOT, image, &setup);
	image_close(image);
	return r;
}

static void expect_part(struct hotspot_part part, uint32_t at, uint32_t base)
{
	assert_int_equal(part.at, at);
	assert_int_equal(part.base, base);
}

static void test_hotspot_config__17(void **state)
{
	const struct runtime_hotspot *hotspot = &setup.config.hotspot;

	(void)state;
	assert_int_equal(configure(&(struct build_hotspot){.version = BUILD_HOTSPOT_17}), 0);
	assert_int_equal(setup.version, 17u << 24 | 17u << 8); /* both are one variable */
	assert_int_equal(setup.config.flags, RUNTIME_HEAPS);
	assert_int_equal(setup.config.part[3], 24);
	assert_int_equal(setup.config.last_count, 32);
	assert_int_equal(setup.config.last_unit, 8);
	assert_int_equal(hotspot->inside, BUILD_HOTSPOT_INSIDE);
	assert_int_equal(hotspot->heaps, BUILD_HOTSPOT_VARIABLE);
	assert_int_equal(hotspot->heaps_data, 8);
	assert_int_equal(hotspot->heap_low, 8);
	assert_int_equal(hotspot->heap_high, 16);
	assert_int_equal(hotspot->heap_segments, 136);
	assert_int_equal(hotspot->heap_shift, 256);
	assert_int_equal(hotspot->head_bytes, 120);
	assert_int_equal(hotspot->complete_bytes, 4);
	assert_int_equal(hotspot->kind, 0);
	expect_part(hotspot->code, 32, HOTSPOT_POINTER);
	expect_part(hotspot->scopes, 120, HOTSPOT_POINTER);
	expect_part(hotspot->places, 268, HOTSPOT_OFFSET);
	expect_part(hotspot->places_end, 272, HOTSPOT_OFFSET);
	expect_part(hotspot->functions, 260, HOTSPOT_OFFSET);
	assert_int_equal(hotspot->file_in_class, 0);
	assert_int_equal(hotspot->bytecode_below, 64);
	assert_int_equal(hotspot->excluded, 0);
}

static void test_hotspot_config__8(void **state)
{
	const struct runtime_hotspot *hotspot = &setup.config.hotspot;

	(void)state;
	assert_int_equal(configure(&(struct build_hotspot){.version = BUILD_HOTSPOT_8}), 0);
	assert_int_equal(setup.version, 8u << 24);
	assert_int_equal(hotspot->heaps_data, 0);
	expect_part(hotspot->code, 32, HOTSPOT_OFFSET);
	expect_part(hotspot->scopes, 176, HOTSPOT_OFFSET);
	assert_int_equal(hotspot->file_in_class, 1);
	assert_int_equal(hotspot->file_index, 258);
	assert_int_equal(hotspot->bytecode_below, 56);
}

static void test_hotspot_config__25(void **state)
{
	const struct runtime_hotspot *hotspot = &setup.config.hotspot;

	(void)state;
	assert_int_equal(configure(&(struct build_hotspot){.version = BUILD_HOTSPOT_25}), 0);
	assert_int_equal(hotspot->kind, 56);
	assert_int_equal(hotspot->kind_compiled, 1);
	assert_int_equal(hotspot->complete_bytes, 2);
	assert_int_equal(hotspot->block_bytes, 8);
	expect_part(hotspot->places, 196, 96);
	expect_part(hotspot->places_end, 200, 96);
	expect_part(hotspot->scopes, 200, 96);
	expect_part(hotspot->functions, 28, 16);
	assert_int_equal(hotspot->excluded, 1);
}

/* The offsets are the same, whether the tables have them or code stores them. */
static void test_hotspot_config__all(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < BUILD_HOTSPOT_VERSIONS; i++) {
		struct build_hotspot hotspot = {.version = i};
		struct runtime_config stored;

		assert_int_equal(configure(&hotspot), 0);
		assert_true(setup.is_described);
		stored = setup.config;
		hotspot.has_offsets = hotspot.is_relocated = true;
		assert_int_equal(configure(&hotspot), 0);
		assert_memory_equal(&stored, &setup.config, sizeof(stored));
	}
}

static void test_hotspot_config__refused(void **state)
{
	static const char *const without[] = {
		"_heaps",
		"_code",
		"_call_stub_return_address",
		"_name",
		"_frame_size",
		"_method",
		"_code_begin",
		"_scopes_pcs_offset",
		"_metadata_offset",
		"_constMethod",
		"_source_file_name_index",
		"_vm_major_version",
		"_body",
		"_log2_segment_size",
	};
	static const uint32_t majors[] = {8, 10, 16, 22, 23, 24, 27, UINT32_MAX};
	struct build_hotspot hotspot = {.version = BUILD_HOTSPOT_17};

	(void)state;
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		hotspot.without = without[i];
		assert_int_equal(configure(&hotspot), -ENOTSUP);
	}
	hotspot.without = NULL;
	for (size_t i = 0; i < sizeof(majors) / sizeof(majors[0]); i++) {
		hotspot.major = majors[i];
		assert_int_equal(configure(&hotspot), -ENOTSUP);
	}
	hotspot.major = 0;
	hotspot.unstored = 1;
	assert_int_equal(configure(&hotspot), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hotspot_config__17),
		cmocka_unit_test(test_hotspot_config__8),
		cmocka_unit_test(test_hotspot_config__25),
		cmocka_unit_test(test_hotspot_config__all),
		cmocka_unit_test(test_hotspot_config__refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
