/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the name that a person meant and mistyped. */
#ifndef KEYHOLE_BASE_NEAREST_H
#define KEYHOLE_BASE_NEAREST_H

/*
 * Returns the name to which the fewest mistakes lead; the array of names ends in NULL. A mistake
 * is a letter inserted, left out, replaced or swapped with its neighbour. Returns NULL when the
 * mistakes are more than a third of the word's letters.
 */
const char *nearest(const char *word, const char *const *names);

#endif
