/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc about one process, as the kernel writes them. All texts are NUL terminated. */
#ifndef KEYHOLE_VIEW_CHECK_TEXT_H
#define KEYHOLE_VIEW_CHECK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_FIELD_BYTES 256 /* longer ones are cut, and equal nothing that is expected */
#define TEXT_TAG_BYTES	 32

/* status: the rest of the field's line, or "". */
void text_field(const char *status, const char *name, char *ret_value, size_t size);

/* limits: the hard one of that name. False: none, or it is unlimited. */
bool text_limit(const char *limits, const char *name, unsigned long long *ret_hard);

/* fdinfo of a BPF program; a link, which names the tag of its program too, is none. */
bool text_program_tag(const char *fdinfo, char ret_tag[TEXT_TAG_BYTES]);

#endif
