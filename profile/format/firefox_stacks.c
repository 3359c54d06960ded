/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the frames of format "firefox", and the tree of all stacks. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/compare.h"
#include "profile/format/firefox.h"
#include "profile/profile.h"

struct path {		/* the nodes of a stack */
	uint32_t *node; /* ids, from the root on */
	size_t depth, capacity;
};

/*
 * Adds the frame of a line. Each function of the profile has a row in funcTable, and so has each
 * frame without a function.
 */
static uint32_t add_frame(void *context, const struct format_line *line)
{
	struct firefox *firefox = context;
	struct firefox_frame frame = {
		.location = line->location, .line = line->line, .depth = line->depth};
	const uint32_t id = (uint32_t)firefox->frame_count + 1;

	if (ARRAY_RESERVE(firefox->frames, firefox->frame_capacity, id) < 0)
		return FORMAT_LINE_FAILED;
	if (ARRAY_RESERVE(firefox->own, firefox->own_capacity, firefox->own_count + 1u) < 0)
		return FORMAT_LINE_FAILED;
	frame.function = format_line_function(firefox->profile, line);
	if (!frame.function) {
		firefox->own[firefox->own_count++] = id;
		frame.function = profile_functions(firefox->profile) + firefox->own_count;
	}
	firefox->frames[firefox->frame_count++] = frame;
	return id;
}

/*
 * Compares two stacks by their locations from the root on. In this order, the frames that two
 * stacks share are also shared by all stacks in between.
 */
static int compare_stacks(const void *a, const void *b, void *context)
{
	const uint32_t *a_at, *b_at;
	size_t a_left = profile_stack_get(context, *(const uint32_t *)a, &a_at);
	size_t b_left = profile_stack_get(context, *(const uint32_t *)b, &b_at);

	for (; a_left > 0 && b_left > 0; a_left--, b_left--)
		if (a_at[a_left - 1] != b_at[b_left - 1])
			return compare_numbers(a_at[a_left - 1], b_at[b_left - 1]);
	return compare_numbers(a_left, b_left);
}

/* Returns the id of the node that the path ends in, or 0. */
static uint32_t path_end(const struct path *path)
{
	if (path->depth == 0)
		return 0;
	return path->node[path->depth - 1];
}

static int add_node(struct firefox *firefox, uint32_t frame, struct path *path)
{
	struct firefox_node node = {.frame = frame, .parent = path_end(path)};

	if (firefox->node_count == INT32_MAX)
		return -ENOMEM;
	if (ARRAY_RESERVE(firefox->nodes, firefox->node_capacity, firefox->node_count + 1u) < 0)
		return -ENOMEM;
	if (ARRAY_RESERVE(path->node, path->capacity, path->depth + 1) < 0)
		return -ENOMEM;
	firefox->nodes[firefox->node_count++] = node;
	path->node[path->depth++] = firefox->node_count;
	return 0;
}

/*
 * Returns whether the next node of the path is of this frame. The path holds `length` nodes of the
 * stack before, of which path->depth are shared with this stack so far.
 */
static bool goes_on(const struct firefox *firefox, const struct path *path, size_t length,
		    uint32_t frame)
{
	if (path->depth >= length)
		return false;
	return firefox->nodes[path->node[path->depth] - 1].frame == frame;
}

/*
 * Adds the nodes of a stack. The path has the nodes of the stack before. New nodes begin where this
 * stack leaves the path.
 */
static int add_nodes(struct firefox *firefox, uint32_t stack, struct path *path)
{
	struct format_walk walk = format_walk_begin(&firefox->lines, stack);
	uint32_t frame = format_walk_next(&walk);
	const size_t length = path->depth;
	int r = 0;

	path->depth = 0;
	for (; frame != 0 && goes_on(firefox, path, length, frame); path->depth++)
		frame = format_walk_next(&walk);
	for (; frame != 0 && r == 0; frame = format_walk_next(&walk))
		r = add_node(firefox, frame, path);
	firefox->stacks[stack] = path_end(path);
	return r;
}

static int find_nodes(struct firefox *firefox)
{
	uint32_t count = profile_stacks(firefox->profile);
	uint32_t *order = calloc(count + 1u, sizeof(*order));
	struct path path = {0};
	int r = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i + 1;
	qsort_r(order, count, sizeof(*order), compare_stacks, (void *)firefox->profile);
	for (uint32_t i = 0; i < count && r == 0; i++)
		r = add_nodes(firefox, order[i], &path);
	free(order);
	free(path.node);
	return r;
}

int firefox_stacks_init(struct firefox *firefox)
{
	int r;

	firefox->stacks = calloc(profile_stacks(firefox->profile) + 1u, sizeof(*firefox->stacks));
	if (!firefox->stacks)
		return -ENOMEM;
	r = format_lines_init(&firefox->lines, firefox->profile, add_frame, firefox);
	if (r < 0)
		return r;
	return find_nodes(firefox);
}

void firefox_stacks_release(struct firefox *firefox)
{
	free(firefox->nodes);
	free(firefox->stacks);
	free(firefox->frames);
	format_lines_release(&firefox->lines);
	free(firefox->own);
}
