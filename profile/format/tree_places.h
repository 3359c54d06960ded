/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the place of each frame of a tree. A frame may be at several places: lines of a function,
 * or objects of a difference. The place with most samples wins, and decides object, file and line.
 * A sample counts once for each frame of a location, however often its stack has the location.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_TREE_PLACES_H
#define KEYHOLE_PROFILE_FORMAT_TREE_PLACES_H

struct format_lines;
struct tree;

/*
 * Makes tree->places, and adds their texts to tree->texts. `lines` maps lines to frames of the
 * tree. Returns 0 or -ENOMEM. tree_release() frees the places either way.
 */
int tree_places_find(struct tree *tree, const struct format_lines *lines);

#endif
