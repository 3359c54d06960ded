/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF walks the frames of LuaJIT: configs of images that were built for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_luajit.h"
#include "worker/runtime/luajit_layout.h"
#include "worker/runtime/runtime.h"

static struct runtime_setup setup;

static int configure(const struct build_luajit *parts)
{
	struct image *image = build_luajit_image(parts, "", 0);
	int r;

	assert_int_equal(runtime_recognise(image), RUNTIME_LUAJIT);
	memset(&setup, 0, sizeof(setup));
	r = runtime_configure(RUNTIME_LUAJIT, image, &setup);
	image_close(image);
	return r;
}

static void test_luajit_config__2025(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(&build_luajit_2025), 0);
	assert_int_equal(setup.version, 0x02010000);
	assert_false(setup.has_groups);
	assert_int_equal(config->flags,
			 RUNTIME_STACKED | RUNTIME_OBJECT | RUNTIME_ANCHOR_LIST | RUNTIME_NAMES);
	assert_int_equal(config->root[0].start, RUNTIME_AT_SCAN);
	assert_int_equal(config->code_mask, (1ull << 47) - 1);
	/* a continuation and its instruction, then a function and its link */
	assert_int_equal(config->node_bytes, 32);
	assert_int_equal(config->stack.head, 32);
	assert_int_equal(config->code, 16);
	assert_int_equal(config->previous, 24);
	assert_int_equal(config->stack.continued, 8);
	assert_int_equal(config->stack.inside, BUILD_LUAJIT_INSIDE);
	assert_int_equal(config->stack.anchor_return, 72);
	/* gct and ffid: a function, and one in Lua */
	assert_int_equal(config->object_type, 8);
	assert_int_equal(config->object_mask, 0xffff00);
	assert_int_equal(config->object_value, 0x800);
	assert_int_equal(config->trace.bytes, 96);
	assert_false(setup.lacks_traces);
	assert_int_equal(config->last_unit, 0);
	assert_true(config->fingerprint[1] >= config->names.variables);
}

static void test_luajit_config__2017(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(&build_luajit_2017), 0);
	assert_int_equal(config->code_mask, UINT32_MAX);
	assert_int_equal(config->node_bytes, 16);
	assert_int_equal(config->code, 8);
	assert_int_equal(config->previous, 12);
	assert_int_equal(config->stack.continued, 4);
	assert_int_equal(config->stack.slots, 1);
	assert_int_equal(config->object_type, 4);
	assert_int_equal(config->object_mask, 0xffff00);
	assert_int_equal(config->trace.bytes, 0);
	assert_true(setup.lacks_traces);
	assert_int_equal(config->names.upvalue_bytes, 4);
}

/* Builds of one version: the code says which of two it is. */
static void test_luajit_config__luajit2(void **state)
{
	(void)state;
	assert_int_equal(configure(&build_luajit_2022), 0);
	assert_int_equal(setup.config.trace.traces, 1112);
	assert_int_equal(configure(&build_luajit_2023), 0);
	assert_int_equal(setup.config.trace.traces, 1120);
	assert_int_equal(configure(&build_luajit_2025), 0);
	assert_int_equal(setup.config.trace.traces, 1128);
}

static void test_luajit_config__unknown(void **state)
{
	struct build_luajit parts;

	(void)state;
#define WITH(...)                                              \
	do {                                                   \
		parts = build_luajit_2025;                     \
		__VA_ARGS__;                                   \
		assert_int_equal(configure(&parts), -ENOTSUP); \
	} while (0)
	WITH(parts.panic = 360);
	WITH(parts.main = 200);
	WITH(parts.shared = 24);
	WITH(parts.texts = NULL);
	WITH(parts.texts = BUILD_LUAJIT_RULES "LuaJIT 2.1.2737090214");
	WITH(parts.texts += sizeof(BUILD_LUAJIT_RULES) - 1;
	     parts.texts_bytes -= sizeof(BUILD_LUAJIT_RULES) - 1);
	WITH(parts.traces = 0);
	WITH(parts.traces = 744);
	WITH(parts.traces = 760);
	WITH(parts.texts_bytes = strlen(parts.texts)); /* the text has no end */
	/* the loop is too small to be one, or calls nothing of the image */
	WITH(parts.loop_bytes = 2900);
	WITH(parts.call_to = 0x70000000);
#undef WITH
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_luajit_config__2025),
		cmocka_unit_test(test_luajit_config__2017),
		cmocka_unit_test(test_luajit_config__luajit2),
		cmocka_unit_test(test_luajit_config__unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
