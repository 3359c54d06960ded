/* SPDX-License-Identifier: Apache-2.0 */
/* Files in memory that are handed to another process. */
#ifndef KEYHOLE_BASE_MEMORY_FILE_H
#define KEYHOLE_BASE_MEMORY_FILE_H

/* One that can be sealed, and never executed where the kernel has that; owned by the caller. A
 * negative errno. */
int memory_file(const char *name);

#endif
