/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF walks the scopes of Perl: configs of images that were built for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_perl.h"
#include "worker/runtime/runtime.h"

static struct runtime_setup setup;

static int configure(const struct build_perl_parts *parts)
{
	struct image *image = build_perl_image(parts, NULL, 0);
	int r;

	assert_int_equal(runtime_recognise(image), RUNTIME_PERL);
	memset(&setup, 0, sizeof(setup));
	r = runtime_configure(RUNTIME_PERL, image, &setup);
	image_close(image);
	return r;
}

static void test_perl_config__5_36(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(&build_perl_5_36), 0);
	assert_int_equal(setup.version, 5u << 24 | 36u << 16);
	assert_true(setup.has_groups);
	assert_int_equal(setup.loop[0].end - setup.loop[0].start, BUILD_PERL_BYTES);
	assert_int_equal(setup.again.start - setup.loop[0].start,
			 BUILD_PERL_AGAIN - BUILD_PERL_LOOP);
	assert_int_equal(setup.again.end - setup.again.start, BUILD_PERL_BYTES);
	assert_int_equal(config->root[0].start, RUNTIME_AT_KEY);
	assert_int_equal(config->root[0].pc, BUILD_PERL_KEY);
	assert_int_equal(config->root[0].steps, 1);
	assert_int_equal(config->flags, RUNTIME_SCOPES);
	assert_int_equal(config->node_bytes, 104);
	assert_int_equal(config->scopes.statement, 208);
	assert_int_equal(config->scopes.stack, 224);
	assert_int_equal(config->scopes.function, 72);
	assert_int_equal(config->scopes.kind_statement, 195);
	assert_int_equal(config->scopes.more, 32);
	/* BPF reads the body of a function up to its flags */
	assert_true(config->name + 8 > config->scopes.flags);
	for (uint16_t i = 0; i < RUNTIME_PARTS; i++)
		assert_int_equal(config->part[i], i * 8);
}

static void test_perl_config__other_versions(void **state)
{
	struct build_perl_parts parts = build_perl_5_36;

	(void)state;
	parts.version = 32;
	parts.release = 1;
	parts.interpreter_bytes = 3792;
	assert_int_equal(configure(&parts), 0);
	assert_int_equal(setup.version, 5u << 24 | 32u << 16 | 1u << 8);
	assert_int_equal(setup.config.scopes.statement, 224);
	assert_int_equal(setup.config.scopes.more, 0);
	parts = build_perl_5_36;
	parts.version = 34;
	parts.release = 3;
	parts.interpreter_bytes = 3760;
	assert_int_equal(configure(&parts), 0);
	assert_int_equal(setup.version, 5u << 24 | 34u << 16 | 3u << 8);
	assert_int_equal(setup.config.scopes.statement, 208);
	assert_int_equal(setup.config.scopes.kind_statement, 195);
	assert_int_equal(setup.config.scopes.more, 0);
	parts = build_perl_5_36;
	parts.version = 38;
	parts.release = 2;
	parts.interpreter_bytes = 3896;
	parts.eval = 348;
	parts.try = 350;
	assert_int_equal(configure(&parts), 0);
	assert_int_equal(setup.config.scopes.kind_statement, 198);
	assert_int_equal(setup.config.scopes.more, 32);
	parts = build_perl_5_36;
	parts.version = 44;
	parts.interpreter_bytes = 3776;
	parts.eval = 352;
	parts.try = 354;
	assert_int_equal(configure(&parts), 0);
	assert_int_equal(setup.config.scopes.kind_statement, 202);
}

#define REFUSED_OF(build, change)                              \
	do {                                                   \
		struct build_perl_parts parts = build;         \
                                                               \
		change;                                        \
		assert_int_equal(configure(&parts), -ENOTSUP); \
	} while (0)
#define REFUSED(change) REFUSED_OF(build_perl_5_36, change)

/* The fields of the interpreter are variables: it begins at the first one. */
static void test_perl_config__without_threads(void **state)
{
	struct build_perl_parts parts = build_perl_single;
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(&parts), 0);
	assert_int_equal(config->flags, RUNTIME_SCOPES | RUNTIME_FILE_NAMED);
	assert_int_equal(config->root[0].start, RUNTIME_AT_PC);
	assert_int_equal(config->root[0].pc, BUILD_PERL_STACK);
	assert_int_equal(config->root[0].steps, 0);
	assert_int_equal(config->scopes.stack, 0);
	assert_int_equal(config->scopes.statement, 0x10);
	assert_int_equal(config->scopes.operation, 0xc0);
	assert_int_equal(config->scopes.function, 72);
	parts.operation = BUILD_PERL_STACK - 0x800;
	assert_int_equal(configure(&parts), 0);
	assert_int_equal(config->root[0].pc, BUILD_PERL_STACK - 0x800);
	assert_int_equal(config->scopes.stack, 0x800);
}

static void test_perl_config__unknown_without_threads(void **state)
{
	(void)state;
	REFUSED_OF(build_perl_single, parts.version = 35);
	REFUSED_OF(build_perl_single, parts.statement = 0);
	REFUSED_OF(build_perl_single, parts.stack = 0);
	REFUSED_OF(build_perl_single, parts.operation = 0);
	REFUSED_OF(build_perl_single, parts.operation += 4);
	REFUSED_OF(build_perl_single, parts.variable_bytes = 4);
	REFUSED_OF(build_perl_single, parts.operation += 0x10000);
	/* it may have several interpreters, of which each has fields of its own */
	REFUSED_OF(build_perl_single, parts.options = " MULTIPLICITY USE_64_BIT_ALL");
	REFUSED_OF(build_perl_single, parts.options = " USE_64_BIT_ALL USE_LONG_DOUBLE");
}

static void test_perl_config__unknown(void **state)
{
	(void)state;
	REFUSED(parts.version = 30);
	REFUSED(parts.version = 37);
	REFUSED(parts.version = 38); /* whose interpreter is larger */
	REFUSED(parts.interpreter_bytes = 3776);
	REFUSED(parts.interpreter_bytes = 0);
	REFUSED(parts.options = NULL);
	REFUSED(parts.options = " MULTIPLICITY USE_64_BIT_ALL");
	REFUSED(parts.options = " USE_ITHREADS");
	REFUSED(parts.options = " USE_64_BIT_ALL USE_ITHREADS USE_QUADMATH");
	REFUSED(parts.options = " USE_64_BIT_ALL USE_ITHREADS USE_LONG_DOUBLE");
	REFUSED(parts.also = "Perl_hv_assert"; parts.also_at = 0x1600); /* DEBUGGING */
}

/* The table of operations leads to the two functions, and both to one that is not exported. */
static void test_perl_config__loops(void **state)
{
	struct build_perl_parts other = build_perl_5_36;

	(void)state;
	other.type = R_X86_64_64;
	assert_int_equal(configure(&other), 0);
	assert_int_equal(setup.again.end - setup.again.start, BUILD_PERL_BYTES);
	REFUSED(parts.type = 0);
	REFUSED(parts.type = R_X86_64_IRELATIVE);
	REFUSED(parts.try = 346);
	REFUSED(parts.eval_leads_to = 0x1600);
	REFUSED(parts.eval_leads_to = BUILD_PERL_AGAIN + 1;
		parts.try_leads_to = BUILD_PERL_AGAIN + 1);
	REFUSED(parts.also = "Perl_docatch"; parts.also_at = BUILD_PERL_AGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perl_config__5_36),
		cmocka_unit_test(test_perl_config__other_versions),
		cmocka_unit_test(test_perl_config__without_threads),
		cmocka_unit_test(test_perl_config__unknown_without_threads),
		cmocka_unit_test(test_perl_config__unknown),
		cmocka_unit_test(test_perl_config__loops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
