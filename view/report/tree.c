/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints calls from the root on. Memory holds samples and no tree: each node splits its samples by
 * the next function of their stacks. Only parts above the threshold are split further.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/report/view.h"
#include "base/compare.h"

#define DEPTH_MAX 4096u /* of printed calls: print_calls() recurses as deep */

_Static_assert(2 * DEPTH_MAX + 2 <= JSON_DEPTH_MAX, "the deepest tree is JSON");

struct leaf { /* a sample, and how far from the root it is split */
	uint32_t stack;
	uint16_t location; /* how many are behind it */
	uint16_t line;	   /* how many lines of the next location are behind it */
	uint64_t count;
};

_Static_assert(PROFILE_STACK_MAX <= UINT16_MAX, "a leaf counts locations");

struct part { /* samples of a node that go on with the same function */
	uint32_t name;
	size_t first, count;
	uint64_t sum, self;
};

struct report_tree {
	const struct report *report;
	const struct screen *screen;
	struct view_json *to; /* NULL: text */
	struct tally tally;   /* for names and sums */
	struct name_sources sources;
	struct leaf *leaves, *scratch;
	uint64_t threshold;
	struct part *parts; /* by name: those of the node that is split */
	uint32_t *touched;  /* names in parts */
	size_t too_deep;    /* calls deeper than DEPTH_MAX */
	/* Calls below the threshold or too deep, without those below them; and their samples. */
	size_t left_out;
	uint64_t left_out_sum;
};

/* Takes the next function of a stack. Returns 0 at the stack's end. */
static uint32_t next_name(const struct report_tree *tree, struct leaf *leaf)
{
	const struct frames *frames = &tree->tally.frames;
	const uint32_t *locations;
	size_t count = profile_stack_get(tree->report->profile, leaf->stack, &locations);

	for (; leaf->location < count; leaf->location++, leaf->line = 0) {
		const uint32_t id = locations[count - 1 - leaf->location];

		if (leaf->line < frames->first[id + 1] - frames->first[id])
			return frames->ids[frames->first[id + 1] - 1 - leaf->line++];
	}
	return 0;
}

/* Sums the node's samples by their next function. */
static void sum_parts(struct report_tree *tree, const struct part *node, size_t *ret_touched)
{
	size_t touched = 0;
	uint32_t name;

	for (size_t i = node->first; i < node->first + node->count; i++) {
		struct leaf leaf = tree->leaves[i];
		struct part *part;

		name = next_name(tree, &leaf);
		part = &tree->parts[name];
		if (part->count++ == 0)
			tree->touched[touched++] = name;
		part->sum += leaf.count;
		if (name && !next_name(tree, &leaf))
			part->self += leaf.count;
	}
	*ret_touched = touched;
}

/* Moves the samples of each part beside one another, and each sample a function further. */
static void move_leaves(struct report_tree *tree, const struct part *node, size_t touched)
{
	size_t at = node->first;
	uint32_t name;

	for (size_t i = 0; i < touched; i++) {
		struct part *part = &tree->parts[tree->touched[i]];

		part->name = tree->touched[i];
		part->first = at;
		at += part->count;
		part->count = 0;
	}
	for (size_t i = node->first; i < node->first + node->count; i++) {
		struct leaf leaf = tree->leaves[i];

		name = next_name(tree, &leaf);
		tree->scratch[tree->parts[name].first + tree->parts[name].count++] = leaf;
	}
	memcpy(tree->leaves + node->first, tree->scratch + node->first,
	       node->count * sizeof(*tree->leaves));
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->sum != b->sum)
		return compare_numbers(b->sum, a->sum);
	return compare_numbers(a->name, b->name);
}

/* Returns whether the part is shown; name 0 is the samples that end in the node. */
static bool is_shown(const struct report_tree *tree, uint32_t name)
{
	return name && tree->parts[name].sum >= tree->threshold;
}

static void leave_out(struct report_tree *tree, const struct part *part)
{
	tree->left_out++;
	tree->left_out_sum += part->sum;
}

/*
 * Returns the parts of a node above the threshold, the largest first, or NULL without memory. The
 * caller frees the array. A node is split once.
 */
static struct part *split_node(struct report_tree *tree, const struct part *node, size_t *ret_count)
{
	size_t touched, kept = 0;
	struct part *parts;

	sum_parts(tree, node, &touched);
	move_leaves(tree, node, touched);
	for (size_t i = 0; i < touched; i++)
		kept += is_shown(tree, tree->touched[i]);
	parts = calloc(kept + 1, sizeof(*parts));
	*ret_count = 0;
	for (size_t i = 0; i < touched; i++) {
		struct part *part = &tree->parts[tree->touched[i]];

		if (parts && is_shown(tree, tree->touched[i]))
			parts[(*ret_count)++] = *part;
		else if (tree->touched[i])
			leave_out(tree, part);
		memset(part, 0, sizeof(*part));
	}
	if (parts)
		qsort(parts, *ret_count, sizeof(*parts), compare_parts);
	return parts;
}

/* ---- text and JSON ---- */

#define SHARES_COLUMNS 16u

/* A chain of calls keeps its column; "+" begins each of several calls. */
static void print_node(const struct report_tree *tree, const struct part *part, unsigned int indent,
		       bool branch, unsigned int repeats)
{
	const struct screen *screen = tree->screen;
	const double total = screen_percent(part->sum, tree->tally.sum);
	const double self = screen_percent(part->self, tree->tally.sum);
	const unsigned int room = screen->width - SHARES_COLUMNS - 2;
	unsigned int used = SHARES_COLUMNS + 2, left;
	char suffix[32] = "";

	if (indent > room / 2)
		indent = room / 2;
	if (repeats)
		snprintf(suffix, sizeof(suffix), " (%u more)", repeats);
	used += indent + (unsigned int)strlen(suffix);
	screen_style(screen, screen_heat(total));
	fprintf(screen->out, "%6.1f%%", total);
	screen_style(screen, STYLE_PLAIN);
	fprintf(screen->out, "%6.1f%%  %*s%s", self, (int)indent, "", branch ? "+ " : "  ");
	left = screen_room(screen, used);
	left -= screen_name(screen, tally_name(&tree->tally, part->name), left);
	view_print_source(tree->report, &tree->sources, part->name, left);
	fprintf(screen->out, "%s\n", suffix);
}

/* Opens the node's object and the array of its calls; the end of both follows. */
static void put_node(const struct report_tree *tree, const struct part *part)
{
	struct json *json = &tree->to->json;

	json_line(json);
	json_object(json);
	json_key_clean_string(json, "name", tally_name(&tree->tally, part->name));
	view_json_value(tree->to, "self", part->self);
	view_json_value(tree->to, "total", part->sum);
	view_json_source(tree->to, &tree->sources, part->name);
	json_key_array(json, "calls");
}

struct node { /* while it is printed */
	struct part part;
	size_t depth; /* of its calls */
	struct part *calls;
	size_t count;
	unsigned int repeats;
};

static bool calls_only_itself(const struct node *node)
{
	return node->count == 1 && node->calls[0].name == node->part.name;
}

/* Finds the calls of a node. In text, a chain of calls of one function to itself is one node. */
static int find_calls(struct report_tree *tree, struct node *node)
{
	node->calls = split_node(tree, &node->part, &node->count);
	if (tree->to && node->calls)
		return 0;
	while (node->calls && calls_only_itself(node)) {
		const struct part call = node->calls[0];

		free(node->calls);
		node->part.self += call.self;
		node->repeats++;
		node->depth++;
		node->calls = split_node(tree, &call, &node->count);
	}
	if (!node->calls)
		return -ENOMEM;
	return 0;
}

static int print_calls(struct report_tree *tree, const struct node *above, unsigned int indent);

static int print_call(struct report_tree *tree, struct node *node, unsigned int indent, bool branch)
{
	const unsigned int deeper = branch ? indent + 2 : indent;
	int r = find_calls(tree, node);

	if (tree->to)
		put_node(tree, &node->part);
	else
		print_node(tree, &node->part, indent, branch, node->repeats);
	if (r < 0)
		return r;
	return print_calls(tree, node, deeper);
}

static int print_calls(struct report_tree *tree, const struct node *above, unsigned int indent)
{
	const bool branch = above->count > 1;
	int r = 0;

	if (above->depth >= DEPTH_MAX) {
		tree->too_deep += above->count;
		for (size_t i = 0; i < above->count; i++)
			leave_out(tree, &above->calls[i]);
		return 0;
	}
	for (size_t i = 0; i < above->count && r == 0; i++) {
		struct node node = {.part = above->calls[i], .depth = above->depth + 1};

		r = print_call(tree, &node, indent, branch);
		if (tree->to) {
			json_end(&tree->to->json);
			json_end(&tree->to->json);
		}
		free(node.calls);
	}
	return r;
}

static int fill_tree(struct report_tree *tree)
{
	const size_t count = profile_samples(tree->report->profile);

	tree->leaves = calloc(count + 1, sizeof(*tree->leaves));
	tree->scratch = calloc(count + 1, sizeof(*tree->scratch));
	tree->parts = calloc(tree->tally.count + 1, sizeof(*tree->parts));
	tree->touched = calloc(tree->tally.count + 1, sizeof(*tree->touched));
	if (!tree->leaves || !tree->scratch || !tree->parts || !tree->touched)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(tree->report->profile, i);

		tree->leaves[i].stack = sample.stack;
		tree->leaves[i].count = sample.count;
	}
	return 0;
}

/* Returns the least count that is shown: `min` percent, rounded up, and 1 at least. */
static uint64_t least_count(uint64_t sum, double min)
{
	const double least = (double)sum * min / 100.0;
	uint64_t count = (uint64_t)least;

	if ((double)count < least)
		count++;
	if (count == 0)
		return 1;
	return count;
}

static int print_all(struct report_tree *tree)
{
	struct node all = {.part.sum = tree->tally.sum};
	int r = -ENOMEM;

	all.part.count = profile_samples(tree->report->profile);
	tree->threshold = least_count(tree->tally.sum, tree->report->options->min);
	all.calls = split_node(tree, &all.part, &all.count);
	if (all.calls)
		r = print_calls(tree, &all, 0);
	free(all.calls);
	return r;
}

static int print_json(struct report_tree *tree)
{
	struct view_json to;
	int r = view_json_begin(&to, tree->report);

	if (r < 0)
		return view_json_end(&to, r);
	tree->to = &to;
	json_key_array(&to.json, "calls");
	r = print_all(tree);
	json_end(&to.json);
	json_line(&to.json);
	view_json_value(&to, "left_out_total", tree->left_out_sum);
	json_key_number(&to.json, "left_out", tree->left_out);
	return view_json_end(&to, r);
}

static int print_text(struct report_tree *tree)
{
	const struct screen *screen = tree->screen;
	int r;

	header_print(tree->report);
	screen_style(screen, STYLE_HEAD);
	fprintf(screen->out, "  total   self  function, from %.3g %% on\n",
		tree->report->options->min);
	screen_style(screen, STYLE_PLAIN);
	r = print_all(tree);
	if (tree->too_deep)
		fprintf(screen->out, "note: %zu calls deeper than %u functions: left out\n",
			tree->too_deep, DEPTH_MAX);
	return r;
}

static int print_tree(struct report_tree *tree)
{
	if (tree->report->options->json)
		return print_json(tree);
	return print_text(tree);
}

int view_tree(const struct report *report)
{
	struct report_tree tree = {.report = report, .screen = &report->screen};
	int r = tally_make(report->profile, BY_FUNCTION, &tree.tally);

	if (r == 0)
		r = name_sources_make(report->profile, &tree.tally.frames, &tree.sources);
	if (r == 0)
		r = fill_tree(&tree);
	if (r == 0)
		r = print_tree(&tree);
	free(tree.leaves);
	free(tree.scratch);
	free(tree.parts);
	free(tree.touched);
	name_sources_release(&tree.sources);
	tally_release(&tree.tally);
	return r;
}
