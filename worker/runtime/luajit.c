/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/luajit.h"

#include <errno.h>
#include <stdbool.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/loop.h"
#include "worker/runtime/luajit_build.h"
#include "worker/runtime/luajit_code.h"
#include "worker/runtime/luajit_layout.h"
#include "worker/runtime/luajit_names.h"

#define SLOT	  8u
#define POINTER	  8u
#define LONG	  8u		     /* reference_bytes of builds for 64 bits */
#define LONG_REF  ((1ull << 47) - 1) /* lj_obj.h: LJ_GCVMASK */
#define SHORT_REF ((1ull << 32) - 1)

/* lj_obj.h: types of objects; the kind of a function follows its type, and is 0 in Lua */
#define TYPE_STATE    6u
#define TYPE_FUNCTION 8u

/* lj_bc.h: BC_FUNCF to BC_JFUNCV, with which a function in Lua begins */
#define OP_FUNCF     89u
#define FUNCTION_OPS 6u

/* vm_x64.dasc, vm_x86.dasc: BASE is in rdx, PC in rbx; their places in struct pt_regs */
#define LEAF_BASE  12u
#define LEAF_PLACE 5u

#define VERSION (2u << 24 | 1u << 16) /* as Py_Version */

static void set_states(struct runtime_config *config, const struct luajit_layout *layout)
{
	struct runtime_state *state = &config->state;

	config->root[0].start = RUNTIME_AT_SCAN;
	state->type = layout->object_type;
	state->type_value = TYPE_STATE;
	state->shared = layout->state_shared;
	state->frame = layout->state_base;
	state->end = layout->state_stack;
	state->handler = layout->state_native;
	state->handler_bytes = POINTER; /* counted from the return address */
	state->main = layout->shared_main;
	state->bytes = (uint16_t)(layout->state_native + POINTER);
}

/*
 * A head has the function's slot and the link's, or both in one. Before it are the slots of a
 * continuation, whose instruction is in the link's place.
 */
static void set_frames(struct runtime_config *config, const struct luajit_layout *layout)
{
	struct runtime_stack *stack = &config->stack;
	const bool is_long = layout->reference_bytes == LONG;
	const uint16_t half = (uint16_t)(layout->frame_slots * SLOT);

	config->flags |= RUNTIME_STACKED | RUNTIME_OBJECT | RUNTIME_ANCHOR_LIST;
	config->code_mask = is_long ? LONG_REF : SHORT_REF;
	config->node_bytes = stack->head = (uint16_t)(2 * half);
	config->code = half;
	config->previous = (uint16_t)(half + layout->reference_bytes);
	stack->callback = 0;
	stack->continued = layout->reference_bytes;
	stack->slots = layout->frame_slots;
	stack->leaf_base = LEAF_BASE;
	stack->leaf_place = LEAF_PLACE;
	stack->trace_base = layout->shared_trace_base;
	stack->anchor_state = layout->native_state;
	stack->anchor_place = layout->native_place;
	stack->anchor_return = (uint16_t)(layout->native_bytes - POINTER);
	config->anchor_previous = layout->native_previous;
	config->border_value = 1; /* of no bits */
}

/* Until some time behind 2017, no snapshot says where its code begins. */
static void set_traces(struct runtime_config *config, const struct luajit_layout *layout)
{
	struct runtime_trace *trace = &config->trace;

	if (layout->snapshot_code == LUAJIT_NONE)
		return;
	trace->bytes = (uint16_t)(layout->trace_code + POINTER);
	trace->number = layout->shared_running;
	trace->traces = layout->shared_traces;
	trace->constants = layout->trace_constants;
	trace->snapshots = layout->trace_snapshots;
	trace->snapshots_count = layout->trace_snapshots_count;
	trace->entries = layout->trace_entries;
	trace->code = layout->trace_code;
	trace->code_bytes = layout->trace_code_bytes;
	trace->snapshot_bytes = layout->snapshot_bytes;
	trace->snapshot_code = layout->snapshot_code;
	trace->snapshot_first = layout->snapshot_first;
	trace->snapshot_count = layout->snapshot_count;
	trace->head = OP_FUNCF;
	trace->heads = FUNCTION_OPS;
}

static void set_code(struct runtime_config *config, const struct luajit_layout *layout)
{
	const uint32_t shift = layout->object_type % 4u * 8;

	config->object_type = (uint16_t)(layout->object_type & ~3u);
	config->object_mask = 0xffffu << shift;
	config->object_value = TYPE_FUNCTION << shift;
	config->object_code = layout->function_place;
	config->stack.code_head = config->instructions = layout->code_bytes;
	config->count = layout->code_count;
	config->fingerprint[0] = layout->code_first_line;
	/* a pointer into the code, and the last field that BPF needs for names */
	config->fingerprint[1] = layout->code_variables;
	config->fingerprint[2] = layout->code_count;
	config->fingerprint[3] = layout->code_size;
	config->name = (uint16_t)(layout->code_source & ~7u);
	config->part[0] = RUNTIME_CODE_ITSELF;
	config->part[1] = layout->code_source;
	config->part[2] = RUNTIME_CODE_NAMES;
	config->part[3] = layout->code_lines;
	config->last_count = layout->code_size;
	config->last_unit = 0; /* bytes of the code, up to its end */
}

static int configure(struct image *image, struct runtime_setup *ret_setup)
{
	struct runtime_setup setup = {0};
	struct luajit_layout *layout = &setup.layout.luajit;
	struct luajit_build build;
	struct loop_by_hand loop;
	struct exported exported;
	int r = exported_open(image, &exported);

	if (r == 0)
		r = loop_entered_by(image, &exported, "lua_call", &loop);
	if (r == 0)
		r = luajit_build_find(image, &exported, &loop.code, &build);
	if (r == 0)
		r = luajit_layout_find(&build, layout);
	if (r < 0)
		return r;
	setup.version = VERSION;
	set_states(&setup.config, layout);
	set_frames(&setup.config, layout);
	set_traces(&setup.config, layout);
	setup.lacks_traces = setup.config.trace.bytes == 0;
	set_code(&setup.config, layout);
	luajit_names_set(&setup.config, layout);
	setup.config.stack.inside = loop.inside;
	*ret_setup = setup;
	return 0;
}

const struct runtime_handler luajit_handler = {
	.runtime = RUNTIME_LUAJIT,
	.has_callers_names = true,
	.configure = configure,
	.read_code = luajit_code_read,
	.find_line = luajit_code_line,
	.find_name = luajit_name_find,
};
