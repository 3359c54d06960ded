/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of an agent that has no server: a file for each window, named by its time. The oldest
 * files make room for new ones. Other files of the folder are left alone.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_ROTATION_H
#define KEYHOLE_HELPER_OUTPUT_ROTATION_H

#include <stdint.h>
#include <time.h>

#ifndef ROTATION_BYTES
#define ROTATION_BYTES (256ull << 20) /* of all files together, at most */
#endif
#define ROTATION_SECONDS (7 * 24 * 3600) /* that a file stays */

/*
 * Copies the first `bytes` of a sealed memfd into a new file of the working directory. The file
 * gets its name when it is whole. Removes files that are too old or too many. The suffix is that of
 * the format. Returns 0 or a negative errno; -EPERM: the file can shrink; -EFBIG: beyond
 * WINDOW_FILE_MAX (window_file.h).
 */
int rotation_keep(int memfd, uint64_t bytes, const char *suffix, time_t now);

#endif
