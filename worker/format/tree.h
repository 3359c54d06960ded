/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree behind the pictures: equal beginnings of stacks are one node, from the process on.
 * Frames are compared by what is seen of them, so a function called from two lines is one node. A
 * node's total is what was sampled in it and below, its self what ended there; the root's total is
 * that of the profile.
 */
#ifndef KEYHOLE_WORKER_FORMAT_TREE_H
#define KEYHOLE_WORKER_FORMAT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/profile/profile.h"

#define TREE_LEVELS_MAX (PROFILE_STACK_MAX + 3u) /* with root, process and thread */

enum tree_kind {
#define K(name, label, light, dark) TREE_##name,
#include "worker/format/kinds.def"
#undef K
	TREE_KINDS
};

struct tree_look {
	const char *name, *label;
	uint32_t light, dark; /* 0xrrggbb */
};
extern const struct tree_look tree_looks[TREE_KINDS];

struct tree_frame { /* texts by id, clean; 0: none */
	uint32_t name;
	uint32_t object; /* path of its file */
	uint32_t kind;	 /* enum tree_kind */
};

struct tree_node {
	uint32_t frame; /* 0: the root */
	uint32_t parent;
	uint32_t level; /* the root's is 0 */
	uint64_t self, total;
};

struct tree {
	struct intern *texts, *frames, *keys;
	struct tree_node *nodes; /* the root is 0, children come after their parents */
	size_t count, capacity;
	uint32_t *order; /* the nodes, each before its children, the hottest child first */
	uint32_t
		*objects; /* by id of an object's text: how many were met before it in that order */
};

/* 0 or -ENOMEM; to be released either way. */
int tree_build(struct tree *tree, const struct profile *profile, bool by_thread);
void tree_release(struct tree *tree);

const char *tree_text(const struct tree *tree, uint32_t id);
const struct tree_frame *tree_frame(const struct tree *tree, uint32_t id); /* id is not 0 */

/* Frames of one kind differ a little. */
#define TREE_SHADES	   8u
#define TREE_SHADE_PERCENT 5u				       /* lighter with each */
unsigned int tree_shade(const struct tree *tree, uint32_t id); /* below TREE_SHADES */

#endif
