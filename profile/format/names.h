/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleans text and makes titles. Attackers choose the names of processes, files and functions. Raw
 * text is such a name, unchanged, or text that holds one. Clean text is valid UTF-8 and safe on a
 * terminal: clean text has no character that controls a terminal or the direction of text.
 *
 * All text of a profile is raw, whoever made the profile, and so is the event of profile_times.
 * Names that functions here and in lines.h return are raw, unless the function fills ret_clean.
 *
 * Each writer cleans a text once:
 *   firefox, pprof, speedscope,    when they write the text: json_string(), put_string();
 *   the event in html and svg      svg calls put_raw()
 *   speedscope's name of a thread  before both names are joined; the joined text is clean
 *   otlp's messages                when a message gets the text (otlp.h)
 *   folded, otlp's strings, the    when they number the text, as texts that look the same are
 *   tree of html and svg           equal; from then on, the text is clean
 * A function takes clean text only where its name or its parameter says "clean".
 */
#ifndef KEYHOLE_PROFILE_FORMAT_NAMES_H
#define KEYHOLE_PROFILE_FORMAT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct intern;
struct profile;
struct profile_times;

/* Limits in bytes, with the NUL. */
#define FORMAT_NAME_MAX	  4096			 /* of a clean name: PATH_MAX, so that paths fit */
#define FORMAT_THREAD_MAX (FORMAT_NAME_MAX + 16) /* the same, with a slash and a number */
#define FORMAT_TITLE_MAX  96 /* pprof_info.event, 64 bytes, fits behind "keyhole: " */

/*
 * Cleans a name: each refused character, and each byte that is not UTF-8, becomes '?'. Writes at
 * most max bytes, NUL included, and nothing for max 0. A name that is cut ends in "...".
 */
void format_clean_name(char *ret_clean, size_t max, const char *raw);

/* Numbers the clean form of a text. Returns its id, or INTERN_FAILED without memory. */
uint32_t format_intern_clean(struct intern *texts, const char *raw);

/*
 * Returns the part of a path behind the last '/', or the path where that part is empty. The result
 * is a part of path, and as raw or clean as path is.
 */
const char *format_base_name(const char *path);

/* Returns the name, as raw or clean as given. An empty name becomes PROFILE_UNKNOWN, clean text. */
const char *format_known_name(const char *name);

/* Returns the raw name of a process, or PROFILE_UNKNOWN. `name` is the string's id. */
const char *format_process_name(const struct profile *profile, uint32_t name);

/* Gets the clean name of the frame that a thread has in stacks: "name/tid". */
void format_thread_name(char ret_clean[FORMAT_THREAD_MAX], const char *raw, uint32_t tid);

/* Gets the raw title of a recording: "keyhole", or "keyhole: EVENT". A long event is cut. */
void format_title(char ret_raw[FORMAT_TITLE_MAX], const struct profile_times *times);

#endif
