/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF walks the frames of PHP: configs of images that were built for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_php.h"
#include "tests/unit/build_python.h"
#include "worker/runtime/runtime.h"

#define GLOBALS 1664u

static struct runtime_setup setup;

static int configure(const char *text, size_t globals_size)
{
	struct image *image = build_php_image(text, globals_size);
	int r;

	assert_int_equal(runtime_recognise(image), RUNTIME_PHP);
	memset(&setup, 0, sizeof(setup));
	r = runtime_configure(RUNTIME_PHP, image, &setup);
	image_close(image);
	return r;
}

static void test_php_config__8_4(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure("x API20240924,NTS", GLOBALS), 0);
	assert_int_equal(setup.version, 8u << 24 | 4u << 16);
	assert_true(setup.has_groups);
	assert_int_equal(setup.loop[0].end - setup.loop[0].start, 0x400);
	assert_int_equal(config->root[0].start, RUNTIME_AT_PC);
	assert_int_equal(config->root[0].pc, PYTHON_DATA + 488);
	assert_int_equal(config->flags,
			 RUNTIME_POINTED | RUNTIME_WIDE | RUNTIME_OWNED | RUNTIME_BORDER_SHOW);
	assert_int_equal(config->node_bytes, 80);
	assert_int_equal(config->border, 40);
	assert_int_equal(config->border_mask, 1u << 17);
	assert_int_equal(config->border_value, 1u << 17);
	assert_int_equal(config->count, 96);
	assert_int_equal(config->last_unit, 32);
	/* what bounds the generator's and the object's place in a frame */
	assert_int_equal(config->shown, 16);
	assert_int_equal(config->names.tail, 32);
	assert_int_equal(config->owner.placeholder, 184);
	assert_int_equal(config->owner.line, 24);
}

static void test_php_config__other_versions(void **state)
{
	(void)state;
	assert_int_equal(configure("API20190902,NTS", GLOBALS), 0);
	assert_int_equal(setup.config.node_bytes, 72);
	assert_int_equal(setup.config.owner.waiting, 184);
	assert_int_equal(configure("API20200930,NTS", GLOBALS), 0);
	assert_int_equal(setup.config.owner.waiting, 176);
	assert_int_equal(configure("API20210902,NTS", GLOBALS), 0);
	assert_int_equal(setup.config.count, 68);
	assert_int_equal(configure("API20220829,NTS", GLOBALS), 0);
	assert_int_equal(setup.config.count, 80);
	assert_int_equal(configure("API20230831,NTS", GLOBALS), 0);
	assert_int_equal(setup.config.count, 76);
	assert_int_equal(configure("API20250925,NTS", GLOBALS), 0);
	assert_int_equal(setup.config.root[0].pc, PYTHON_DATA + 512);
	assert_int_equal(configure("X-Powered-By: PHP/8.2.32 API20220829,NTS", GLOBALS), 0);
	assert_int_equal(setup.version, 8u << 24 | 2u << 16 | 32u << 8);
	assert_int_equal(configure("X-Powered-By: PHP/8.2.256 API20220829,NTS", GLOBALS), 0);
	assert_int_equal(setup.version, 8u << 24 | 2u << 16);
	/* texts that are like it come before */
	assert_int_equal(
		configure("API20 API2024x924,NTS API20240924,NTS,debug API20240924,NTS", GLOBALS),
		0);
}

static void test_php_config__unknown(void **state)
{
	static const char *const texts[] = {
		"",
		"API20180731,NTS", /* 7.3 */
		"API20240924,TS",
		"API20240924,NTS,debug",
		"API20240924,NTSx",
		"API2024092,NTS",
		"API020240924,NTS0",
		"API20240924",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(configure(texts[i], GLOBALS), -ENOTSUP);
	assert_int_equal(configure("API20240924,NTS", 488 + 7), -ENOTSUP);
	assert_int_equal(configure("API20240924,NTS", 488 + 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_php_config__8_4),
		cmocka_unit_test(test_php_config__other_versions),
		cmocka_unit_test(test_php_config__unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
