/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, frames and texts are interned. Ids count up: a child has a higher id than its parent. */
#include "profile/format/tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "base/array.h"
#include "base/compare.h"
#include "base/intern.h"
#include "base/map.h"
#include "profile/format/lines.h"
#include "profile/format/names.h"
#include "profile/format/tree_places.h"

const struct tree_look tree_looks[TREE_KINDS] = {
#define K(name, label, is_function, light, dark) {#name, label, is_function, light, dark},
#include "profile/format/kinds.def"
#undef K
};

const struct tree_change_look tree_change_looks[TREE_CHANGES] = {
#define C(name, word, light, dark) {word, light, dark},
#include "profile/format/changes.def"
#undef C
};

_Static_assert(sizeof(struct tree_frame) == 24, "a key has no padding");

struct node_key {
	uint32_t parent, frame;
};

struct builder {
	struct tree *tree;
	const struct profile *profile;
	unsigned int flags;
	uint32_t pair;		    /* text: the name of two processes that are versions; 0: none */
	uint32_t now, base;	    /* strings: their names on each side of the difference */
	struct format_lines frames; /* ids of tree->frames */
};

static uint32_t add_frame(struct tree *tree, const struct tree_frame *frame)
{
	if (frame->name == INTERN_FAILED || frame->object == INTERN_FAILED ||
	    frame->file == INTERN_FAILED)
		return INTERN_FAILED;
	return intern_add(tree->frames, frame, sizeof(*frame));
}

static const enum tree_kind kinds[] = {
	[KIND_NATIVE] = TREE_NATIVE, [KIND_KERNEL] = TREE_KERNEL, [KIND_ANON] = TREE_ANON,
	[KIND_SCRIPT] = TREE_SCRIPT, [KIND_MARKER] = TREE_MARKER,
};

/* Tells functions of one name apart, which languages have that leave out names or classes. */
static void add_begin(const struct builder *builder, const struct format_line *line,
		      struct tree_frame *frame)
{
	const struct profile_function *function =
		profile_function_get(builder->profile, line->function);

	if (frame->kind != TREE_SCRIPT || !function)
		return;
	frame->file = format_intern_clean(builder->tree->texts,
					  profile_string_get(builder->profile, function->file));
	frame->line = format_first_line(function);
}

static uint32_t line_frame(void *context, const struct format_line *line)
{
	const struct builder *builder = context;
	struct tree_frame frame = {
		.kind = kinds[profile_location_kind(builder->profile, line->location)],
		.inlined = line->depth > 0};
	struct intern *texts = builder->tree->texts;
	char room[OFFSET_NAME_BYTES];

	const char *raw = format_line_name(builder->profile, line, room);

	if (frame.kind == TREE_MARKER && profile_state_is_frame(raw))
		frame.kind = TREE_WAIT;
	frame.name = format_intern_clean(texts, raw);
	if (!(builder->flags & TREE_DIFFERENCE)) {
		frame.object = format_intern_clean(
			texts, format_location_file(builder->profile, line->location));
		add_begin(builder, line, &frame);
	}
	return add_frame(builder->tree, &frame);
}

/* ---- nodes ---- */

static int add_node(struct tree *tree, struct tree_node node)
{
	if (ARRAY_RESERVE(tree->nodes, tree->capacity, tree->count + 1) < 0)
		return -ENOMEM;
	tree->nodes[tree->count++] = node;
	if (node.level >= tree->levels)
		tree->levels = node.level + 1;
	return 0;
}

/* Moves *node to its child of that frame, which is made if need be. */
static int descend(struct tree *tree, uint32_t *node, uint32_t frame)
{
	struct node_key key = {.parent = *node, .frame = frame};
	uint32_t id;
	int r = 0;

	if (frame == INTERN_FAILED)
		return -ENOMEM;
	id = intern_add(tree->keys, &key, sizeof(key));
	if (id == INTERN_FAILED)
		return -ENOMEM;
	if (id == tree->count)
		r = add_node(tree, (struct tree_node){.frame = frame,
						      .parent = *node,
						      .level = tree->nodes[*node].level + 1});
	*node = id;
	return r;
}

#define NO_PROCESS   UINT32_MAX
#define PAIR_PERCENT 80 /* of the samples in processes of a side's own, at least */

/* Returns how many samples of a side each name of a process has, or NULL: no memory. */
static struct map *count_processes(const struct profile *profile, bool base)
{
	const size_t count = profile_samples(profile);
	struct map *counts = map_new();

	for (size_t i = 0; counts && i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);
		const uint64_t samples = base ? sample.base : sample.count;
		uintptr_t sum = (uintptr_t)map_get(counts, sample.process_name) + samples;

		if (samples == 0 || map_put(counts, sample.process_name, (void *)sum) == 0)
			continue;
		map_free(counts);
		return NULL;
	}
	return counts;
}

/* Returns the name that has most of the samples whose names the other side lacks, or NO_PROCESS. */
static uint32_t own_process(const struct map *side, const struct map *other)
{
	uint64_t key, most = 0, all = 0;
	uint32_t name = NO_PROCESS;
	size_t cursor = 0;
	void *value;

	while (map_next(side, &cursor, &key, &value)) {
		const uint64_t samples = (uintptr_t)value;

		if (map_get(other, key))
			continue;
		all += samples;
		if (samples <= most)
			continue;
		most = samples;
		name = (uint32_t)key;
	}
	if (most < all / 100 * PAIR_PERCENT + all % 100 * PAIR_PERCENT / 100)
		return NO_PROCESS;
	return name;
}

/*
 * Pairs the names of processes that only one profile has, if each profile has one that counts. The
 * versions of a program are often files of different names: "app-v1 -> app-v2".
 */
static int pair_processes(struct builder *builder)
{
	const struct profile *profile = builder->profile;
	struct map *now = count_processes(profile, false), *base = count_processes(profile, true);
	char text[2 * FORMAT_NAME_MAX];

	if (now && base) {
		builder->now = own_process(now, base);
		builder->base = own_process(base, now);
	}
	map_free(now);
	map_free(base);
	if (!now || !base)
		return -ENOMEM;
	if (builder->now == NO_PROCESS || builder->base == NO_PROCESS)
		return 0;
	snprintf(text, sizeof(text), "%s -> %s", format_process_name(profile, builder->base),
		 format_process_name(profile, builder->now));
	builder->pair = format_intern_clean(builder->tree->texts, text);
	if (builder->pair == INTERN_FAILED)
		return -ENOMEM;
	return 0;
}

static uint32_t process_frame(const struct builder *builder, const struct profile_sample *sample)
{
	struct tree_frame frame = {.kind = TREE_PROCESS};
	const uint32_t name = sample->process_name;

	if (builder->pair && (name == builder->now || name == builder->base))
		frame.name = builder->pair;
	else
		frame.name = format_intern_clean(builder->tree->texts,
						 format_process_name(builder->profile, name));
	return add_frame(builder->tree, &frame);
}

static uint32_t thread_frame(const struct builder *builder, const struct profile_sample *sample)
{
	struct tree_frame frame = {.kind = TREE_THREAD};
	char clean[FORMAT_THREAD_MAX];

	format_thread_name(clean, profile_string_get(builder->profile, sample->thread_name),
			   sample->tid);
	frame.name = intern_string(builder->tree->texts, clean);
	return add_frame(builder->tree, &frame);
}

static int descend_stack(struct builder *builder, uint32_t *node, uint32_t stack)
{
	struct format_walk walk = format_walk_begin(&builder->frames, stack);
	uint32_t frame = format_walk_next(&walk);
	int r = 0;

	for (; frame != 0 && r == 0; frame = format_walk_next(&walk))
		r = descend(builder->tree, node, frame);
	return r;
}

static int add_sample(struct builder *builder, const struct profile_sample *sample)
{
	uint32_t node = 0;
	int r;

	r = descend(builder->tree, &node, process_frame(builder, sample));
	if (r == 0 && builder->flags & TREE_BY_THREAD)
		r = descend(builder->tree, &node, thread_frame(builder, sample));
	if (r == 0)
		r = descend_stack(builder, &node, sample->stack);
	if (r < 0)
		return r;
	builder->tree->nodes[node].self += sample->count;
	if (!(builder->flags & TREE_OFF_CPU))
		builder->tree->nodes[node].base_self += sample->base;
	else if (sample->state != STATE_CPU)
		builder->tree->nodes[node].base_self += sample->count;
	return 0;
}

static int add_samples(struct builder *builder)
{
	const size_t count = profile_samples(builder->profile);
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct profile_sample sample = profile_sample_get(builder->profile, i);

		r = add_sample(builder, &sample);
	}
	return r;
}

static void add_up(struct tree *tree)
{
	for (size_t id = tree->count; id-- > 0;) {
		struct tree_node *node = &tree->nodes[id];

		node->total += node->self;
		node->base_total += node->base_self;
		if (id > 0) {
			tree->nodes[node->parent].total += node->total;
			tree->nodes[node->parent].base_total += node->base_total;
		}
	}
}

static void find_most(struct tree *tree)
{
	tree->most = TREE_CHANGE_LEAST_PERCENT / 100.0;
	for (size_t id = 0; id < tree->count; id++) {
		double change = fabs(tree_change(tree, &tree->nodes[id]));

		if (change > tree->most)
			tree->most = change;
	}
}

/*
 * Compares by parent, so that siblings are together. Siblings ascend by samples: order_nodes()
 * takes the last sibling first, and thus the hottest.
 */
static int compare_siblings(const void *a, const void *b, void *context)
{
	const struct tree *tree = context;
	const struct tree_node *a_node = &tree->nodes[*(const uint32_t *)a];
	const struct tree_node *b_node = &tree->nodes[*(const uint32_t *)b];
	const struct tree_frame *a_frame, *b_frame;
	int order = compare_numbers(a_node->parent, b_node->parent);

	if (order == 0)
		order = compare_numbers(a_node->total, b_node->total);
	if (order == 0)
		order = compare_numbers(a_node->base_total, b_node->base_total);
	if (order != 0)
		return order;
	a_frame = tree_frame(tree, a_node->frame);
	b_frame = tree_frame(tree, b_node->frame);
	order = strcmp(tree_text(tree, b_frame->name), tree_text(tree, a_frame->name));
	if (order == 0)
		order = strcmp(tree_text(tree, b_frame->object), tree_text(tree, a_frame->object));
	if (order == 0)
		order = compare_numbers(b_frame->kind, a_frame->kind);
	if (order != 0)
		return order;
	return compare_numbers(b_frame->inlined, a_frame->inlined);
}

/* Finds children: those of node n are sorted[firsts[n]] to sorted[firsts[n + 1] - 1]. */
static void find_children(const struct tree *tree, const uint32_t *sorted, uint32_t *firsts)
{
	size_t at = 0;

	for (size_t id = 0; id <= tree->count; id++) {
		firsts[id] = (uint32_t)at;
		while (at < tree->count - 1 && tree->nodes[sorted[at]].parent == id)
			at++;
	}
}

/* Orders the nodes. Children wait on a stack, so that the last of sorted[] comes first. */
static void order_nodes(struct tree *tree, const uint32_t *sorted, const uint32_t *firsts,
			uint32_t *waiting)
{
	size_t count = 0, done = 0;
	uint32_t id;

	waiting[count++] = 0;
	while (count > 0) {
		id = waiting[--count];
		tree->order[done++] = id;
		for (uint32_t at = firsts[id]; at < firsts[id + 1]; at++)
			waiting[count++] = sorted[at];
	}
}

static int set_order(struct tree *tree)
{
	guard_free uint32_t *sorted = calloc(tree->count, sizeof(*sorted));
	guard_free uint32_t *firsts = calloc(tree->count + 1, sizeof(*firsts));
	guard_free uint32_t *waiting = calloc(tree->count, sizeof(*waiting));

	tree->order = calloc(tree->count, sizeof(*tree->order));
	if (!sorted || !firsts || !waiting || !tree->order)
		return -ENOMEM;
	for (uint32_t id = 1; id < tree->count; id++)
		sorted[id - 1] = id;
	qsort_r(sorted, tree->count - 1, sizeof(*sorted), compare_siblings, tree);
	find_children(tree, sorted, firsts);
	order_nodes(tree, sorted, firsts, waiting);
	return 0;
}

/*
 * Numbers the objects in the order of the nodes, so that the objects that show most differ in
 * colour.
 */
static int count_objects(struct tree *tree)
{
	uint32_t known = 0;

	tree->objects = calloc(intern_count(tree->texts), sizeof(*tree->objects));
	if (!tree->objects)
		return -ENOMEM;
	for (size_t i = 1; i < tree->count; i++) {
		uint32_t frame = tree->nodes[tree->order[i]].frame;
		uint32_t object = tree_frame(tree, frame)->object;

		if (object && tree->objects[object] == 0)
			tree->objects[object] = ++known;
	}
	return 0;
}

int tree_build(struct tree *tree, const struct profile *profile, unsigned int flags)
{
	struct builder builder = {.tree = tree, .profile = profile, .flags = flags};
	int r;

	*tree = (struct tree){.texts = intern_new(), .frames = intern_new(), .keys = intern_new()};
	if (!tree->texts || !tree->frames || !tree->keys)
		return -ENOMEM;
	r = add_node(tree, (struct tree_node){0});
	if (r == 0 && flags & TREE_DIFFERENCE)
		r = pair_processes(&builder);
	if (r == 0)
		r = format_lines_init(&builder.frames, profile, line_frame, &builder);
	if (r == 0)
		r = add_samples(&builder);
	if (r == 0)
		r = tree_places_find(tree, &builder.frames);
	format_lines_release(&builder.frames);
	if (r < 0)
		return r;
	add_up(tree);
	find_most(tree);
	r = set_order(tree);
	if (r < 0)
		return r;
	return count_objects(tree);
}

void tree_release(struct tree *tree)
{
	intern_free(tree->texts);
	intern_free(tree->frames);
	intern_free(tree->keys);
	free(tree->nodes);
	free(tree->places);
	free(tree->order);
	free(tree->objects);
}

const char *tree_text(const struct tree *tree, uint32_t id)
{
	return intern_get(tree->texts, id, NULL);
}

const struct tree_frame *tree_frame(const struct tree *tree, uint32_t id)
{
	return intern_get(tree->frames, id, NULL);
}

double tree_share(const struct tree *tree, uint64_t samples)
{
	if (tree->nodes[0].total == 0)
		return 0;
	return (double)samples / (double)tree->nodes[0].total;
}

double tree_base_share(const struct tree *tree, uint64_t samples)
{
	if (tree->nodes[0].base_total == 0)
		return 0;
	return (double)samples / (double)tree->nodes[0].base_total;
}

double tree_change(const struct tree *tree, const struct tree_node *node)
{
	return tree_share(tree, node->total) - tree_base_share(tree, node->base_total);
}

double tree_off_share(const struct tree_node *node)
{
	if (node->total == 0)
		return 0;
	return (double)node->base_total / (double)node->total;
}

double tree_strength(const struct tree *tree, double change)
{
	double part = fabs(change) / tree->most;

	return part * (2 - part);
}

/* The file gives the shade, and the name's hash (FNV-1a) makes it one of two neighbours. */
unsigned int tree_shade(const struct tree *tree, uint32_t id)
{
	const struct tree_frame *frame = tree_frame(tree, id);
	uint32_t hash = 2166136261u;

	for (const char *at = tree_text(tree, frame->name); *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	return tree->objects[frame->object] % (TREE_SHADES / 2) * 2 + (hash ^ hash >> 16) % 2;
}
