/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_images [FOLDER]: memory images of interpreters, and what these said of their stacks. The
 * walk over the list and the naming must find the same functions and lines. FOLDER has the files of
 * images.tar.xz; by default it is the one in which make unpacks them.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/bpf/image_walk.h"

#define IMAGES_MAX    128
#define FILE_BYTES    (1u << 20)
#define BORDERS_LEAST 5 /* by_sort() and the like call from C */
#define FRAMES_LEAST  50

static struct memory_image image;
static struct functions *functions;

/* ---- an image ---- */

static int read_image(void *to, u64 bytes, u64 address)
{
	return memory_image_read(&image, to, bytes, address);
}

static int setup(void **state)
{
	static unsigned char bytes[FILE_BYTES];
	FILE *file = fopen(*state, "r");
	size_t size;
	int r;

	if (!file)
		return -1;
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	r = memory_image_parse(bytes, size, &image);
	if (r == -ESTALE)
		print_error("struct runtime_config has changed: make memory-images\n");
	functions = functions_new();
	host.read_at = read_image;
	return r < 0 || !functions;
}

static int teardown(void **state)
{
	(void)state;
	memory_image_release(&image);
	functions_free(functions);
	return 0;
}

/* ---- tests ---- */

static void expect_frame(const struct memory_image_frame *said,
			 const struct memory_image_frame *frame)
{
	if (image_is_said(&image, said, frame))
		return;
	print_error("%s %s:%u, not %s %s:%u\n", frame->name, frame->file, frame->line, said->name,
		    said->file, said->line);
	fail();
}

static void test_images__functions_and_lines(void **state)
{
	static struct image_frames found;
	const u32 walked = image_walk(&image);

	(void)state;
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	image_name_all(&image, functions, walked, &found);
	for (u32 i = 0; i < found.count && i < image.head.frames; i++)
		expect_frame(&image.frame[i], &found.frame[i]);
	assert_true(found.count > FRAMES_LEAST);
	assert_int_equal(found.count, image.head.frames);
	if (memory_image_has_code(&image))
		assert_int_equal(host.walk.reason, REASON_end_root);
}

/* Returns whether borders have no address of the stack. */
static bool has_groups(void)
{
	return memory_image_is_lua(&image) || memory_image_is_php(&image) ||
	       memory_image_is_ruby(&image) || memory_image_is_perl(&image);
}

/* Returns whether a border may be at the leaf itself. */
static bool may_be_leaf(void)
{
	return memory_image_is_luajit(&image) || memory_image_has_code(&image);
}

/* Activations of the interpreter's loop are on the stack, the outer ones behind the inner ones. */
static void test_images__borders(void **state)
{
	const u32 words = image_walk(&image);
	u32 borders = 0;
	u64 last = 0;

	(void)state;
	for (u32 i = 0; i < words; i++) {
		const u64 frame = host.word[i] & 0xffff;

		if (host.word[i] & RUNTIME_WORD_FRAME) {
			i++;
			continue;
		}
		if (frame == RUNTIME_BORDER_NOWHERE && has_groups()) {
			borders++; /* the worker ties it to the stack */
			continue;
		}
		if (frame == RUNTIME_BORDER_NOWHERE) /* the base frame of 3.15 */
			break;
		/* LuaJIT: also behind the last activation of a state, and the leaf may be one */
		assert_true(frame > last || (may_be_leaf() && frame == last));
		last = frame;
		borders++;
	}
	if (image.config.flags & (RUNTIME_ANCHOR_NODE | RUNTIME_ANCHOR_LIST) || has_groups() ||
	    memory_image_has_code(&image))
		assert_true(borders > BORDERS_LEAST);
	else
		assert_int_equal(borders, 0);
}

static void expect_cpython(const struct cpython_layout *layout)
{
	const struct runtime_config *config = &image.config;

	assert_int_equal(layout->version, image.head.version);
	assert_int_equal(config->previous, layout->frame_previous);
	assert_int_equal(config->code, layout->frame_code);
	assert_int_equal(config->instruction, layout->frame_instruction);
	assert_int_equal(config->part[2], layout->code_file);
	assert_int_equal(config->part[3], layout->code_lines);
	assert_int_equal(config->last_size, layout->bytes_size);
	assert_int_equal(config->fingerprint[3], layout->code_first_line);
	if (config->flags & RUNTIME_COPIES)
		assert_int_equal(config->copies, layout->code_copies);
	if (!(config->flags & RUNTIME_INDEX))
		assert_int_equal(config->instructions, layout->code_start);
}

static void expect_lua(const struct lua_layout *layout)
{
	const struct runtime_config *config = &image.config;

	assert_int_equal(config->root[0].start, RUNTIME_AT_SCAN);
	assert_int_equal(config->state.frame, layout->state_frame);
	assert_int_equal(config->state.handler, layout->state_handler);
	assert_int_equal(config->state.main, layout->shared_main);
	assert_int_equal(config->node_bytes, layout->frame_bytes);
	assert_int_equal(config->code, layout->frame_function);
	assert_int_equal(config->instruction, layout->frame_place);
	assert_int_equal(config->object_code, layout->closure_code);
	assert_int_equal(config->part[1], layout->code_source);
	assert_int_equal(config->part[3], layout->code_lines);
	assert_int_equal(config->names.constants, layout->code_constants);
}

static void expect_luajit(const struct luajit_layout *layout)
{
	const struct runtime_config *config = &image.config;

	assert_int_equal(config->root[0].start, RUNTIME_AT_SCAN);
	assert_int_equal(config->state.handler, layout->state_native);
	assert_int_equal(config->state.main, layout->shared_main);
	assert_int_equal(config->stack.trace_base, layout->shared_trace_base);
	assert_int_equal(config->stack.anchor_state, layout->native_state);
	assert_int_equal(config->object_code, layout->function_place);
	assert_int_equal(config->part[1], layout->code_source);
	assert_int_equal(config->part[3], layout->code_lines);
	assert_int_equal(config->names.variables, layout->code_variables);
}

static void expect_php(const struct php_layout *layout)
{
	const struct runtime_config *config = &image.config;

	assert_int_equal(config->node_bytes, layout->frame_bytes);
	assert_int_equal(config->previous, layout->frame_previous);
	assert_int_equal(config->code, layout->frame_function);
	assert_int_equal(config->instructions, layout->code_instructions);
	assert_int_equal(config->part[1], layout->function_name);
	assert_int_equal(config->part[2], layout->code_file);
	assert_int_equal(config->last_unit, layout->instruction_bytes);
	assert_int_equal(config->owner.frame, layout->generator_frame);
	assert_int_equal(config->owner.placeholder, layout->generator_placeholder);
}

static void expect_ruby(const struct ruby_layout *layout)
{
	const struct runtime_config *config = &image.config;

	assert_int_equal(config->node_bytes, layout->frame_bytes);
	assert_int_equal(config->object_code, layout->object_code);
	assert_int_equal(config->part[1], layout->code_label);
	assert_int_equal(config->part[3], layout->code_lines);
	assert_int_equal(config->control.table, layout->code_line_table);
	assert_int_equal(config->control.name, layout->definition_name);
}

static void expect_perl(const struct perl_layout *layout)
{
	const struct runtime_config *config = &image.config;

	assert_int_equal(config->node_bytes, layout->context_bytes);
	assert_int_equal(config->scopes.statement, layout->interpreter_statement);
	assert_int_equal(config->scopes.stack, layout->interpreter_stack);
	assert_int_equal(config->scopes.function, layout->context_function);
	assert_int_equal(config->scopes.line, layout->statement_line);
	assert_int_equal(config->scopes.kind_statement, layout->operation_statement);
	assert_int_equal(config->scopes.root, layout->function_root);
	assert_int_equal(config->scopes.more, layout->package_more);
}

static void expect_hotspot(const struct hotspot_layout *layout)
{
	const struct runtime_hotspot *config = &image.config.hotspot;

	assert_int_equal(config->heaps_data ? layout->heaps : layout->heap, config->heaps);
	assert_int_equal(config->interpreter, layout->interpreter);
	assert_int_equal(config->returns, layout->returns);
	assert_int_equal(config->size, layout->blob_size);
	assert_int_equal(config->frame, layout->blob_frame);
	assert_int_equal(config->method, layout->method);
	assert_int_equal(config->constant, layout->constant);
	assert_int_equal(config->name_index, layout->name_index);
	assert_int_equal(config->class_name, layout->class_name);
}

/* Symbols of the image may have other values than the columns. */
static void expect_v8(const struct v8_layout *layout)
{
	const struct runtime_v8 *config = &image.config.v8;
	struct v8_layout of_version;

	assert_int_equal(v8_layout_of_version(image.head.version, &of_version), 0);
	assert_int_equal(config->function_shared, layout->function_shared);
	assert_int_equal(config->shared_script, layout->shared_script);
	assert_int_equal(config->type_code, layout->type_code);
	assert_int_equal(config->scope_first, layout->scope_first);
	assert_int_equal(config->scope_receiver, of_version.scope_receiver);
	assert_int_equal(config->code_table, of_version.code_table);
}

/* The recorded config is one of today's layout. */
static void test_images__layout(void **state)
{
	struct runtime_setup setup;

	(void)state;
	assert_int_equal(memory_image_setup(&image, &setup), 0);
	if (memory_image_is_lua(&image))
		expect_lua(&setup.layout.lua);
	else if (memory_image_is_luajit(&image))
		expect_luajit(&setup.layout.luajit);
	else if (memory_image_is_php(&image))
		expect_php(&setup.layout.php);
	else if (memory_image_is_ruby(&image))
		expect_ruby(&setup.layout.ruby);
	else if (memory_image_is_perl(&image))
		expect_perl(&setup.layout.perl);
	else if (memory_image_is_hotspot(&image))
		expect_hotspot(&setup.layout.hotspot);
	else if (memory_image_is_v8(&image))
		expect_v8(&setup.layout.v8);
	else
		expect_cpython(&setup.layout.cpython);
}

static int name_first(void)
{
	struct runtime_words words;
	struct runtime_frame frame;
	struct function function;
	u32 line;

	if (memory_image_has_code(&image))
		return 0;
	runtime_words_init(&words, host.word, image_walk(&image));
	if (!runtime_words_next(&words, &frame))
		return -ENOENT;
	return image_name(&image, functions, &frame, &function, &line);
}

/* One wrong type is enough for an event that has no name. */
static void test_images__types(void **state)
{
	uint64_t *const types[] = {&image.head.types.code, &image.head.types.text,
				   &image.head.types.bytes};

	(void)state;
	assert_int_equal(name_first(), 0);
	for (size_t i = 0; i < 3 && image.head.runtime; i++) {
		*types[i] += 8;
		assert_int_equal(name_first(), -EPROTO);
		*types[i] -= 8;
	}
}

/* Takes the addresses of the stack: compiled code that is not found counts as its function. */
static u32 take_addresses(struct runtime_frame *frames)
{
	u32 found = host.walk.frames;

	if (found > MEMORY_IMAGE_FRAMES_MAX)
		found = MEMORY_IMAGE_FRAMES_MAX;
	for (u32 i = 0; i < found; i++)
		frames[i] = (struct runtime_frame){.code = FRAME_ADDRESS(host.frame[i])};
	return found;
}

/* Returns how many frames the words have, as far as there is room for them. */
static u32 take_frames(struct runtime_frame *frames, u32 count)
{
	struct runtime_words words;
	u32 found = 0;

	if (memory_image_has_code(&image))
		return take_addresses(frames);
	assert_true(runtime_words_init(&words, host.word, count));
	while (!runtime_words_end(&words))
		while (runtime_words_next(&words, &frames[found]))
			assert_true(++found < MEMORY_IMAGE_FRAMES_MAX);
	return found;
}

/* Perl's evals have a hash of their file's name, which may be gone. */
static bool is_same(const struct runtime_frame *left, const struct runtime_frame *right)
{
	if (memory_image_is_perl(&image))
		return left->code == right->code;
	return left->code == right->code && left->fingerprint == right->fingerprint;
}

/*
 * A walk with a hole finds the first frames of the list. In Lua it may miss the innermost state or
 * the functions of a trace, and in PHP generators that wait. Then the other frames come in their
 * order.
 */
static void expect_order(const struct runtime_frame *whole, u32 frames,
			 const struct runtime_frame *part, u32 found)
{
	const bool may_miss = image.head.runtime == 0;
	u32 at = 0;

	for (u32 i = 0; i < found; i++, at++) {
		while (may_miss && at < frames && !is_same(&part[i], &whole[at]))
			at++;
		assert_true(at < frames && is_same(&part[i], &whole[at]));
	}
}

/* With each line of the memory gone in turn, a walk finds some frames of the list, or none. */
static void test_images__lines_that_are_gone(void **state)
{
	static struct runtime_frame whole[MEMORY_IMAGE_FRAMES_MAX], part[MEMORY_IMAGE_FRAMES_MAX];
	const u32 frames = take_frames(whole, image_walk(&image));
	u32 ends = 0;

	(void)state;
	for (u32 i = 0; i < image.head.lines; i++) {
		u32 found;

		image.line[i].address++;
		found = take_frames(part, image_walk(&image));
		image.line[i].address--;
		ends += found < frames;
		assert_in_range(found, 0, frames);
		expect_order(whole, frames, part, found);
	}
	assert_true(ends > frames);
}

/* ---- hostile memory ---- */

#define POINTERS_TRIED 40u
#define LINE_WORDS     (MEMORY_IMAGE_LINE / 8)
/* A step of the walk takes some frames. The search for a state reads most: each word may be one. */
#define READS_MAX ((RECORD_FRAMES_MAX + 1) * RUNTIME_FRAMES_STEP * (RUNTIME_SCAN_WORDS * 3 + 1))

static u32 reads;

static int read_and_count(void *to, u64 bytes, u64 address)
{
	reads++;
	return read_image(to, bytes, address);
}

static u64 get_word(u32 number)
{
	u64 word;

	memcpy(&word, image.line[number / LINE_WORDS].bytes + number % LINE_WORDS * 8, 8);
	return word;
}

static void set_word(u32 number, u64 word)
{
	memcpy(image.line[number / LINE_WORDS].bytes + number % LINE_WORDS * 8, &word, 8);
}

static u64 address_of(u32 number)
{
	return image.line[number / LINE_WORDS].address + number % LINE_WORDS * 8;
}

static bool is_pointer(u64 word)
{
	unsigned char byte;

	return memory_image_read(&image, &byte, 1, word) == 0;
}

/* Walks and names all there is. Returns the result. */
static u32 walk_hostile(void)
{
	static struct runtime_frame frames[RECORD_RUNTIME_WORDS_MAX];
	struct function function;
	struct runtime_words words;
	u32 line, count = 0;

	reads = 0;
	image_walk(&image);
	assert_true(reads <= READS_MAX);
	if (!memory_image_has_code(&image) || host.walk.list.result != RUNTIME_NONE_MET)
		assert_in_range(host.walk.list.result, RUNTIME_WHOLE, RUNTIME_CUT_BUDGET);
	assert_true(runtime_words_init(&words, host.word, host.walk.list.words));
	while (!runtime_words_end(&words))
		while (runtime_words_next(&words, &frames[count]))
			count++;
	if (count > 0)
		image_name(&image, functions, &frames[count - 1], &function, &line);
	return host.walk.list.result;
}

/* Returns how many of an image's pointers lead to a circle: each one, or each fourth. */
static u32 every(void)
{
	return memory_image_has_code(&image) ? 4 : 1;
}

/* Returns where a pointer to the frame before is, in a frame or in a stack of scopes. */
static u32 previous_at(void)
{
	if (memory_image_is_perl(&image))
		return image.config.scopes.previous;
	return image.config.previous;
}

/*
 * Pointers lead to themselves, in circles, to other structures, to odd places, to the kernel and to
 * nowhere. The walk ends, and says how: as a list that was read whole, or with the reason of a cut.
 */
static void test_images__pointers_anywhere(void **state)
{
	const u32 words = image.head.lines * LINE_WORDS;
	u32 seen[RUNTIME_CUT_BUDGET + 1] = {0}, pointers = 0;

	(void)state;
	host.read_at = read_and_count;
	for (u32 i = 0; i < words; i++)
		pointers += is_pointer(get_word(i));
	for (u32 i = 0, next = 0; i < words; i++) {
		const u64 word = get_word(i);
		/* the first one is a circle, where the pointer is that to the frame before */
		const u64 bad[] = {address_of(i) - previous_at(),
				   address_of(i * 7919u % words),
				   address_of(0),
				   image.head.stack,
				   word + 1,
				   ~0ull << 47,
				   0};
		u32 kinds = sizeof(bad) / sizeof(*bad);

		if (!is_pointer(word))
			continue;
		if (next++ % (pointers / POINTERS_TRIED + 1) != 0)
			kinds = next % every() == 0;
		for (u32 kind = 0; kind < kinds; kind++) {
			set_word(i, bad[kind]);
			seen[walk_hostile()]++;
		}
		set_word(i, word);
	}
	assert_true(seen[RUNTIME_WHOLE] > 0);
	/* functions with frames on the stack are left out one by one */
	assert_true(seen[RUNTIME_CUT_READ] > 0 || memory_image_has_code(&image));
	/* no circle: callers are below in an array, or behind */
	assert_true(image.config.flags &
			    (RUNTIME_ARRAY | RUNTIME_STACKED | RUNTIME_CONTROL | RUNTIME_HEAPS) ||
		    seen[RUNTIME_CUT_DEPTH] > 0);
	assert_int_equal(walk_hostile(), RUNTIME_WHOLE);
}

/* ---- files ---- */

static int is_image(const struct dirent *entry)
{
	return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

static const struct {
	const char *name;
	CMUnitTestFunction test;
} kinds[] = {
#define TEST(test)                         \
	{                                  \
#test, test_images__##test \
	}
	TEST(functions_and_lines), TEST(borders),	    TEST(layout), TEST(types),
	TEST(lines_that_are_gone), TEST(pointers_anywhere),
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Adds the tests of an image. */
static bool add_tests(const char *folder, const char *name, struct CMUnitTest tests[static KINDS])
{
	char *path, *title;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return false;
	for (size_t i = 0; i < KINDS; i++) {
		if (asprintf(&title, "%s: %s", name, kinds[i].name) < 0)
			return false;
		tests[i] = (struct CMUnitTest){title, kinds[i].test, setup, teardown, path};
	}
	return true;
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[IMAGES_MAX * KINDS];
	const char *build = getenv("BUILD");
	struct dirent **entries;
	char folder[256];
	int count;

	snprintf(folder, sizeof(folder), "%s/images", build ? build : "build");
	if (argc > 1)
		snprintf(folder, sizeof(folder), "%s", argv[1]);
	count = scandir(folder, &entries, is_image, alphasort);
	if (count <= 0 || count > IMAGES_MAX) {
		fprintf(stderr, "%s: %d images\n", folder, count);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		if (!add_tests(folder, entries[i]->d_name, &tests[i * KINDS]))
			return 1;
		free(entries[i]);
	}
	free(entries);
	return _cmocka_run_group_tests("images", tests, (size_t)count * KINDS, NULL, NULL);
}
