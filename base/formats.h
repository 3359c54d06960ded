/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of ipc/formats.def, as a command line names them. */
#ifndef KEYHOLE_BASE_FORMATS_H
#define KEYHOLE_BASE_FORMATS_H

#include "ipc/messages.h"

/* Both return FORMAT_NONE when no format has that name, or a suffix that the path ends in. */
enum profile_format formats_by_name(const char *name);
enum profile_format formats_by_suffix(const char *path);

/* Both return "" when there is no such format. */
const char *formats_name(enum profile_format format);
const char *formats_suffix(enum profile_format format);

/*
 * Both return a list of all formats, "a, b or c", with the given word (" or ") before the last one.
 * The list is valid until the next call of either function.
 */
const char *formats_names(const char *word);
const char *formats_suffixes(const char *word);

#endif
