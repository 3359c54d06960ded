/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody who mistyped a word may have meant. */
#ifndef KEYHOLE_HELPER_OPTIONS_NEAREST_H
#define KEYHOLE_HELPER_OPTIONS_NEAREST_H

/*
 * Of the names (up to NULL) the one that the fewest letters inserted, left out, replaced or swapped
 * with their neighbour make of the word; NULL where that is more than a third of them.
 */
const char *nearest(const char *word, const char *const *names);

#endif
