/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/lua.h"

#include <errno.h>
#include <string.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/loop.h"
#include "worker/runtime/lua_code.h"
#include "worker/runtime/lua_layout.h"
#include "worker/runtime/lua_names.h"

#define IDENT_BYTES 64u /* of lua_ident, which begin with the version */
#define POINTER	    8u

/* lua.h, lobject.h: types, all versions */
#define TYPE_AT		8u
#define TYPE_THREAD	8u
#define TYPE_CLOSURE	6u
#define CLOSURE_IS_C_AT 10u /* 5.1: a byte; later versions have another type for functions in C */

/* lopcodes.h of 5.1: OP_CALL and OP_TAILCALL are 28 and 29, the lowest 6 bits */
#define CALL_MASK  0x3eu
#define CALL_VALUE 28u

/* lstate.h: bits of CallInfo.callstatus */
struct status {
	uint32_t lua, lua_value;     /* a function in Lua */
	uint32_t fresh, fresh_value; /* for which luaV_execute() was called */
};
static const struct status status_of[] = {
	[2] = {1u << 0, 1u << 0, 1u << 2, 0},	    /* CIST_LUA, CIST_REENTRY */
	[3] = {1u << 1, 1u << 1, 1u << 3, 1u << 3}, /* CIST_LUA, CIST_FRESH */
	[4] = {1u << 1, 0, 1u << 2, 1u << 2},	    /* CIST_C, CIST_FRESH */
	[5] = {1u << 15, 0, 1u << 16, 1u << 16},
};
#define HANDLER_BYTES	 216u /* ldo.c: struct lua_longjmp, all versions, with glibc and musl */
#define MINOR_WITH_ARRAY 1u
#define MINOR_LAST	 5u

/* ---- layout ---- */

static int find_layout(struct image *image, const struct exported *exported,
		       struct lua_layout *ret_layout)
{
	char text[IDENT_BYTES] = "";
	struct exported_symbol ident;
	struct image_place place;
	uint32_t version;
	int r;

	if (!exported_find(exported, "lua_ident", &ident) ||
	    image_address_place(image, ident.address, &place) < 0)
		return -ENOTSUP;
	image_read(image, place.offset, text, sizeof(text) - 1);
	r = lua_version_read(text, &version);
	if (r < 0)
		return r;
	return lua_layout_find(version, ret_layout);
}

/* ---- states and frames ---- */

static void set_states(struct runtime_config *config, const struct lua_layout *layout)
{
	struct runtime_state *state = &config->state;

	config->root[0].start = RUNTIME_AT_SCAN;
	state->type = TYPE_AT;
	state->type_value = TYPE_THREAD;
	state->shared = layout->state_shared;
	state->frame = layout->state_frame;
	state->handler = layout->state_handler;
	state->handler_bytes = HANDLER_BYTES;
	state->main = layout->shared_main;
	state->bytes = (uint16_t)(layout->state_handler + POINTER);
	if (LUA_MINOR(layout->version) == MINOR_LAST)
		config->flags |= RUNTIME_MAIN_WITHIN;
}

/* Until 5.1 frames are an array, and none says more than its function and its place. */
static void set_array(struct runtime_config *config, const struct lua_layout *layout)
{
	config->flags |= RUNTIME_ARRAY | RUNTIME_BORDER_CALLER;
	config->state.instruction = layout->state_place;
	config->state.end = layout->state_end;
	config->border_value = 1; /* of no bits */
	config->call_mask = CALL_MASK;
	config->call_value = CALL_VALUE;
	config->object_mask = 0xffu << 8 * (CLOSURE_IS_C_AT - TYPE_AT);
}

static void set_list(struct runtime_config *config, const struct lua_layout *layout)
{
	const struct status *status = &status_of[LUA_MINOR(layout->version)];
	const uint32_t shift = layout->frame_status % 4u * 8;

	config->previous = layout->frame_previous;
	config->shown = config->border = (uint16_t)(layout->frame_status & ~3u);
	config->shown_mask = status->lua << shift;
	config->shown_value = status->lua_value << shift;
	config->border_mask = status->fresh << shift;
	config->border_value = status->fresh_value << shift;
}

static void set_frames(struct runtime_config *config, const struct lua_layout *layout)
{
	config->flags |= RUNTIME_POINTED | RUNTIME_OBJECT | RUNTIME_BORDER_SHOW;
	config->node_bytes = layout->frame_bytes;
	config->code = layout->frame_function;
	config->code_mask = ~0ull;
	config->instruction = layout->frame_place;
	config->object_type = TYPE_AT;
	config->object_value = TYPE_CLOSURE;
	config->object_code = layout->closure_code;
	if (LUA_MINOR(layout->version) == MINOR_WITH_ARRAY)
		set_array(config, layout);
	else
		set_list(config, layout);
	config->object_mask |= 0xff;
}

static void set_code(struct runtime_config *config, const struct lua_layout *layout)
{
	config->instructions = layout->code_instructions;
	config->count = layout->code_count;
	config->fingerprint[0] = layout->code_first_line;
	config->fingerprint[1] = layout->code_last_line;
	config->fingerprint[2] = layout->code_count;
	config->fingerprint[3] = layout->code_lines_count;
	config->name = layout->code_source;
	config->part[0] = RUNTIME_CODE_ITSELF;
	config->part[1] = layout->code_source;
	config->part[2] = layout->code_source;
	config->part[3] = layout->code_lines;
	config->last_count = layout->code_lines_count;
	config->last_unit = sizeof(uint32_t);
	if (layout->code_anchors != LUA_NONE) {
		config->part[2] = layout->code_anchors;
		config->last_unit = 1;
	}
}

static int configure(struct image *image, struct runtime_setup *ret_setup)
{
	struct runtime_setup setup = {.has_groups = true};
	struct lua_layout *layout = &setup.layout.lua;
	const char *caller = "lua_callk";
	struct exported exported;
	int r = exported_open(image, &exported);

	if (r == 0)
		r = find_layout(image, &exported, layout);
	if (r < 0)
		return r;
	setup.version = layout->version;
	set_states(&setup.config, layout);
	set_frames(&setup.config, layout);
	set_code(&setup.config, layout);
	lua_names_set(&setup.config, layout);
	if (LUA_MINOR(layout->version) == MINOR_WITH_ARRAY)
		caller = "lua_call";
	r = loop_called_by(image, &exported, caller, setup.loop);
	if (r < 0)
		return r;
	setup.config.loop = setup.loop[0].address;
	setup.config.loop_bytes = setup.loop[0].end - setup.loop[0].start;
	*ret_setup = setup;
	return 0;
}

const struct runtime_handler lua_handler = {
	.runtime = RUNTIME_LUA,
	.has_callers_names = true,
	.configure = configure,
	.read_code = lua_code_read,
	.find_line = lua_code_line,
};
