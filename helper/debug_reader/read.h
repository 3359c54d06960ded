/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the debug information of one object, in a process that has nothing but descriptors. The
 * process ends after its answer, because the files may hold anything.
 */
#ifndef KEYHOLE_HELPER_DEBUG_READER_READ_H
#define KEYHOLE_HELPER_DEBUG_READER_READ_H

#include "object/debug/reader.h"

/* Confines the process for good, then answers the job. 0; -ENOENT: no file has the build id; or
 * another negative errno. */
int read_job(const struct reader_job *job);

#endif
