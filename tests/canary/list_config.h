/* SPDX-License-Identifier: Apache-2.0 */
/* Configs by which a worker that was taken over leads the walk to the nodes of a victim. */
#ifndef KEYHOLE_TESTS_CANARY_LIST_CONFIG_H
#define KEYHOLE_TESTS_CANARY_LIST_CONFIG_H

#include <stddef.h>

#include "bpf/abi.h"
#include "tests/canary/victim.h"

typedef struct runtime_config make_config(const struct victim *victim, uint32_t step);

#define SAME   offsetof(struct secret_node, same)
#define OWN    offsetof(struct secret_node, own)
#define SECRET offsetof(struct secret_node, secret)

/* A list over all nodes, of which each frame shows 32 bits. code: where nodes have a pointer. */
static inline struct runtime_config over_nodes(const struct victim *victim, uint16_t code,
					       uint16_t secret)
{
	return (struct runtime_config){
		.root = {{.start = RUNTIME_AT_PC, .pc = victim->nodes - victim->leaf}},
		.code_mask = ~0ull,
		.border_value = 1, /* of no bits */
		.node_bytes = sizeof(struct secret_node),
		.previous = offsetof(struct secret_node, next),
		.code = code,
		.instruction = secret,
		.flags = RUNTIME_INDEX,
		.fingerprint = {SECRET, SECRET + 4, SECRET + 8, SECRET + 12},
		.name = offsetof(struct secret_node, next),
		.part = {RUNTIME_CODE_ITSELF, 8, 8, RUNTIME_CODE_ITSELF},
		.last_size = SECRET, /* mostly more than fits */
	};
}

/*
 * HotSpot's interpreter has called nodes. A node is the function, its constant part, its pool and
 * its class. With each step other bytes are the name of the class, and the function is new.
 */
static inline struct runtime_config over_heap(const struct victim *victim, uint32_t step)
{
	const u64 variables = victim->heap - victim->text;

	return (struct runtime_config){
		.flags = RUNTIME_HEAPS,
		.part = {0, 8, 16, 24},
		.hotspot = {.inside = victim->leaf_end + 16 - victim->text,
			    .heaps = variables,
			    .interpreter = variables,
			    .returns = variables + offsetof(struct fake_heap, returns),
			    .heap_low = offsetof(struct fake_heap, returns),
			    .code_start = offsetof(struct fake_heap, code),
			    .code_bytes = offsetof(struct fake_heap, code_bytes),
			    .head_bytes = 8,
			    .constant = OWN,
			    .constant_bytes = sizeof(struct secret_node),
			    .constant_size = SECRET + step % 3 * 8,
			    .pool = OWN,
			    .pool_class = OWN,
			    .class_name = OWN,
			    .name_index = (SECRET + step * 2) % 64 & ~7u,
			    .signature_index = SECRET,
			    .pool_bytes = (u16)(step * 64),
			    .file_index = SECRET,
			    .bytecode_below = 40},
		.last_count = 32,
		.last_unit = 8,
	};
}

/* V8 has called nodes, which are functions, scripts and texts, too. */
static inline struct runtime_config over_frames(const struct victim *victim, uint32_t step)
{
	const u16 length = sizeof(u64) + 4;

	return (struct runtime_config){
		.flags = RUNTIME_FRAMES,
		.part = {0, 8, 16, 24},
		.v8 = {.inside = victim->leaf_end + 16 - victim->text,
		       .shared_bytes = 64,
		       .shared_data = (u16)(16 + step % 6 * 8),
		       .shared_number = (u16)(16 + step / 6 % 6 * 8),
		       .map_type = 8,
		       .type_shared = VICTIM_TYPE,
		       .type_script = VICTIM_TYPE,
		       .type_bytecode = 1,
		       .type_scope = 2,
		       .type_code = 3,
		       .type_text_end = VICTIM_TYPE + 1,
		       .text_length = length,
		       .text_data = (u16)(step * 64)},
	};
}

#endif
