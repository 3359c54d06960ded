/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out the version of a CPython interpreter by its image. */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_VERSION_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_VERSION_H

#include <stdint.h>

struct exported;
struct image;

/*
 * Finds the version as Py_Version has it. Returns 0, or -ENOTSUP: a version before its release, or
 * one that does not tell.
 */
int cpython_version(struct image *image, const struct exported *exported, uint32_t *ret_version);

/* Reads a text such as "3.10.13" or "3.10.13+". Returns 0 or -ENOTSUP. */
int cpython_version_read(const char *text, uint32_t *ret_version);

#endif
