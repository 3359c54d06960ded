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
#include "tests/unit/build_cfi.h"
#include "tests/unit/build_python.h"
#include "worker/runtime/luajit_layout.h"
#include "worker/runtime/runtime.h"

#define CALL	   0x1000u
#define PANIC	   0x1040u
#define CLOSE	   0x1080u
#define LOOP	   0x1100u /* the interpreter's own code */
#define LOOP_BYTES 3100u
#define ENTRY	   (LOOP + 0x200u) /* which lua_call() jumps to */
#define CALLS_AT   0x40u	   /* an instruction of the loop */
#define TRACES_AT  0x300u	   /* where it enters traces */
#define TRACE_CODE 88u

static struct runtime_setup setup;

/* The parts of an image. */
struct parts {
	const char *texts; /* between which there are NULs */
	size_t texts_bytes;
	uint8_t shared;
	uint32_t panic, main;
	bool is_wide;
	uint32_t loop_bytes, call_to;
	uint32_t traces; /* from jit_base on; 0: the loop enters none */
};

#define TEXTS(text) .texts = (text), .texts_bytes = sizeof(text)

static void put_jump(struct build_python *image, uint8_t opcode, uint32_t from, uint32_t to)
{
	const uint32_t distance = to - (from + 5);
	unsigned char jump[5] = {opcode};

	memcpy(jump + 1, &distance, sizeof(distance));
	build_python_bytes(image, from, jump, sizeof(jump));
}

/* push %rbx; mov shared(%rdi), %rax; mov field(%rax), %rdx; ret. Without REX.W: 32 bits */
static void put_loads(struct build_python *image, uint32_t at, const struct parts *parts,
		      uint32_t field)
{
	unsigned char code[16] = {0x53};
	size_t size = 1;

	if (parts->is_wide)
		code[size++] = 0x48;
	code[size++] = 0x8b;
	code[size++] = 0x47;
	code[size++] = parts->shared;
	if (parts->is_wide)
		code[size++] = 0x48;
	code[size++] = 0x8b;
	code[size++] = 0x90;
	memcpy(code + size, &field, sizeof(field));
	size += sizeof(field);
	code[size++] = 0xc3;
	build_python_bytes(image, at, code, size);
}

/*
 * mov traces(%r14), %rcx; mov (%rcx,%rax,8), %rax; mov code(%rax), %rax; mov 16(%rsp), %rbp;
 * mov %rdx, base(%r14)
 */
static void put_entry(struct build_python *image, uint32_t traces)
{
	const uint32_t base = (uint32_t)-3632, at = base + traces;
	unsigned char code[] = {0x49, 0x8b, 0x8e, 0,	0,    0,	  0,	0x48, 0x8b,
				0x04, 0xc1, 0x48, 0x8b, 0x40, TRACE_CODE, 0x48, 0x8b, 0x6c,
				0x24, 0x10, 0x49, 0x89, 0x96, 0,	  0,	0,    0};

	memcpy(code + 3, &at, sizeof(at));
	memcpy(code + sizeof(code) - sizeof(base), &base, sizeof(base));
	build_python_bytes(image, LOOP + TRACES_AT, code, sizeof(code));
}

static int configure(const struct parts *parts)
{
	static struct build_python build;
	const struct build_cfi_code none = {NULL, 0};
	struct build_cfi frames = {0};
	struct image *image;
	size_t cie;
	int r;

	memset(&build, 0, sizeof(build));
	build.symbols = 1;
	build.rodata = parts->texts;
	build.rodata_size = parts->texts_bytes;
	build_python_symbol(&build, "luaJIT_setmode", PANIC + 32, 16);
	build_python_symbol(&build, "lua_call", CALL, 32);
	build_python_symbol(&build, "lua_atpanic", PANIC, 32);
	build_python_symbol(&build, "lua_close", CLOSE, 32);
	put_jump(&build, 0xe9, CALL + 3, ENTRY);
	put_loads(&build, PANIC, parts, parts->panic);
	put_loads(&build, CLOSE, parts, parts->main);
	put_jump(&build, 0xe8, LOOP + CALLS_AT, parts->call_to);
	if (parts->traces != 0)
		put_entry(&build, parts->traces);
	cie = build_cfi_usual_cie(&frames);
	build_cfi_fde(&frames, cie, CALL, 64, none);
	build_cfi_fde(&frames, cie, LOOP, parts->loop_bytes, none);
	build.eh_frame = frames.bytes;
	build.eh_frame_size = frames.size;
	image = build_python_image(&build);
	build_cfi_release(&frames);
	assert_int_equal(runtime_recognise(image), RUNTIME_LUAJIT);
	memset(&setup, 0, sizeof(setup));
	r = runtime_configure(RUNTIME_LUAJIT, image, &setup);
	image_close(image);
	return r;
}

static const struct parts of_2017 = {
	TEXTS("%s\0LuaJIT 2.1.0-beta3 -- Copyright\0LuaJIT 2.1.0-beta3"),
	.shared = 8,
	.panic = 232,
	.main = 132,
	.loop_bytes = LOOP_BYTES,
	.call_to = CALL,
};
/* how the unwinder gets to know traces */
#define RULES "\x1c\0\0\0\0\0\0\0\1zPR\0"
#define LONG                                                                                \
	.shared = 16, .panic = 352, .main = 192, .is_wide = true, .loop_bytes = LOOP_BYTES, \
	.call_to = CALL
static const struct parts of_2022 = {TEXTS(RULES "LuaJIT 2.1.0-beta3"), LONG, .traces = 736};
static const struct parts of_2023 = {TEXTS(RULES "LuaJIT 2.1.0-beta3"), LONG, .traces = 744};
static const struct parts of_2025 = {TEXTS(RULES "LuaJIT 2.1.1737090214"), LONG, .traces = 752};

static void test_luajit_config__2025(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(&of_2025), 0);
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
	assert_int_equal(config->stack.inside, LOOP + CALLS_AT + 5);
	assert_int_equal(config->stack.anchor_return, 72);
	/* gct and ffid: a function, and one in Lua */
	assert_int_equal(config->object_type, 8);
	assert_int_equal(config->object_mask, 0xffff00);
	assert_int_equal(config->object_value, 0x800);
	assert_int_equal(config->trace.bytes, 96);
	assert_int_equal(config->last_unit, 0);
	assert_true(config->fingerprint[1] >= config->names.variables);
}

static void test_luajit_config__2017(void **state)
{
	const struct runtime_config *config = &setup.config;

	(void)state;
	assert_int_equal(configure(&of_2017), 0);
	assert_int_equal(config->code_mask, UINT32_MAX);
	assert_int_equal(config->node_bytes, 16);
	assert_int_equal(config->code, 8);
	assert_int_equal(config->previous, 12);
	assert_int_equal(config->stack.continued, 4);
	assert_int_equal(config->stack.slots, 1);
	assert_int_equal(config->object_type, 4);
	assert_int_equal(config->object_mask, 0xffff00);
	assert_int_equal(config->trace.bytes, 0);
	assert_int_equal(config->names.upvalue_bytes, 4);
}

/* Builds of one version: the code says which of two it is. */
static void test_luajit_config__luajit2(void **state)
{
	(void)state;
	assert_int_equal(configure(&of_2022), 0);
	assert_int_equal(setup.config.trace.traces, 1112);
	assert_int_equal(configure(&of_2023), 0);
	assert_int_equal(setup.config.trace.traces, 1120);
	assert_int_equal(configure(&of_2025), 0);
	assert_int_equal(setup.config.trace.traces, 1128);
}

static void test_luajit_config__unknown(void **state)
{
	struct parts parts;

	(void)state;
#define WITH(...)                                              \
	do {                                                   \
		parts = of_2025;                               \
		__VA_ARGS__;                                   \
		assert_int_equal(configure(&parts), -ENOTSUP); \
	} while (0)
	WITH(parts.panic = 360);
	WITH(parts.main = 200);
	WITH(parts.shared = 24);
	WITH(parts.texts = NULL);
	WITH(parts.texts = RULES "LuaJIT 2.1.2737090214");
	WITH(parts.texts += sizeof(RULES) - 1; parts.texts_bytes -= sizeof(RULES) - 1);
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
