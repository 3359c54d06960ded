/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF walks the frames of an interpreter: configs of images that were built for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/elf/image.h"
#include "object/unwind/unwind_table.h"
#include "tests/unit/build_cfi.h"
#include "tests/unit/build_python.h"
#include "tests/unit/fake_target.h"
#include "worker/process/parser.h"
#include "worker/process/segments.h"
#include "worker/process/table.h"
#include "worker/runtime/cpython_types.h"
#include "worker/runtime/cpython_version.h"
#include "worker/runtime/runtime.h"

#define KEY	 (PYTHON_RUNTIME + 0x24cu)
#define VERSION	 (PYTHON_DATA + 0x80u) /* Py_Version, of build_python.c */
#define TEXT	 (PYTHON_DATA + 0x40u) /* the same, as a text */
#define VARIABLE (PYTHON_DATA + 0x20u) /* _Py_tss_tstate */

static struct build_python python;
static struct runtime_setup setup;

static int configure(void)
{
	struct image *image = build_python_image(&python);
	int r;

	assert_int_equal(runtime_recognise(image), RUNTIME_CPYTHON);
	memset(&setup, 0, sizeof(setup));
	r = runtime_configure(RUNTIME_CPYTHON, image, &setup);
	image_close(image);
	return r;
}

static void expect_root(const struct runtime_root *root, const struct runtime_root *expected)
{
	assert_memory_equal(root, expected, sizeof(*root));
}

/* ---- versions ---- */

static void test_cpython_config__3_9(void **state)
{
	const struct runtime_config *config = &setup.config;
	uint64_t place;

	(void)state;
	build_python_3_9(&python);
	assert_int_equal(configure(), 0);
	expect_root(&config->root[0],
		    &(struct runtime_root){KEY, RUNTIME_AT_KEY, 2, {0, 24, 0, 0}});
	assert_int_equal(config->instruction, 104);
	place = setup.loop[0].start;
	assert_int_equal(setup.loop[0].end, place + 64);
	assert_int_equal(setup.loop[1].start, place + 0x500);
	assert_int_equal(setup.loop[1].end, place + 0x520);
	assert_int_equal(setup.loop[2].end, 0);
	assert_true(runtime_is_loop(&setup, place + 63));
	assert_true(runtime_is_loop(&setup, place + 0x500));
	assert_false(runtime_is_loop(&setup, place + 64));
	assert_false(runtime_is_loop(&setup, place + 0x600));
}

/* Without the loop, or its unwind information, nothing ties functions to the stack. */
static void test_cpython_config__without_loop(void **state)
{
	(void)state;
	build_python_3_10(&python);
	for (size_t i = 1; i < python.symbols; i++)
		if (strcmp(python.name[i], "_PyEval_EvalFrameDefault") == 0)
			python.name[i] = "other";
	assert_int_equal(configure(), -ENOTSUP);
	build_python_3_10(&python);
	python.eh_frame = NULL;
	python.eh_frame_size = 0;
	assert_int_equal(configure(), -ENOTSUP);
}

static void test_cpython_config__3_10(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	build_python_3_10(&python);
	assert_int_equal(configure(), 0);
	assert_int_equal(setup.layout.cpython.version, CPYTHON_VERSION(3, 10) | 0x0df0);
	expect_root(&config->root[0],
		    &(struct runtime_root){KEY, RUNTIME_AT_KEY, 2, {0, 24, 0, 0}});
	assert_int_equal(config->root[1].start, RUNTIME_AT_NOTHING);
	assert_int_equal(config->flags, RUNTIME_INDEX | RUNTIME_APART);
	assert_int_equal(config->border_mask, 0);
	assert_int_equal(config->border_value, 1);
	assert_int_equal(config->node_bytes, 104);
	assert_int_equal(config->previous, 24);
	assert_int_equal(config->code, 32);
	assert_int_equal(config->instruction, 96);
	assert_int_equal(config->instructions, 0);
	assert_int_equal(config->name, 112);
	assert_true(config->code_mask == ~0ull);
}

static void test_cpython_config__3_11(void **state)
{
	const struct runtime_config *config = &setup.config;
	static const u16 fingerprint[4] = {56, 64, 48, 72};
	static const u16 parts[RUNTIME_PARTS] = {RUNTIME_CODE_ITSELF, 128, 112, 136};

	(void)state;
	build_python_3_11(&python);
	assert_int_equal(configure(), 0);
	expect_root(
		&config->root[0],
		&(struct runtime_root){PYTHON_RUNTIME + 0x254, RUNTIME_AT_KEY, 3, {0, 56, 8, 0}});
	assert_int_equal(config->flags, RUNTIME_BORDER_SHOW | RUNTIME_ANCHOR_LIST);
	assert_int_equal(config->border, 68);
	assert_int_equal(config->border_mask, 0xff);
	assert_int_equal(config->border_value, 1);
	assert_int_equal(config->anchor_previous, 16);
	assert_int_equal(config->node_bytes, 72);
	assert_int_equal(config->instructions, 184);
	assert_int_equal(config->name, 128);
	assert_memory_equal(config->fingerprint, fingerprint, sizeof(fingerprint));
	assert_memory_equal(config->part, parts, sizeof(parts));
}

/* The first root is right in sub-interpreters: mov _PyRuntime+0x240(%rip),%rax; ret */
static void test_cpython_config__3_11_holder(void **state)
{
	static const unsigned char code[] = {0x48, 0x8b, 0x05, 0x39, 0x2b, 0, 0, 0xc3};
	const struct runtime_config *config = &setup.config;

	(void)state;
	build_python_3_11(&python);
	build_python_function(&python, "_PyThreadState_UncheckedGet", PYTHON_TEXT + 0xf00, code,
			      sizeof(code));
	assert_int_equal(configure(), 0);
	expect_root(&config->root[0],
		    &(struct runtime_root){
			    PYTHON_RUNTIME + 0x240, RUNTIME_AT_HOLDER, 2, {56, 8, 0, 0}});
	expect_root(
		&config->root[1],
		&(struct runtime_root){PYTHON_RUNTIME + 0x254, RUNTIME_AT_KEY, 3, {0, 56, 8, 0}});
	assert_int_equal(config->holder, 152);
	/* elsewhere than in _PyRuntime */
	python.symbol[1].st_size = 0x258;
	build_python_bytes(&python, PYTHON_TEXT + 0xf00, "\x48\x8b\x05\x51\x2b\x00\x00", 7);
	assert_int_equal(configure(), 0);
	assert_int_equal(config->root[0].start, RUNTIME_AT_KEY);
	assert_int_equal(config->root[1].start, RUNTIME_AT_NOTHING);
}

/* The first root is right in sub-interpreters, the second one without the lock. */
static void test_cpython_config__3_12(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	build_python_3_12(&python);
	assert_int_equal(configure(), 0);
	expect_root(&config->root[0],
		    &(struct runtime_root){VARIABLE, RUNTIME_AT_MODULE, 3, {8, 56, 0, 0}});
	expect_root(&config->root[1],
		    &(struct runtime_root){KEY, RUNTIME_AT_KEY, 3, {0, 56, 0, 0}});
	assert_int_equal(config->flags, RUNTIME_ANCHOR_NODE);
	assert_int_equal(config->border, 68);
	assert_int_equal(config->border_mask, 0xff0000);
	assert_int_equal(config->border_value, 0x30000);
	assert_int_equal(config->instructions, 192);
}

static void test_cpython_config__3_14(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	build_python_3_14(&python);
	assert_int_equal(configure(), 0);
	assert_true(setup.layout.cpython.is_described);
	expect_root(&config->root[0],
		    &(struct runtime_root){VARIABLE, RUNTIME_AT_MODULE, 2, {8, 72, 0, 0}});
	expect_root(&config->root[1],
		    &(struct runtime_root){KEY, RUNTIME_AT_KEY, 2, {0, 72, 0, 0}});
	assert_true(config->code_mask == ~3ull);
	assert_int_equal(config->border, 72);
	assert_int_equal(config->border_mask, 0xff0000);
	assert_int_equal(config->node_bytes, 80);
	assert_int_equal(config->instructions, 208);
}

/* One of both ways to the thread's state is enough. */
static void test_cpython_config__one_root(void **state)
{
	(void)state;
	build_python_3_12(&python);
	for (size_t i = 1; i < python.symbols; i++)
		if (strcmp(python.name[i], "_PyThreadState_GetCurrent") == 0)
			python.name[i] = "other";
	assert_int_equal(configure(), 0);
	assert_int_equal(setup.config.root[0].start, RUNTIME_AT_KEY);
	assert_int_equal(setup.config.root[1].start, RUNTIME_AT_NOTHING);
	build_python_3_12(&python);
	for (size_t i = 1; i < python.symbols; i++)
		if (strcmp(python.name[i], "PyGILState_GetThisThreadState") == 0)
			python.name[i] = "other";
	assert_int_equal(configure(), 0);
	assert_int_equal(setup.config.root[0].start, RUNTIME_AT_MODULE);
	assert_int_equal(setup.config.root[1].start, RUNTIME_AT_NOTHING);
}

/* ---- refusals ---- */

static int configure_version(uint32_t version)
{
	build_python_3_12(&python);
	build_python_bytes(&python, VERSION, &version, sizeof(version));
	return configure();
}

static void test_cpython_config__unknown_versions(void **state)
{
	const uint64_t without_lock = 1;

	(void)state;
	assert_int_equal(configure_version(CPYTHON_VERSION(3, 12) | 0xf0), 0);
	/* an alpha; one that should describe itself; others */
	assert_int_equal(configure_version(CPYTHON_VERSION(3, 12) | 0xa7), -ENOTSUP);
	assert_int_equal(configure_version(CPYTHON_VERSION(3, 13) | 0xf0), -ENOTSUP);
	assert_int_equal(configure_version(CPYTHON_VERSION(3, 9) | 0xf0), -ENOTSUP);
	assert_int_equal(configure_version(CPYTHON_VERSION(4, 12) | 0xf0), -ENOTSUP);
	build_python_3_14(&python);
	build_python_bytes(&python, PYTHON_RUNTIME + 16, &without_lock, sizeof(without_lock));
	assert_int_equal(configure(), -ENOTSUP);
	build_python_3_10(&python);
	build_python_bytes(&python, TEXT, "3.8.18", 7);
	assert_int_equal(configure(), -ENOTSUP);
	build_python_init(&python, 0x300);
	assert_int_equal(configure(), -ENOTSUP);
}

/* Nothing else tells whether a process has what the layout says. */
static void test_cpython_config__without_types(void **state)
{
	static const char *const types[] = {"PyCode_Type", "PyUnicode_Type", "PyBytes_Type"};

	(void)state;
	build_python_3_12(&python);
	assert_int_equal(configure(), 0);
	assert_int_equal(setup.types.code, PYTHON_TYPES);
	assert_int_equal(setup.types.text, PYTHON_TYPES + PYTHON_TYPE_BYTES);
	assert_int_equal(setup.types.bytes, PYTHON_TYPES + 2 * PYTHON_TYPE_BYTES);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		build_python_3_12(&python);
		for (size_t j = 1; j < python.symbols; j++)
			if (strcmp(python.name[j], types[i]) == 0)
				python.name[j] = "other";
		assert_int_equal(configure(), -ENOTSUP);
	}
}

/* Only a relocation makes what a program exports a copy. */
static void test_cpython_config__copied_types(void **state)
{
	struct cpython_types types;
	struct image *image;

	(void)state;
	build_python_3_12(&python);
	build_python_relocation(&python, PYTHON_TYPES + PYTHON_TYPE_BYTES, R_X86_64_COPY, 3, 0);
	build_python_relocation(&python, PYTHON_TYPES + 2 * PYTHON_TYPE_BYTES, R_X86_64_GLOB_DAT, 4,
				0);
	image = build_python_image(&python);
	cpython_types_copied(image, &types);
	image_close(image);
	assert_int_equal(types.code, 0);
	assert_int_equal(types.text, PYTHON_TYPES + PYTHON_TYPE_BYTES);
	assert_int_equal(types.bytes, 0);
	types = cpython_types_at(&types, 0x1000);
	assert_int_equal(types.code, 0);
	assert_int_equal(types.text, PYTHON_TYPES + PYTHON_TYPE_BYTES + 0x1000);
}

/* An interpreter that describes what BPF cannot read, or structures that nobody has seen. */
static void test_cpython_config__impossible_descriptions(void **state)
{
	static const uint16_t bad[][2] = {
		{256, 12},  {256, 128}, {264, 1},  {272, 200}, {288, 140},
		{336, 250}, {336, 132}, {360, 56}, {352, 300}, {352, 70},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		build_python_3_14(&python);
		build_python_bytes(&python, PYTHON_RUNTIME + bad[i][0], &bad[i][1], 2);
		assert_int_equal(configure(), -ENOTSUP);
	}
}

static void test_cpython_config__texts_of_versions(void **state)
{
	static const char *const bad[] = {"",	      "3",	"3.10",	   "3.10.",   "3.10.0rc1",
					  "3.10.0a1", "3.10.x", "3.256.0", "3.10.0 ", "3.10.0++"};
	uint32_t version;

	(void)state;
	assert_int_equal(cpython_version_read("3.9.2", &version), 0);
	assert_int_equal(version, CPYTHON_VERSION(3, 9) | 0x02f0);
	assert_int_equal(cpython_version_read("3.10.13+", &version), 0);
	assert_int_equal(version, CPYTHON_VERSION(3, 10) | 0x0df0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cpython_version_read(bad[i], &version), -ENOTSUP);
}

/* ---- from the parser to the segments ---- */

/* Parses an interpreter that has one function with unwind information. */
static void parse(struct parser_result *ret_result)
{
	struct parser_job job = {.fd = -1};
	struct build_cfi frames = {0};
	unsigned char *file;

	build_cfi_fde(&frames, build_cfi_usual_cie(&frames), PYTHON_TEXT, 64,
		      (struct build_cfi_code){NULL, 0});
	python.eh_frame = frames.bytes;
	python.eh_frame_size = frames.size;
	file = build_python_finish(&python, &job.size);
	job.bytes = file;
	parser_run(&job, NULL, ret_result);
	free(file);
	build_cfi_release(&frames);
	assert_int_equal(ret_result->error, 0);
	assert_int_equal(ret_result->table_error, 0);
}

static void test_cpython_config__rules_are_marked(void **state)
{
	struct parser_result result;

	(void)state;
	build_python_3_12(&python);
	parse(&result);
	assert_int_equal(result.runtime_error, 0);
	assert_memory_equal(&result.setup->config, result.table->runtime,
			    sizeof(struct runtime_config));
	assert_true(unwind_table_rule(result.table, PYTHON_TEXT) ==
		    RULE_MAKE(RULE_SP, 0, 0, 8, RULE_FLAG_RUNTIME));
	assert_true(unwind_table_rule(result.table, PYTHON_TEXT + 64) == RULE_NONE);
	parser_result_release(&result);
	/* one that is not supported */
	build_python_init(&python, 0x300);
	parse(&result);
	assert_int_equal(result.runtime_error, -ENOTSUP);
	assert_null(result.setup);
	assert_null(result.table->runtime);
	assert_true(unwind_table_rule(result.table, PYTHON_TEXT) == RULE_MAKE(RULE_SP, 0, 0, 8, 0));
	parser_result_release(&result);
}

/* Parses and stores what is in `python`. */
static struct table *store(struct tables *tables)
{
	struct parser_result result;
	struct table *table = NULL;

	parse(&result);
	assert_int_equal(tables_store(tables, result.table, &table, 1), 0);
	parser_result_release(&result);
	return table;
}

static void test_cpython_config__tables_have_one_config(void **state)
{
	struct segments *segments = segments_new(NULL, 1);
	struct tables *tables;
	struct table *first, *same, *other, *none;

	(void)state;
	segments_attach(segments, fake_segment());
	tables = tables_new(segments);
	build_python_3_12(&python);
	first = store(tables);
	same = store(tables);
	build_python_3_11(&python);
	other = store(tables);
	build_python_init(&python, 0x300);
	none = store(tables);
	assert_ptr_equal(first, same);
	assert_ptr_not_equal(first, other);
	assert_ptr_not_equal(first, none);
	assert_int_equal(none->runtime, SEGMENT_WORD_NONE);
	assert_int_equal(first->runtime % 16, 0);
	build_python_3_11(&python);
	assert_int_equal(configure(), 0);
	assert_memory_equal(segments_at(segments, other->runtime), &setup.config,
			    sizeof(setup.config));
	tables_release(tables, first, 2);
	tables_release(tables, same, 2);
	tables_release(tables, other, 2);
	tables_release(tables, none, 2);
	tables_free(tables);
	segments_free(segments);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_cpython_config__##name)
	const struct CMUnitTest tests[] = {
		TEST(3_9),
		TEST(without_loop),
		TEST(3_10),
		TEST(3_11),
		TEST(3_11_holder),
		TEST(3_12),
		TEST(3_14),
		TEST(one_root),
		TEST(unknown_versions),
		TEST(without_types),
		TEST(copied_types),
		TEST(impossible_descriptions),
		TEST(texts_of_versions),
		TEST(rules_are_marked),
		TEST(tables_have_one_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
