/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over an interpreter's list, whose config and memory are the input. */
#include <stdint.h>

#include "tests/fuzz/list_input.h"

#define HEAP  0x600000000000ull
#define STACK 0x7ffe00000000ull

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static u64 heap[512];
static u64 stack[64];

/* Mostly a word that is an address in one of the two regions; the top bits choose. */
static u64 word(u64 value)
{
	if (value >> 61 == 7)
		return value;
	return value >> 63 ? STACK + (value & 0x1f8) : HEAP + (value & 0xff8);
}

/* Offsets of words that a state has; those that do not fit stay as they are. */
static void lead_to_states(struct runtime_config *config)
{
	struct runtime_state *state = &config->state;

	config->root[0].start = RUNTIME_AT_SCAN;
	state->bytes = 64;
	state->type &= 0x3c;
	state->type_value &= 0xff;
	state->shared &= 0x38;
	state->handler &= 0x38;
	state->frame &= 0x38;
	state->main &= 0x38;
}

/* The same for a stack of values, and its traces. */
static void lead_to_stacks(struct runtime_config *config)
{
	struct runtime_stack *values = &config->stack;

	lead_to_states(config);
	config->flags |= RUNTIME_STACKED | RUNTIME_OBJECT | RUNTIME_ANCHOR_LIST;
	config->state.end &= 0x38;
	config->node_bytes = values->head = 32;
	config->previous &= 0x1c;
	config->code &= 0x1c;
	config->object_code &= 0x78;
	config->anchor_previous &= 0x78;
	values->continued &= 0x1c;
	values->callback &= 0x1c;
	values->slots &= 3;
	values->code_head &= 0x78;
	values->anchor_state &= 0x78;
	values->anchor_place &= 0x7c;
	values->anchor_return &= 0x78;
	values->trace_base &= 0xf8;
	config->trace.bytes &= RUNTIME_TRACE_BYTES - 1;
	config->trace.number &= 0xfc;
	config->trace.traces &= 0xf8;
}

/* The same for control frames (Ruby): an array, and environments. */
static void lead_to_control(struct runtime_config *config)
{
	struct runtime_control *control = &config->control;
	u16 *const fields[] = {
		&config->object_type,  &config->object_code,  &config->count,
		&config->instructions, &config->last_count,   &control->thread,
		&control->thread_id,   &control->text_data,   &control->definition,
		&control->owner,       &control->name,	      &control->table,
		&control->class_name,  &control->class_flags, &control->class_object,
		&control->parent,
	};

	config->flags = RUNTIME_CONTROL | RUNTIME_POINTED | (config->flags & RUNTIME_APART);
	config->root[0].steps = 1;
	config->root[0].offset[0] &= 0x1f8;
	config->node_bytes = 56;
	config->object_value &= config->object_mask &= 0xff;
	control->environment &= 0x30;
	control->names &= 0xff8;
	control->operators &= 0xff;
	control->class_mask &= 0xff;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		*fields[i] &= 0x38;
}

/* The same for stacks of scopes (Perl). */
static void lead_to_scopes(struct runtime_config *config)
{
	struct runtime_scopes *scopes = &config->scopes;
	u16 *const fields[] = {
		&scopes->statement,   &scopes->stack,	    &scopes->operation, &scopes->first,
		&scopes->last,	      &scopes->previous,    &scopes->type,	&scopes->called_in,
		&scopes->returns,     &scopes->function,    &scopes->line,	&scopes->file,
		&scopes->kind,	      &scopes->start,	    &scopes->root,	&scopes->name,
		&scopes->package,     &scopes->code_file,   &scopes->flags,	&scopes->text,
		&scopes->other,	      &scopes->package_of,  &scopes->more,	&scopes->texts,
		&scopes->last_bucket, &scopes->texts_count,
	};

	config->flags = RUNTIME_SCOPES;
	config->root[0].steps = 1;
	config->root[0].offset[0] &= 0x1f8;
	config->node_bytes = 96;
	config->part[0] = 0;
	config->part[1] = 8;
	config->part[2] = 16;
	config->part[3] = 24;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		*fields[i] &= 0x38;
}

/* The same for frames with an owner and generators (PHP). */
static void lead_to_owners(struct runtime_config *config)
{
	struct runtime_owner *owner = &config->owner;

	config->flags = RUNTIME_OWNED | RUNTIME_POINTED | RUNTIME_WIDE |
			(config->flags & RUNTIME_BORDER_SHOW);
	config->node_bytes = 80;
	config->shown &= 0x48;
	config->count &= 0x78;
	owner->pointer &= 0x78;
	owner->text &= 0x38;
	owner->data &= 0x38;
	owner->object &= 0x48;
	owner->placeholder &= 0x78;
	owner->frame &= 0x78;
	owner->waiting_count &= 0x78;
	owner->waiting &= 0x78;
}

#define LEADS_SHIFT 4 /* two bits */
static void (*const leads[])(struct runtime_config *config) = {
	NULL,
	lead_to_control,
	lead_to_scopes,
	lead_to_owners,
};

static void take_config(const u8 **data, size_t *size, struct runtime_config *config)
{
	u8 plain = 0, fill = 0;

	filling = 0;
	take(data, size, config, sizeof(*config));
	take(data, size, &plain, 1);
	if (!plain)
		return;
	/* one that leads somewhere */
	config->root[0] = (struct runtime_root){.start = RUNTIME_AT_THREAD, .steps = plain & 3};
	config->node_bytes = plain;
	config->previous &= 0x78;
	config->code_mask |= ~7ull;
	if (leads[plain >> LEADS_SHIFT & 3]) {
		leads[plain >> LEADS_SHIFT & 3](config);
		take(data, size, &fill, 1);
		filling = fill;
	} else if (plain & 4)
		lead_to_states(config);
	if (!(plain >> LEADS_SHIFT & 3) && plain & 8)
		lead_to_stacks(config);
	if (plain < 128)
		return;
	if (!(plain >> LEADS_SHIFT & 3) && !(plain & 8))
		config->node_bytes = RUNTIME_NODE_BYTES;
	config->code &= 0x78;
	config->instruction &= 0x7c;
	config->border &= 0x7c;
	config->copy &= 0x7c;
	config->name &= 0xf8;
	for (u32 i = 0; i < 4; i++) {
		config->fingerprint[i] &= 0xf8;
		config->part[i] &= 0xf8;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct mapping_entry entry = {.start = HEAP, .end = HEAP + 4096, .bias = HEAP};
	struct runtime_config config;
	u32 at;

	if (!host.build.next)
		build_init(&host.build);
	build_reset(&host.build);
	host.region[0] = (struct host_region){HEAP, sizeof(heap), heap};
	host.region[1] = (struct host_region){STACK, sizeof(stack), stack};
	take_config(&data, &size, &config);
	take_words(&data, &size, stack, sizeof(stack) / 8, word);
	take_words(&data, &size, heap, sizeof(heap) / 8, word);
	at = build_words(&host.build, sizeof(config) / 4, 16);
	memcpy(build_at(&host.build, at), &config, sizeof(config));
	entry.runtime = at;
	host.thread = HEAP;
	host.leaf_stack = STACK;
	memcpy(host.leaf, heap, sizeof(host.leaf));
	host.walk.block = build_block(&host.build, &entry, 1);
	host.walk.seed++; /* another version of the mappings */
	host.walk.mappings = 1;
	walk_init(&host.walk);
	begin_time();
	for (u32 i = 0; i < sizeof(stack) / 64; i++) {
		host.walk.frames++;
		runtime_mark(STACK + 64 * (i + 1), HEAP);
	}
	/* code that a runtime made, in a native frame */
	host.may_list = true;
	host.walk.reg[REG_RSP] = STACK;
	host.walk.address = HEAP + 64;
	host.walk.is_part = heap[0] & 1;
	runtime_leave_by_anchor(host.walk.address, STACK);
	host.walk.reason = REASON_cut_not_a_call;
	runtime_refuse();
	host.walk.reason = WALK_GOES_ON;
	if (runtime_begin() == 0)
		step_list();
	check_words();
	check_time();
	return 0;
}
