/* SPDX-License-Identifier: Apache-2.0 */
/* Parses files of /proc about one process. All texts are NUL terminated. */
#ifndef KEYHOLE_VIEW_CHECK_TEXT_H
#define KEYHOLE_VIEW_CHECK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_FIELD_BYTES 256 /* a longer field is cut, and so equals no expected text */
#define TEXT_TAG_BYTES	 32

/* Gets the rest of a field's line in status, or "". */
void text_field(const char *status, const char *name, char *ret_value, size_t size);

/* Gets a hard limit. Returns false for an unknown name and for "unlimited". */
bool text_limit(const char *limits, const char *name, unsigned long long *ret_hard);

/* Gets the tag from the fdinfo of a BPF program. Returns false for a link, which has a tag, too. */
bool text_program_tag(const char *fdinfo, char ret_tag[TEXT_TAG_BYTES]);

#endif
