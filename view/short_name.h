/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortens the name of a function to the word that its author wrote. The short form has no
 * namespace, package, template arguments or parameters, and no suffix of a compiler ("hot.cold").
 */
#ifndef KEYHOLE_VIEW_SHORT_NAME_H
#define KEYHOLE_VIEW_SHORT_NAME_H

#include <stddef.h>

/*
 * Writes the short form of a clean name: at most `size` bytes with the NUL. A longer form, a name
 * of an address and a marker such as "[kernel]" have none: the text is then "".
 */
void short_name(const char *clean, char *ret_short, size_t size);

#endif
