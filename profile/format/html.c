/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a flame graph as one page that loads nothing. The page of profile/format/page/ comes
 * first. Its data follow as a JSON object, in a <script> element that no browser executes:
 *
 *   keyhole       version
 *   samples       the total
 *   period        worth of a sample: ns of CPU time, or a number of `event`
 *   event         the event that was counted, null: CPU time
 *   unit          only of values that are no samples: their unit; the event is their type
 *   start_ms      since 1970
 *   duration_ms
 *   by_thread     whether threads are shown at first
 *   wait_percent  only of times on and off the CPU: how far the colour of a node goes to that of
 *                 the kind WAIT, if all of its time is off the CPU
 *   base          only in a difference: samples, period, event, start_ms and duration_ms of the
 *                 older profile; the data have no threads then (format_has_threads())
 *   notes         about the recording as a whole, such as the runtimes in it
 *   shade_percent how much lighter a shade is than the one before
 *   kinds         an array [name, label, light, dark, is_function] each, as in kinds.def; light
 *                 and dark are "#rrggbb"
 *   changes       only in a difference: an array [light, dark] for "same", "more" and "less"
 *   least_percent only in a difference: the full colour means this change of a share, or more
 *   strings       [0] is ""
 *   frames        columns: name, object, file (in strings), line, kind (in kinds), shade,
 *                 inlined (0 or 1). [0] is the root's. object, file and line are the place of
 *                 most samples of the frame
 *   nodes         columns: frame (in frames), level (processes have 1), self (samples), and in a
 *                 difference base (samples of the older profile), or with wait_percent off (the
 *                 part of self off the CPU). The root, level 0, is the first.
 *                 A node comes before its children
 *
 * Numbers are exact up to 2^53, as those of the page's language are.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "generated/version.h"
#include "base/intern.h"
#include "ipc/time.h"
#include "profile/format/format.h"
#include "profile/format/json.h"
#include "profile/format/output.h"
#include "profile/format/tree.h"
#include "profile/profile.h"

static const unsigned char page[] = {
#include "profile/format/page/page.inc"
};

struct html {
	struct tree tree;
	struct output output;
	struct json json;
};

static void put_times(struct json *json, const struct profile_times *times, uint64_t samples)
{
	json_key_number(json, "samples", samples);
	json_key_number(json, "period", times->period);
	if (times->type)
		json_key_string(json, "unit", times->unit);
	if (times->type)
		json_key_string(json, "event", times->type);
	else if (times->event)
		json_key_string(json, "event", times->event);
	else
		json_key_literal(json, "event", "null");
	json_key_number(json, "start_ms", times->start_realtime_ns / NS_PER_MS);
	json_key_number(json, "duration_ms", times->duration_ns / NS_PER_MS);
}

/* Writes the notes of a profile. Those of a difference are of either side, and are left out. */
static void put_notes(struct html *html, const struct profile *profile,
		      const struct format_options *options)
{
	size_t count;
	const uint32_t *notes = profile_notes(profile, &count);

	json_key_array(&html->json, "notes");
	for (size_t i = 0; !options->base && i < count; i++)
		json_string(&html->json, profile_string_get(profile, notes[i]));
	json_end(&html->json);
}

static void put_head(struct html *html, const struct profile_times *times,
		     const struct format_options *options)
{
	struct json *json = &html->json;

	json_key_string(json, "keyhole", KEYHOLE_VERSION);
	put_times(json, times, html->tree.nodes[0].total);
	if (options->base) {
		json_key_object(json, "base");
		put_times(json, options->base, html->tree.nodes[0].base_total);
		json_end(json);
	}
	json_key_literal(json, "by_thread", options->by_thread ? "true" : "false");
	json_key_number(json, "shade_percent", TREE_SHADE_PERCENT);
	if (!options->base && format_is_wall(times))
		json_key_number(json, "wait_percent", TREE_OFF_PERCENT);
}

static void put_colour(struct html *html, uint32_t colour)
{
	char text[16];

	snprintf(text, sizeof(text), "#%06" PRIx32, colour);
	json_string(&html->json, text);
}

static void put_kinds(struct html *html)
{
	json_key_array(&html->json, "kinds");
	for (size_t kind = 0; kind < TREE_KINDS; kind++) {
		json_array(&html->json);
		json_string(&html->json, tree_looks[kind].name);
		json_string(&html->json, tree_looks[kind].label);
		put_colour(html, tree_looks[kind].light);
		put_colour(html, tree_looks[kind].dark);
		json_number(&html->json, tree_looks[kind].is_function);
		json_end(&html->json);
	}
	json_end(&html->json);
}

static void put_changes(struct html *html)
{
	json_key_object(&html->json, "changes");
	for (size_t change = 0; change < TREE_CHANGES; change++) {
		json_key_array(&html->json, tree_change_looks[change].word);
		put_colour(html, tree_change_looks[change].light);
		put_colour(html, tree_change_looks[change].dark);
		json_end(&html->json);
	}
	json_end(&html->json);
	json_key_number(&html->json, "least_percent", TREE_CHANGE_LEAST_PERCENT);
}

static void put_strings(struct html *html)
{
	json_key_array(&html->json, "strings");
	for (uint32_t id = 0; id < intern_count(html->tree.texts); id++)
		json_clean_string(&html->json, tree_text(&html->tree, id));
	json_end(&html->json);
}

static uint64_t frame_name(const struct tree *tree, uint32_t id)
{
	return tree_frame(tree, id)->name;
}

static uint64_t frame_object(const struct tree *tree, uint32_t id)
{
	return tree->places[id].object;
}

static uint64_t frame_kind(const struct tree *tree, uint32_t id)
{
	return tree_frame(tree, id)->kind;
}

static uint64_t frame_shade(const struct tree *tree, uint32_t id)
{
	return tree_shade(tree, id);
}

static uint64_t frame_file(const struct tree *tree, uint32_t id)
{
	return tree->places[id].file;
}

static uint64_t frame_line(const struct tree *tree, uint32_t id)
{
	return tree->places[id].line;
}

static uint64_t frame_inlined(const struct tree *tree, uint32_t id)
{
	return tree_frame(tree, id)->inlined;
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

static uint64_t node_base(const struct tree *tree, uint32_t id)
{
	return tree->nodes[id].base_self;
}

struct column {
	const char *name;
	uint64_t (*get)(const struct tree *tree, uint32_t id);
};

static const struct column frame_columns[] = {
	{"name", frame_name},	    {"object", frame_object},
	{"file", frame_file},	    {"line", frame_line},
	{"kind", frame_kind},	    {"shade", frame_shade},
	{"inlined", frame_inlined}, {NULL, NULL},
};

static const struct column node_columns[] = {
	{"frame", node_frame},
	{"level", node_level},
	{"self", node_self},
	{NULL, NULL},
};

static const struct column wall_columns[] = {
	{"frame", node_frame}, {"level", node_level}, {"self", node_self},
	{"off", node_base},    {NULL, NULL},
};

static const struct column difference_columns[] = {
	{"frame", node_frame}, {"level", node_level}, {"self", node_self},
	{"base", node_base},   {NULL, NULL},
};

/* Frame 0 is the root's, which the tree does not have. */
static void put_frame_column(struct html *html, const struct column *column)
{
	json_number(&html->json, 0);
	for (uint32_t id = 1; id < intern_count(html->tree.frames); id++)
		json_number(&html->json, column->get(&html->tree, id));
}

static void put_node_column(struct html *html, const struct column *column)
{
	for (size_t i = 0; i < html->tree.count; i++)
		json_number(&html->json, column->get(&html->tree, html->tree.order[i]));
}

static void put_table(struct html *html, const char *name, const struct column *columns,
		      void (*put)(struct html *html, const struct column *column))
{
	json_key_object(&html->json, name);
	for (const struct column *column = columns; column->name; column++) {
		json_key_array(&html->json, column->name);
		put(html, column);
		json_end(&html->json);
	}
	json_end(&html->json);
}

static const struct column *columns_of(const struct profile_times *times,
				       const struct format_options *options)
{
	if (options->base)
		return difference_columns;
	return format_is_wall(times) ? wall_columns : node_columns;
}

static void put_data(struct html *html, const struct profile *profile,
		     const struct profile_times *times, const struct format_options *options)
{
	json_init(&html->json, &html->output);
	json_object(&html->json);
	put_head(html, times, options);
	put_notes(html, profile, options);
	put_kinds(html);
	if (options->base)
		put_changes(html);
	put_strings(html);
	put_table(html, "frames", frame_columns, put_frame_column);
	put_table(html, "nodes", columns_of(times, options), put_node_column);
	json_end(&html->json);
	json_finish(&html->json);
}

/* The JSON cannot end its <script> before we do (json.h). */
static int write_all(struct html *html, const struct profile *profile,
		     const struct profile_times *times, const struct format_options *options,
		     int fd)
{
	int r = output_init(&html->output, fd, false);

	if (r < 0)
		return r;
	output_write(&html->output, page, sizeof(page));
	put_data(html, profile, times, options);
	output_string(&html->output, "</script>\n");
	return output_finish(&html->output);
}

/* Renders threads wherever there are any: the page shows threads when asked. */
static int render(const struct profile *profile, const struct profile_times *times,
		  const struct format_options *options, int fd)
{
	struct html *html = calloc(1, sizeof(*html));
	unsigned int flags = 0;
	int r;

	if (!html)
		return -ENOMEM;
	if (format_has_threads(options))
		flags |= TREE_BY_THREAD;
	if (options->base)
		flags |= TREE_DIFFERENCE;
	else if (format_is_wall(times))
		flags |= TREE_OFF_CPU;
	r = tree_build(&html->tree, profile, flags);
	if (r == 0)
		r = write_all(html, profile, times, options, fd);
	output_release(&html->output);
	tree_release(&html->tree);
	free(html);
	return r;
}

const struct format format_html = {
	.shows_base = true,
	.render = render,
};
