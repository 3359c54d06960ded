/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/php.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/loop.h"
#include "worker/runtime/php_code.h"
#include "worker/runtime/php_layout.h"
#include "worker/runtime/runtime.h"

/* zend_compile.h: in the type of a frame's `This`, all versions */
#define CALL_TOP (1u << 17)

/* ---- the version ---- */

/* zend_build.h: "API20240924,NTS", which modules are compared with; a debug build has more */
#define BUILD_START  "API20"
#define BUILD_END    ",NTS"
#define BUILD_DIGITS 8u

static bool read_build(const unsigned char *at, size_t left, uint32_t *ret_interface)
{
	const size_t start = strlen("API");
	uint32_t number = 0;

	/* with the NUL */
	if (left < start + BUILD_DIGITS + sizeof(BUILD_END) ||
	    memcmp(at + start + BUILD_DIGITS, BUILD_END, sizeof(BUILD_END)) != 0)
		return false;
	for (size_t i = start; i < start + BUILD_DIGITS; i++) {
		if (at[i] < '0' || at[i] > '9')
			return false;
		number = number * 10 + (at[i] - '0');
	}
	*ret_interface = number;
	return true;
}

static int find_interface(struct image *image, uint32_t *ret_interface)
{
	struct image_bytes texts;
	const unsigned char *at, *end;

	if (image_section(image, ".rodata", &texts) < 0)
		return -ENOTSUP;
	end = texts.bytes + texts.size;
	for (at = texts.bytes; at < end; at++) {
		at = memmem(at, (size_t)(end - at), BUILD_START, strlen(BUILD_START));
		if (!at)
			break;
		if (read_build(at, (size_t)(end - at), ret_interface))
			return 0;
	}
	return -ENOTSUP;
}

/* main/main.c: "X-Powered-By: PHP/8.4.27". Adds the last number, which `why` shows. */
static void add_release(struct image *image, uint32_t *version)
{
	char text[32];
	const int size = snprintf(text, sizeof(text), "X-Powered-By: PHP/%u.%u.", *version >> 24,
				  *version >> 16 & 0xff);
	struct image_bytes texts;
	const unsigned char *at, *end;
	uint32_t release = 0;

	if (image_section(image, ".rodata", &texts) < 0)
		return;
	end = texts.bytes + texts.size;
	at = memmem(texts.bytes, texts.size, text, (size_t)size);
	if (!at)
		return;
	for (at += size; at < end && *at >= '0' && *at <= '9' && release <= 0xff; at++)
		release = release * 10 + (*at - '0');
	if (release <= 0xff)
		*version |= release << 8;
}

/* ---- frames ---- */

static int set_root(const struct exported *exported, struct runtime_config *config,
		    const struct php_layout *layout)
{
	struct exported_symbol globals;

	if (!exported_find(exported, "executor_globals", &globals) ||
	    globals.size < layout->globals_frame + sizeof(uint64_t))
		return -ENOTSUP;
	config->root[0] = (struct runtime_root){
		.pc = globals.address + layout->globals_frame, .start = RUNTIME_AT_PC, .steps = 1};
	return 0;
}

/* Each activation of the loop runs the frames up to one that C called. */
static void set_frames(struct runtime_config *config, const struct php_layout *layout)
{
	config->flags = RUNTIME_POINTED | RUNTIME_WIDE | RUNTIME_OWNED | RUNTIME_BORDER_SHOW;
	config->node_bytes = layout->frame_bytes;
	config->previous = layout->frame_previous;
	config->code = layout->frame_function;
	config->code_mask = ~0ull;
	config->instruction = layout->frame_place;
	config->border = layout->frame_info;
	config->border_mask = CALL_TOP;
	config->border_value = CALL_TOP;
	config->shown = layout->frame_result; /* of a generator's frame: the generator */
	config->owner.object = layout->frame_object;
	config->owner.frame = layout->generator_frame;
	config->owner.waiting_count = layout->generator_waiting_count;
	config->owner.waiting = layout->generator_waiting;
	config->owner.placeholder = layout->generator_placeholder;
}

/* A function in C has other fields from code_count on. */
static void set_code(struct runtime_config *config, const struct php_layout *layout)
{
	config->instructions = layout->code_instructions;
	config->count = layout->code_count;
	config->fingerprint[0] = layout->function_type;
	config->fingerprint[1] = layout->code_count;
	config->fingerprint[2] = layout->code_first_line;
	config->fingerprint[3] = layout->code_last_line;
	config->name = layout->function_name;
	config->part[0] = RUNTIME_CODE_ITSELF;
	config->part[1] = layout->function_name;
	config->part[2] = layout->code_file;
	config->part[3] = layout->code_instructions;
	config->last_count = layout->code_count;
	config->last_unit = layout->instruction_bytes;
	config->owner.pointer = layout->function_class;
	config->owner.text = layout->class_name;
	config->owner.data = layout->text_data;
	config->owner.line = layout->instruction_line;
}

static int configure(struct image *image, struct runtime_setup *ret_setup)
{
	struct runtime_setup setup = {.has_groups = true, .makes_in_loop = true};
	struct php_layout *layout = &setup.layout.php;
	struct exported exported;
	uint32_t interface;
	int r = exported_open(image, &exported);

	if (r == 0)
		r = find_interface(image, &interface);
	if (r == 0)
		r = php_layout_find(interface, layout, &setup.version);
	if (r == 0)
		r = set_root(&exported, &setup.config, layout);
	if (r < 0)
		return r;
	set_frames(&setup.config, layout);
	set_code(&setup.config, layout);
	add_release(image, &setup.version);
	r = loop_of_symbol(image, &exported, "execute_ex", setup.loop);
	if (r == 0)
		*ret_setup = setup;
	return r;
}

const struct runtime_handler php_handler = {
	.runtime = RUNTIME_PHP,
	.configure = configure,
	.read_code = php_code_read,
	.find_line = php_code_line,
};
