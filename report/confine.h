/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is open stays open; nothing else can be had from here on: no file, socket, process or
 * executable memory, no capability, and no more memory than CONFINE_MEMORY_MAX.
 */
#ifndef KEYHOLE_REPORT_CONFINE_H
#define KEYHOLE_REPORT_CONFINE_H

/* The file unpacked (worker/format/unpack.h), the model of it, and what a view needs. */
#define CONFINE_MEMORY_MAX (4ull << 30)

/* 0 or a negative errno: then the file must not be read. */
int confine(void);

#endif
