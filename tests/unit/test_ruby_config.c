/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF walks the control frames of Ruby: configs of images that were built for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_python.h"
#include "tests/unit/build_ruby.h"
#include "worker/runtime/runtime.h"

static struct runtime_setup setup;

static int configure(enum build_ruby_kind kind, const char *version)
{
	struct image *image = build_ruby_image(kind, version);
	int r;

	assert_int_equal(runtime_recognise(image), RUNTIME_RUBY);
	memset(&setup, 0, sizeof(setup));
	r = runtime_configure(RUNTIME_RUBY, image, &setup);
	image_close(image);
	return r;
}

static void test_ruby_config__2_7(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(BUILD_RUBY_LOCK, "2.7.4"), 0);
	assert_int_equal(setup.version, 2u << 24 | 7u << 16 | 4u << 8);
	assert_true(setup.has_groups);
	assert_int_equal(setup.own_rule, 0);
	assert_int_equal(setup.loop[0].end - setup.loop[0].start, 0x100);
	assert_int_equal(config->root[0].start, RUNTIME_AT_PC);
	assert_int_equal(config->root[0].pc, PYTHON_DATA + 0x60);
	assert_int_equal(config->root[0].steps, 2);
	assert_int_equal(config->root[0].offset[1], 16);
	/* another thread may have the lock, and so the variable */
	assert_int_equal(config->control.thread, 56);
	assert_int_equal(config->control.thread_id, 72);
	assert_int_equal(config->last_unit, 8);
	assert_int_equal(config->control.operators, 168);
	assert_int_equal(config->control.names, BUILD_RUBY_NAMES);
}

static void test_ruby_config__3_1(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(BUILD_RUBY_THREADS, "3.1.2"), 0);
	assert_int_equal(config->flags, RUNTIME_CONTROL | RUNTIME_POINTED);
	assert_int_equal(config->root[0].start, RUNTIME_AT_MODULE);
	assert_int_equal(config->root[0].pc, PYTHON_DATA + 0x20);
	assert_int_equal(config->control.thread, 0);
	assert_int_equal(config->node_bytes, 64);
	assert_int_equal(config->names.tail, 32); /* bounds the environment's place in a frame */
	assert_int_equal(config->control.class_name, 0);
	assert_int_equal(rule_kind(setup.own_rule), RULE_SP);
	assert_int_equal(rule_offset(setup.own_rule), 32);
}

static void test_ruby_config__3_0_and_3_2(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(BUILD_RUBY_THREADS, "3.0.7"), 0);
	assert_int_equal(config->root[0].start, RUNTIME_AT_MODULE);
	assert_int_equal(config->node_bytes, 56);
	assert_int_equal(config->last_unit, 8);
	assert_int_equal(config->control.operators, 168);
	assert_int_equal(configure(BUILD_RUBY_THREADS, "3.2.11"), 0);
	assert_int_equal(config->node_bytes, 64);
	assert_int_equal(config->last_unit, 12);
	assert_int_equal(config->control.table, 136);
	assert_int_equal(config->control.text_data, 24);
	assert_int_equal(setup.own_framed_rule, 0);
}

static void test_ruby_config__3_3_and_later(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(BUILD_RUBY_HIDDEN, "3.3.8"), 0);
	assert_int_equal(config->root[0].start, RUNTIME_AT_MODULE);
	assert_int_equal(config->root[0].pc, PYTHON_DATA + 0x20);
	assert_int_equal(setup.loop[0].end - setup.loop[0].start, 0x100);
	assert_int_equal(config->node_bytes, 56);
	assert_int_equal(config->control.text_data, 24);
	assert_int_equal(setup.own_rule, 0);
	assert_int_equal(configure(BUILD_RUBY_HIDDEN, "3.4.11"), 0);
	assert_int_equal(config->control.class_name, 152);
	assert_int_equal(config->control.class_mask, 256);
	assert_int_equal(config->control.parent, 160);
	assert_int_equal(configure(BUILD_RUBY_HIDDEN, "4.0.9"), 0);
	assert_int_equal(config->control.class_object, 136);
	assert_int_equal(config->control.operators, 171);
	assert_int_equal(config->control.parent, 168);
}

static void test_ruby_config__unknown(void **state)
{
	static const char *const versions[] = {
		"2.6.10", "3.5.0", "4.1.0",   "3.1",	 "3",
		"",	  "3.1.x", "3.1.2.1", "3.1.999", "259.1.2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		assert_int_equal(configure(BUILD_RUBY_THREADS, versions[i]), -ENOTSUP);
	assert_int_equal(configure(BUILD_RUBY_NOTHING, "3.1.2"), -ENOTSUP);
	/* no thread has its context in a variable of all */
	assert_int_equal(configure(BUILD_RUBY_LOCK, "3.1.2"), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ruby_config__2_7),
		cmocka_unit_test(test_ruby_config__3_1),
		cmocka_unit_test(test_ruby_config__3_0_and_3_2),
		cmocka_unit_test(test_ruby_config__3_3_and_later),
		cmocka_unit_test(test_ruby_config__unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
