/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bpf/memory_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "worker/runtime/cpython.h"
#include "worker/runtime/hotspot.h"
#include "worker/runtime/lua.h"
#include "worker/runtime/luajit.h"
#include "worker/runtime/perl.h"
#include "worker/runtime/php.h"
#include "worker/runtime/ruby.h"
#include "worker/runtime/v8.h"

/* ---- lines ---- */

/* Returns the number of lines before an address. */
static uint32_t place_of(const struct memory_image *image, uint64_t address)
{
	uint32_t first = 0, end = image->head.lines;

	while (first < end) {
		const uint32_t middle = first + (end - first) / 2;

		if (image->line[middle].address < address)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static struct memory_image_line *find(const struct memory_image *image, uint64_t address)
{
	const uint32_t at = place_of(image, address);

	if (at == image->head.lines || image->line[at].address != address)
		return NULL;
	return &image->line[at];
}

/* Adds a line of zeros. Returns NULL without room. */
static struct memory_image_line *add(struct memory_image *image, uint64_t address)
{
	const uint32_t at = place_of(image, address), count = image->head.lines;

	if (count == MEMORY_IMAGE_LINES_MAX)
		return NULL;
	memmove(&image->line[at + 1], &image->line[at], (count - at) * sizeof(*image->line));
	image->line[at] = (struct memory_image_line){.address = address};
	image->head.lines++;
	return &image->line[at];
}

int memory_image_keep(struct memory_image *image, uint64_t address, uint64_t word)
{
	const uint64_t inside = address % MEMORY_IMAGE_LINE;
	struct memory_image_line *line;

	if (!image->line)
		image->line = calloc(MEMORY_IMAGE_LINES_MAX, sizeof(*image->line));
	if (!image->line)
		return -ENOMEM;
	line = find(image, address - inside);
	if (!line)
		line = add(image, address - inside);
	if (!line)
		return -ENOSPC;
	memcpy(line->bytes + inside, &word, sizeof(word));
	return 0;
}

int memory_image_read(const struct memory_image *image, void *to, size_t size, uint64_t address)
{
	unsigned char *next = to;

	while (size > 0) {
		const uint64_t inside = address % MEMORY_IMAGE_LINE;
		const struct memory_image_line *line = find(image, address - inside);
		size_t some = MEMORY_IMAGE_LINE - inside;

		if (!line)
			return -EFAULT;
		if (some > size)
			some = size;
		memcpy(next, line->bytes + inside, some);
		next += some;
		address += some;
		size -= some;
	}
	return 0;
}

bool memory_image_is_hotspot(const struct memory_image *image)
{
	return (image->config.flags & RUNTIME_FRAMES) == RUNTIME_HEAPS;
}

bool memory_image_is_v8(const struct memory_image *image)
{
	return (image->config.flags & RUNTIME_FRAMES) == RUNTIME_FRAMES;
}

bool memory_image_has_code(const struct memory_image *image)
{
	return (image->config.flags & RUNTIME_HEAPS) != 0;
}

bool memory_image_is_ruby(const struct memory_image *image)
{
	return image->config.flags & RUNTIME_CONTROL;
}

bool memory_image_is_perl(const struct memory_image *image)
{
	return (image->config.flags & RUNTIME_SCOPES) != 0;
}

/* Perl's versions begin with 5, too. */
bool memory_image_is_lua(const struct memory_image *image)
{
	return image->head.version >> 24 == LUA_VERSION(0, 0) >> 24 && !memory_image_is_perl(image);
}

bool memory_image_is_luajit(const struct memory_image *image)
{
	return image->head.version >> 24 == 2 && !memory_image_is_ruby(image);
}

bool memory_image_is_php(const struct memory_image *image)
{
	return (image->config.flags & RUNTIME_OWNED) != 0;
}

/* Builds of the columns of luajit_layout.def. */
static const struct {
	const char *year;
	struct luajit_build build;
} builds[] = {
	{"2017", {LUAJIT_BETA, 8, 232, 132, 0, 0, false}},
	{"2022", {LUAJIT_BETA, 16, 352, 192, 736, 88, true}},
	{"2023", {LUAJIT_BETA, 16, 352, 192, 744, 88, true}},
	{"2025", {1737090214, 16, 352, 192, 752, 88, true}},
};
#define BUILDS (sizeof(builds) / sizeof(*builds))

static bool fits(const struct luajit_layout *layout, const struct runtime_config *config)
{
	return config->state.frame == layout->state_base &&
	       (config->trace.bytes == 0 || config->trace.traces == layout->shared_traces);
}

/* Returns the number of the build, or BUILDS. */
static size_t find_luajit(const struct memory_image *image, struct luajit_layout *ret_layout)
{
	size_t i = 0;

	for (; i < BUILDS; i++)
		if (luajit_layout_find(&builds[i].build, ret_layout) == 0 &&
		    fits(ret_layout, &image->config))
			break;
	return i;
}

const char *memory_image_year(const struct memory_image *image)
{
	struct luajit_layout layout;
	const size_t number = find_luajit(image, &layout);

	if (number == BUILDS)
		return NULL;
	return builds[number].year;
}

static int find_cpython(const struct memory_image *image, struct cpython_layout *ret_layout)
{
	unsigned char bytes[MEMORY_IMAGE_DESCRIPTION];
	int r = memory_image_read(image, bytes, sizeof(bytes), image->head.runtime);

	if (r == 0)
		r = cpython_layout_read(bytes, sizeof(bytes), ret_layout);
	if (r == -EFAULT || r == -ENOENT)
		r = cpython_layout_find(image->head.version, ret_layout);
	return r;
}

#define V(interface, major, minor) interface,
static const uint32_t interfaces[] = {
#include "worker/runtime/php_versions.def"
};
#undef V

static int find_php(const struct memory_image *image, struct php_layout *ret_layout)
{
	const uint32_t version = image->head.version & ~0xffffu;
	uint32_t found;

	for (size_t i = 0; i < sizeof(interfaces) / sizeof(*interfaces); i++)
		if (php_layout_find(interfaces[i], ret_layout, &found) == 0 && found == version)
			return 0;
	return -ENOTSUP;
}

/* Sizes of an interpreter, of all columns of perl_layout.def */
static const uint32_t interpreter_bytes[] = {3792, 3760, 3768, 3896, 3776};

static int find_perl(const struct memory_image *image, struct perl_layout *ret_layout)
{
	const uint32_t version = image->head.version & ~0xffffu;

	for (size_t i = 0; i < sizeof(interpreter_bytes) / sizeof(*interpreter_bytes); i++)
		if (perl_layout_find(version, interpreter_bytes[i], ret_layout) == 0)
			return 0;
	return -ENOTSUP;
}

static int find_with_code(const struct memory_image *image, struct runtime_setup *setup)
{
	setup->config = image->config;
	if (memory_image_is_v8(image)) {
		setup->handler = &v8_handler;
		setup->layout.v8 = image->code.layout.v8;
	} else {
		setup->handler = &hotspot_handler;
		setup->layout.hotspot = image->code.layout.hotspot;
	}
	return 0;
}

int memory_image_setup(const struct memory_image *image, struct runtime_setup *ret_setup)
{
	*ret_setup = (struct runtime_setup){.version = image->head.version};
	if (memory_image_has_code(image))
		return find_with_code(image, ret_setup);
	if (memory_image_is_lua(image)) {
		ret_setup->handler = &lua_handler;
		return lua_layout_find(image->head.version, &ret_setup->layout.lua);
	}
	if (memory_image_is_luajit(image)) {
		ret_setup->handler = &luajit_handler;
		return find_luajit(image, &ret_setup->layout.luajit) < BUILDS ? 0 : -ENOTSUP;
	}
	if (memory_image_is_php(image)) {
		ret_setup->handler = &php_handler;
		return find_php(image, &ret_setup->layout.php);
	}
	if (memory_image_is_ruby(image)) {
		ret_setup->handler = &ruby_handler;
		ret_setup->config.flags = image->config.flags;
		return ruby_layout_find(image->head.version, &ret_setup->layout.ruby);
	}
	if (memory_image_is_perl(image)) {
		ret_setup->handler = &perl_handler;
		return find_perl(image, &ret_setup->layout.perl);
	}
	ret_setup->handler = &cpython_handler;
	return find_cpython(image, &ret_setup->layout.cpython);
}

/* ---- files ---- */

static void parse_text(struct reader *reader, size_t size, char *ret_text, size_t room)
{
	const void *bytes = reader_bytes(reader, size);

	ret_text[0] = '\0';
	if (size >= room)
		reader_fail(reader);
	else if (bytes)
		memcpy(ret_text, bytes, size);
	if (bytes && size < room)
		ret_text[size] = '\0';
}

static void parse_frame(struct reader *reader, struct memory_image_frame *frame)
{
	uint16_t name, file;

	frame->line = reader_u32(reader);
	name = reader_u16(reader);
	file = reader_u16(reader);
	parse_text(reader, name, frame->name, sizeof(frame->name));
	parse_text(reader, file, frame->file, sizeof(frame->file));
}

static void parse_line(struct reader *reader, struct memory_image *image, uint32_t number)
{
	struct memory_image_line *line = &image->line[number];
	const void *bytes;

	line->address = reader_u64(reader);
	bytes = reader_bytes(reader, MEMORY_IMAGE_LINE);
	if (bytes)
		memcpy(line->bytes, bytes, MEMORY_IMAGE_LINE);
	if (line->address % MEMORY_IMAGE_LINE != 0 ||
	    (number > 0 && line->address <= line[-1].address))
		reader_fail(reader);
}

/* Mappings are sorted, and lie beside each other at most. */
static bool are_in_order(const struct memory_image_code *code)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < code->mappings; i++) {
		if (code->mapping[i].start < end || code->mapping[i].start >= code->mapping[i].end)
			return false;
		end = code->mapping[i].end;
	}
	return true;
}

uint32_t memory_image_code_bytes(const struct memory_image *image)
{
	const uint32_t bytes = offsetof(struct memory_image_code, layout);

	if (memory_image_is_v8(image))
		return bytes + sizeof(image->code.layout.v8);
	return bytes + sizeof(image->code.layout.hotspot);
}

static int parse_code(struct reader *reader, uint32_t bytes, struct memory_image_code *ret_code)
{
	const void *code = reader_bytes(reader, sizeof(*ret_code));

	if (!code)
		return -EBADMSG;
	memcpy(ret_code, code, sizeof(*ret_code));
	if (ret_code->bytes != bytes)
		return -ESTALE;
	if (ret_code->mappings == 0 || ret_code->mappings > MEMORY_IMAGE_MAPPINGS_MAX ||
	    !are_in_order(ret_code))
		return -EBADMSG;
	return 0;
}

static int parse_head(struct reader *reader, struct memory_image *image)
{
	const void *head = reader_bytes(reader, sizeof(image->head)), *config;

	if (!head)
		return -EBADMSG;
	memcpy(&image->head, head, sizeof(image->head));
	if (image->head.magic != MEMORY_IMAGE_MAGIC || image->head.lines > MEMORY_IMAGE_LINES_MAX ||
	    image->head.frames > MEMORY_IMAGE_FRAMES_MAX)
		return -EBADMSG;
	if (image->head.config_bytes != sizeof(image->config))
		return -ESTALE;
	config = reader_bytes(reader, sizeof(image->config));
	if (!config)
		return -EBADMSG;
	memcpy(&image->config, config, sizeof(image->config));
	if (memory_image_has_code(image))
		return parse_code(reader, memory_image_code_bytes(image), &image->code);
	return 0;
}

int memory_image_parse(const void *bytes, size_t size, struct memory_image *ret_image)
{
	struct reader reader;
	int r;

	*ret_image = (struct memory_image){.frame = NULL};
	reader_init(&reader, bytes, size);
	r = parse_head(&reader, ret_image);
	if (r < 0)
		return r;
	ret_image->frame = calloc(ret_image->head.frames + 1, sizeof(*ret_image->frame));
	ret_image->line = calloc(ret_image->head.lines + 1, sizeof(*ret_image->line));
	if (!ret_image->frame || !ret_image->line)
		return -ENOMEM;
	for (uint32_t i = 0; i < ret_image->head.frames && !reader_failed(&reader); i++)
		parse_frame(&reader, &ret_image->frame[i]);
	for (uint32_t i = 0; i < ret_image->head.lines && !reader_failed(&reader); i++)
		parse_line(&reader, ret_image, i);
	if (reader_failed(&reader))
		return -EBADMSG;
	return 0;
}

void memory_image_release(struct memory_image *image)
{
	free(image->frame);
	free(image->line);
	image->frame = NULL;
	image->line = NULL;
}

static void write_frame(const struct memory_image_frame *frame, FILE *file)
{
	const uint16_t sizes[] = {(uint16_t)strlen(frame->name), (uint16_t)strlen(frame->file)};

	fwrite(&frame->line, sizeof(frame->line), 1, file);
	fwrite(sizes, sizeof(sizes), 1, file);
	fwrite(frame->name, sizes[0], 1, file);
	fwrite(frame->file, sizes[1], 1, file);
}

int memory_image_write(const struct memory_image *image, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -errno;
	fwrite(&image->head, sizeof(image->head), 1, file);
	fwrite(&image->config, sizeof(image->config), 1, file);
	if (memory_image_has_code(image))
		fwrite(&image->code, sizeof(image->code), 1, file);
	for (uint32_t i = 0; i < image->head.frames; i++)
		write_frame(&image->frame[i], file);
	fwrite(image->line, sizeof(*image->line), image->head.lines, file);
	if (fclose(file) != 0)
		return -EIO;
	return 0;
}
