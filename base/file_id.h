/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of files, as OpenTelemetry's attribute process.executable.build_id.htlhash has them: the
 * first 16 bytes of a SHA-256, as hex digits. The hash is of the file's first 4096 bytes, the last
 * 4096 bytes and the length, a big-endian number of 64 bits. Both parts overlap in a short file,
 * and each is the whole of a file of up to 4096 bytes.
 * https://opentelemetry.io/docs/specs/semconv/resource/process/
 */
#ifndef KEYHOLE_BASE_FILE_ID_H
#define KEYHOLE_BASE_FILE_ID_H

#include <stddef.h>
#include <stdint.h>

#define FILE_ID_BYTES 33    /* hex digits and a NUL */
#define FILE_ID_PART  4096u /* bytes at either end of a file */

void file_id_of_bytes(const void *bytes, size_t size, char ret_id[FILE_ID_BYTES]);
/*
 * Reads at most two parts of a regular file, by pread(). Returns 0, or a negative errno and an
 * empty id; -EIO: the file was shorter than its length.
 */
int file_id_of_file(int fd, char ret_id[FILE_ID_BYTES]);
/*
 * Makes the id of a thing that is no file, such as a module of the kernel, from `count` texts that
 * tell it apart. No file has bytes that give this id, as far as SHA-256 goes.
 */
void file_id_of_texts(const char *const *texts, size_t count, char ret_id[FILE_ID_BYTES]);

#endif
