/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the worker's windows into memory of the exporter's own, which the worker cannot change. */
#ifndef KEYHOLE_EXPORTER_WINDOW_H
#define KEYHOLE_EXPORTER_WINDOW_H

#include <stdint.h>

/*
 * Reads `size` bytes of a file from the offset `from` on. Returns 0 and memory for free(), -EFBIG
 * (more than `most`), -EBADMSG (fewer are there), -ENOMEM or the errno of a read.
 */
int window_copy(int fd, uint64_t from, uint64_t size, uint64_t most, uint8_t **ret_bytes);

#endif
