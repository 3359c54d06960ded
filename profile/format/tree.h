/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree behind the pictures: stacks that begin with the same frames, from the process on,
 * share their first nodes. Inlined functions are frames, too. Frames that look the same are equal,
 * so that a function called from two lines is one node. A node's self counts the samples that end
 * in the node, and its total also those that end below. The root's total is that of the profile. In
 * a difference, base_self and base_total are the self and total of the older profile.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_TREE_H
#define KEYHOLE_PROFILE_FORMAT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

enum tree_kind {
#define K(name, label, light, dark) TREE_##name,
#include "profile/format/kinds.def"
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
	uint32_t object;  /* path of its file */
	uint32_t kind;	  /* enum tree_kind */
	uint32_t inlined; /* 1: into the frame below it */
};

struct tree_place {
	uint32_t object; /* text, 0: none */
	uint32_t file;	 /* text: of the source, 0: not known */
	uint32_t line;	 /* 0: not known */
};

struct tree_node {
	uint32_t frame; /* 0: the root */
	uint32_t parent;
	uint32_t level; /* the root's is 0 */
	uint64_t self, total;
	uint64_t base_self, base_total;
};

struct tree {
	struct intern *texts, *frames, *keys;
	struct tree_node *nodes; /* the root is 0, children come after their parents */
	size_t count, capacity;
	uint32_t levels;	   /* of nodes, one at least */
	struct tree_place *places; /* by frame: where most of its samples are */
	uint32_t *order; /* the nodes, each before its children, the hottest child first */
	uint32_t
		*objects; /* by id of an object's text: how many were met before it in that order */
};

#define TREE_BY_THREAD	1u /* threads above their processes */
#define TREE_DIFFERENCE 2u /* frames have no object: versions of a program are elsewhere */

/* Returns 0 or -ENOMEM; to be released either way. */
int tree_build(struct tree *tree, const struct profile *profile, unsigned int flags);
void tree_release(struct tree *tree);

const char *tree_text(const struct tree *tree, uint32_t id);
const struct tree_frame *tree_frame(const struct tree *tree, uint32_t id); /* id is not 0 */

/* Frames of one kind differ a little. */
#define TREE_SHADES	   8u
#define TREE_SHADE_PERCENT 5u				       /* lighter with each */
unsigned int tree_shade(const struct tree *tree, uint32_t id); /* below TREE_SHADES */

#endif
