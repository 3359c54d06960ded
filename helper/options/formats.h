/* SPDX-License-Identifier: Apache-2.0 */
/* ipc/formats.def, as the command line has it. */
#ifndef KEYHOLE_HELPER_OPTIONS_FORMATS_H
#define KEYHOLE_HELPER_OPTIONS_FORMATS_H

#include <stdbool.h>

#include "ipc/messages.h"

/* FORMAT_NONE: of none. */
enum profile_format formats_by_name(const char *name);
enum profile_format formats_by_suffix(const char *path);

const char *formats_suffix(enum profile_format format);

/* "a, b and c" of all, with that word before the last one; valid until the next call. */
const char *formats_names(const char *word);
const char *formats_suffixes(const char *word);

#endif
