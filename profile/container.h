/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the id of a container and the uid of a pod in the path of a control group, of version 1 or
 * 2. The rows of container.c say whose paths are known.
 */
#ifndef KEYHOLE_PROFILE_CONTAINER_H
#define KEYHOLE_PROFILE_CONTAINER_H

#include <stdbool.h>

#define CONTAINER_ID_BYTES 65 /* room for every id, with its NUL */

/*
 * Gets the id of the innermost container that the path names. The path may be raw, and may lack its
 * beginning. Returns false, with an empty id, when the path names no container.
 */
bool container_id(const char *path, char ret_id[CONTAINER_ID_BYTES]);

#define CONTAINER_POD_BYTES 37 /* room for every uid, with its NUL */
/*
 * Gets the uid of the innermost Kubernetes pod that the path names, as the API server writes it.
 * Returns false, with an empty uid, when the path names no pod.
 */
bool container_pod(const char *path, char ret_uid[CONTAINER_POD_BYTES]);

#endif
