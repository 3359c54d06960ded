/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the call tree behind the pictures. Stacks that begin with the same frames, from the process
 * on, share their first nodes. Inlined functions are frames, too. Frames that look the same are
 * equal, so that a function called from two lines is one node. Functions of a runtime's language
 * look the same if they also begin at one place. A node's self counts the samples
 * that end in the node, and its total also counts the samples that end below the node. The root's
 * total counts all samples. In a difference, base_self and base_total are the self and total of the
 * older profile.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_TREE_H
#define KEYHOLE_PROFILE_FORMAT_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

enum tree_kind {
#define K(name, label, is_function, light, dark) TREE_##name,
#include "profile/format/kinds.def"
#undef K
	TREE_KINDS
};

struct tree_look {
	const char *name, *label;
	uint32_t is_function; /* 0 or 1 */
	uint32_t light, dark; /* 0xrrggbb */
};
extern const struct tree_look tree_looks[TREE_KINDS];

enum tree_change {
#define C(name, word, light, dark) TREE_##name,
#include "profile/format/changes.def"
#undef C
	TREE_CHANGES
};

struct tree_change_look {
	const char *word;
	uint32_t light, dark; /* 0xrrggbb */
};
extern const struct tree_change_look tree_change_looks[TREE_CHANGES];

struct tree_frame {
	uint32_t name;	  /* text */
	uint32_t object;  /* text: path of its file; 0: none, or a difference */
	uint32_t kind;	  /* enum tree_kind */
	uint32_t inlined; /* 1: into the frame of the parent's node */
	/* of a runtime's language, whose functions may share names; else 0, as in a difference */
	uint32_t file; /* text: path of the source; 0: not known */
	uint32_t line; /* at which the function begins; 0: not known */
};

struct tree_place {
	uint32_t object; /* text: path of its file; 0: none */
	uint32_t file;	 /* text: path of the source; 0: not known */
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
	struct intern *texts;	   /* clean */
	struct intern *frames;	   /* struct tree_frame */
	struct intern *keys;	   /* of nodes: parent and frame; the id is the node's index */
	struct tree_node *nodes;   /* the root is 0, children come after their parents */
	size_t count, capacity;	   /* of nodes */
	uint32_t levels;	   /* of nodes, one at least */
	double most;		   /* of a difference: the change that has the full colour */
	struct tree_place *places; /* by frame: tree_places.h */
	uint32_t *order;   /* the nodes, each before its children, the hottest child first */
	uint32_t *objects; /* by text: an object's number in order[], from 1 on; 0: no object */
};

#define TREE_BY_THREAD	1u /* threads are frames between processes and functions */
#define TREE_DIFFERENCE 2u /* frames have no object: versions of a program are elsewhere */
#define TREE_OFF_CPU	4u /* counts are times of threads, on and off the CPU */

/*
 * Makes the tree. `flags` are TREE_*, without TREE_KINDS. The profile may go afterwards.
 * Returns 0 or -ENOMEM. The caller releases the tree either way.
 */
int tree_build(struct tree *tree, const struct profile *profile, unsigned int flags);
void tree_release(struct tree *tree); /* also of zeros */

/* Returns a clean text, valid until tree_release(); "" for 0. */
const char *tree_text(const struct tree *tree, uint32_t id);
/* Returns a frame, valid until tree_release(). The caller gives no id 0: the root has no frame. */
const struct tree_frame *tree_frame(const struct tree *tree, uint32_t id);

/* Return a number as a share of all samples, of the profile or of the older profile: 0 to 1. */
double tree_share(const struct tree *tree, uint64_t samples);
double tree_base_share(const struct tree *tree, uint64_t samples);
/* Returns a node's share in the profile less the share in the older profile: -1 to 1. */
double tree_change(const struct tree *tree, const struct tree_node *node);
/*
 * Returns how far the colour of a node's change is from TREE_SAME: 0 to 1. The largest change of
 * all nodes has the full colour, if it is TREE_CHANGE_LEAST_PERCENT or more. In between, the
 * strength follows a parabola, which is steep at first: small changes are visible. The page's
 * Graph.changeColour() does the same.
 */
double tree_strength(const struct tree *tree, double change);
#define TREE_CHANGE_LEAST_PERCENT 1u /* of all samples */

/* TREE_OFF_CPU: returns which part of a node's time is off the CPU, 0 to 1. */
double tree_off_share(const struct tree_node *node);
/* The colour of a node goes so far towards that of TREE_WAIT if all of its time is off the CPU. */
#define TREE_OFF_PERCENT 75u

/* Returns the shade of a frame, below TREE_SHADES: frames of one kind differ a little. */
unsigned int tree_shade(const struct tree *tree, uint32_t frame);
#define TREE_SHADES	   8u
#define TREE_SHADE_PERCENT 5u /* a shade is that much lighter than the one before */

#endif
