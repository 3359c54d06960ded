/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a profile: each is kept once, as the ids of its locations. */
#ifndef KEYHOLE_PROFILE_STACK_LIST_H
#define KEYHOLE_PROFILE_STACK_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/chunks.h"
#include "base/hash.h"
#include "base/slots.h"

struct stack_list {
	struct hash_key hash_key;
	struct chunks
		words; /* uint32_t: of each stack, the number of its locations and their ids */
	struct chunks places; /* uint32_t: by id, less 1, the index of the stack's first word */
	struct slots slots;
	uint32_t count;
};

int stack_list_init(struct stack_list *list); /* 0 or a negative errno */
void stack_list_release(struct stack_list *list);

/*
 * Returns the id of the stack, from 1 on, or PROFILE_FAILED. A stack without locations has id 0.
 * The caller gives at most PROFILE_STACK_MAX locations.
 */
uint32_t stack_list_add(struct stack_list *list, const uint32_t *locations, size_t count);
/* Adds a stack without a search for an equal one. stack_list_add() never finds this stack. */
uint32_t stack_list_append(struct stack_list *list, const uint32_t *locations, size_t count);
/* Gets the locations, valid until the next stack is added. An unknown id has none. */
size_t stack_list_get(const struct stack_list *list, uint32_t id, const uint32_t **ret_locations);

#endif
