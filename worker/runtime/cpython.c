/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/cpython.h"

#include <errno.h>
#include <stdbool.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/cpython_thread.h"
#include "worker/runtime/cpython_told.h"
#include "worker/runtime/cpython_types.h"
#include "worker/runtime/cpython_version.h"
#include "worker/runtime/loop.h"

#define DESCRIPTION_BYTES 1024u
#define POINTER		  8u
#define STACK_TAGS	  3u /* _PyStackRef, 3.14 on: Py_TAG_BITS */
#define OWNED_BY_C	  3u /* FRAME_OWNED_BY_CSTACK; from 3.14 on FRAME_OWNED_BY_INTERPRETER */
#define IS_ENTRY	  1u
#define LOOP_FOR_EACH	  10u /* 3.10: the last version whose loop calls itself for each function */

#define MINOR(version) ((version) >> 16 & 0xff)

/* ---- layout ---- */

/* Reads what an interpreter says of itself, at the start of _PyRuntime. Returns as that does. */
static int read_description(struct image *image, const struct exported *exported,
			    struct cpython_layout *ret_layout)
{
	unsigned char bytes[DESCRIPTION_BYTES];
	struct exported_symbol runtime;
	struct image_place place;
	size_t size = sizeof(bytes);

	if (!exported_find(exported, "_PyRuntime", &runtime))
		return -ENOTSUP;
	if (image_address_place(image, runtime.address, &place) < 0)
		return -ENOENT; /* until 3.10 it is in .bss */
	if (size > place.size)
		size = place.size;
	size = image_read(image, place.offset, bytes, size);
	return cpython_layout_read(bytes, size, ret_layout);
}

static int find_layout(struct image *image, const struct exported *exported,
		       struct cpython_layout *ret_layout)
{
	uint32_t version;
	int r = read_description(image, exported, ret_layout);

	if (r != -ENOENT)
		return r;
	r = cpython_version(image, exported, &version);
	if (r < 0)
		return r;
	return cpython_layout_find(version, ret_layout);
}

/*
 * Returns whether the offsets of code are those of a known structure: the fields that nothing
 * describes are beside those that are described.
 */
static bool is_code_known(const struct cpython_layout *layout)
{
	if (!layout->is_described)
		return true;
	return layout->code_flags + 4 == layout->code_arguments &&
	       layout->code_keyword_only == layout->code_arguments + 8;
}

static bool is_pointer_place(uint16_t offset, uint16_t end)
{
	return offset % POINTER == 0 && offset + POINTER <= end;
}

/* Returns whether BPF can read all that it wants in a frame and in code. */
static bool is_possible(const struct runtime_config *config)
{
	if (!is_pointer_place(config->previous, config->node_bytes) ||
	    !is_pointer_place(config->code, config->node_bytes) ||
	    !is_pointer_place(config->instruction & ~4u, config->node_bytes) ||
	    config->border + 4 > config->node_bytes || config->instruction % 4 != 0 ||
	    config->copy % 4 != 0 || config->copies % POINTER != 0)
		return false;
	for (size_t i = 0; i < 4; i++)
		if (config->fingerprint[i] % 4 != 0 || config->fingerprint[i] >= config->name)
			return false;
	return is_pointer_place(config->name, CODE_PART_1);
}

/* ---- roots ---- */

static int add_step(struct runtime_root *root, uint16_t offset)
{
	if (offset == CPYTHON_NONE)
		return 0;
	if (root->steps >= RUNTIME_STEPS_MAX)
		return -ENOTSUP;
	root->offset[root->steps++] = offset;
	return 0;
}

/* Makes a root of the thread's state one of its innermost frame. */
static int lead_to_frame(struct runtime_root *root, const struct cpython_layout *layout)
{
	int r;

	if (root->start == RUNTIME_AT_NOTHING)
		return 0;
	r = add_step(root, layout->thread_frame);
	if (r < 0)
		return r;
	return add_step(root, layout->cframe_frame);
}

/*
 * A thread that has released the lock has its state where its key says. That is the state of the
 * thread's first interpreter alone. Until 3.11 one variable has the state that holds the lock,
 * whichever thread's this is. Later versions have a variable of each thread.
 */
static int find_thread(struct image *image, const struct exported *exported, uint32_t minor,
		       struct runtime_config *config)
{
	int r, own;

	if (minor < 12)
		r = cpython_thread_holder(image, exported, &config->root[0]);
	else
		r = cpython_thread_current(image, exported, &config->root[0]);
	own = cpython_thread_own(image, exported, &config->root[1]);
	if (r < 0 && own == 0) {
		config->root[0] = config->root[1];
		config->root[1] = (struct runtime_root){.start = RUNTIME_AT_NOTHING};
		return 0;
	}
	return r;
}

static int set_roots(struct image *image, const struct exported *exported,
		     const struct cpython_layout *layout, struct runtime_config *config)
{
	int r = find_thread(image, exported, MINOR(layout->version), config);

	if (r < 0)
		return r;
	for (size_t i = 0; i < 2 && r == 0; i++)
		r = lead_to_frame(&config->root[i], layout);
	return r;
}

/* ---- frames ---- */

/* A border has a byte of this value. */
static void set_border(struct runtime_config *config, uint16_t offset, uint32_t value)
{
	const uint32_t shift = offset % 4 * 8;

	config->border = offset & (uint16_t)~3u;
	config->border_mask = 0xffu << shift;
	config->border_value = value << shift;
}

/* Include/internal/pycore_frame.h; Python/ceval.c: where frames of the loop begin. */
static void set_activations(struct runtime_config *config, const struct cpython_layout *layout)
{
	const uint32_t minor = MINOR(layout->version);

	if (minor <= LOOP_FOR_EACH) {
		config->flags = RUNTIME_INDEX | RUNTIME_APART;
		config->border_value = 1; /* of no bits: no frame is a border */
	} else if (minor == 11) {
		config->flags = RUNTIME_BORDER_SHOW | RUNTIME_ANCHOR_LIST;
		config->anchor_previous = layout->cframe_previous;
		set_border(config, layout->frame_is_entry, IS_ENTRY);
	} else {
		config->flags = RUNTIME_ANCHOR_NODE;
		set_border(config, layout->frame_owner, OWNED_BY_C);
	}
}

static uint16_t end_of_frame(const struct runtime_config *config)
{
	uint16_t end = config->previous;

	if (config->code > end)
		end = config->code;
	if (config->copy > end)
		end = config->copy;
	if (config->instruction > end)
		end = config->instruction;
	if (config->border > end)
		end = config->border;
	return (uint16_t)((end & ~(POINTER - 1)) + POINTER);
}

static void set_frames(struct runtime_config *config, const struct cpython_layout *layout)
{
	config->code_mask = ~0ull;
	if (MINOR(layout->version) >= 14)
		config->code_mask = ~(u64)STACK_TAGS;
	config->previous = layout->frame_previous;
	config->code = layout->frame_code;
	config->instruction = layout->frame_instruction;
	set_activations(config, layout);
	if (layout->is_without_lock && layout->frame_copy != CPYTHON_NONE) {
		config->flags |= RUNTIME_COPIES;
		config->copies = layout->code_copies;
		config->copy = layout->frame_copy;
	}
	if (!(config->flags & RUNTIME_INDEX))
		config->instructions = layout->code_start;
	config->node_bytes = end_of_frame(config);
}

static void set_code(struct runtime_config *config, const struct cpython_layout *layout)
{
	config->fingerprint[0] = layout->code_arguments;
	config->fingerprint[1] = layout->code_keyword_only;
	config->fingerprint[2] = layout->code_flags;
	config->fingerprint[3] = layout->code_first_line;
	config->name = layout->code_qualified;
	if (config->name == CPYTHON_NONE)
		config->name = layout->code_name;
	config->part[0] = RUNTIME_CODE_ITSELF;
	config->part[1] = config->name;
	config->part[2] = layout->code_file;
	config->part[3] = layout->code_lines;
	config->last_size = layout->bytes_size;
	config->holder = layout->thread_id;
}

static int configure(struct image *image, struct runtime_setup *ret_setup)
{
	struct runtime_setup setup = {0};
	struct exported exported;
	int r = exported_open(image, &exported);

	if (r == 0)
		r = find_layout(image, &exported, &setup.layout.cpython);
	if (r < 0)
		return r;
	set_frames(&setup.config, &setup.layout.cpython);
	set_code(&setup.config, &setup.layout.cpython);
	if (!cpython_types_find(&exported, &setup.types) || !is_code_known(&setup.layout.cpython) ||
	    !is_possible(&setup.config) || setup.config.node_bytes > RUNTIME_NODE_BYTES)
		return -ENOTSUP;
	r = set_roots(image, &exported, &setup.layout.cpython, &setup.config);
	if (r == 0 && MINOR(setup.layout.cpython.version) <= LOOP_FOR_EACH)
		r = loop_of_symbol(image, &exported, "_PyEval_EvalFrameDefault", setup.loop);
	setup.version = setup.layout.cpython.version;
	setup.is_described = setup.layout.cpython.is_described;
	if (r == 0)
		*ret_setup = setup;
	return r;
}

const struct runtime_handler cpython_handler = {
	.runtime = RUNTIME_CPYTHON,
	.configure = configure,
	.read_code = cpython_told_read,
	.find_line = cpython_told_line,
};
