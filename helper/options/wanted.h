/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the loader opens, because keyhole-options has no rights. */
#ifndef KEYHOLE_HELPER_OPTIONS_WANTED_H
#define KEYHOLE_HELPER_OPTIONS_WANTED_H

#include "ipc/channel.h"

/*
 * Has the loader open a file. Returns its descriptor, which the caller owns, for FILE_CONFIG; 0 for
 * the other files, which the loader keeps; or a negative errno.
 */
int wanted_open(struct channel *loader, enum wanted_file file, const char *path);

#endif
