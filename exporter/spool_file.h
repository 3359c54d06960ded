/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of the spool (ipc/spool.h). The machine may have crashed while the file was written.
 * Anybody with the user id of keyhole-output may have changed the file. Each of its bytes is
 * checked.
 */
#ifndef KEYHOLE_EXPORTER_SPOOL_FILE_H
#define KEYHOLE_EXPORTER_SPOOL_FILE_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a of 64 bits (Fowler, Noll, Vo). It finds torn files; nobody needs it against forgers. */
uint64_t spool_file_checksum(const void *bytes, size_t size);

/*
 * Reads the window of a file, of at most `most` bytes. Returns 0 and memory for free(), -EBADMSG
 * (no such file, or a torn one), -EFBIG, -ENOMEM or the errno of a read.
 */
int spool_file_read(int fd, uint64_t most, uint8_t **ret_bytes, uint64_t *ret_size);

#endif
