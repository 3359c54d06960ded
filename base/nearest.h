/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the name that a person meant who mistyped it. */
#ifndef KEYHOLE_BASE_NEAREST_H
#define KEYHOLE_BASE_NEAREST_H

/*
 * Returns the name (of an array that ends in NULL) with the fewest mistakes between it and the
 * word: letters inserted, left out, replaced or swapped with a neighbour. Returns NULL when the
 * mistakes are more than a third of the word's letters.
 */
const char *nearest(const char *word, const char *const *names);

#endif
