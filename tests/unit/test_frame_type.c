/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/runtimes.h"
#include "profile/format/frame_type.h"
#include "profile/profile.h"

static const struct {
	enum profile_kind kind;
	uint32_t runtime;
	const char *object, *go_build_id;
	const char *name, *system_name, *file;
	const char *type, *compat;
} rows[] = {
	{.object = "/bin/c", .name = "main", .type = "native", .compat = "native"},
	{.object = "/bin/c", .type = "native", .compat = "native"}, /* without a name */
	{.kind = KIND_KERNEL,
	 .object = "[kernel]",
	 .name = "x",
	 .type = "kernel",
	 .compat = "kernel"},
	{.kind = KIND_MARKER,
	 .object = "[cut: no rule]",
	 .type = "abort-marker",
	 .compat = "abort-marker"},
	{.kind = KIND_ANON, .object = "[anon]", .type = "native", .compat = "native"},
	{.kind = KIND_ANON, .object = "[jit: java]", .type = "jvm", .compat = "jvm"},
	{.kind = KIND_ANON, .object = "[jit: node]", .type = "v8js", .compat = "v8js"},
	{.kind = KIND_SCRIPT,
	 .runtime = RUNTIME_CPYTHON,
	 .object = "[python]",
	 .type = "cpython",
	 .compat = "cpython"},
	{.kind = KIND_SCRIPT,
	 .runtime = RUNTIME_LUA,
	 .object = "[lua]",
	 .type = "lua",
	 .compat = "native"},
	/* Rust */
	{.object = "/bin/r",
	 .name = "app::main",
	 .system_name = "_ZN3app4main17h0123456789abcdefE",
	 .type = "rust",
	 .compat = "native"},
	{.object = "/bin/r",
	 .name = "app::main",
	 .system_name = "_ZN3app4main17h0123456789abcdefE.llvm.123",
	 .type = "rust",
	 .compat = "native"},
	{.object = "/bin/r",
	 .name = "app::main",
	 .system_name = "_RNvCs123_3app4main",
	 .type = "rust",
	 .compat = "native"},
	{.object = "/bin/r",
	 .name = "_Return",
	 .system_name = "_Return",
	 .type = "native",
	 .compat = "native"},
	{.object = "/bin/r",
	 .name = "a::b()",
	 .system_name = "_ZN1a1bEv",
	 .type = "native",
	 .compat = "native"},
	{.object = "/bin/r", /* a hash that is too short */
	 .name = "a::h",
	 .system_name = "_ZN1a17h0123456789abcdeE",
	 .type = "native",
	 .compat = "native"},
	/* Go */
	{.object = "/bin/g",
	 .go_build_id = "a/b",
	 .name = "main.main",
	 .file = "/src/main.go",
	 .type = "go",
	 .compat = "go"},
	{.object = "/bin/g",
	 .go_build_id = "a/b",
	 .name = "runtime.asmcgocall",
	 .file = "/src/asm_amd64.s",
	 .type = "go",
	 .compat = "go"},
	{.object = "/bin/g", /* cgo */
	 .go_build_id = "a/b",
	 .name = "compress",
	 .file = "/src/zlib.c",
	 .type = "native",
	 .compat = "native"},
	{.object = "/bin/g",
	 .name = "main.main",
	 .file = "/src/main.go",
	 .type = "native",
	 .compat = "native"},
};

static uint32_t string(struct profile *profile, const char *text)
{
	return text ? profile_string(profile, text) : 0;
}

static uint32_t add(struct profile *profile, size_t row)
{
	const struct profile_object object = {
		.name = string(profile, rows[row].object),
		.go_build_id = string(profile, rows[row].go_build_id),
		.kind = rows[row].kind,
		.runtime = rows[row].runtime,
	};
	struct profile_function function = {
		.object = profile_object_add(profile, &object),
		.name = string(profile, rows[row].name),
		.system_name = string(profile, rows[row].system_name),
		.file = string(profile, rows[row].file),
		.named = true,
	};
	const uint32_t id = profile_location_add(profile, function.object, 1);

	if (!function.system_name)
		function.system_name = function.name;
	if (function.name)
		profile_location_get(profile, id)->function =
			profile_function_add(profile, &function);
	return id;
}

static void test_frame_type(void **state)
{
	struct profile *profile = profile_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint32_t id = add(profile, i);

		assert_string_equal(frame_type(profile, id, false), rows[i].type);
		assert_string_equal(frame_type(profile, id, true), rows[i].compat);
	}
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
