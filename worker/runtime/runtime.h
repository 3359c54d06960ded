/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the runtime of a language by the symbols that an object exports. */
#ifndef KEYHOLE_WORKER_RUNTIME_RUNTIME_H
#define KEYHOLE_WORKER_RUNTIME_RUNTIME_H

#include "base/runtimes.h"

struct image;

/* Returns the first row of base/runtimes.def that fits. A file's name says nothing. */
enum runtime runtime_recognise(struct image *image);

#endif
