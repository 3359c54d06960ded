/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_lua.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_cfi.h"
#include "tests/unit/build_python.h"
#include "worker/runtime/lua_layout.h"

#define SOURCE	0x7f0000020000ull
#define ANCHORS 0x7f0000030000ull
#define LINES	0x7f0000040000ull
#define CALLED	0x7f0000050000ull

#define TYPE_AT	      8u
#define TEXT_SHORT_AT 11u
#define TEXT_AT	      24u
#define LONG_TEXT_AT  40u /* 5.5: behind the structure */
#define SHORT_MAX     40u

static void put(struct event_code *event, size_t at, const void *bytes, size_t size)
{
	if (size > 0)
		memcpy(event->data + at, bytes, size);
}

static void put_number(struct event_code *event, uint16_t at, uint32_t number)
{
	put(event, at, &number, sizeof(number));
}

static void put_part(struct event_code *event, size_t part, uint16_t at, uint64_t address)
{
	put(event, at, &address, sizeof(address));
	event->address[part] = address;
}

/* lobject.h, TString */
static void put_source(struct event_code *event, const struct lua_layout *layout,
		       const char *source)
{
	size_t size = strlen(source), at = CODE_PART_1 + TEXT_AT;
	const int8_t is_long = -1, is_short = (int8_t)size;

	if (size <= SHORT_MAX) {
		put(event, CODE_PART_1 + TEXT_SHORT_AT, &is_short, 1);
	} else if (LUA_MINOR(layout->version) >= 5) {
		const uint64_t text = SOURCE + LONG_TEXT_AT;

		put(event, CODE_PART_1 + TEXT_SHORT_AT, &is_long, 1);
		put(event, at, &text, sizeof(text));
		at = CODE_PART_1 + LONG_TEXT_AT;
	}
	if (size >= CODE_PART_2 - at)
		size = CODE_PART_2 - at;
	put(event, at, source, size);
	event->bytes[1] = CODE_PART_2 - CODE_PART_1;
}

static void put_called(struct event_code *event, const char *called)
{
	size_t size = strlen(called);

	if (size > RUNTIME_TEXT_BYTES - TEXT_AT)
		size = RUNTIME_TEXT_BYTES - TEXT_AT;
	event->name = CALLED;
	event->text[TYPE_AT] = 0x14; /* LUA_VLNGSTR: the variant is another bit */
	event->text[TEXT_SHORT_AT] = (u8)size;
	memcpy(event->text + TEXT_AT, called, size);
}

struct event_code build_lua(const struct lua_layout *layout, const struct build_lua *code)
{
	struct event_code event = {.event = {.kind = EVENT_CODE}, .code = BUILD_LUA_CODE};

	event.address[0] = BUILD_LUA_CODE;
	event.bytes[0] = CODE_PART_1;
	event.data[TYPE_AT] = (u8)layout->code_type;
	put_number(&event, layout->code_first_line, code->first_line);
	put_number(&event, layout->code_lines_count, code->lines_count);
	put_part(&event, 1, layout->code_source, SOURCE);
	put_source(&event, layout, code->source);
	put_part(&event, 3, layout->code_lines, LINES);
	put(&event, CODE_PART_3, code->lines, code->lines_bytes);
	event.bytes[3] = code->lines_bytes;
	event.called_by = code->called_by;
	event.called_in = code->called_in;
	if (code->called)
		put_called(&event, code->called);
	if (layout->code_anchors == LUA_NONE)
		return event;
	put_number(&event, layout->code_anchors_count, code->anchors_count);
	put_part(&event, 2, layout->code_anchors, ANCHORS);
	event.bytes[2] = CODE_PART_3 - CODE_PART_2;
	put(&event, CODE_PART_2, code->anchors, CODE_PART_3 - CODE_PART_2);
	return event;
}

/* ---- images ---- */

#define IDENT	    (PYTHON_DATA + 0x100u)
#define CALLER	    0x1000u
#define CALL	    0xe8u
#define CODE_BYTES_ 64u

static void put_call(struct build_python *image, uint32_t from, uint32_t to)
{
	const uint32_t distance = to - (from + 5);
	unsigned char call[5] = {CALL};

	memcpy(call + 1, &distance, sizeof(distance));
	build_python_bytes(image, from, call, sizeof(call));
}

struct image *build_lua_image(const char *ident, const char *caller, size_t size)
{
	static struct build_python image;
	static struct build_cfi frames;
	const struct build_cfi_code none = {NULL, 0};
	struct image *made;
	size_t cie;

	memset(&image, 0, sizeof(image));
	memset(&frames, 0, sizeof(frames));
	image.symbols = 1;
	build_python_symbol(&image, "lua_newstate", CALLER + 32, 16);
	if (ident) {
		build_python_symbol(&image, "lua_ident", IDENT, strlen(ident) + 1);
		build_python_bytes(&image, IDENT, ident, strlen(ident) + 1);
	}
	build_python_symbol(&image, caller, CALLER, 32);
	put_call(&image, CALLER + 3, BUILD_LUA_SMALL);
	put_call(&image, BUILD_LUA_SMALL + 7, BUILD_LUA_LARGE);
	/* into the middle of a function */
	put_call(&image, BUILD_LUA_SMALL + 20, CALLER + 48);
	cie = build_cfi_usual_cie(&frames);
	build_cfi_fde(&frames, cie, CALLER, CODE_BYTES_, none);
	build_cfi_fde(&frames, cie, BUILD_LUA_SMALL, CODE_BYTES_, none);
	build_cfi_fde(&frames, cie, BUILD_LUA_LARGE, (uint32_t)size, none);
	image.eh_frame = frames.bytes;
	image.eh_frame_size = frames.size;
	made = build_python_image(&image);
	free(frames.bytes);
	return made;
}
