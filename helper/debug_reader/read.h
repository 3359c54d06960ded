/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the debug information of one object, in a disposable process that has only descriptors. The
 * process ends after its answer, because the files may hold anything.
 */
#ifndef KEYHOLE_HELPER_DEBUG_READER_READ_H
#define KEYHOLE_HELPER_DEBUG_READER_READ_H

#include "object/debug/reader.h"

/*
 * Confines the process for good, then answers the job. Returns 0 or a negative errno. -ENOENT: no
 * file has the build id.
 */
int read_job(const struct reader_job *job);

#endif
