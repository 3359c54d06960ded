/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names come from hostile files. A short mangled name may stand for gigabytes, as each substitution
 * may double the text. With a parameter pack, libiberty walks all of the text before it prints
 * anything. A C++ name is therefore decoded to its tree first, in which shared parts exist once.
 * The name is printed if the tree is small when written out.
 *
 * libiberty has no way to stop printing. While it prints, it keeps nothing on the heap, so that the
 * callback can leave by longjmp() at the limit. Rust's newer names have hazards of their own:
 * object/symbol/rust_v0.h.
 */
#include "object/symbol/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "object/symbol/rust_v0.h"

#define DEMANGLE_OUTPUT_MAX 16384u
#define DEMANGLE_TREE_MAX   4096u /* nodes when written out */

struct demangled {
	char text[DEMANGLE_OUTPUT_MAX];
	size_t length;
	jmp_buf too_long;
};

struct tree {
	const struct demangle_component *components;
	size_t count;
	uint32_t *sizes; /* by component, written out; 0: not known yet */
};

enum shape {
	BINARY = 0, /* left and right, either may be NULL */
	LEAF,
	LEFT,  /* a tree and a number */
	RIGHT, /* a number and a tree */
};

static const unsigned char shapes[] = {
	[DEMANGLE_COMPONENT_NAME] = LEAF,
	[DEMANGLE_COMPONENT_TEMPLATE_PARAM] = LEAF,
	[DEMANGLE_COMPONENT_FUNCTION_PARAM] = LEAF,
	[DEMANGLE_COMPONENT_SUB_STD] = LEAF,
	[DEMANGLE_COMPONENT_BUILTIN_TYPE] = LEAF,
	[DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE] = LEAF,
	[DEMANGLE_COMPONENT_OPERATOR] = LEAF,
	[DEMANGLE_COMPONENT_CHARACTER] = LEAF,
	[DEMANGLE_COMPONENT_NUMBER] = LEAF,
	[DEMANGLE_COMPONENT_UNNAMED_TYPE] = LEAF,
	[DEMANGLE_COMPONENT_FIXED_TYPE] = LEFT,
	[DEMANGLE_COMPONENT_LAMBDA] = LEFT,
	[DEMANGLE_COMPONENT_DEFAULT_ARG] = LEFT,
	[DEMANGLE_COMPONENT_CTOR] = RIGHT,
	[DEMANGLE_COMPONENT_DTOR] = RIGHT,
	[DEMANGLE_COMPONENT_EXTENDED_OPERATOR] = RIGHT,
};

_Static_assert(offsetof(struct demangle_component, u.s_binary.right) ==
			       offsetof(struct demangle_component, u.s_ctor.name) &&
		       offsetof(struct demangle_component, u.s_binary.right) ==
			       offsetof(struct demangle_component, u.s_dtor.name) &&
		       offsetof(struct demangle_component, u.s_binary.right) ==
			       offsetof(struct demangle_component, u.s_extended_operator.name),
	       "a tree after a number is where the right one is");

/* Returns whether a component lies in the tree's one array; others are of an unknown shape. */
static bool tree_index(const struct tree *tree, const struct demangle_component *at,
		       size_t *ret_index)
{
	uintptr_t offset = (uintptr_t)at - (uintptr_t)tree->components;

	*ret_index = offset / sizeof(*at);
	return at && offset % sizeof(*at) == 0 && *ret_index < tree->count;
}

static uint32_t tree_size(struct tree *tree, const struct demangle_component *at)
{
	uint32_t size = 1;
	size_t index;
	enum shape shape;

	if (!tree_index(tree, at, &index))
		return 0;
	if (tree->sizes[index])
		return tree->sizes[index];
	tree->sizes[index] = DEMANGLE_TREE_MAX; /* a cycle finds this */
	shape = BINARY;
	if ((size_t)at->type < sizeof(shapes))
		shape = shapes[at->type];
	if (shape == BINARY || shape == LEFT)
		size += tree_size(tree, at->u.s_binary.left);
	if (shape == BINARY || shape == RIGHT)
		size += tree_size(tree, at->u.s_binary.right);
	if (size > DEMANGLE_TREE_MAX)
		size = DEMANGLE_TREE_MAX;
	tree->sizes[index] = size;
	return size;
}

/* libiberty's array has two components for each character. */
static bool tree_is_small(const struct demangle_component *root, const void *components,
			  size_t name_length)
{
	struct tree tree = {.components = components, .count = 2 * name_length};
	bool small;

	tree.sizes = calloc(tree.count, sizeof(*tree.sizes));
	small = tree.sizes && tree_size(&tree, root) < DEMANGLE_TREE_MAX;
	free(tree.sizes);
	return small;
}

static void on_piece(const char *piece, size_t length, void *opaque)
{
	struct demangled *demangled = opaque;

	if (length == 0) /* libiberty's Rust part prints empty names as NULL */
		return;
	if (length >= sizeof(demangled->text) - demangled->length)
		longjmp(demangled->too_long, 1);
	memcpy(demangled->text + demangled->length, piece, length);
	demangled->length += length;
}

/* Without parameters, as perf and pprof show names: system_name tells overloads apart. */
static bool print_cplusplus(struct demangle_component *root, struct demangled *demangled)
{
	if (setjmp(demangled->too_long) != 0)
		return false;
	return cplus_demangle_print_callback(DMGL_NO_OPTS, root, on_piece, demangled) != 0;
}

static bool demangle_cplusplus(const char *name, struct demangled *demangled)
{
	void *components = NULL;
	struct demangle_component *root =
		cplus_demangle_v3_components(name, DMGL_NO_OPTS, &components);
	bool done;

	if (!root)
		return false;
	done = tree_is_small(root, components, strlen(name)) && print_cplusplus(root, demangled);
	free(components);
	return done;
}

static bool demangle_rust(const char *name, struct demangled *demangled)
{
	if (name[1] == 'R' && !rust_v0_is_harmless(name))
		return false;
	if (setjmp(demangled->too_long) != 0)
		return false;
	return rust_demangle_callback(name, DMGL_NO_OPTS, on_piece, demangled) != 0;
}

static bool demangle_is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') &&
	       strnlen(name, DEMANGLE_INPUT_MAX + 1) <= DEMANGLE_INPUT_MAX;
}

char *demangle(const char *name)
{
	struct demangled demangled;
	bool done;

	if (!demangle_is_mangled(name))
		return NULL;
	demangled.length = 0;
	done = demangle_rust(name, &demangled);
	if (!done) {
		demangled.length = 0;
		done = demangle_cplusplus(name, &demangled);
	}
	if (!done || demangled.length == 0)
		return NULL;
	return strndup(demangled.text, demangled.length);
}
