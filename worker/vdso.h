/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's own vDSO: every 64-bit process has the same one. */
#ifndef KEYHOLE_WORKER_VDSO_H
#define KEYHOLE_WORKER_VDSO_H

#include <stddef.h>

/* Returns the image in memory, NULL: there is none. */
const void *vdso_image(size_t *ret_bytes);

#endif
