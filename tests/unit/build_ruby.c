/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_ruby.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_cfi.h"
#include "tests/unit/build_python.h"
#include "worker/runtime/ruby_layout.h"

#define LABEL  0x7f0000020000ull
#define PATH   0x7f0000030000ull
#define LINES  0x7f0000040000ull
#define TABLE  0x7f0000050000ull
#define CLASS_ 0x7f0000060000ull
#define METHOD 0x1000000601aull /* the first word of a method */

#define LOOP	   0x1100u
#define LOOP_BYTES 0x100u
#define ENTRY	   0x1300u
#define FRAMES	   0x1400u
#define SYMBOLS	   0x1500u
#define VERSION	   (PYTHON_DATA + 0x40u)
#define MODULE	   (PYTHON_DATA + 0x20u)
#define CONTEXT	   (PYTHON_DATA + 0x60u)

#define FIRST_PLACES 54u
#define BYTES(...)   ((const unsigned char[]){__VA_ARGS__}), sizeof((unsigned char[]){__VA_ARGS__})

static void put(struct event_code *event, size_t at, const void *bytes, size_t size)
{
	memcpy(event->data + at, bytes, size);
}

static void put_text(struct event_code *event, size_t part, size_t place, size_t end,
		     uint64_t address, const char *text)
{
	size_t size = strlen(text) + 1;

	if (size > end - place)
		size = end - place;
	event->address[part] = address;
	event->bytes[part] = size;
	put(event, place, text, size);
}

/* ---- lines ---- */

/* The table is that of iseq.c's succ_index_table_create(). */
static void put_place(unsigned char *table, uint32_t place, uint32_t rank, bool begins)
{
	uint32_t block, word;
	uint64_t bits;

	if (place < FIRST_PLACES) {
		memcpy(&bits, table + place / 9 * 8, 8);
		bits |= (uint64_t)rank << place % 9 * 7;
		memcpy(table + place / 9 * 8, &bits, 8);
		return;
	}
	place -= FIRST_PLACES;
	block = 48 + place / 512 * 80;
	word = place % 512 / 64;
	if (place % 512 == 0) {
		const uint32_t before = rank - begins;

		memcpy(table + block, &before, sizeof(before));
	}
	if (begins) {
		memcpy(&bits, table + block + 16 + (size_t)word * 8, 8);
		bits |= 1ull << place % 64;
		memcpy(table + block + 16 + (size_t)word * 8, &bits, 8);
	}
	if (place % 64 == 63 && word < 7) {
		uint32_t before;

		memcpy(&before, table + block, sizeof(before));
		memcpy(&bits, table + block + 8, 8);
		bits |= (uint64_t)(rank - before) << word * 9;
		memcpy(table + block + 8, &bits, 8);
	}
}

static void put_table(struct event_code *event, const struct build_ruby *code)
{
	uint32_t rank = 0;

	event->table = TABLE;
	event->table_at = CODE_BYTES - CODE_TABLE_LONG;
	event->table_bytes = CODE_TABLE_LONG;
	for (uint32_t place = 0; place < code->places; place++) {
		const bool begins = rank < code->count && code->lines[rank][0] == place;

		rank += begins;
		put_place(event->data + event->table_at, place, rank, begins);
	}
}

static void put_lines(struct event_code *event, const struct ruby_layout *layout,
		      const struct build_ruby *code)
{
	const uint64_t lines = LINES, table = TABLE;

	put(event, layout->code_count, &code->places, sizeof(code->places));
	put(event, layout->code_line_count, &code->count, sizeof(code->count));
	put(event, layout->code_lines, &lines, sizeof(lines));
	put(event, layout->code_line_table, &table, sizeof(table));
	event->address[3] = LINES;
	event->bytes[3] = (uint64_t)code->count * layout->line_bytes;
	for (uint32_t i = 0; i < code->count; i++)
		put(event, CODE_PART_3 + (size_t)i * layout->line_bytes + layout->line_number,
		    &code->lines[i][1], sizeof(uint32_t));
	put_table(event, code);
}

struct event_code build_ruby(const struct ruby_layout *layout, const struct build_ruby *code)
{
	struct event_code event = {.event = {.kind = EVENT_CODE}, .code = BUILD_RUBY_CODE};
	const uint64_t method = METHOD;
	uint64_t first_line = code->first_line;

	if (layout->code_line_bytes == 8)
		first_line = first_line << 1 | 1;
	event.address[0] = BUILD_RUBY_CODE;
	event.bytes[0] = CODE_PART_1;
	event.named = code->named;
	if (code->label)
		put_text(&event, 1, CODE_PART_1, CODE_PART_2, LABEL, code->label);
	if (code->path)
		put_text(&event, 2, CODE_PART_2, CODE_PART_3, PATH, code->path);
	if (code->class) {
		event.name = CLASS_;
		strncpy((char *)event.text, code->class, sizeof(event.text));
	}
	if (code->is_in_c)
		put(&event, 0, &method, sizeof(method));
	else
		put(&event, layout->code_first_line, &first_line, layout->code_line_bytes);
	if (code->lines)
		put_lines(&event, layout, code);
	return event;
}

/* ---- images ---- */

/* data16 lea MODULE(%rip),%rdi; call __tls_get_addr; mov (%rax),%rdi; ret */
static void add_hidden(struct build_python *image)
{
	build_python_relocation(image, MODULE, R_X86_64_DTPMOD64, 0, 0);
	build_python_function(image, "rb_profile_frames", FRAMES,
			      BYTES(0x66, 0x48, 0x8d, 0x3d, 0x18, 0x2c, 0, 0, /* 0x1408 + 0x2c18 */
				    0x66, 0x66, 0x48, 0xe8, 0, 1, 0, 0,	      /**/
				    0x48, 0x8b, 0x38, 0xc3));
}

static void add_exported(struct build_python *image)
{
	const uint32_t number = build_python_symbol(image, "ruby_current_ec", 8, 8);

	image->symbol[number].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS);
	build_python_relocation(image, MODULE, R_X86_64_DTPMOD64, number, 0);
}

/* mov 0x4200(%rip),%rax; call; mov 0x4200(%rip),%rdi; call */
static void add_names(struct build_python *image)
{
	build_python_function(image, "rb_sym_all_symbols", SYMBOLS,
			      BYTES(0x48, 0x8b, 0x05, 0xf9, 0x2c, 0, 0, /* 0x1507 + 0x2cf9 */
				    0xe8, 0, 1, 0, 0,			/**/
				    0x48, 0x8b, 0x3d, 0xed, 0x2c, 0, 0, /* 0x1513 + 0x2ced */
				    0xe8, 0, 1, 0, 0, 0xc3));
}

static void add_loop(struct build_python *image, enum build_ruby_kind kind,
		     struct build_cfi *frames)
{
	const struct build_cfi_code none = {NULL, 0};
	const size_t cie = build_cfi_usual_cie(frames);

	build_cfi_fde(frames, cie, LOOP, LOOP_BYTES, none);
	build_cfi_fde(frames, cie, ENTRY, 16, none);
	image->eh_frame = frames->bytes;
	image->eh_frame_size = frames->size;
	/* jmp LOOP */
	build_python_function(image, "rb_iseq_eval", ENTRY,
			      BYTES(0xe9, 0xfb, 0xfd, 0xff, 0xff, [15] = 0));
	if (kind != BUILD_RUBY_HIDDEN)
		build_python_symbol(image, "rb_vm_exec", LOOP, LOOP_BYTES);
}

struct image *build_ruby_image(enum build_ruby_kind kind, const char *version)
{
	static struct build_python image;
	static struct build_cfi frames;
	struct image *made;

	memset(&image, 0, sizeof(image));
	memset(&frames, 0, sizeof(frames));
	image.symbols = 1;
	build_python_symbol(&image, "ruby_run_node", 0x1600, 16);
	build_python_symbol(&image, "ruby_version", VERSION, strlen(version) + 1);
	build_python_bytes(&image, VERSION, version, strlen(version) + 1);
	if (kind == BUILD_RUBY_LOCK)
		build_python_symbol(&image, "ruby_current_execution_context_ptr", CONTEXT, 8);
	if (kind == BUILD_RUBY_THREADS) {
		add_exported(&image);
		image.rodata = "RUBY_YJIT_ENABLE";
		image.rodata_size = sizeof("RUBY_YJIT_ENABLE");
	}
	if (kind == BUILD_RUBY_HIDDEN)
		add_hidden(&image);
	add_names(&image);
	add_loop(&image, kind, &frames);
	made = build_python_image(&image);
	free(frames.bytes);
	return made;
}
