/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/hotspot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/hotspot_code.h"
#include "worker/runtime/hotspot_layout.h"
#include "worker/runtime/runtime.h"

#define MAJOR_SHIFT    24u
#define SECURITY_SHIFT 8u
#define JDK_8	       8u

/* A version that is not there may have frames or numbers of another form. */
static const uint32_t known_majors[] = {JDK_8, 11, 17, 21, 25, 26};

/* frame_x86.hpp: interpreter_frame_bcp_offset */
#define BYTECODE_BELOW_8 56u
#define BYTECODE_BELOW	 64u
/* utilities/unsigned5.hpp: since this version no byte is 0 */
#define EXCLUDES_ZERO 20u
/* virtual threads: bpf/walk/hotspot_chunk.bpf.h */
#define HAS_PIECES 21u

static bool has(uint32_t field)
{
	return field != HOTSPOT_ABSENT;
}

/* Returns whether each of a list of fields is one that BPF can take. */
static bool are_small(const uint32_t *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fields[i] >= HOTSPOT_OFFSET)
			return false;
	return true;
}
#define ARE_SMALL(...)                             \
	are_small((const uint32_t[]){__VA_ARGS__}, \
		  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* ---- the version ---- */

static bool is_known(uint32_t major)
{
	for (size_t i = 0; i < sizeof(known_majors) / sizeof(known_majors[0]); i++)
		if (known_majors[i] == major)
			return true;
	return false;
}

/* Returns a static number of the image, or 0: it is not there. */
static uint32_t read_number(struct image *image, uint32_t address)
{
	struct image_place place;
	uint32_t number;

	if (!has(address) || image_address_place(image, address, &place) < 0 ||
	    image_read(image, place.offset, &number, sizeof(number)) != sizeof(number))
		return 0;
	return number;
}

/* JDK 8 numbers its HotSpot 25, and has one heap. Returns 0: the version is not known. */
static uint32_t find_major(struct image *image, const struct hotspot_layout *layout)
{
	uint32_t major;

	if (has(layout->heap))
		return JDK_8;
	major = read_number(image, layout->major);
	if (major == JDK_8 || !is_known(major))
		return 0;
	return major;
}

/* Returns the version with its last number, which `why` shows: 17.0.15 */
static uint32_t find_version(struct image *image, const struct hotspot_layout *layout,
			     uint32_t major)
{
	const uint32_t security = read_number(image, layout->security);

	if (security > UINT8_MAX)
		return major << MAJOR_SHIFT;
	return major << MAJOR_SHIFT | security << SECURITY_SHIFT;
}

/* ---- heaps ---- */

static int set_heaps(const struct hotspot_layout *layout, struct runtime_hotspot *hotspot)
{
	if (!ARE_SMALL(layout->heap_memory, layout->heap_segments, layout->heap_shift,
		       layout->space_low, layout->space_high, layout->space_begin,
		       layout->block_bytes, layout->queue_start, layout->queue_bytes) ||
	    !has(layout->interpreter) || !has(layout->returns))
		return -ENOTSUP;
	if (has(layout->heap)) {
		hotspot->heaps = layout->heap;
	} else if (has(layout->heaps) && ARE_SMALL(layout->array_count, layout->array_data)) {
		hotspot->heaps = layout->heaps;
		hotspot->heaps_count = (u16)layout->array_count;
		hotspot->heaps_data = (u16)layout->array_data;
	} else {
		return -ENOTSUP;
	}
	hotspot->heap_low = (u16)(layout->heap_memory + layout->space_low);
	hotspot->heap_high = (u16)(layout->heap_memory + layout->space_high);
	hotspot->heap_segments = (u16)(layout->heap_segments + layout->space_begin);
	hotspot->heap_shift = (u16)layout->heap_shift;
	hotspot->block_bytes = (u16)layout->block_bytes;
	hotspot->interpreter = layout->interpreter;
	hotspot->code_start = (u16)layout->queue_start;
	hotspot->code_bytes = (u16)layout->queue_bytes;
	hotspot->returns = layout->returns;
	return 0;
}

/* ---- blobs ---- */

static void cover(u16 *head_bytes, uint32_t field)
{
	const uint32_t end = (field & ~7u) + 8;

	if (end > *head_bytes)
		*head_bytes = (u16)end;
}

static int set_head(const struct hotspot_layout *layout, uint32_t major,
		    struct runtime_hotspot *hotspot)
{
	const uint32_t fields[] = {
		layout->blob_size, layout->blob_complete, layout->blob_frame,
		layout->blob_name, layout->method,	  layout->maps,
	};
	const size_t count = sizeof(fields) / sizeof(fields[0]);

	if (!are_small(fields, count))
		return -ENOTSUP;
	for (size_t i = 0; i < count; i++)
		cover(&hotspot->head_bytes, fields[i]);
	hotspot->size = (u16)layout->blob_size;
	hotspot->complete = (u16)layout->blob_complete;
	hotspot->complete_bytes = sizeof(u32);
	hotspot->frame = (u16)layout->blob_frame;
	hotspot->name = (u16)layout->blob_name;
	hotspot->method = (u16)layout->method;
	hotspot->own = (u16)layout->maps;
	if (has(layout->blob_kind) && has(layout->kind_compiled)) {
		hotspot->kind = (u16)layout->blob_kind;
		hotspot->kind_compiled = (u16)layout->kind_compiled;
		hotspot->complete_bytes = sizeof(u16);
		cover(&hotspot->head_bytes, layout->blob_kind);
	} else if (major > 21) {
		return -ENOTSUP;
	}
	return 0;
}

static struct hotspot_part part(uint32_t at, uint32_t base)
{
	return (struct hotspot_part){(u16)at, (u16)base};
}

/* Where the parts of a blob are: JDK 25 and later have two further pieces of memory for them. */
static int set_parts(const struct hotspot_layout *layout, struct runtime_hotspot *hotspot)
{
	if (layout->pc_offset != 0 || layout->pc_scope != sizeof(u32) ||
	    layout->pc_bytes != HOTSPOT_PLACE_BYTES)
		return -ENOTSUP;
	if (has(layout->code_begin))
		hotspot->code = part(layout->code_begin, HOTSPOT_POINTER);
	else if (has(layout->code_offset))
		hotspot->code = part(layout->code_offset, HOTSPOT_OFFSET);
	else
		return -ENOTSUP;
	cover(&hotspot->head_bytes, hotspot->code.at);
	if (!has(layout->scopes_pcs_offset) || hotspot->head_bytes > RUNTIME_HEAD_BYTES)
		return -ENOTSUP;
	if (has(layout->immutable_data) && has(layout->mutable_data) &&
	    has(layout->scopes_data_offset) && has(layout->relocation_size)) {
		hotspot->scopes = part(layout->scopes_data_offset, layout->immutable_data);
		hotspot->places = part(layout->scopes_pcs_offset, layout->immutable_data);
		hotspot->places_end = hotspot->scopes;
		hotspot->functions = part(layout->relocation_size, layout->mutable_data);
		return 0;
	}
	if (!has(layout->metadata_offset) || !has(layout->dependencies_offset))
		return -ENOTSUP;
	hotspot->places = part(layout->scopes_pcs_offset, HOTSPOT_OFFSET);
	hotspot->places_end = part(layout->dependencies_offset, HOTSPOT_OFFSET);
	hotspot->functions = part(layout->metadata_offset, HOTSPOT_OFFSET);
	if (has(layout->scopes_data))
		hotspot->scopes = part(layout->scopes_data, HOTSPOT_POINTER);
	else if (has(layout->scopes_data_offset))
		hotspot->scopes = part(layout->scopes_data_offset, HOTSPOT_OFFSET);
	else
		return -ENOTSUP;
	return 0;
}

/* ---- functions ---- */

static int set_functions(const struct hotspot_layout *layout, uint32_t major,
			 struct runtime_hotspot *hotspot)
{
	if (!ARE_SMALL(layout->constant, layout->constant_bytes, layout->pool,
		       layout->constant_size, layout->flags, layout->has_lines, layout->code_size,
		       layout->name_index, layout->signature_index, layout->pool_bytes,
		       layout->pool_class, layout->class_name, layout->symbol_length,
		       layout->symbol_body) ||
	    layout->constant_bytes > RUNTIME_HEAD_BYTES)
		return -ENOTSUP;
	hotspot->constant = (u16)layout->constant;
	hotspot->constant_bytes = (u16)layout->constant_bytes;
	hotspot->pool = (u16)layout->pool;
	hotspot->constant_size = (u16)layout->constant_size;
	hotspot->code_size = (u16)layout->code_size;
	hotspot->name_index = (u16)layout->name_index;
	hotspot->signature_index = (u16)layout->signature_index;
	hotspot->pool_bytes = (u16)layout->pool_bytes;
	hotspot->pool_class = (u16)layout->pool_class;
	hotspot->class_name = (u16)layout->class_name;
	if (has(layout->pool_file)) {
		hotspot->file_index = (u16)layout->pool_file;
	} else if (ARE_SMALL(layout->class_file)) {
		hotspot->file_index = (u16)layout->class_file;
		hotspot->file_in_class = 1;
	} else {
		return -ENOTSUP;
	}
	hotspot->bytecode_below = major == JDK_8 ? BYTECODE_BELOW_8 : BYTECODE_BELOW;
	hotspot->excluded = major >= EXCLUDES_ZERO;
	hotspot->has_pieces = major >= HAS_PIECES;
	return 0;
}

/* BPF makes a list of addresses for an event: bpf/walk/hotspot.bpf.h. */
static void set_event(struct runtime_config *config)
{
	config->flags = RUNTIME_HEAPS;
	config->code_mask = ~0ull;
	for (u16 i = 0; i < RUNTIME_PARTS; i++)
		config->part[i] = (u16)(i * sizeof(u64));
	config->last_count = RUNTIME_PARTS * sizeof(u64);
	config->last_unit = sizeof(u64);
}

static int configure(struct image *image, struct runtime_setup *ret_setup)
{
	struct runtime_setup setup = {.is_described = true};
	struct runtime_hotspot *hotspot = &setup.config.hotspot;
	struct hotspot_layout *layout = &setup.layout.hotspot;
	struct exported_symbol inside;
	struct exported exported;
	uint32_t major;
	int r = exported_open(image, &exported);

	if (r < 0 || !exported_find(&exported, "JNI_CreateJavaVM", &inside))
		return -ENOTSUP;
	hotspot->inside = inside.address;
	r = hotspot_layout_read(image, &exported, layout);
	if (r < 0)
		return r;
	major = find_major(image, layout);
	if (major == 0)
		return -ENOTSUP;
	setup.version = find_version(image, layout, major);
	r = set_heaps(layout, hotspot);
	if (r == 0)
		r = set_head(layout, major, hotspot);
	if (r == 0)
		r = set_parts(layout, hotspot);
	if (r == 0)
		r = set_functions(layout, major, hotspot);
	if (r < 0)
		return r;
	set_event(&setup.config);
	*ret_setup = setup;
	return 0;
}

const struct runtime_handler hotspot_handler = {
	.runtime = RUNTIME_HOTSPOT,
	.configure = configure,
	.read_code = hotspot_code_read,
	.find_line = hotspot_code_line,
};
