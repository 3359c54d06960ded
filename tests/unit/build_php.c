/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_php.h"

#include <stdlib.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_cfi.h"
#include "tests/unit/build_python.h"
#include "worker/runtime/php_layout.h"

#define NAME	      0x7f0000020000ull
#define FILE_	      0x7f0000030000ull
#define INSTRUCTIONS_ 0x7f0000040000ull
#define CLASS	      0x7f0000050000ull

#define LOOP	   0x1100u
#define LOOP_BYTES 0x400u

static void put(struct event_code *event, size_t at, const void *bytes, size_t size)
{
	memcpy(event->data + at, bytes, size);
}

static void put_word(struct event_code *event, size_t at, uint64_t word)
{
	put(event, at, &word, sizeof(word));
}

/* Puts a zend_string, as much of it as a part of the event holds. */
static void put_text(struct event_code *event, const struct php_layout *layout, size_t part,
		     size_t place, size_t end, uint64_t address, const char *text)
{
	size_t size = strlen(text);

	event->address[part] = address;
	event->bytes[part] = end - place;
	put_word(event, place + layout->text_size, size);
	if (size > end - place - layout->text_data)
		size = end - place - layout->text_data;
	put(event, place + layout->text_data, text, size);
}

static void put_instructions(struct event_code *event, const struct php_layout *layout,
			     const struct build_php *code)
{
	put(event, layout->code_count, &code->count, sizeof(code->count));
	put_word(event, layout->code_instructions, INSTRUCTIONS_);
	event->address[3] = INSTRUCTIONS_;
	event->bytes[3] = (uint64_t)code->there * layout->instruction_bytes;
	for (uint32_t i = 0; i < code->there; i++)
		put(event,
		    CODE_PART_3 + (size_t)i * layout->instruction_bytes + layout->instruction_line,
		    &code->lines[i], sizeof(code->lines[i]));
}

struct event_code build_php(const struct php_layout *layout, const struct build_php *code)
{
	struct event_code event = {.event = {.kind = EVENT_CODE}, .code = BUILD_PHP_CODE};

	event.address[0] = BUILD_PHP_CODE;
	event.bytes[0] = CODE_PART_1;
	event.data[layout->function_type] = code->type;
	if (code->name) {
		put_word(&event, layout->function_name, NAME);
		put_text(&event, layout, 1, CODE_PART_1, CODE_PART_2, NAME, code->name);
	}
	if (code->file) {
		put_word(&event, layout->code_file, FILE_);
		put_text(&event, layout, 2, CODE_PART_2, CODE_PART_3, FILE_, code->file);
	}
	if (code->class) {
		event.name = CLASS;
		strncpy((char *)event.text, code->class, sizeof(event.text));
	}
	if (code->type != BUILD_PHP_INTERNAL)
		put(&event, layout->code_first_line, &code->first_line, sizeof(code->first_line));
	if (code->lines)
		put_instructions(&event, layout, code);
	return event;
}

/* ---- images ---- */

unsigned char *build_php_file(const char *text, size_t globals_size, struct build_cfi_code loop,
			      size_t *ret_size)
{
	static struct build_python image;
	static struct build_cfi frames;
	unsigned char *file;
	size_t cie;

	memset(&image, 0, sizeof(image));
	memset(&frames, 0, sizeof(frames));
	image.symbols = 1;
	build_python_symbol(&image, "executor_globals", PYTHON_DATA, globals_size);
	build_python_symbol(&image, "execute_ex", LOOP, LOOP_BYTES);
	build_python_symbol(&image, "zend_get_executed_lineno", LOOP + LOOP_BYTES, 16);
	image.rodata = text;
	image.rodata_size = strlen(text) + 1;
	cie = build_cfi_usual_cie(&frames);
	build_cfi_fde(&frames, cie, LOOP, LOOP_BYTES, loop);
	image.eh_frame = frames.bytes;
	image.eh_frame_size = frames.size;
	file = build_python_finish(&image, ret_size);
	build_cfi_release(&frames);
	return file;
}

struct image *build_php_image(const char *text, size_t globals_size)
{
	const struct build_cfi_code none = {NULL, 0};
	struct image *image;
	size_t size;
	unsigned char *file = build_php_file(text, globals_size, none, &size);

	if (image_adopt(file, size, &image) < 0)
		abort();
	return image;
}
