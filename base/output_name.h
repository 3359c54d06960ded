/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of an output's name. A file appears under its name when the file is whole. A
 * descriptor and a FIFO are written to. Anything else is neither replaced nor written to.
 */
#ifndef KEYHOLE_BASE_OUTPUT_NAME_H
#define KEYHOLE_BASE_OUTPUT_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define OUTPUT_NAME_ANOTHER "name another one: -o FILE"
#define OUTPUT_NAME_PROBLEM 512 /* bytes that hold any problem; a long folder's name is cut */

/*
 * Returns the descriptor that the path stands for, or -1: 1 for "/dev/stdout", N for "/dev/fd/N"
 * and "/proc/self/fd/N". Looks at the text alone.
 */
int output_name_descriptor(const char *path);

/*
 * Looks at a name, and follows no symbolic link. `force`: an existing regular file may be replaced.
 * Returns 0 when a file may get this name and 1 for a FIFO. Any other name is refused with a
 * negative errno, and *ret_problem then says why and what to do, until the next call.
 */
int output_name_look(const char *name, bool force, const char **ret_problem);

/*
 * Gives a finished file its name. An existing regular file is replaced only where `force`; anything
 * else of that name stays, also where it comes at the same moment. Returns 0 or a negative errno,
 * with *ret_problem as above. After 0 the temporary name may lead to the replaced file: the caller
 * removes the name. A file system without RENAME_EXCHANGE replaces what comes at that moment.
 */
int output_name_give(const char *temporary, const char *name, bool force, const char **ret_problem);

/*
 * Opens a FIFO for writing, without waiting in later writes (O_NONBLOCK). Waits up to 2 s for a
 * process that reads. Returns the descriptor or a negative errno, with *ret_problem as above.
 * -ENXIO: no process reads. -EPERM: the FIFO belongs neither to the effective user nor, where that
 * user is root, to the user behind sudo (SUDO_UID).
 */
int output_name_open_fifo(const char *name, const char **ret_problem);

/* Describes why the folder of the path cannot be used: a negative errno r. */
void output_name_explain_folder(const char *path, int r, char ret_problem[OUTPUT_NAME_PROBLEM]);

#endif
