/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a whole file into memory; gzip is uncompressed. */
#ifndef KEYHOLE_PROFILE_READ_UNPACK_H
#define KEYHOLE_PROFILE_READ_UNPACK_H

#include <stddef.h>

/* The most unpacked bytes. A million samples of our own, 20 frames each, are 100 MB. */
#ifndef UNPACK_BYTES_MAX
#define UNPACK_BYTES_MAX (1u << 30)
#endif

/*
 * Returns 0 with malloc()ed bytes that the caller frees, or a negative errno. -ENODATA: empty,
 * -EBADMSG: gzip that is damaged or cut, -EFBIG: more than the limit.
 */
int unpack_file(int fd, unsigned char **ret_bytes, size_t *ret_size);

#endif
