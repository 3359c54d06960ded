/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/ruby.h"

#include <errno.h>
#include <stdbool.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/ruby_code.h"
#include "worker/runtime/ruby_image.h"
#include "worker/runtime/ruby_layout.h"
#include "worker/runtime/runtime.h"

/* internal/imemo.h: in the first word of an rb_iseq_t, all versions */
#define ISEQ_MASK 0xf01fu
#define ISEQ	  0x701au

/* Each activation of the loop runs the frames up to one with VM_FRAME_FLAG_FINISH. */
static void set_frames(struct runtime_config *config, const struct ruby_layout *layout)
{
	config->flags = RUNTIME_CONTROL | RUNTIME_POINTED;
	config->node_bytes = layout->frame_bytes;
	config->code = layout->frame_code;
	config->code_mask = ~0ull;
	config->instruction = layout->frame_place;
	config->object_mask = ISEQ_MASK;
	config->object_value = ISEQ;
	config->object_code = layout->object_code;
	config->control.environment = layout->frame_environment;
	config->control.definition = layout->method_definition;
	config->control.owner = layout->method_owner;
	config->control.name = layout->definition_name;
	config->control.operators = layout->operators;
	config->control.text_data = layout->text_data;
}

static void set_code(struct runtime_config *config, const struct ruby_layout *layout)
{
	config->instructions = layout->code_instructions;
	config->count = layout->code_count;
	config->fingerprint[0] = layout->code_type;
	config->fingerprint[1] = layout->code_count;
	config->fingerprint[2] = layout->code_first_line;
	config->fingerprint[3] = layout->code_line_count;
	config->name = layout->code_instructions;
	config->part[0] = RUNTIME_CODE_ITSELF;
	config->part[1] = layout->code_label;
	config->part[2] = layout->code_path;
	config->part[3] = layout->code_lines;
	config->last_count = layout->code_line_count;
	config->last_unit = layout->line_bytes;
	config->control.table = layout->code_line_table;
}

/* From 3.4 on, Ruby itself names classes, and evaluated code after that around it. */
static void set_classes(struct runtime_config *config, const struct ruby_layout *layout)
{
	if (layout->class_name == RUBY_NONE)
		return;
	config->control.parent = layout->code_parent;
	config->control.class_name = layout->class_name;
	config->control.class_object = layout->class_object;
	config->control.class_flags = layout->class_flags;
	config->control.class_mask = layout->class_lasting;
	config->control.single_mask = layout->class_single;
}

/*
 * YJIT's code is called by vm_exec() or the loop. At first it pushes r13, r12 and rbx, and then
 * nothing more: yjit_entry_prologue() in 3.1, gen_entry_prologue() from 3.2 on. Code of one
 * function jumps to that of another.
 */
#define YJIT_CFA   32
#define YJIT_SLOTS (3u << 4 | 2u << 8 | 1u << 12) /* rbx, r12, r13 */
/* With --yjit-perf, from 3.3 on, it pushes rbp twice before that: rbp points to the first one. */
#define YJIT_FRAMED_SINCE (3u << 24 | 3u << 16)
#define YJIT_FRAMED_CFA	  16
#define YJIT_FRAMED_SLOTS (1u | 5u << 4 | 4u << 8 | 3u << 12)

static void set_compiled(struct runtime_setup *setup)
{
	setup->own_rule = RULE_MAKE(RULE_SP, 0, YJIT_SLOTS, YJIT_CFA, RULE_FLAG_DERIVED);
	if (setup->version >= YJIT_FRAMED_SINCE)
		setup->own_framed_rule = RULE_MAKE(RULE_BP, 0, YJIT_FRAMED_SLOTS, YJIT_FRAMED_CFA,
						   RULE_FLAG_DERIVED);
}

static int set_root(struct image *image, const struct exported *exported,
		    struct runtime_config *config, const struct ruby_layout *layout)
{
	bool has_lock;
	int r = ruby_image_root(image, exported, layout->context_frame, &config->root[0],
				&has_lock);

	if (r < 0 || !has_lock)
		return r;
	if (layout->thread_id == RUBY_NONE)
		return -ENOTSUP;
	config->control.thread = layout->context_thread;
	config->control.thread_id = layout->thread_id;
	return 0;
}

static int configure(struct image *image, struct runtime_setup *ret_setup)
{
	struct runtime_setup setup = {.has_groups = true};
	struct ruby_layout *layout = &setup.layout.ruby;
	struct exported exported;
	int r = exported_open(image, &exported);

	if (r == 0)
		r = ruby_image_version(image, &exported, &setup.version);
	if (r == 0)
		r = ruby_layout_find(setup.version, layout);
	if (r == 0)
		r = set_root(image, &exported, &setup.config, layout);
	if (r < 0)
		return r;
	set_frames(&setup.config, layout);
	set_code(&setup.config, layout);
	set_classes(&setup.config, layout);
	if (ruby_image_compiles(image))
		set_compiled(&setup);
	setup.config.control.names = ruby_image_names(image, &exported);
	r = ruby_image_loop(image, &exported, setup.loop);
	if (r == 0)
		*ret_setup = setup;
	return r;
}

const struct runtime_handler ruby_handler = {
	.runtime = RUNTIME_RUBY,
	.configure = configure,
	.read_code = ruby_code_read,
	.find_line = ruby_lines_find,
};
