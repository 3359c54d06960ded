/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a flame graph as a static picture, which every viewer shows: SVG 1.1 with presentation
 * attributes alone, without a style sheet or a script. A <title> has the name in full and the
 * figures; viewers show the <title> beside the pointer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generated/version.h"
#include "ipc/time.h"
#include "profile/format/format.h"
#include "profile/format/names.h"
#include "profile/format/output.h"
#include "profile/format/tree.h"
#include "profile/profile.h"

#define WIDTH	       1200.0 /* px, like all sizes here; common screens are as wide */
#define MARGIN	       10.0
#define INNER_WIDTH    (WIDTH - 2 * MARGIN)
#define ROW_HEIGHT     17u  /* a text of 12 px, its descenders and a line between the boxes */
#define BASELINE       12.5 /* of a box's text, from the box's top: the text is in the middle */
#define HEADER_HEIGHT  40u
#define TITLE_BASELINE 25u  /* from the top: the text of 15 px is in the middle of the header */
#define FOOTER_HEIGHT  46u  /* two lines of text, and 10 px below them */
#define FOOTER_LINE    18u  /* from one baseline to the next: 1.5 times the text of 12 px */
#define BOX_WIDTH_MIN  0.5  /* half a pixel: the eye does not find narrower boxes */
#define BOX_WIDTH_GAP  1.0  /* wider boxes have a gap, and narrower ones would lose their colour */
#define BOX_GAP	       0.4  /* keeps neighbours of one colour apart */
#define TEXT_PADDING   3.0  /* at both ends of a box's text */
#define TEXT_WIDTH_MIN 24.0 /* three characters: shorter texts tell nothing */
#define COLUMN_WIDTH   7.3  /* of a monospaced font of 12 px; no common one is wider */
#define SWATCH_SIZE    12u
#define SWATCH_RISE    10u /* above the baseline of the swatch's text */
#define SWATCH_GAP     5u  /* between a swatch and its text */
#define ENTRY_GAP      20u /* between entries of the legend */
#define WHITE	       0xffffffu
#define CHANGE_EDGE    " stroke=\"#c4c8ce\" stroke-width=\"0.5\""
#define INLINED_EDGE   " stroke=\"#7a7a7a\" stroke-width=\"0.8\" stroke-dasharray=\"3 2\""

struct svg {
	struct tree tree;
	struct output output;
	const struct profile_times *times;
	const struct profile_times *base; /* NULL: no difference */
	bool is_wall;			  /* times are on and off the CPU */
	uint64_t gone, gone_samples; /* frames that only the older profile has, and their samples */
	uint32_t rows;		     /* levels that are drawn */
	uint64_t hidden;	     /* frames that are too narrow */
	bool kinds[TREE_KINDS];	     /* whether one is drawn */
	bool inlined;		     /* whether one is drawn */
	uint64_t *starts;	     /* by level: samples left of the next node */
};

__attribute__((format(printf, 2, 3))) static void put(struct svg *svg, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	output_string(&svg->output, text);
}

static const char *escape(char character)
{
	switch (character) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	}
	return NULL;
}

static void put_clean(struct svg *svg, const char *clean, size_t length)
{
	const char *escaped;

	for (size_t i = 0; i < length; i++) {
		escaped = escape(clean[i]);
		if (escaped)
			output_string(&svg->output, escaped);
		else
			output_write(&svg->output, &clean[i], 1);
	}
}

/*
 * Returns how many bytes of the text fit in width; no character is cut. Characters from U+1000 on,
 * whose first byte is above 0xe0, count as two columns: some of them are that wide.
 */
static size_t fitting(const char *clean, double width)
{
	double used = 0;
	size_t length = 0, next;

	while (clean[length]) {
		used += COLUMN_WIDTH;
		if ((unsigned char)clean[length] > 0xe0)
			used += COLUMN_WIDTH;
		if (used > width)
			break;
		for (next = length + 1; ((unsigned char)clean[next] & 0xc0) == 0x80; next++)
			;
		length = next;
	}
	return length;
}

static void put_raw(struct svg *svg, const char *raw)
{
	char clean[FORMAT_NAME_MAX];

	format_clean_name(clean, sizeof(clean), raw);
	put_clean(svg, clean, strlen(clean));
}

/* Mixes two colours: `percent` of the second one. */
static uint32_t mix(uint32_t from, uint32_t to, unsigned int percent)
{
	uint32_t mixed = 0;

	for (unsigned int shift = 0; shift <= 16; shift += 8) {
		uint32_t old = from >> shift & 0xff, new = to >> shift & 0xff;

		mixed |= (old * (100 - percent) + new *percent) / 100 << shift;
	}
	return mixed;
}

static uint32_t change_colour(const struct svg *svg, double change)
{
	enum tree_change direction = change > 0 ? TREE_MORE : TREE_LESS;
	double strength = tree_strength(&svg->tree, change);

	return mix(tree_change_looks[TREE_SAME].light, tree_change_looks[direction].light,
		   (unsigned int)(100 * strength + 0.5));
}

static uint32_t kind_colour(const struct svg *svg, const struct tree_node *node)
{
	const uint32_t colour = tree_looks[tree_frame(&svg->tree, node->frame)->kind].light;

	if (!svg->is_wall)
		return colour;
	return mix(colour, tree_looks[TREE_WAIT].light,
		   (unsigned int)(TREE_OFF_PERCENT * tree_off_share(node) + 0.5));
}

static uint32_t colour_of(const struct svg *svg, const struct tree_node *node)
{
	if (svg->base)
		return change_colour(svg, tree_change(&svg->tree, node));
	if (node->frame == 0)
		return mix(tree_looks[TREE_PROCESS].light, WHITE, 50);
	return mix(kind_colour(svg, node), WHITE,
		   tree_shade(&svg->tree, node->frame) * TREE_SHADE_PERCENT);
}

static const char *clean_name_of(const struct svg *svg, const struct tree_node *node)
{
	if (!node->frame)
		return "all";
	return tree_text(&svg->tree, tree_frame(&svg->tree, node->frame)->name);
}

static bool is_inlined(const struct svg *svg, const struct tree_node *node)
{
	return node->frame && tree_frame(&svg->tree, node->frame)->inlined;
}

static void put_line(struct svg *svg, uint32_t text_id)
{
	const char *text = tree_text(&svg->tree, text_id);

	if (text[0]) {
		put(svg, "\n");
		put_clean(svg, text, strlen(text));
	}
}

static void put_where(struct svg *svg, uint32_t frame)
{
	const struct tree_place *place = &svg->tree.places[frame];

	put_line(svg, place->object);
	put_line(svg, place->file);
	if (place->file && place->line)
		put(svg, ":%" PRIu32, place->line);
}

static void put_change(struct svg *svg, const char *what, uint64_t count, uint64_t base)
{
	double old = 100 * tree_base_share(&svg->tree, base),
	       now = 100 * tree_share(&svg->tree, count);

	put(svg, "\n%s: old %.2f %%, new %.2f %%, difference %+.2f %%", what, old, now, now - old);
}

static void put_title(struct svg *svg, const struct tree_node *node)
{
	const char *clean = clean_name_of(svg, node);

	put(svg, "<title>");
	put_clean(svg, clean, strlen(clean));
	if (is_inlined(svg, node))
		put(svg, "\ninlined");
	if (node->frame)
		put_where(svg, node->frame);
	if (svg->base) {
		put_change(svg, "total", node->total, node->base_total);
		put_change(svg, "self", node->self, node->base_self);
	} else {
		put(svg, "\ntotal %" PRIu64 " (%.2f %%), self %" PRIu64 " (%.2f %%)", node->total,
		    100 * tree_share(&svg->tree, node->total), node->self,
		    100 * tree_share(&svg->tree, node->self));
	}
	put(svg, "</title>");
}

static void put_label(struct svg *svg, const char *clean, double x, double y, double width)
{
	size_t length = fitting(clean, width), shorter;

	if (width < TEXT_WIDTH_MIN)
		return;
	put(svg, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
	if (clean[length]) {
		shorter = fitting(clean, width - 2 * COLUMN_WIDTH);
		put_clean(svg, clean, shorter);
		put(svg, "..");
	} else {
		put_clean(svg, clean, length);
	}
	put(svg, "</text>");
}

static const char *edge_of(const struct svg *svg, const struct tree_node *node)
{
	if (is_inlined(svg, node))
		return INLINED_EDGE;
	if (svg->base)
		return CHANGE_EDGE;
	return "";
}

static void put_box(struct svg *svg, const struct tree_node *node, uint64_t start)
{
	double x = MARGIN + INNER_WIDTH * tree_share(&svg->tree, start);
	double width = INNER_WIDTH * tree_share(&svg->tree, node->total);
	uint32_t y = HEADER_HEIGHT + (svg->rows - 1 - node->level) * ROW_HEIGHT;

	put(svg, "<g>");
	put_title(svg, node);
	put(svg,
	    "<rect x=\"%.2f\" y=\"%" PRIu32 "\" width=\"%.2f\" height=\"%u\" fill=\"#%06" PRIx32
	    "\"%s/>",
	    x, y, width > BOX_WIDTH_GAP ? width - BOX_GAP : width, ROW_HEIGHT - 1,
	    colour_of(svg, node), edge_of(svg, node));
	put_label(svg, clean_name_of(svg, node), x + TEXT_PADDING, y + BASELINE,
		  width - 2 * TEXT_PADDING);
	put(svg, "</g>\n");
}

/*
 * Calls draw for each node that is wide enough, parents before their children and siblings from
 * left to right. Counts the nodes that are too narrow.
 */
static void each_box(struct svg *svg,
		     void (*draw)(struct svg *svg, const struct tree_node *node, uint64_t start))
{
	svg->starts[0] = 0;
	svg->hidden = 0;
	for (size_t i = 0; i < svg->tree.count; i++) {
		const struct tree_node *node = &svg->tree.nodes[svg->tree.order[i]];
		uint64_t start = svg->starts[node->level];

		svg->starts[node->level] += node->total;
		svg->starts[node->level + 1] = start;
		if (node->level == 0 ||
		    INNER_WIDTH * tree_share(&svg->tree, node->total) >= BOX_WIDTH_MIN)
			draw(svg, node, start);
		else if (node->total > 0)
			svg->hidden++;
	}
}

/* Notes what the header and the legend need to know of a node that is drawn. */
static void look_at(struct svg *svg, const struct tree_node *node, uint64_t start)
{
	(void)start;
	if (node->level >= svg->rows)
		svg->rows = node->level + 1;
	if (node->frame)
		svg->kinds[tree_frame(&svg->tree, node->frame)->kind] = true;
	svg->inlined |= is_inlined(svg, node);
}

/* Writes "0.69 s of delay", "1024 bytes of space" or "3 contentions". */
static void put_amount(struct svg *svg, const struct profile_times *times, uint64_t amount)
{
	if (!strcmp(times->unit, "nanoseconds")) {
		put(svg, "%.2f s of ", (double)amount / NS_PER_SECOND);
	} else {
		put(svg, "%" PRIu64 " ", amount);
		if (strcmp(times->unit, "count") != 0) {
			put_raw(svg, times->unit);
			put(svg, " of ");
		}
	}
	put_raw(svg, times->tick ? format_time_name(times) : times->type);
}

/* Writes "20 samples, 0.20 s of CPU time" or "20 samples, 20 page-faults", or an amount. */
static void put_worth(struct svg *svg, const struct profile_times *times, uint64_t samples,
		      const char *what)
{
	if (times->type) {
		put_amount(svg, times, samples);
		return;
	}
	put(svg, "%" PRIu64 " samples, ", samples);
	if (times->event) {
		put(svg, "%" PRIu64 " ", samples * times->period);
		put_raw(svg, times->event);
	} else {
		put(svg, "%.2f s%s", (double)samples * (double)times->period / NS_PER_SECOND, what);
	}
}

static void put_header(struct svg *svg)
{
	put(svg,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%u\" "
	    "viewBox=\"0 0 %.0f %u\" font-family=\"monospace\" font-size=\"12\" "
	    "fill=\"#1c1c1c\">\n",
	    WIDTH, HEADER_HEIGHT + svg->rows * ROW_HEIGHT + FOOTER_HEIGHT, WIDTH,
	    HEADER_HEIGHT + svg->rows * ROW_HEIGHT + FOOTER_HEIGHT);
	put(svg, "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
	put(svg, "<text x=\"%.0f\" y=\"%u\" font-size=\"15\">", MARGIN, TITLE_BASELINE);
	put_worth(svg, svg->times, svg->tree.nodes[0].total, " of CPU time");
	if (svg->times->duration_ns)
		put(svg, ", recorded in %.1f s", (double)svg->times->duration_ns / NS_PER_SECOND);
	if (svg->base) {
		put(svg, "; coloured by the change from ");
		put_worth(svg, svg->base, svg->tree.nodes[0].base_total, "");
	}
	put(svg, "</text>\n");
}

/* Writes an entry of the legend, and returns the x at which the next entry begins. */
static double put_swatch(struct svg *svg, double x, uint32_t y, uint32_t colour, const char *edge,
			 const char *clean)
{
	double label = x + SWATCH_SIZE + SWATCH_GAP;

	put(svg,
	    "<rect x=\"%.1f\" y=\"%" PRIu32 "\" width=\"%u\" height=\"%u\" fill=\"#%06" PRIx32
	    "\"%s/><text x=\"%.1f\" y=\"%" PRIu32 "\">",
	    x, y - SWATCH_RISE, SWATCH_SIZE, SWATCH_SIZE, colour, edge, label, y);
	put_clean(svg, clean, strlen(clean));
	put(svg, "</text>\n");
	return label + COLUMN_WIDTH * (double)strlen(clean) + ENTRY_GAP;
}

static double put_changes(struct svg *svg, double x, uint32_t y)
{
	char text[64];

	for (int sign = -1; sign <= 1; sign++) {
		snprintf(text, sizeof(text), sign ? "%+.2f %% of all" : "as before",
			 100 * svg->tree.most * sign);
		x = put_swatch(svg, x, y, change_colour(svg, svg->tree.most * sign), CHANGE_EDGE,
			       text);
	}
	return x;
}

static void put_legend(struct svg *svg, uint32_t y)
{
	double x = MARGIN;

	if (svg->base)
		x = put_changes(svg, x, y);
	for (size_t kind = 0; kind < TREE_KINDS && !svg->base; kind++)
		if (svg->kinds[kind])
			x = put_swatch(svg, x, y, tree_looks[kind].light, "",
				       tree_looks[kind].label);
	if (svg->inlined)
		put_swatch(svg, x, y, WHITE, INLINED_EDGE, "inlined");
}

static void find_gone(struct svg *svg)
{
	for (size_t i = 0; i < svg->tree.count; i++) {
		const struct tree_node *node = &svg->tree.nodes[i];

		if (node->total == 0 && node->base_total > 0) {
			svg->gone++;
			svg->gone_samples += node->base_self;
		}
	}
}

static void put_footer(struct svg *svg)
{
	uint32_t y = HEADER_HEIGHT + svg->rows * ROW_HEIGHT + FOOTER_LINE;

	put_legend(svg, y);
	put(svg,
	    "<text x=\"%.0f\" y=\"%" PRIu32 "\" fill=\"#666666\">%" PRIu64 " frames narrower than "
	    "%.1f px (%.3f %%) are not drawn. ",
	    MARGIN, y + FOOTER_LINE, svg->hidden, BOX_WIDTH_MIN, 100 * BOX_WIDTH_MIN / INNER_WIDTH);
	if (svg->base)
		put(svg, "%" PRIu64 " frames with %.2f %% of the old profile are gone. ", svg->gone,
		    100 * tree_base_share(&svg->tree, svg->gone_samples));
	put(svg, "keyhole " KEYHOLE_VERSION "</text>\n</svg>\n");
}

static int write_all(struct svg *svg, int fd)
{
	int r;

	svg->starts = calloc(svg->tree.levels + 1u, sizeof(*svg->starts));
	if (!svg->starts)
		return -ENOMEM;
	r = output_init(&svg->output, fd, false);
	if (r < 0)
		return r;
	find_gone(svg);
	each_box(svg, look_at);
	put_header(svg);
	each_box(svg, put_box);
	put_footer(svg);
	return output_finish(&svg->output);
}

static int render(const struct profile *profile, const struct profile_times *times,
		  const struct format_options *options, int fd)
{
	struct svg *svg = calloc(1, sizeof(*svg));
	unsigned int flags = 0;
	int r;

	if (!svg)
		return -ENOMEM;
	svg->times = times;
	svg->base = options->base;
	if (options->by_thread && format_has_threads(options))
		flags |= TREE_BY_THREAD;
	svg->is_wall = !options->base && format_is_wall(times);
	if (options->base)
		flags |= TREE_DIFFERENCE;
	else if (svg->is_wall)
		flags |= TREE_OFF_CPU;
	r = tree_build(&svg->tree, profile, flags);
	if (r == 0)
		r = write_all(svg, fd);
	output_release(&svg->output);
	tree_release(&svg->tree);
	free(svg->starts);
	free(svg);
	return r;
}

const struct format format_svg = {
	.shows_base = true,
	.render = render,
};
