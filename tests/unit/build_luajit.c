/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_luajit.h"

#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_cfi.h"
#include "tests/unit/build_python.h"

#define PANIC	   0x1040u
#define CLOSE	   0x1080u
#define ENTRY	   (BUILD_LUAJIT_LOOP + 0x200u) /* which lua_call() jumps to */
#define CALLS_AT   0x40u			/* an instruction of the loop */
#define TRACES_AT  0x300u			/* where it enters traces */
#define TRACE_CODE 88u

#define TEXTS(text) .texts = (text), .texts_bytes = sizeof(text)
#define LONG                                                      \
	.shared = 16, .panic = 352, .main = 192, .is_wide = true, \
	.loop_bytes = BUILD_LUAJIT_LOOP_BYTES, .call_to = BUILD_LUAJIT_CALL

const struct build_luajit build_luajit_2017 = {
	TEXTS("%s\0LuaJIT 2.1.0-beta3 -- Copyright\0LuaJIT 2.1.0-beta3"),
	.shared = 8,
	.panic = 232,
	.main = 132,
	.loop_bytes = BUILD_LUAJIT_LOOP_BYTES,
	.call_to = BUILD_LUAJIT_CALL,
};
const struct build_luajit build_luajit_2022 = {TEXTS(BUILD_LUAJIT_RULES "LuaJIT 2.1.0-beta3"), LONG,
					       .traces = 736};
const struct build_luajit build_luajit_2023 = {TEXTS(BUILD_LUAJIT_RULES "LuaJIT 2.1.0-beta3"), LONG,
					       .traces = 744};
const struct build_luajit build_luajit_2025 = {TEXTS(BUILD_LUAJIT_RULES "LuaJIT 2.1.1737090214"),
					       LONG, .traces = 752};

static void put_jump(struct build_python *image, uint8_t opcode, uint32_t from, uint32_t to)
{
	const uint32_t distance = to - (from + 5);
	unsigned char jump[5] = {opcode};

	memcpy(jump + 1, &distance, sizeof(distance));
	build_python_bytes(image, from, jump, sizeof(jump));
}

/* push %rbx; mov shared(%rdi), %rax; mov field(%rax), %rdx; ret. Without REX.W: 32 bits */
static void put_loads(struct build_python *image, uint32_t at, const struct build_luajit *parts,
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
	build_python_bytes(image, BUILD_LUAJIT_LOOP + TRACES_AT, code, sizeof(code));
}

static void put_code(struct build_python *image, const struct build_luajit *parts)
{
	put_jump(image, 0xe9, BUILD_LUAJIT_CALL + 3, ENTRY);
	put_loads(image, PANIC, parts, parts->panic);
	put_loads(image, CLOSE, parts, parts->main);
	put_jump(image, 0xe8, BUILD_LUAJIT_LOOP + CALLS_AT, parts->call_to);
	if (parts->traces != 0)
		put_entry(image, parts->traces);
}

static void put_symbols(struct build_python *image)
{
	image->symbols = 1;
	build_python_symbol(image, "luaJIT_setmode", PANIC + 32, 16);
	build_python_symbol(image, "lua_call", BUILD_LUAJIT_CALL, 32);
	build_python_symbol(image, "lua_atpanic", PANIC, 32);
	build_python_symbol(image, "lua_close", CLOSE, 32);
}

static size_t change(void *bytes, size_t most, const uint8_t *data, size_t size)
{
	if (size > most)
		size = most;
	for (size_t i = 0; i < size; i++)
		((unsigned char *)bytes)[i] ^= data[i];
	return size;
}

struct image *build_luajit_image(const struct build_luajit *parts, const void *data, size_t size)
{
	static struct build_python build;
	const struct build_cfi_code none = {NULL, 0};
	struct build_cfi frames = {0};
	struct image *image;
	size_t cie, used;

	memset(&build, 0, sizeof(build));
	build.rodata = parts->texts;
	build.rodata_size = parts->texts_bytes;
	put_symbols(&build);
	put_code(&build, parts);
	used = change(build.text, sizeof(build.text), data, size);
	change(build.symbol + 1, (build.symbols - 1) * sizeof(*build.symbol),
	       (const uint8_t *)data + used, size - used);
	cie = build_cfi_usual_cie(&frames);
	build_cfi_fde(&frames, cie, BUILD_LUAJIT_CALL, 64, none);
	build_cfi_fde(&frames, cie, BUILD_LUAJIT_LOOP, parts->loop_bytes, none);
	build.eh_frame = frames.bytes;
	build.eh_frame_size = frames.size;
	image = build_python_image(&build);
	build_cfi_release(&frames);
	return image;
}
