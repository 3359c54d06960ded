/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the id of a container in the path of a control group. */
#ifndef KEYHOLE_PROFILE_CONTAINER_H
#define KEYHOLE_PROFILE_CONTAINER_H

#include <stdbool.h>

#define CONTAINER_ID_BYTES 65 /* room for every id, with its NUL */

/*
 * Gets the id of the innermost container that the path names. The path may be raw, and may lack its
 * beginning. Returns false, with an empty id, when the path names no container.
 */
bool container_id(const char *path, char ret_id[CONTAINER_ID_BYTES]);

#endif
