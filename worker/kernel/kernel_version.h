/* SPDX-License-Identifier: Apache-2.0 */
/* Tells one build of the kernel from others. */
#ifndef KEYHOLE_WORKER_KERNEL_KERNEL_VERSION_H
#define KEYHOLE_WORKER_KERNEL_KERNEL_VERSION_H

#define KERNEL_VERSION_BYTES 132 /* two fields of uname(2) with a blank and a NUL */

/*
 * Gets the release and the version: number, options, compiler's date or the distribution's package.
 * A confined process may not call uname(). Gets "" where the kernel does not tell.
 */
void kernel_version_get(char ret_version[KERNEL_VERSION_BYTES]);

#endif
