/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes whose memory may be read at all: they run code of a file with a name of grants.def. The
 * worker, which may have been taken over, says which file that is, and others check it.
 */
#ifndef KEYHOLE_POLICY_GRANTS_H
#define KEYHOLE_POLICY_GRANTS_H

#include <stdbool.h>

/* Returns whether a path, as the kernel writes it, ends in a name of the table. */
bool grant_is_by_name(const char *path);
/* Returns whether the path ends in this name, or in one that goes on with a version. */
bool grant_fits_name(const char *path, const char *name);

#endif
