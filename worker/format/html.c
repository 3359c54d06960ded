/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph as one page that loads nothing: the page of worker/format/page/, which ends where
 * its data begin, and the data, a JSON object in a <script> that is no script:
 *
 *   keyhole       version
 *   samples       the total
 *   period_ns     CPU time of each
 *   start_ms      since 1970
 *   duration_ms
 *   by_thread     whether threads are shown at first
 *   shade_percent how much lighter a shade is than the one before
 *   kinds         [name, label, light, dark] each; the last two are colours, "#rrggbb"
 *   strings       [0] is ""
 *   frames        columns: name, object, file (in strings), line, kind (in kinds), shade,
 *                 inlined (0 or 1). [0] is the root's
 *   nodes         columns: frame (in frames), level (processes have 1), self (samples). Each before
 *                 its children; the root, level 0, is the first
 *
 * A column may end early: the rest of it is 0. That is so with file, line and inlined, which the
 * model does not know yet. Numbers are exact up to 2^53, as those of the page's language are.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/messages.h"
#include "worker/base/intern.h"
#include "worker/format/format.h"
#include "worker/format/output.h"
#include "worker/format/tree.h"
#include "worker/profile/profile.h"

#define NS_PER_MS 1000000u

static const unsigned char page[] = {
#include "worker/format/page/page.inc"
};

struct html {
	struct tree tree;
	struct output output;
};

/*
 * JSON (RFC 8259 section 7), and nothing that ends a <script> or begins a comment in it (HTML
 * section 4.12.1.3): no '<'. Names are clean: they have no control characters.
 */
static void put_string(struct html *html, const char *text)
{
	size_t length;

	output_string(&html->output, "\"");
	for (;; text++) {
		length = strcspn(text, "\"\\<");
		output_write(&html->output, text, length);
		text += length;
		if (!*text)
			break;
		output_string(&html->output, *text == '<'   ? "\\u003c"
					     : *text == '"' ? "\\\""
							    : "\\\\");
	}
	output_string(&html->output, "\"");
}

/* What is before it in its array, of `index` elements. */
static void put_number(struct html *html, size_t index, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%" PRIu64, index > 0 ? "," : "", number);
	output_string(&html->output, text);
}

static void put_times(struct html *html, const struct profile_times *times, bool by_thread)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "{\"keyhole\":\"" KEYHOLE_VERSION "\",\"samples\":%" PRIu64
		 ",\"period_ns\":%" PRIu64 ",\"start_ms\":%" PRIu64 ",\"duration_ms\":%" PRIu64
		 ",\n\"by_thread\":%s,\"shade_percent\":%u",
		 html->tree.nodes[0].total, times->period_ns, times->start_realtime_ns / NS_PER_MS,
		 times->duration_ns / NS_PER_MS, by_thread ? "true" : "false", TREE_SHADE_PERCENT);
	output_string(&html->output, text);
}

static void put_kinds(struct html *html)
{
	char text[128];

	output_string(&html->output, ",\n\"kinds\":[");
	for (size_t kind = 0; kind < TREE_KINDS; kind++) {
		const struct tree_look *look = &tree_looks[kind];

		snprintf(text, sizeof(text),
			 "%s[\"%s\",\"%s\",\"#%06" PRIx32 "\",\"#%06" PRIx32 "\"]",
			 kind > 0 ? ",\n" : "", look->name, look->label, look->light, look->dark);
		output_string(&html->output, text);
	}
	output_string(&html->output, "]");
}

static void put_strings(struct html *html)
{
	output_string(&html->output, ",\n\"strings\":[");
	for (uint32_t id = 0; id < intern_count(html->tree.texts); id++) {
		if (id > 0)
			output_string(&html->output, ",\n");
		put_string(html, tree_text(&html->tree, id));
	}
	output_string(&html->output, "]");
}

static uint64_t frame_name(const struct tree *tree, uint32_t id)
{
	return tree_frame(tree, id)->name;
}

static uint64_t frame_object(const struct tree *tree, uint32_t id)
{
	return tree_frame(tree, id)->object;
}

static uint64_t frame_kind(const struct tree *tree, uint32_t id)
{
	return tree_frame(tree, id)->kind;
}

static uint64_t frame_shade(const struct tree *tree, uint32_t id)
{
	return tree_shade(tree, id);
}

static uint64_t node_frame(const struct tree *tree, uint32_t id)
{
	return tree->nodes[id].frame;
}

static uint64_t node_level(const struct tree *tree, uint32_t id)
{
	return tree->nodes[id].level;
}

static uint64_t node_self(const struct tree *tree, uint32_t id)
{
	return tree->nodes[id].self;
}

struct column {
	const char *name;
	uint64_t (*get)(const struct tree *tree, uint32_t id); /* NULL: all are 0 */
};

static const struct column frame_columns[] = {
	{"name", frame_name}, {"object", frame_object}, {"file", NULL},	   {"line", NULL},
	{"kind", frame_kind}, {"shade", frame_shade},	{"inlined", NULL}, {NULL, NULL},
};

static const struct column node_columns[] = {
	{"frame", node_frame},
	{"level", node_level},
	{"self", node_self},
	{NULL, NULL},
};

/* The root has no frame. */
static void put_frame_column(struct html *html, const struct column *column)
{
	put_number(html, 0, 0);
	for (uint32_t id = 1; id < intern_count(html->tree.frames); id++)
		put_number(html, id, column->get(&html->tree, id));
}

static void put_node_column(struct html *html, const struct column *column)
{
	for (size_t i = 0; i < html->tree.count; i++)
		put_number(html, i, column->get(&html->tree, html->tree.order[i]));
}

static void put_table(struct html *html, const char *name, const struct column *columns,
		      void (*put)(struct html *html, const struct column *column))
{
	output_string(&html->output, ",\n\"");
	output_string(&html->output, name);
	output_string(&html->output, "\":{");
	for (const struct column *column = columns; column->name; column++) {
		output_string(&html->output, column == columns ? "\"" : ",\n\"");
		output_string(&html->output, column->name);
		output_string(&html->output, "\":[");
		if (column->get)
			put(html, column);
		output_string(&html->output, "]");
	}
	output_string(&html->output, "}");
}

static int html_write(struct html *html, const struct profile_times *times, bool by_thread, int fd)
{
	int r = output_init(&html->output, fd, false);

	if (r < 0)
		return r;
	output_write(&html->output, page, sizeof(page));
	put_times(html, times, by_thread);
	put_kinds(html);
	put_strings(html);
	put_table(html, "frames", frame_columns, put_frame_column);
	put_table(html, "nodes", node_columns, put_node_column);
	output_string(&html->output, "}\n</script>\n");
	r = output_finish(&html->output);
	output_release(&html->output);
	return r;
}

/* Threads are always in the data: the page shows them when asked. */
static int html_render(const struct profile *profile, const struct profile_times *times,
		       const struct format_options *options, int fd)
{
	struct html *html = calloc(1, sizeof(*html));
	int r;

	if (!html)
		return -ENOMEM;
	r = tree_build(&html->tree, profile, true);
	if (r == 0)
		r = html_write(html, times, options->by_thread, fd);
	tree_release(&html->tree);
	free(html);
	return r;
}

const struct format format_html = {
	.id = FORMAT_html,
	.name = "html",
	.render = html_render,
};
