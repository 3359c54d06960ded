/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/ruby_image.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "object/elf/dynamic.h"
#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/accessor.h"
#include "worker/runtime/loop.h"
#include "worker/runtime/thread_context.h"

#define EVENTS_MAX 8u
#define CANARY_AT  0x28u /* behind the thread pointer: of the stack protector */
#define NAMES_AT   8u	 /* symbol.h: `ids` behind `str_sym` in rb_symbols_t */

/* ---- the version ---- */

/* Reads "3.1.2" at version.c's ruby_version. */
int ruby_image_version(struct image *image, const struct exported *exported, uint32_t *ret_version)
{
	struct exported_symbol symbol;
	struct image_place place;
	unsigned int numbers[3] = {0}, at = 0;
	char text[16] = "";

	if (!exported_find(exported, "ruby_version", &symbol) || symbol.size > sizeof(text) ||
	    image_address_place(image, symbol.address, &place) < 0 ||
	    image_read(image, place.offset, text, symbol.size) != symbol.size)
		return -ENOTSUP;
	for (size_t i = 0; i < symbol.size && text[i] && at < 3; i++) {
		if (text[i] == '.')
			at++;
		else if (text[i] >= '0' && text[i] <= '9' && numbers[at] <= UINT8_MAX / 10)
			numbers[at] = numbers[at] * 10 + (unsigned int)(text[i] - '0');
		else
			return -ENOTSUP;
	}
	if (at != 2 || numbers[0] > UINT8_MAX || numbers[1] > UINT8_MAX || numbers[2] > UINT8_MAX)
		return -ENOTSUP;
	*ret_version = numbers[0] << 24 | numbers[1] << 16 | numbers[2] << 8;
	return 0;
}

/* ---- the context ---- */

static bool is_variable(const struct accessor_value *value)
{
	return value->loaded &&
	       (value->base == ACCESSOR_MODULE || value->base == ACCESSOR_THREAD_OFFSET ||
		value->base == ACCESSOR_THREAD_DESCRIPTOR ||
		(value->base == ACCESSOR_THREAD && value->number != CANARY_AT));
}

/* Finds the thread-local variable that a function loads first. */
static int find_variable(struct image *image, const struct exported *exported, const char *function,
			 struct accessor_value *ret_value)
{
	struct exported_symbol symbol;
	struct accessor accessor;

	if (!exported_find(exported, function, &symbol))
		return -ENOTSUP;
	accessor_init(&accessor, image, exported, symbol.address);
	for (unsigned int i = 0; i < EVENTS_MAX; i++) {
		const int r = accessor_next(&accessor);

		for (size_t k = 0; k < ACCESSOR_REGISTERS; k++) {
			if (!is_variable(&accessor.reg[k]))
				continue;
			*ret_value = accessor.reg[k];
			return 0;
		}
		if (r < 0)
			break;
	}
	return -ENOTSUP;
}

int ruby_image_root(struct image *image, const struct exported *exported, uint16_t frame,
		    struct runtime_root *ret_root, bool *ret_has_lock)
{
	struct accessor_value variable;
	struct exported_symbol symbol;
	int r;

	*ret_has_lock = exported_find(exported, "ruby_current_execution_context_ptr", &symbol);
	if (*ret_has_lock) {
		*ret_root = (struct runtime_root){
			.pc = symbol.address, .start = RUNTIME_AT_PC, .steps = 1};
	} else if (thread_variable_find(image, "ruby_current_ec", ret_root) < 0) {
		r = find_variable(image, exported, "rb_profile_frames", &variable);
		if (r == 0)
			r = accessor_root(&variable, dynamic_needs_musl(image), ret_root);
		if (r < 0)
			return r;
	}
	ret_root->offset[ret_root->steps++] = frame;
	return 0;
}

/* ---- names ---- */

/*
 * rb_sym_all_symbols() hands `str_sym` of ruby_global_symbols to rb_st_foreach(). That is its first
 * call with an argument from a variable.
 */
uint32_t ruby_image_names(struct image *image, const struct exported *exported)
{
	struct exported_symbol symbol;
	struct accessor accessor;

	if (!exported_find(exported, "rb_sym_all_symbols", &symbol))
		return 0;
	accessor_init(&accessor, image, exported, symbol.address);
	for (unsigned int i = 0; i < EVENTS_MAX; i++) {
		const int r = accessor_next(&accessor);
		const struct accessor_value *argument = &accessor.reg[ACCESSOR_RDI];

		if (r == ACCESSOR_CALL && argument->base == ACCESSOR_NUMBER && argument->loaded &&
		    argument->number < UINT32_MAX - NAMES_AT)
			return (uint32_t)(argument->number + NAMES_AT);
		if (r < 0 && !accessor_turn(&accessor))
			return 0;
	}
	return 0;
}

/* ---- the compiler ---- */

/* ruby.c: a variable of the environment that builds without YJIT do not ask for */
bool ruby_image_compiles(struct image *image)
{
	static const char variable[] = "RUBY_YJIT_ENABLE";
	struct image_bytes texts;

	return image_section(image, ".rodata", &texts) == 0 &&
	       memmem(texts.bytes, texts.size, variable, sizeof(variable)) != NULL;
}

/* ---- the loop ---- */

int ruby_image_loop(struct image *image, const struct exported *exported,
		    struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES])
{
	if (exported_has(exported, "rb_vm_exec"))
		return loop_of_symbol(image, exported, "rb_vm_exec", ret_ranges);
	return loop_jumped_to_by(image, exported, "rb_iseq_eval", ret_ranges);
}
