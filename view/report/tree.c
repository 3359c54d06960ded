/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls from the root on. There is no tree in memory: the samples of a node are split by the next
 * function of their stacks, and only parts above the threshold are followed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/report/view.h"

#define DEPTH_MAX 4096u /* of what is shown: the stack of this program is no larger */

struct leaf { /* a sample, and how far from the root it is split */
	uint32_t stack;
	uint16_t location, line; /* that have gone; lines of the one that is next */
	uint64_t count;
};

_Static_assert(PROFILE_STACK_MAX <= UINT16_MAX, "a leaf counts locations");

struct part { /* samples of a node that go on with the same function */
	uint32_t name;
	size_t first, count;
	uint64_t sum, self;
};

struct tree {
	const struct report *report;
	const struct screen *screen;
	struct tally tally; /* for names and sums alone */
	struct leaf *leaves, *scratch;
	uint64_t threshold;
	struct part *parts; /* by name: those of the node that is split */
	uint32_t *touched;  /* names in parts */
	size_t left_out;    /* calls deeper than DEPTH_MAX */
};

/* The next function of a stack, which goes on by it; 0: there is none. */
static uint32_t next_name(const struct tree *tree, struct leaf *leaf)
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

static void collect(struct tree *tree, const struct part *node, size_t *ret_touched)
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

/* The samples of each part beside one another, a function further. */
static void move(struct tree *tree, const struct part *node, size_t touched)
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
		return a->sum < b->sum ? 1 : -1;
	return (a->name > b->name) - (a->name < b->name);
}

/* The parts of a node above the threshold, most first; malloc()ed. Once for each node. */
static struct part *split(struct tree *tree, const struct part *node, size_t *ret_count)
{
	size_t touched, kept = 0;
	struct part *parts;

	collect(tree, node, &touched);
	move(tree, node, touched);
	for (size_t i = 0; i < touched; i++)
		kept += tree->touched[i] && tree->parts[tree->touched[i]].sum >= tree->threshold;
	parts = calloc(kept + 1, sizeof(*parts));
	*ret_count = 0;
	for (size_t i = 0; i < touched; i++) {
		struct part *part = &tree->parts[tree->touched[i]];

		if (parts && tree->touched[i] && part->sum >= tree->threshold)
			parts[(*ret_count)++] = *part;
		memset(part, 0, sizeof(*part));
	}
	if (parts)
		qsort(parts, *ret_count, sizeof(*parts), compare_parts);
	return parts;
}

/* ---- text and JSON ---- */

#define SHARES_COLUMNS 16u

/* A chain of calls keeps its column; "+" begins each of several. */
static void print_node(const struct tree *tree, const struct part *part, unsigned int indent,
		       bool branch, unsigned int repeats)
{
	const struct screen *screen = tree->screen;
	const double total = view_percent(part->sum, tree->tally.sum);
	const unsigned int room = screen->width - SHARES_COLUMNS - 2;
	char suffix[32] = "";

	indent = indent < room / 2 ? indent : room / 2;
	screen_style(screen, screen_heat(total));
	fprintf(screen->out, "%6.1f%%", total);
	screen_style(screen, STYLE_PLAIN);
	fprintf(screen->out, "%6.1f%%  %*s%s", view_percent(part->self, tree->tally.sum),
		(int)indent, "", branch ? "+ " : "  ");
	if (repeats)
		snprintf(suffix, sizeof(suffix), " (%u more)", repeats);
	screen_name(
		screen, tally_name(&tree->tally, part->name),
		screen_room(screen, SHARES_COLUMNS + 2 + indent + (unsigned int)strlen(suffix)));
	fprintf(screen->out, "%s\n", suffix);
}

static void print_node_json(const struct tree *tree, const struct part *part)
{
	FILE *out = tree->screen->out;

	fputs("{\"name\": ", out);
	screen_json_string(out, tally_name(&tree->tally, part->name));
	fputs(", ", out);
	view_json_value(tree->report, "self", part->self);
	fputs(", ", out);
	view_json_value(tree->report, "total", part->sum);
	fputs(", \"calls\": [", out);
}

struct node { /* while it is printed */
	struct part part;
	size_t depth; /* of what it calls */
	struct part *calls;
	size_t count;
	unsigned int repeats;
};

/* What a node calls. In text, a function that calls but itself is one node. */
static int descend(struct tree *tree, struct node *node)
{
	node->calls = split(tree, &node->part, &node->count);
	while (!tree->report->options->json && node->calls && node->count == 1 &&
	       node->calls[0].name == node->part.name) {
		const struct part call = node->calls[0];

		free(node->calls);
		node->part.self += call.self;
		node->repeats++;
		node->depth++;
		node->calls = split(tree, &call, &node->count);
	}
	return node->calls ? 0 : -ENOMEM;
}

static int print_calls(struct tree *tree, const struct node *above, unsigned int indent)
{
	const bool json = tree->report->options->json, branch = above->count > 1;
	int r = 0;

	if (above->depth >= DEPTH_MAX) {
		tree->left_out += above->count;
		return 0;
	}
	for (size_t i = 0; i < above->count && r == 0; i++) {
		struct node node = {.part = above->calls[i], .depth = above->depth + 1};

		r = descend(tree, &node);
		if (json)
			print_node_json(tree, &node.part);
		else
			print_node(tree, &node.part, indent, branch, node.repeats);
		r = r ? r : print_calls(tree, &node, indent + (branch ? 2 : 0));
		if (json)
			fputs(i + 1 < above->count ? "]},\n" : "]}", tree->screen->out);
		free(node.calls);
	}
	return r;
}

static int fill(struct tree *tree)
{
	size_t count;
	const struct profile_sample *samples = profile_samples(tree->report->profile, &count);

	tree->leaves = calloc(count + 1, sizeof(*tree->leaves));
	tree->scratch = calloc(count + 1, sizeof(*tree->scratch));
	tree->parts = calloc(tree->tally.count + 1, sizeof(*tree->parts));
	tree->touched = calloc(tree->tally.count + 1, sizeof(*tree->touched));
	if (!tree->leaves || !tree->scratch || !tree->parts || !tree->touched)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		tree->leaves[i] =
			(struct leaf){.stack = samples[i].stack, .count = samples[i].count};
	return 0;
}

static int print(struct tree *tree)
{
	const bool json = tree->report->options->json;
	const struct screen *screen = tree->screen;
	const double least = (double)tree->tally.sum * tree->report->options->min / 100.0;
	struct node all = {.part.sum = tree->tally.sum};
	int r;

	profile_samples(tree->report->profile, &all.part.count);
	tree->threshold = (uint64_t)least + ((double)(uint64_t)least < least);
	tree->threshold = tree->threshold ? tree->threshold : 1;
	if (json) {
		header_print_json(tree->report);
		fputs("  \"calls\": [\n", screen->out);
	} else {
		header_print(tree->report);
		screen_style(screen, STYLE_HEAD);
		fprintf(screen->out, "  total   self  function, from %.3g %% on\n",
			tree->report->options->min);
		screen_style(screen, STYLE_PLAIN);
	}
	all.calls = split(tree, &all.part, &all.count);
	r = all.calls ? print_calls(tree, &all, 0) : -ENOMEM;
	free(all.calls);
	if (json)
		fprintf(screen->out, "],\n  \"left_out\": %zu\n}\n", tree->left_out);
	else if (tree->left_out)
		fprintf(screen->out, "note: %zu calls deeper than %u functions: left out\n",
			tree->left_out, DEPTH_MAX);
	return r;
}

int view_tree(const struct report *report)
{
	struct tree tree = {.report = report, .screen = &report->screen};
	int r = tally_make(report->profile, BY_FUNCTION, &tree.tally);

	r = r ? r : fill(&tree);
	r = r ? r : print(&tree);
	free(tree.leaves);
	free(tree.scratch);
	free(tree.parts);
	free(tree.touched);
	tally_release(&tree.tally);
	return r;
}
